"""HEP-BNN's tables IV, V and VI for this machine: `python -m benchmarks.placing.hep_tables`.

Builds its two networks, profiles each, and prints

- the time of each operator with each configuration: a device, a number of threads and a kernel,
- the time of 10,000 images with each configuration, at each batch,
- the time of operators mapped greedily, and placed exactly, beside the published times.

A configuration computes binarized layers with its kernel and all others with the device's best;
layers that the device cannot compute are on the fastest other device. A layer that its kernel
refuses has no time. Values move as with a placement: at most once to each memory. Times are those
of single operators; the exact placement gains from fusing as well.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

import larq_engine
from benchmarks.placing import hep_bnn
from larq_engine.placing.costs import choose_devices, costs_of
from larq_engine.placing.greedy import greedy
from larq_engine.placing.problem import cost_of
from larq_engine.placing.profile import Measurement, Profile
from larq_engine.placing.solve import solve
from larq_engine.python.text_table import align_columns

IMAGES = 10_000

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True)
class Published:
    """Published result of a machine in table VI: seconds of 10,000 images at the best batch."""

    machine: str
    seconds: float
    batch: int


PUBLISHED = {
    "fashion": (
        Published("HEP-BNN, server: i7-8700K, GTX 1080", 2.11, 16),
        Published("HEP-BNN, laptop: i7-10750H, GTX 1650 Ti", 2.84, 2),
        Published("HEP-BNN, Jetson TX2", 9.31, 64),
    ),
    "cifar": (
        Published("HEP-BNN, server: i7-8700K, GTX 1080", hep_bnn.PUBLISHED["server"], 16),
        Published("HEP-BNN, laptop: i7-10750H, GTX 1650 Ti", hep_bnn.PUBLISHED["laptop"], 128),
        Published("HEP-BNN, Jetson TX2", hep_bnn.PUBLISHED["Jetson TX2"], 16),
    ),
}


@dataclass(frozen=True)
class Configuration:
    """A device, a number of threads, and a kernel of binarized layers; None is the best one."""

    device: str
    threads: int
    kernel: str | None

    def __str__(self) -> str:
        return f"{self.device}, {self.threads} thread(s), {self.kernel or 'best'}"


@dataclass(frozen=True)
class ConfigurationSeconds:
    """Seconds of a batch with a configuration; infinite if the kernel refuses the layer."""

    ops: tuple[float, ...]
    moves: float

    @property
    def all(self) -> float:
        return sum(self.ops) + self.moves


@dataclass(frozen=True)
class Placed:
    """Seconds of 10,000 images."""

    batch: int
    threads: int
    greedy: float  # each layer moves its own values, as HEP-BNN's do
    values_stay: float  # the same devices, but values stay
    exact: float
    devices: str  # devices of the exact placement


def configurations(profile: Profile) -> Iterator[Configuration]:
    """Yields all configurations that were measured; the best of each device comes first."""
    for device in profile.devices:
        entries = [entry for entry in profile.measurements if entry.device == device.name]
        kernels = [entry.kernel for entry in _products(profile, device.name)]
        for threads in sorted({entry.threads for entry in entries}):
            for kernel in dict.fromkeys([None, *kernels]):
                yield Configuration(device.name, threads, kernel)


def take(profile: Profile, chosen: Configuration, batch: int) -> ConfigurationSeconds:
    """Returns the whole network's time with a configuration, operator by operator."""
    devices = choose_devices(profile, None)
    own = [device.name for device in devices].index(chosen.device)
    problem = costs_of(_with_kernel(profile, chosen), batch, chosen.threads, devices).seconds
    cannot = np.isinf(costs_of(profile, batch, chosen.threads, devices).seconds.op_cost[:, own])
    mapped = [
        int(row.argmin()) if elsewhere else own
        for row, elsewhere in zip(problem.op_cost, cannot, strict=True)
    ]
    seconds = tuple(float(problem.op_cost[op, device]) for op, device in enumerate(mapped))
    alone = replace(problem, gains=(), op_cost=np.zeros_like(problem.op_cost))
    return ConfigurationSeconds(seconds, cost_of(alone, mapped))


def _with_kernel(profile: Profile, chosen: Configuration) -> Profile:
    """Returns the profile without times of other kernels of the device for binarized layers."""
    if chosen.kernel is None:
        return profile
    others = [entry for entry in _products(profile, chosen.device) if entry.kernel != chosen.kernel]
    kept = tuple(entry for entry in profile.measurements if entry not in others)
    return replace(profile, measurements=kept)


def _products(profile: Profile, device: str) -> list[Measurement]:
    """Returns a device's times of single binarized convolutions and dense layers."""
    return [
        entry
        for entry in profile.measurements
        if entry.device == device
        and len(entry.ops) == 1
        and profile.ops[entry.ops[0]].op == "LceBconv2d"
    ]


def place(profile: Profile, batch: int, threads: int) -> Placed:
    """Places the operators greedily and exactly."""
    costs = costs_of(profile, batch, threads, choose_devices(profile, None))
    problem = costs.seconds
    mapped, paid = greedy(problem)
    solution = solve(problem)
    names = [costs.devices[device].name for device in solution.devices]
    images = IMAGES / batch
    return Placed(
        batch,
        threads,
        paid * images,
        cost_of(problem, mapped) * images,
        solution.cost * images,
        ", ".join(f"{names.count(name)} {name}" for name in dict.fromkeys(names)),
    )


def operators_table(profile: Profile) -> list[str]:
    """Returns the operators that the numbers of the other tables stand for."""
    batch = profile.batches()[0]
    rows = [
        [
            str(op.id),
            op.op,
            op.layer,
            f"{op.macs[batch] / batch / 1e6:.2f}" if batch in op.macs else "",
        ]
        for op in profile.ops
    ]
    total = sum(op.macs.get(batch, 0) for op in profile.ops) / batch / 1e6
    rows.append(["", "sum", "", f"{total:.2f}"])
    return align_columns(["#", "operator", "layer", "MMAC"], rows, ["#", "MMAC"])


def layers_table(profile: Profile, batch: int) -> list[str]:
    """Returns milliseconds of each operator for an image: tables IV and V."""
    rows = []
    for chosen in configurations(profile):
        taken = take(profile, chosen, batch)
        cells = (_number(s * 1e3 / batch, 4) for s in (*taken.ops, taken.moves, taken.all))
        rows.append([str(chosen), *cells])
    titles = ["configuration", *(str(op.id) for op in profile.ops), "moves", "sum"]
    return align_columns(titles, rows, titles[1:])


def batches_table(profile: Profile) -> list[str]:
    """Returns seconds of 10,000 images with each configuration at each batch."""
    batches = profile.batches()
    rows = []
    for chosen in configurations(profile):
        seconds = [take(profile, chosen, batch).all * IMAGES / batch for batch in batches]
        rows.append([str(chosen), *(_number(each, 3) for each in seconds)])
    titles = ["configuration", *map(str, batches)]
    return align_columns(titles, rows, titles[1:])


def placed_table(placed: Sequence[Placed]) -> list[str]:
    """Returns greedy and exact seconds at each batch."""
    rows = [
        [
            str(row.batch),
            str(row.threads),
            *(_number(seconds, 3) for seconds in (row.greedy, row.values_stay, row.exact)),
            row.devices,
        ]
        for row in placed
    ]
    titles = ["batch", "threads", "greedy", "greedy, values stay", "exact", "exact: operators on"]
    return align_columns(titles, rows, titles[:-1])


def best_table(placed: Sequence[Placed], published: Sequence[Published]) -> list[str]:
    """Returns the best batches beside the published ones: table VI."""
    rows = [[one.machine, _number(one.seconds, 3), str(one.batch), ""] for one in published]
    mapped = min(placed, key=lambda row: row.greedy)
    best = min(placed, key=lambda row: row.exact)
    for name, seconds, row in (("greedy", mapped.greedy, mapped), ("exact", best.exact, best)):
        rows.append([f"here, {name}", _number(seconds, 3), str(row.batch), str(row.threads)])
    titles = ["machine", "seconds", "batch", "threads"]
    return align_columns(titles, rows, titles[1:])


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}" if np.isfinite(value) else "-"


def describe(profile: Profile, published: Sequence[Published]) -> str:
    """Returns all tables of a network."""
    lines = [f"{device.name}: {device.title}" for device in profile.devices]
    lines += [f"noise: {profile.machine['noise']}", "", *operators_table(profile)]
    for batch in profile.batches():
        lines += ["", f"Milliseconds of an image, batch {batch}:", *layers_table(profile, batch)]
    placed = [place(profile, b, t) for b in profile.batches() for t in profile.threads()]
    lines += ["", f"Seconds of {IMAGES:,} images, by batch:", *batches_table(profile)]
    lines += ["", f"Seconds of {IMAGES:,} images, placed:", *placed_table(placed)]
    lines += ["", f"Seconds of {IMAGES:,} images, best batch:", *best_table(placed, published)]
    return "\n".join(lines)


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    """Profiles the networks and prints the tables."""
    from benchmarks.placing import hep_models  # imports TensorFlow

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.placing.hep_tables",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--network", choices=sorted(PUBLISHED), help="one network alone (default: both)"
    )
    parser.add_argument(
        "--batches",
        type=_numbers,
        default=list(BATCHES),
        metavar="N,...",
        help=f"numbers of samples at once (default: {','.join(map(str, BATCHES))})",
    )
    parser.add_argument(
        "--threads",
        type=_numbers,
        default=[1, 2],
        metavar="N,...",
        help="numbers of threads (default: 1,2)",
    )
    parser.add_argument(
        "--devices",
        metavar="NAME,...",
        help="as of `larq-engine profile`, such as cpu,host (default: cpu, host, and cuda if there "
        "is a GPU)",
    )
    parser.add_argument(
        "--kernels",
        default="all",
        metavar="NAME,...",
        help="as of `larq-engine profile`, such as hep_x,hep_xyz (default: all)",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=3,
        metavar="N",
        help="as of `larq-engine profile` (default: 3)",
    )
    arguments = parser.parse_args()
    kernels = arguments.kernels
    for name in [arguments.network] if arguments.network else PUBLISHED:
        result = larq_engine.profile(
            bytes(hep_models.convert(name)),
            devices=arguments.devices and arguments.devices.split(","),
            threads=arguments.threads,
            kernels=kernels if kernels in ("all", "auto") else kernels.split(","),
            batch=arguments.batches,
            rounds=arguments.rounds,
        )
        print(f"\n{name}\n{describe(result.profile, PUBLISHED[name])}", flush=True)


if __name__ == "__main__":
    main()
