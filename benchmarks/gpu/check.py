"""Asks a GPU everything that only a GPU can answer: `make gpu-check` runs it.

    python -m benchmarks.gpu.check --bundle FOLDER --results FOLDER [--steps NAME...]

`make gpu-bundle` fills the bundle on a machine with the compilers; the machine with the GPU needs
Python with NumPy, and PyTorch for the peers. Each step writes its JSON into the results' folder
when it is done. A step that fails does not stop the others, but nothing is run on a GPU whose
instructions are not what the kernels take them to be.
"""

import argparse
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

# Characters of what a program printed, of each stream.
_SHOWN = 3000


@dataclass(frozen=True)
class Bench:
    """Where the programs are, and where results go."""

    bundle: Path
    results: Path

    def run(self, *command: str | Path, seconds: float, **variables: str) -> str:
        """Runs a command to its end; raises StepError with what it said."""
        environment = {
            **os.environ,
            "LARQ_ENGINE_LIBRARY": str(self.bundle / "liblarq_engine.so"),
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(self.bundle / "site")]),
            **variables,
        }
        try:
            process = subprocess.Popen(
                list(map(str, command)),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
                cwd=ROOT,
                start_new_session=True,
            )
        except OSError as error:
            raise StepError(str(error), "") from None
        try:
            output, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            # With all that it has started, which would use the GPU beside the next step.
            os.killpg(process.pid, signal.SIGKILL)
            output, errors = process.communicate()
            raise StepError(f"no end after {seconds:.0f} s", _ends(output, errors)) from None
        if process.returncode:
            raise StepError(f"exit status {process.returncode}", _ends(output, errors))
        return output


def _ends(output: str, errors: str) -> str:
    """Of both: host runtimes log much, and programs print all that they do."""
    return f"{errors[-_SHOWN:]}\n{output[-_SHOWN:]}"


class StepError(Exception):
    """What went wrong, and what the program printed."""

    def __init__(self, reason: str, output: str) -> None:
        super().__init__(reason)
        self.output = output


def _json_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


# ---- Steps ---------------------------------------------------------------------------------------


def environment(bench: Bench) -> Any:
    """What the machine is, and that the plug-in finds the GPU."""
    fields = "name,driver_version,clocks.max.sm,clocks.sm,power.limit,memory.total,memory.free"
    listed = bench.run("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader", seconds=30)
    code = (
        "import larq_engine, ai_edge_litert.interpreter\n"
        "larq_engine.load_delegate(device='cuda')\n"
        "print('found')"
    )
    commit = bench.bundle / "commit"
    return {
        "commit": commit.read_text().strip() if commit.exists() else None,
        "gpu": listed.strip(),
        "delegate": bench.run(sys.executable, "-c", code, seconds=60).strip().splitlines()[-1],
    }


def contract(bench: Bench) -> Any:
    """Whether each instruction does what the emulated GPU takes it to do."""
    return _json_lines(bench.run(bench.bundle / "contract", seconds=60))


def peaks(bench: Bench) -> Any:
    """What the GPU can do at most."""
    return _json_lines(bench.run(bench.bundle / "peaks", seconds=60))


def rows(bench: Bench) -> Any:
    """Every row of the table on random layers, against the reference."""
    return _json_lines(bench.run(bench.bundle / "rows_check", seconds=200))


def operators(bench: Bench) -> Any:
    """The Python tests that hold operators and files to NumPy and to LCE, on the GPU."""
    output = bench.run(
        *[sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"],
        *["-n", "8", "-rfs", "tests/cuda", "tests/python/test_fusion.py"],
        *["tests/python/test_compiled_model.py", "tests/interop/test_interop.py"],
        *["-k", "not tensorflow and not tflite_runtime and not originals"],
        seconds=400,
        LARQ_ENGINE_DEVICE="cuda",
    )
    return {"summary": output.strip().splitlines()[-1]}


def layers(bench: Bench) -> Any:
    """Convolutions A to D, at several batches and outputs."""
    return _json_lines(bench.run(bench.bundle / "layers", seconds=300))


def layers_of_all_rows(bench: Bench) -> Any:
    """All kernels at two batches, from which the engine's choice is made."""
    command = [bench.bundle / "layers", "--rows=all", "--batches=1,64"]
    return _json_lines(bench.run(*command, seconds=300))


PRODUCTS = "1024,4096,8192,16384"
PRODUCT_ROWS = (
    "bconv2d_tma_128x256",
    "bconv2d_wgmma_128x256",
    "bconv2d_mma_128x128_c16",
    "bconv2d_popc",
)


def products(bench: Bench) -> Any:
    """Products of square matrices of bits, by the rows for large ones and by the plainest."""
    command = [
        bench.bundle / "layers",
        f"--products={PRODUCTS}",
        f"--rows={','.join(PRODUCT_ROWS)}",
    ]
    return _json_lines(bench.run(*command, seconds=300))


def product_peers(bench: Bench) -> Any:
    """The same products of numbers by PyTorch."""
    command = [sys.executable, "-m", "benchmarks.gpu.torch_peers", f"--products={PRODUCTS}"]
    return _json_lines(bench.run(*command, seconds=300))


def models(bench: Bench) -> Any:
    """Whole models: equal to the CPU, then their times."""
    command = [sys.executable, "-m", "benchmarks.gpu.whole_models"]
    files = sorted((bench.bundle / "models").glob("*.tflite"))
    return _json_lines(bench.run(*command, *files, seconds=300))


def placements(bench: Bench) -> Any:
    """Whole models as `larq_engine.place` puts them, beside the CPU and the GPU alone."""
    files = [bench.bundle / "models" / f"{name}.tflite" for name in ("QuickNet", "HepCifar")]
    command = [sys.executable, "-m", "benchmarks.gpu.placements", *files]
    return _json_lines(bench.run(*command, seconds=300))


def peers(bench: Bench) -> Any:
    """What PyTorch's and cuDNN's kernels take for the same layers and products."""
    return _json_lines(bench.run(sys.executable, "-m", "benchmarks.gpu.torch_peers", seconds=300))


def sanitizer(bench: Bench) -> Any:
    """compute-sanitizer's four tools on small layers of every row."""
    found = shutil.which("compute-sanitizer")
    if found is None:
        raise StepError("compute-sanitizer is not installed", "")
    result = {}
    for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
        command = [found, "--tool", tool, "--error-exitcode", "9", bench.bundle / "rows_check"]
        bench.run(*command, "--layers=20", seconds=150)
        result[tool] = "clean"
    return result


STEPS: tuple[Callable[[Bench], Any], ...] = (
    environment,
    contract,
    peaks,
    rows,
    products,
    product_peers,
    operators,
    models,
    placements,
    layers,
    peers,
    sanitizer,
    layers_of_all_rows,
)

# Without these nothing that follows means anything.
NEEDED = (environment, contract)


# ---- All of them ---------------------------------------------------------------------------------


def run_steps(bench: Bench, names: list[str]) -> list[dict[str, Any]]:
    """Returns a record for each step, which its file in the results' folder has as well."""
    records = []
    for step in STEPS:
        if names and step.__name__ not in names:
            continue
        print(f"{step.__name__}: {step.__doc__.splitlines()[0]}", flush=True)
        start = time.monotonic()
        record: dict[str, Any] = {"step": step.__name__, "date": f"{datetime.date.today()}"}
        try:
            record["result"] = step(bench)
        except StepError as error:
            record["error"] = str(error)
            record["output"] = error.output
        record["seconds"] = round(time.monotonic() - start, 1)
        path = bench.results / f"{step.__name__}.json"
        path.write_text(json.dumps(record, indent=1) + "\n")
        records.append(record)
        print(f"  {_summary(record)}", flush=True)
        if "error" in record and step in NEEDED:
            print("stopped: the steps after this one need it", flush=True)
            break
    return records


def _summary(record: dict[str, Any]) -> str:
    if "error" in record:
        return f"FAILED after {record['seconds']} s: {record['error']}\n{record['output']}"
    return f"done in {record['seconds']} s"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu.check", description=__doc__.splitlines()[0]
    )
    parser.add_argument(
        "--bundle",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="the folder that `make gpu-bundle` filled",
    )
    parser.add_argument(
        "--results",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="where each step leaves a JSON file",
    )
    parser.add_argument(
        "--steps",
        nargs="*",
        default=[],
        metavar="NAME",
        help=f"some of {', '.join(step.__name__ for step in STEPS)} (default: all)",
    )
    arguments = parser.parse_args()
    unknown = set(arguments.steps) - {step.__name__ for step in STEPS}
    if unknown:
        parser.error(
            f"--steps: expected names out of {', '.join(step.__name__ for step in STEPS)}, "
            f"got {', '.join(sorted(unknown))}"
        )
    arguments.results.mkdir(parents=True, exist_ok=True)
    for wheel in arguments.bundle.glob("wheels/*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(arguments.bundle / "site")
    bench = Bench(arguments.bundle.resolve(), arguments.results.resolve())
    records = run_steps(bench, arguments.steps)
    width = max(len(record["step"]) for record in records)
    for record in records:
        verdict = record.get("error", "done")
        print(f"{record['step']:{width}}  {record['seconds']:7.1f} s  {verdict}")
    return int(any("error" in record for record in records))


if __name__ == "__main__":
    sys.exit(main())
