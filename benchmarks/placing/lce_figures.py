"""LCE's questions of shortcuts and MACs: `python -m benchmarks.placing.lce_figures FILE...`.

Files are models, which are profiled first, or profiles. LCE's paper asks what full-precision
shortcuts cost in binarized networks (its figure 9), and whether multiply-accumulates tell how long
a network takes (figure 10). This program answers both from profiles: the share of each class of
operators in a network's time, and the time of each class and of each network beside its
multiply-accumulates. The numbers behind the figures were not available, so nothing is compared with
them.

The time of an operator is that of the operator alone: on the device if it was measured there, else
on the host. So a shortcut that the engine computes within a convolution counts in full; the saving
by fusing stands beside the sum, and so does the measured time of the whole model. The cost of a
shortcut for the operators around it, such as a convolution that writes floats instead of bits, is
in their times.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import larq_engine
from benchmarks import plots
from larq_engine.placing.costs import choose_devices, costs_of
from larq_engine.placing.problem import gains_of
from larq_engine.placing.profile import Op, Profile
from larq_engine.placing.profile_file import read_profile
from larq_engine.python.devices import CPU, HOST
from larq_engine.python.operators import known_op
from larq_engine.python.text_table import align_columns

BINARY, QUANTIZING, SHORTCUTS = "binary convolutions", "quantizing", "shortcuts"
# Convolutions of floats or int8, before the first binary convolution and after it.
FIRST, BETWEEN = "first convolutions", "later float convolutions"
POOLING, DENSE, OTHERS = "pooling", "dense", "others"
CLASSES = (BINARY, QUANTIZING, SHORTCUTS, FIRST, BETWEEN, POOLING, DENSE, OTHERS)

_QUANTIZING = ("LceQuantize", "LceDequantize", "QUANTIZE", "DEQUANTIZE")
_JOINING = ("ADD", "SUB", "CONCATENATION")
_CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV")
_POOLING = ("LceBMaxPool2d", "MAX_POOL_2D", "AVERAGE_POOL_2D", "MEAN")
_DENSE = ("FULLY_CONNECTED", "BATCH_MATMUL")

# This number of binary multiply-accumulates counts as one of floats: LCE's paper found binary
# convolutions 15.0 times as fast as float32 ones, in the mean of its 48.
EQUIVALENT = 15.0


@dataclass(frozen=True)
class Part:
    """The operators of a class, for one image."""

    ops: int
    macs: float
    seconds: float


@dataclass(frozen=True)
class Network:
    """A network by classes, for one image."""

    name: str
    parts: Mapping[str, Part]
    saved: float  # seconds that fusing saves on the device
    measured: float | None  # seconds of the whole model

    @property
    def seconds(self) -> float:
        """Sum of the operators' own times."""
        return sum(part.seconds for part in self.parts.values())

    @property
    def binary(self) -> float:
        """Binary multiply-accumulates."""
        return self.parts[BINARY].macs

    @property
    def floats(self) -> float:
        """All other multiply-accumulates."""
        return sum(part.macs for part in self.parts.values()) - self.binary

    @property
    def equivalent(self) -> float:
        """Multiply-accumulates; binary ones count as much less as they are faster."""
        return self.floats + self.binary / EQUIVALENT

    @property
    def whole(self) -> float:
        """Seconds of the whole model: measured, else the sum less the saving by fusing."""
        return self.seconds - self.saved if self.measured is None else self.measured


def classes_of(ops: Sequence[Op]) -> list[str]:
    """Returns the class of each operator, in order."""
    kinds = [known_op(op.op).name for op in ops]
    first = kinds.index("LceBconv2d") if "LceBconv2d" in kinds else len(kinds)
    return [_class_of(kind, op, op.id < first) for kind, op in zip(kinds, ops, strict=True)]


def _class_of(kind: str, op: Op, is_first: bool) -> str:
    if kind == "LceBconv2d":
        return BINARY
    if kind in _QUANTIZING:
        return QUANTIZING
    # An operator joins two values; one that adds a constant, such as a bias, joins nothing.
    if kind in _JOINING and len(set(op.inputs)) > 1:
        return SHORTCUTS
    if kind in _CONVOLUTIONS:
        return FIRST if is_first else BETWEEN
    if kind in _POOLING:
        return POOLING
    return DENSE if kind in _DENSE else OTHERS


def network_of(profile: Profile, device: str = CPU, threads: int | None = None) -> Network:
    """Sums up a profile at its smallest batch.

    Args:
        profile: The measurements.
        device: The device of operators that were measured there; the others run on the host.
        threads: A number of threads that was measured; the smallest if None.

    Raises:
        ValueError: Nothing was measured there, or some operator was not measured alone.
    """
    batch, threads = profile.batches()[0], threads or profile.threads()[0]
    names = list(dict.fromkeys([device, HOST]))
    costs = costs_of(profile, batch, threads, choose_devices(profile, names))
    order = sorted(range(len(costs.devices)), key=lambda n: names.index(costs.devices[n].name))
    seconds = costs.seconds.op_cost
    chosen = [next((n for n in order if np.isfinite(row[n])), None) for row in seconds]
    found: dict[str, list[tuple[int, float]]] = {name: [] for name in CLASSES}
    assignment: list[int] = []
    for op, name, where in zip(profile.ops, classes_of(profile.ops), chosen, strict=True):
        if where is None:
            raise ValueError(
                f"{profile.model.name}: operator {op.id} ({op.op}): expected its time alone on "
                f"{' or '.join(names)} with batch {batch} and {threads} thread(s), got none; "
                "profile the model again with these"
            )
        assignment.append(where)
        found[name].append((op.macs.get(batch, 0), float(seconds[op.id, where])))
    parts = {
        name: Part(
            len(ops),
            sum(macs for macs, _ in ops) / batch,
            sum(seconds for _, seconds in ops) / batch,
        )
        for name, ops in found.items()
    }
    saved = sum(gain.saved for gain in gains_of(costs.seconds, assignment))
    totals = [total for total in profile.totals if (total.batch, total.device) == (batch, device)]
    numbers = {total.threads for total in profile.totals if total.device == device}
    measured = [
        total.seconds.median / batch
        for total in totals
        if total.threads == threads or len(numbers) == 1
    ]
    return Network(profile.model.name, parts, saved / batch, measured[0] if measured else None)


def share_rows(networks: Sequence[Network]) -> list[list[str]]:
    """Returns a row for each network: the share of each class in its time."""
    return [
        [
            network.name,
            *(f"{100 * part.seconds / network.seconds:.1f}" for part in network.parts.values()),
            _milliseconds(network.seconds),
            _milliseconds(network.saved),
            "" if network.measured is None else _milliseconds(network.measured),
        ]
        for network in networks
    ]


def class_rows(networks: Sequence[Network]) -> list[list[str]]:
    """Returns a row for each class of each network: its multiply-accumulates, and their rate."""
    return [
        [
            network.name,
            name,
            str(part.ops),
            _millions(part.macs),
            _milliseconds(part.seconds),
            _speed(part.macs, part.seconds) if part.macs else "",
        ]
        for network in networks
        for name, part in network.parts.items()
        if part.ops
    ]


def mac_rows(networks: Sequence[Network]) -> list[list[str]]:
    """Returns a row for each network: its multiply-accumulates, and their rate."""
    return [
        [
            network.name,
            _millions(network.binary),
            _millions(network.floats),
            _millions(network.equivalent),
            _milliseconds(network.whole),
            _speed(network.binary + network.floats, network.whole),
            _speed(network.equivalent, network.whole),
        ]
        for network in networks
    ]


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.4f}"


def _millions(macs: float) -> str:
    return f"{macs / 1e6:.1f}"


def _speed(macs: float, seconds: float) -> str:
    return f"{macs / seconds / 1e9:.1f}" if seconds else ""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.placing.lce_figures", description=__doc__
    )
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="a model (.tflite), or its profile (.json)",
    )
    parser.add_argument(
        "--device",
        default=CPU,
        metavar="NAME",
        help="the device that computes what it can, and the host the rest (default: cpu)",
    )
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads (default: 1)")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        help="draw shares.svg and macs.svg in this folder",
    )
    arguments = parser.parse_args()
    networks = [
        replace(_read(path, arguments.device, arguments.threads), name=name)
        for path, name in zip(arguments.files, names_of(arguments.files), strict=True)
    ]
    titles = ["network", *CLASSES, "sum, ms", "fusing saves, ms", "measured, ms"]
    print("Percent of the time of an image, of operators alone:\n")
    print("\n".join(align_columns(titles, share_rows(networks), titles[1:])))
    titles = ["network", "class", "operators", "million MACs", "ms", "GMAC/s"]
    print("\nMultiply-accumulates and time of an image, by class:\n")
    print("\n".join(align_columns(titles, class_rows(networks), titles[2:])))
    titles = ["network", "binary, million", "float, million", "equivalent, million", "ms",
              "GMAC/s", "equivalent GMAC/s"]  # fmt: skip
    print(f"\nOf whole networks ({EQUIVALENT:g} binary ones are equivalent to one of floats):\n")
    print("\n".join(align_columns(titles, mac_rows(networks), titles[1:])))
    if arguments.output is not None:
        arguments.output.mkdir(parents=True, exist_ok=True)
        draw(networks, f"{arguments.device}, {arguments.threads} thread(s)", arguments.output)


def names_of(files: Sequence[Path]) -> list[str]:
    """Returns the names of the files, with their folders if two would have the same name."""
    stems = [path.stem for path in files]
    return stems if len(set(stems)) == len(stems) else [str(path) for path in files]


def _read(path: Path, device: str, threads: int) -> Network:
    if path.suffix == ".json":
        return network_of(read_profile(path), device, threads)
    print(f"{path.stem} ...", flush=True)
    devices = list(dict.fromkeys([device, HOST]))
    profile = larq_engine.profile(path, devices=devices, threads=[threads]).profile
    return network_of(profile, device, threads)


def draw(networks: Sequence[Network], title: str, folder: Path) -> None:
    """Writes shares.svg and macs.svg."""
    shares = {
        network.name: {
            name: 100 * part.seconds / network.seconds for name, part in network.parts.items()
        }
        for network in networks
    }
    plots.plot_shares(shares, title, folder / "shares.svg")
    panels = {
        "million multiply-accumulates": [network.binary + network.floats for network in networks],
        "million equivalent ones": [network.equivalent for network in networks],
    }
    over_macs = {
        label: {
            network.name: [(macs, network.whole)]
            for network, macs in zip(networks, all_macs, strict=True)
        }
        for label, all_macs in panels.items()
    }
    plots.plot_macs(over_macs, title, folder / "macs.svg")


if __name__ == "__main__":
    main()
