"""HEP-BNN's published profile through the exact solver: `python -m benchmarks.placing.hep_bnn`.

Its program was run for 10,000 CIFAR-10 images on the CPU alone and with each of seven mappings of
layers to a GPU's threads, and wrote the seconds of each layer: the kernel's, and the host's, in
which a GPU layer allocates memory, copies its inputs and weights there, and copies its results
back. A GPU layer whose neighbour is on the GPU as well does not have to copy the value between
them: of the host's part, the share of bytes that are read belongs to the value before, and that of
bytes made to the value after. Thresholds ran on the CPU in all mappings, so only values between a
pooling and a convolution can stay. A bound on the gain from thresholds on the GPU is found by
letting them take no time there.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from larq_engine.placing.greedy import greedy
from larq_engine.placing.problem import Problem, ProblemValue, cost_of
from larq_engine.placing.solve import solve
from larq_engine.python.text_table import align_columns

_FILE = Path(__file__).with_name("hep_bnn_laptop.json")

_CPU, _GPU = 0, 1

# Published seconds of the three machines (tables V, VI) for 10,000 images, mapped greedily.
PUBLISHED = {"server": 41.6, "laptop": 55.0, "Jetson TX2": 297.0}


@dataclass(frozen=True)
class Layer:
    """A layer, and the elements of an image that it reads and makes."""

    kind: str
    reads: int
    makes: int


def _layers() -> list[Layer]:
    layers = [Layer("input", 3 * 32 * 32, 3 * 32 * 32)]
    channels, size = 3, 32
    for step in (64, 64, "pool", 256, 256, "pool", 512, 512, "pool"):
        if step == "pool":
            # The program has the threshold before the pooling.
            layers.append(Layer("pool", channels * size**2, channels * size**2 // 4))
            size //= 2
            continue
        out = int(step)
        layers.append(Layer(f"conv {out}", channels * size**2, out * size**2))
        layers.append(Layer("threshold", out * size**2, out * size**2))
        channels = out
    flat = channels * size**2
    layers.append(Layer("flatten", flat, flat))
    layers += [Layer("dense 1024", flat, 1024), Layer("threshold", 1024, 1024)]
    return [*layers, Layer("dense 10", 1024, 10)]


LAYERS = _layers()


def published() -> dict[str, Any]:
    """Returns the file of the published profile."""
    return dict(json.loads(_FILE.read_text()))


def problem_of(
    configurations: dict[str, Any], batch: int, free_thresholds: bool = False
) -> tuple[Problem, list[str]]:
    """Returns a batch's profile as a problem, and the best mapping of each layer on the GPU."""
    cpu = np.array(configurations["cpu"][str(batch)]["host"])
    mappings = {
        name: (np.array(found[str(batch)]["host"]), np.array(found[str(batch)]["kernel"]))
        for name, found in configurations.items()
        if name != "cpu"
    }
    on_gpu = np.full(len(LAYERS), np.inf)
    copies = np.zeros(len(LAYERS))
    best = ["" for _ in LAYERS]
    for number, layer in enumerate(LAYERS):
        if layer.kind.startswith(("conv", "pool", "dense")):
            best[number] = min(mappings, key=lambda name: sum(p[number] for p in mappings[name]))
            copies[number], on_gpu[number] = (part[number] for part in mappings[best[number]])
        elif layer.kind == "threshold" and free_thresholds:
            on_gpu[number] = 0.0
    reads = [copy * layer.reads / (layer.reads + layer.makes) for copy, layer in _with(copies)]
    makes = [copy * layer.makes / (layer.reads + layer.makes) for copy, layer in _with(copies)]
    values = [ProblemValue(-1, (0,), False)]
    moves = np.zeros((len(LAYERS) + 1, 2, 2))
    moves[0, 0, 1] = reads[0]
    for number in range(len(LAYERS)):
        last = number + 1 == len(LAYERS)
        values.append(ProblemValue(number, () if last else (number + 1,), last))
        there = 0.0 if last else reads[number + 1]
        # A threshold was never on the GPU, so its result is assumed to cost as much back as there.
        back = there if LAYERS[number].kind == "threshold" else makes[number]
        moves[number + 1] = [[0, there], [back, 0]]
    costs = np.stack([cpu, on_gpu], axis=1)
    return Problem((0, 1), costs, tuple(values), moves), best


def _with(copies: Iterable[float]) -> list[tuple[float, Layer]]:
    return list(zip(copies, LAYERS, strict=True))


def main() -> None:
    """Prints the tables."""
    profile = published()
    configurations = profile["configurations"]
    batches = [int(batch) for batch in configurations["cpu"]]
    rows = []
    for batch in batches:
        problem, _ = problem_of(configurations, batch)
        single = min(
            sum(found[str(batch)]["host"]) + sum(found[str(batch)].get("kernel", [0]))
            for found in configurations.values()
        )
        devices, paid = greedy(problem)
        free, _ = problem_of(configurations, batch, free_thresholds=True)
        rows.append(
            [
                str(batch),
                f"{sum(configurations['cpu'][str(batch)]['host']):.2f}",
                f"{single:.2f}",
                f"{paid:.2f}",
                f"{cost_of(problem, devices):.2f}",
                f"{solve(problem).cost:.2f}",
                f"{solve(free).cost:.2f}",
            ]
        )
    titles = ["batch", "CPU alone", "best configuration", "greedy", "greedy, values stay", "exact"]
    titles.append("exact, thresholds free on the GPU")
    print("Seconds of 10,000 images, from the published profile:\n")
    print("\n".join(align_columns(titles, rows, titles)))
    _print_layers(profile, 128)


def _print_layers(profile: dict[str, Any], batch: int) -> None:
    configurations = profile["configurations"]
    measured = profile["automatic"][str(batch)]
    problem, mapping = problem_of(configurations, batch)
    free, _ = problem_of(configurations, batch, free_thresholds=True)
    chosen, with_free = solve(problem), solve(free)
    names = ("CPU", "GPU")
    rows = []
    totals = np.zeros(4)
    for number, layer in enumerate(LAYERS):
        times = (
            measured["host"][number] + measured["kernel"][number],
            _share(problem, greedy(problem)[0], number, alone=True),
            _share(problem, chosen.devices, number),
            _share(free, with_free.devices, number),
        )
        totals += times
        rows.append(
            [
                str(number),
                layer.kind,
                mapping[number].upper(),
                names[greedy(problem)[0][number]],
                names[chosen.devices[number]],
                names[with_free.devices[number]],
                *(f"{time:.2f}" for time in times),
            ]
        )
    rows.append(["", "sum", "", "", "", "", *(f"{total:.2f}" for total in totals)])
    titles = ["#", "layer", "best mapping", "greedy", "exact", "exact, free"]
    numbers = ["measured, their automatic", "greedy s", "exact s", "exact, free s"]
    print(f"\nBatch {batch}, layer by layer (copies count where the profile has them):\n")
    print("\n".join(align_columns([*titles, *numbers], rows, ["#", *numbers])))


def _share(problem: Problem, devices: Sequence[int], layer: int, alone: bool = False) -> float:
    """Returns a layer's seconds, with the moves of its inputs and of its results for others."""
    own = devices[layer]
    seconds = float(problem.op_cost[layer, own])
    before = 0 if layer == 0 or alone else devices[layer - 1]
    after = 0 if layer + 1 == len(devices) or alone else devices[layer + 1]
    if own == _GPU:
        seconds += float(problem.move_cost[layer, before, own])
        seconds += float(problem.move_cost[layer + 1, own, after])
    return seconds


if __name__ == "__main__":
    main()
