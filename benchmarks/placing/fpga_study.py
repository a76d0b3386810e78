"""The FPGA-GPU paper's questions with binary modules: `python -m benchmarks.placing.fpga_study`.

    python -m benchmarks.placing.fpga_study -o FOLDER [--clock MHZ] [--rounds N]

For each module (fpga_modules.py) it counts the cycles of all its runs of binary layers on a chip,
takes an H100 by its device file, profiles the CPU, and places the module on each set of devices.
Then it divides single layers between the GPU and the chip, which work at the same time. Energies
are those of stated watts, and none is measured.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import larq_engine
from benchmarks import plots
from benchmarks.placing.fpga_modules import MODULES, make_module
from larq_engine.converter import schema
from larq_engine.fpga.api import export_verilog
from larq_engine.fpga.chips import CHIPS
from larq_engine.fpga.folds import choose_folds
from larq_engine.fpga.layers import Product
from larq_engine.fpga.runs import Run, choose_run
from larq_engine.placing.placement import Placement
from larq_engine.python.text_table import align_columns

# By which factors both of the paper's devices need less than its GPU alone: energy and latency.
_PUBLISHED = {
    "SqueezeNet's Fire": (1.34, 1.01),
    "MobileNetV2's bottleneck": (1.55, 1.26),
    "ShuffleNetV2's unit": (1.39, 1.35),
}


@dataclass(frozen=True)
class _Gpu:
    title: str
    picture: str
    watts: float
    slower: float = 1.0  # than the H100's device file says
    shares_memory: bool = False  # with the CPU, so that transfers take nothing


# The H100's greatest board power (PCIe) and the Jetson TX2's are those of their data sheets. How
# fast the TX2 is for layers of bits is not known.
_GPUS = (
    _Gpu("H100", "h100_modules.svg", 350),
    _Gpu(
        "a GPU 16 times as slow, 15 W, in the CPU's memory",
        "fpga_modules.svg",
        15,
        16,
        shares_memory=True,
    ),
)

# Watts are assumed to grow with LUTs and clock: FINN's boards take some 9 W for 83,000 LUTs at 200
# MHz.
_WATTS_A_LUT_AND_MEGAHERTZ = 0.53e-6

_CHIP = "ecp5-85k"
_AREA = 0.6

# The sets of devices, and what is least.
_SETS = {
    "CPU": (["cpu", "host"], "latency"),
    "CPU + chip": (["cpu", "host", "fpga"], "latency"),
    "GPU": (["h100"], "latency"),
    "GPU + chip": (["h100", "fpga"], "latency"),
    "GPU, least energy": (["h100"], "energy"),
    "GPU + chip, least energy": (["h100", "fpga"], "energy"),
}


@dataclass(frozen=True)
class Divided:
    """A layer whose channels the GPU and the chip compute at the same time, without transfers."""

    layer: str
    share: float  # of the channels that the chip computes
    seconds: float
    gpu: float  # seconds of the GPU alone
    chip: float

    @property
    def cells(self) -> tuple[str, ...]:
        times = (f"{seconds * 1e6:.2f}" for seconds in (self.gpu, self.chip, self.seconds))
        return (self.layer, *times, f"{self.share:.0%}")


def _runs(model: bytes) -> Iterator[Run]:
    """Yields the longest runs of operators that hardware has, from the first operator on."""
    graph = schema.read(model).graphs[0]
    first = 0
    while first < len(graph.ops):
        for end in range(len(graph.ops), first, -1):
            try:
                run = choose_run(graph, (first, end))
            except ValueError:
                continue
            if any(node.layer.products for node in run.network.nodes):
                yield run
                first = end - 1
                break
        first += 1


def _shares(runs: list[Run]) -> list[float]:
    """Returns the share of the chip that each run may take: that of its products."""
    products = [sum(node.layer.products for node in run.network.nodes) for run in runs]
    return [_AREA * found / sum(products) for found in products]


def _chip_file(model: bytes, clock: int) -> dict[str, Any]:
    """Returns the device file of a chip that has all runs."""
    merged: dict[str, Any] = {}
    runs = list(_runs(model))
    for run, share in zip(runs, _shares(runs), strict=True):
        settings: dict[str, Any] = {"layers": f"{run.first}:{run.end}", "clock": clock}
        settings |= {"area": share, "target": _CHIP}
        luts = export_verilog(model, **settings).luts
        watts = _WATTS_A_LUT_AND_MEGAHERTZ * luts * clock
        exported = export_verilog(model, **settings, watts=watts)
        file = json.loads(exported.files["device.json"])
        if merged:
            merged["layers"] += file["layers"]
            merged["device"]["area"] += file["device"]["area"]
        else:
            merged = file
    return merged


def _gpu_file(gpu: _Gpu) -> dict[str, Any]:
    """Returns the H100's device file, changed for a GPU."""
    path = Path(larq_engine.__file__).parent / "placing" / "devices" / "h100.json"
    content: dict[str, Any] = json.loads(path.read_text())
    for of_class in content["classes"]:
        of_class["watts"] = gpu.watts
        for cost in ("seconds", "seconds_per_mac", "seconds_per_byte"):
            of_class[cost] *= gpu.slower
    for link in content["links"]:
        link["joules_per_byte"] = 0.0
    if gpu.shares_memory:
        content["device"]["memory"] = "host"
        content["links"] = []
    return content


def _divide(model: bytes, gpu_file: dict[str, Any], clock: int) -> Iterator[Divided]:
    """Yields each binary layer with the best share of its channels for the chip."""
    of_gpu = gpu_file["classes"][0]
    runs = list(_runs(model))
    for run, share in zip(runs, _shares(runs), strict=True):
        choose_folds(run.network, CHIPS[_CHIP], share)
        for node in run.network.nodes:
            layer = node.layer
            if not isinstance(layer, Product):
                continue

            def gpu(part: float, layer: Product = layer) -> float:
                work = layer.products * part * of_gpu["seconds_per_mac"]
                return float(of_gpu["seconds"] + work) if part else 0.0

            def chip(fold: int, layer: Product = layer) -> float:
                return layer.cycles(fold) / (clock * 1e6) if fold else 0.0

            # With fewer channels the chip's lanes take fewer cycles for a pixel.
            seconds, best = min(
                (max(gpu(1 - fold / node.fold), chip(fold)), fold) for fold in range(node.fold + 1)
            )
            yield Divided(layer.name, best / node.fold, seconds, gpu(1), chip(node.fold))


def _ratios(name: str, found: dict[str, Placement]) -> tuple[str, ...]:
    """Returns the factors by which both devices need less than the GPU alone."""
    alone, both = found["GPU, least energy"], found["GPU + chip, least energy"]
    assert alone.joules is not None and both.joules is not None
    energy, latency = _PUBLISHED[name]
    return (
        name,
        f"{energy:.2f}",
        f"{alone.joules / both.joules:.2f}",
        f"{alone.seconds / both.seconds:.2f}",
        f"{latency:.2f}",
        f"{found['GPU'].seconds / found['GPU + chip'].seconds:.2f}",
    )


_RATIOS = ("module", "energy, paper", "energy", "latency then", "latency, paper", "latency")
_DIVIDED = ("module", "layer", "GPU us", "chip us", "both us", "of the chip")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.placing.fpga_study")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--clock", type=int, default=100, metavar="MHZ")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    folder: Path = arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    models = {name: make_module(name) for name in MODULES}
    profiles = {
        name: larq_engine.profile(model, devices=["cpu"], rounds=arguments.rounds)
        for name, model in models.items()
    }
    for gpu in _GPUS:
        gpu_file = _gpu_file(gpu)
        (folder / "gpu.json").write_text(json.dumps(gpu_file))
        ratios, divided, seconds = [], [], {}
        for name, model in models.items():
            (folder / "chip.json").write_text(json.dumps(_chip_file(model, arguments.clock)))
            found = {
                title: larq_engine.place(
                    model,
                    profiles[name],
                    device_files=[folder / "gpu.json", folder / "chip.json"],
                    devices=devices,
                    objective=objective,
                ).placement
                for title, (devices, objective) in _SETS.items()
            }
            ratios.append(_ratios(name, found))
            seconds[name] = {title: placed.seconds for title, placed in found.items()}
            divided += [(name, *layer.cells) for layer in _divide(model, gpu_file, arguments.clock)]
        print(f"GPU: {gpu.title}", end="\n\n")
        rows = [(name, *(f"{1e6 * s:.1f}" for s in row.values())) for name, row in seconds.items()]
        print("\n".join(align_columns(("us of two modules", *_SETS), rows, tuple(_SETS))))
        print()
        print("\n".join(align_columns(_RATIOS, ratios, _RATIOS[1:])), end="\n\n")
        print("\n".join(align_columns(_DIVIDED, divided, _DIVIDED[2:])), end="\n\n")
        picture = folder / gpu.picture
        plots.plot_sets(seconds, f"GPU: {gpu.title}", picture)
        print(f"{picture}", end="\n\n")


if __name__ == "__main__":
    main()
