"""Describes a placement: the device of each operator, what it costs, why, and what others cost."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

from larq_engine.placing.device_names import device_title, memory_title
from larq_engine.placing.profile import ModelIdentity
from larq_engine.placing.unplaced import Unplaced, Verified
from larq_engine.python import units
from larq_engine.python.devices import HOST, is_known
from larq_engine.python.text_table import align_columns, counted, printable

VERSION = 1

# Names of the objectives, in words.
GOALS = {
    "latency": "least latency",
    "throughput": "most throughput",
    "energy": "least energy",
    "edp": "least product of energy and time",
}

# Kind of operator whose kernel the plug-in can choose; for others a profile only reports kernels.
_WITH_KERNELS = "LceBconv2d"


@dataclass(frozen=True)
class SecondHalf:
    """The last output channels of an operator, which another device computes at the same time."""

    device: str
    kernel: str | None
    channels: int  # that the operator's own device computes
    of: int
    saved: float  # seconds that the whole model saves

    @property
    def text(self) -> str:
        return (
            f"{self.of - self.channels} of {self.of} channels at the same time on "
            f"{device_title(self.device)}, which saves {units.seconds(self.saved)} in all"
        )


@dataclass(frozen=True)
class PlacedOp:
    """One operator's device, and what it would cost elsewhere."""

    node: int
    op: str
    layer: str
    device: str
    kernel: str | None
    seconds: float | None  # None: the placement's file does not tell
    joules: float | None
    elsewhere: tuple["Elsewhere", ...]
    title: str  # of the device, for people
    split: SecondHalf | None = None
    told_reason: str | None = None  # by the placement's file; None: the costs are the reason

    @property
    def reason(self) -> str:
        if self.told_reason is not None:
            return self.told_reason
        return "; ".join([f"{_time(self.seconds)} here", *self.more_reasons])

    @property
    def more_reasons(self) -> list[str]:
        shared = [] if self.split is None else [self.split.text]
        return [*shared, *(other.text for other in self.elsewhere)]

    @property
    def place(self) -> str:
        """Returns the device and kernel as the plug-in's option `placement` spells them."""
        own = _on(self.device, self.kernel if self.op == _WITH_KERNELS else None)
        if self.split is None:
            return own
        return f"{own}@{self.split.channels}+{_on(self.split.device, self.split.kernel)}"


@dataclass(frozen=True)
class Elsewhere:
    """Cost of an operator if it were all on this device and the others stayed where they are."""

    device: str
    title: str  # of the device, for people
    seconds: float | None  # None: the device cannot compute it, or it was not measured
    joules: float | None
    more: float | None  # of the objective, in the whole model
    unit: str  # of `more`

    @property
    def text(self) -> str:
        if self.seconds is None:
            return f"not measured on {self.title}"
        if self.more is None:
            return f"{_time(self.seconds)} on {self.title}"
        change = units.amount(abs(self.more), self.unit)
        change += " less" if self.more < 0 else " more"
        return f"{_time(self.seconds)} on {self.title}; there alone it costs {change} in all"

    def to_fields(self) -> dict[str, Any]:
        """Returns the fields of the JSON file."""
        return {key: value for key, value in vars(self).items() if key != "title"}


@dataclass(frozen=True)
class Alternative:
    """Another way to place the model, to compare with."""

    name: str
    seconds: float | None  # None: it is impossible
    joules: float | None
    batch: int
    threads: int


@dataclass(frozen=True)
class Move:
    """A value that is moved."""

    value: str
    source: str
    target: str
    bytes: int
    seconds: float


@dataclass(frozen=True)
class Placement:
    """The placement of a model. Seconds and joules are of one batch.

    `seconds` and those of the alternatives are sums of the profile's rows. `expected` scales such a
    sum to the time of a whole model.
    """

    engine: str
    model: ModelIdentity
    batch: int
    threads: int
    objective: str
    max_energy: float | None
    ops: tuple[PlacedOp, ...]
    moves: tuple[Move, ...]
    seconds: float
    joules: float | None
    bound: float | None  # of all placements of whole layers; None: this one is the best
    way: str
    alternatives: tuple[Alternative, ...]
    falls_back: bool = False  # where a device or kernel is missing when the model runs
    unplaced: Unplaced | None = None  # None: no whole model was measured
    verified: Verified | None = None  # None: the placed model was not run
    busy: str = ""  # how the profile's machine was disturbed; empty if it was quiet or is not known
    area: int | None = None  # that operators take of a device with an area; None if none has one
    most_area: int | None = None

    @property
    def cost(self) -> float:
        """Returns the cost of the objective, of one batch."""
        cost = cost_of(self.objective, self.seconds, self.joules)
        assert cost is not None
        return cost

    def expected(self, seconds: float) -> float:
        """Scales a sum of rows by the ratio of measured and summed time without a placement."""
        return seconds if self.unplaced is None else seconds * self.unplaced.scale

    @property
    def gain(self) -> float | None:
        """Returns how many times as fast as without a placement the model is predicted to be."""
        if self.unplaced is None or not self.seconds:
            return None
        return self.unplaced.rows / self.seconds

    @property
    def not_at_hand(self) -> list[str]:
        """Returns the used devices that only a device file describes, for planning."""
        used = dict.fromkeys(op.device for op in self.ops)
        return [device for device in used if not is_known(device)]

    @property
    def option(self) -> str:
        """Returns the plug-in's option `placement`; empty if a used device is only planned with."""
        if self.not_at_hand:
            return ""
        items = [f"{op.node}:{op.place}" for op in self.ops]
        return ",".join(["fallback"] * self.falls_back + items)

    def to_fields(self) -> dict[str, Any]:
        """Returns the fields of the JSON file."""
        return {
            "larq_engine_placement": VERSION,
            "engine": self.engine,
            "model": {"name": self.model.name, "sha256": self.model.sha256},
            "batch": self.batch,
            "threads": self.threads,
            "objective": self.objective,
            "max_energy": self.max_energy,
            "ops": [
                {
                    "node": op.node,
                    "device": op.device,
                    "kernel": op.kernel,
                    "reason": op.reason,
                    "seconds": op.seconds,
                    "joules": op.joules,
                    "elsewhere": [other.to_fields() for other in op.elsewhere],
                    "split": None if op.split is None else vars(op.split),
                }
                for op in self.ops
            ],
            "moves": [vars(move) for move in self.moves],
            "seconds": self.seconds,
            "joules": self.joules,
            "bound": self.bound,
            "way": self.way,
            "alternatives": [vars(other) for other in self.alternatives],
            "unplaced": None if self.unplaced is None else vars(self.unplaced),
            "verified": None if self.verified is None else vars(self.verified),
            **({} if self.area is None else {"area": self.area, "most_area": self.most_area}),
        }

    def to_json(self) -> str:
        """Returns the text of the JSON file."""
        return json.dumps(self.to_fields(), indent=1, allow_nan=False) + "\n"

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def __repr__(self) -> str:
        return f"<Placement of {self.summarize()}>"

    def summarize(self) -> str:
        """Tells in one line how many operators are on which device, and what is gained."""
        counts = Counter(op.title for op in self.ops)
        where = ", ".join(f"{count} on {title}" for title, count in counts.items())
        return printable(f"{counted(len(self.ops), 'operator')}: {where}; {_gain(self)}")


def cost_of(objective: str, seconds: float | None, joules: float | None) -> float | None:
    """Returns what an objective makes least; None if something of it is impossible or unknown."""
    if objective == "energy":
        return joules
    if objective == "edp":
        return None if seconds is None or joules is None else seconds * joules
    return seconds


def unit_of(objective: str) -> str:
    """Returns the unit of what an objective makes least."""
    return {"energy": "J", "edp": "J s"}.get(objective, "s")


_COLUMNS = ("#", "operator", "layer", "device", "kernel", "time", "why")
_NUMBERS = ("#", "time")


def _lines(placement: Placement) -> list[str]:
    """Returns the lines of the printed placement; the gain comes first."""
    rows = [
        (
            str(op.node),
            op.op,
            op.layer,
            op.title + ("" if op.split is None else f" + {device_title(op.split.device)}"),
            "+".join(filter(None, (op.kernel, op.split.kernel if op.split else None))),
            _time(op.seconds),
            "; ".join(op.more_reasons),
        )
        for op in placement.ops
    ]
    lines = [_gain(placement), ""]
    lines += [*align_columns(_COLUMNS, rows, _NUMBERS), ""]
    lines += [
        f"move {move.value}: {memory_title(move.source)} to {memory_title(move.target)}, "
        f"{units.size(move.bytes)}, {units.seconds(move.seconds)}"
        for move in placement.moves
    ]
    proof = "proven the best"
    if placement.bound is not None:
        bound = placement.bound
        if placement.objective in ("latency", "throughput"):
            bound = placement.expected(bound)
        proof = f"none is below {units.amount(bound, unit_of(placement.objective))}"
    lines += [
        f"{run_name(placement.batch, placement.threads)}: {GOALS[placement.objective]}, {proof} "
        f"({placement.way})",
        f"predicted, {_basis(placement)}:",
        f"  the placement: {_bill(placement, placement.seconds, placement.joules)}",
    ]
    lines += [
        f"  {other.name}: {_bill(placement, other.seconds, other.joules)}"
        for other in placement.alternatives
    ]
    unplaced = placement.unplaced
    if unplaced is not None:
        called = device_title(unplaced.device)
        lines.append(f"measured: {called}, without a placement: {units.seconds(unplaced.seconds)}")
    if placement.area is not None:
        lines.append(f"area: {placement.area} of {placement.most_area}")
    if placement.busy:
        lines.append(f"busy machine: the profile's times are doubtful ({placement.busy})")
    return [printable(line) for line in lines]


def _basis(placement: Placement) -> str:
    if placement.unplaced is None:
        return "as the sums of operators' times, as the profile has no whole model"
    return "at the scale of the whole model's measured time"


def _gain(placement: Placement) -> str:
    """Describes the measured gain or, if the placed model was not run, the predicted one."""
    verified, gain = placement.verified, placement.gain
    if verified is not None:
        return (
            f"{units.seconds(verified.seconds)} placed, "
            f"{units.seconds(verified.unplaced_seconds)} without: {verified.text}"
        )
    time = units.seconds(placement.expected(placement.seconds))
    if gain is None:
        return f"{time}, predicted"
    assert placement.unplaced is not None
    return (
        f"{time}, predicted: {gain:.2f}x as fast as without a placement "
        f"({units.seconds(placement.unplaced.seconds)}, measured)"
    )


def _bill(placement: Placement, seconds: float | None, joules: float | None) -> str:
    time = "cannot be" if seconds is None else units.seconds(placement.expected(seconds))
    return time if joules is None else f"{time}, {units.joules(joules)}"


def _time(seconds: float | None) -> str:
    return "unknown" if seconds is None else units.seconds(seconds)


def _on(device: str, kernel: str | None) -> str:
    """Returns the device and kernel as the plug-in's option `placement` spells them."""
    known = device.partition(":")[0]
    return f"{known}:{kernel}" if kernel and known != HOST else known


def run_name(batch: int, threads: int) -> str:
    """Describes a batch and a number of threads."""
    return f"batch {batch}, {threads} thread" + ("" if threads == 1 else "s")
