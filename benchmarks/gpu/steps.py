"""The steps of `make gpu-check`: the question that each puts to a GPU, and its time limit.

A step yields records. If it fails, the records that it yielded before are kept. Its docstring is
its purpose, which docs/gpu_results.md shows.
"""

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks.gpu.bench import Bench, Record, StepError

_Run = Callable[[Bench], Iterator[Record]]


@dataclass(frozen=True)
class Step:
    """One question to the GPU.

    Attributes:
        run: Runs it and yields its records.
        seconds: The time that it may take.
        planned: The time that it takes if nothing goes wrong. All steps together are planned for
            nine minutes.
        is_needed: True if the later steps mean nothing without it.
    """

    run: _Run
    seconds: float
    planned: float = 0
    is_needed: bool = False

    @property
    def name(self) -> str:
        """The name in options, in files, and on the page."""
        return self.run.__name__

    @property
    def purpose(self) -> str:
        """The question in one line: the first line of the docstring."""
        return (self.run.__doc__ or "").splitlines()[0]


def environment(bench: Bench) -> Iterator[Record]:
    """The machine, and a look whether the plug-in finds the GPU."""
    fields = "name,driver_version,clocks.max.sm,clocks.sm,power.limit,memory.total,memory.free"
    try:
        listed = bench.run(
            "nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader", seconds=30
        )
    except StepError as error:
        said = error.printed.strip() or str(error)
        raise StepError(f"there is no NVIDIA GPU here: nvidia-smi: {said}") from None
    code = (
        "import larq_engine, ai_edge_litert.interpreter\n"
        "larq_engine.load_delegate(device='cuda')\n"
        "print('found')"
    )
    commit = bench.bundle / "commit"
    yield {
        "commit": commit.read_text().strip() if commit.exists() else None,
        "gpu": listed.strip(),
        "delegate": bench.run(sys.executable, "-c", code).strip().splitlines()[-1],
    }


def contract(bench: Bench) -> Iterator[Record]:
    """Each instruction, against what the emulated GPU takes it to do."""
    return bench.lines(bench.bundle / "contract")


def peaks(bench: Bench) -> Iterator[Record]:
    """The most that the GPU can do."""
    return bench.lines(bench.bundle / "peaks")


def clocks(bench: Bench) -> Iterator[Record]:
    """The clock under products of bits, beside its maximum."""
    yield from bench.lines(bench.bundle / "clocks")
    fields = "clocks.sm,power.draw,temperature.gpu,clocks_throttle_reasons.active"
    listed = bench.run("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader")
    yield {"after_the_loads": listed.strip()}


def copies(bench: Bench) -> Iterator[Record]:
    """Copies into pinned memory by several threads, and over PCIe."""
    return bench.lines(bench.bundle / "copies")


def engine_copies(bench: Bench) -> Iterator[Record]:
    """The engine's own copies of 256 images, by one thread of the host and by several."""
    return bench.lines(bench.bundle / "host_copies", "--threads=1,2,4,8,16")


def rows(bench: Bench) -> Iterator[Record]:
    """Every row of the table on random layers, against the reference."""
    return bench.lines(bench.bundle / "rows_check", "--layers=100")


def models(bench: Bench) -> Iterator[Record]:
    """Whole models: equal to the CPU, then their times, with the baseline in turns."""
    return bench.lines(sys.executable, "-m", "benchmarks.gpu.whole_models", bench.bundle)


def profile(bench: Bench) -> Iterator[Record]:
    """The time of each launch of QuickNet, at batches 1 and 64."""
    model = bench.bundle / "models" / "QuickNet.tflite"
    program = (sys.executable, "-m", "benchmarks.gpu.kernel_times")
    return bench.lines(*program, bench.bundle, model, "1", "64")


def layers(bench: Bench) -> Iterator[Record]:
    """Convolutions A to D, at several batches and outputs."""
    return bench.lines(bench.bundle / "layers")


def layers_of_all_rows(bench: Bench) -> Iterator[Record]:
    """All kernels at two batches, from which the engine's choice is made."""
    return bench.lines(bench.bundle / "layers", "--rows=all", "--batches=1,64")


_PRODUCTS = "--products=1024,4096,8192,16384"
_PRODUCT_ROWS = (
    "bconv2d_tma_128x256",
    "bconv2d_wgmma_128x256",
    "bconv2d_mma_128x128_c16",
)


def products(bench: Bench) -> Iterator[Record]:
    """Products of square matrices of bits, by the rows for large ones."""
    return bench.lines(bench.bundle / "layers", _PRODUCTS, f"--rows={','.join(_PRODUCT_ROWS)}")


def product_peers(bench: Bench) -> Iterator[Record]:
    """The same products of numbers by PyTorch."""
    return bench.lines(sys.executable, "-m", "benchmarks.gpu.torch_peers", _PRODUCTS)


def peers(bench: Bench) -> Iterator[Record]:
    """The same layers and products by kernels of PyTorch and cuDNN."""
    return bench.lines(sys.executable, "-m", "benchmarks.gpu.torch_peers")


_TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")


def sanitizer(bench: Bench) -> Iterator[Record]:
    """compute-sanitizer's four tools on small layers of every row."""
    found = shutil.which("compute-sanitizer")
    if found is None:
        raise StepError("compute-sanitizer is not installed")
    for number, tool in enumerate(_TOOLS):
        command = (found, "--tool", tool, "--error-exitcode", "9")
        program = bench.bundle / "rows_check"
        seconds = bench.left() / (len(_TOOLS) - number)
        bench.run(*command, program, "--layers=20", seconds=seconds)
        yield {"tool": tool, "found": "clean"}


def placements(bench: Bench) -> Iterator[Record]:
    """Whole models as `larq_engine.place` puts them, beside the CPU and the GPU alone."""
    files = [bench.bundle / "models" / f"{name}.tflite" for name in ("QuickNet", "HepCifar")]
    return bench.lines(sys.executable, "-m", "benchmarks.gpu.placements", *files)


def operators(bench: Bench) -> Iterator[Record]:
    """The Python tests that hold operators and files to NumPy and to LCE, on the GPU."""
    output = bench.run(
        *[sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"],
        *["-n", "8", "-rfs", "tests/cuda", "tests/python/test_fusion.py"],
        *["tests/python/test_compiled_model.py", "tests/interop/test_interop.py"],
        *["-k", "not tensorflow and not tflite_runtime and not originals"],
        LARQ_ENGINE_DEVICE="cuda",
    )
    yield {"summary": output.strip().splitlines()[-1]}


def early_launches(bench: Bench) -> Iterator[Record]:
    """QuickNet at batch 1, with launches that begin early and with launches in turn."""
    command = [sys.executable, "-m", "benchmarks.gpu.whole_models", "--early-launches"]
    return bench.lines(*command, bench.bundle)


def sessions(bench: Bench) -> Iterator[Record]:
    """Images a second with one to four copies of QuickNet, for floats and for bytes."""
    files = [bench.bundle / "models" / f"{name}.tflite" for name in ("QuickNet", "QuickNetUint8")]
    return bench.lines(sys.executable, "-m", "benchmarks.gpu.sessions", *files)


def hep_placements(bench: Bench) -> Iterator[Record]:
    """HEP-BNN's CIFAR-10 network: 10,000 images on each device and as placed."""
    model = bench.bundle / "models" / "HepCifar.tflite"
    return bench.lines(sys.executable, "-m", "benchmarks.gpu.hep_placements", model)


# Times that an H100 took on 2026-11-26: environment 1 s, contract 0.4 s, peaks 0.6 s, rows 16 s,
# models 12 s (three models, and no baseline), layers 7 s, layers_of_all_rows 13 s, product_peers
# 6 s, peers 6 s, and products 47 s, of which 25 s went to a row that has been left out since. The
# planned times of the others are estimates. The steps whose answers matter most come first, in case
# the time runs out.
STEPS = (
    Step(environment, 60, planned=2, is_needed=True),
    Step(contract, 30, planned=1, is_needed=True),
    Step(clocks, 30, planned=5),
    Step(peaks, 30, planned=1),
    Step(rows, 60, planned=20),
    Step(models, 120, planned=95),
    Step(early_launches, 40, planned=12),
    Step(sessions, 80, planned=50),
    Step(profile, 120, planned=40),
    Step(copies, 60, planned=10),
    Step(engine_copies, 40, planned=10),
    Step(layers, 60, planned=7),
    Step(layers_of_all_rows, 60, planned=15),
    Step(products, 60, planned=22),
    Step(product_peers, 60, planned=7),
    Step(peers, 60, planned=7),
    Step(sanitizer, 160, planned=80),
    Step(hep_placements, 80, planned=40),
    Step(placements, 120, planned=40),
    Step(operators, 400, planned=75),
)
