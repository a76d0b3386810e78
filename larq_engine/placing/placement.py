"""Chooses the placement of a profiled model, and says what it costs, why, and what others cost."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from larq_engine.placing.costs import Costs, choose_devices, costs_of
from larq_engine.placing.device_names import device_title, memory_title
from larq_engine.placing.greedy import greedy
from larq_engine.placing.problem import moves_of
from larq_engine.placing.profile_file import Device, ModelIdentity, Profile
from larq_engine.placing.solve import Solution, solve
from larq_engine.placing.split import (
    Split,
    Splits,
    choose_splits,
    helpers_of,
    joules_of,
    moves_home,
    part_joules,
    part_seconds,
    seconds_of,
)
from larq_engine.placing.two_costs import least_product, least_within
from larq_engine.placing.unplaced import Unplaced, Verified, find_unplaced
from larq_engine.python.text_table import align_columns, counted, printable

VERSION = 1

# Names of the objectives, in words.
GOALS = {
    "latency": "least latency",
    "throughput": "most throughput",
    "energy": "least energy",
    "edp": "least product of energy and time",
}
OBJECTIVES = tuple(GOALS)

AUTO = "auto"

# Devices that the plug-in can use; others come from device files and are for planning.
_ENGINE_DEVICES = ("host", "cpu", "cuda")

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
            f"{device_title(self.device)}, which saves {_time(self.saved)} in all"
        )


@dataclass(frozen=True)
class PlacedOp:
    """One operator's device, and what it would cost elsewhere."""

    node: int
    op: str
    layer: str
    device: str
    kernel: str | None
    seconds: float
    joules: float | None
    elsewhere: tuple["Elsewhere", ...]
    title: str  # of the device, for people
    split: SecondHalf | None = None

    @property
    def reason(self) -> str:
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
        change = _time(abs(self.more)) if self.unit == "s" else f"{abs(self.more):.4g} {self.unit}"
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
    cost: float  # of the objective, of one batch
    bound: float | None  # of all placements of whole layers; None: this one is the best
    way: str
    alternatives: tuple[Alternative, ...]
    falls_back: bool = False  # where a device or kernel is missing when the model runs
    unplaced: Unplaced | None = None  # None: no whole model was measured
    verified: Verified | None = None  # None: the placed model was not run

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
        """Returns the used devices that only a device file describes."""
        used = dict.fromkeys(op.device for op in self.ops)
        return [device for device in used if device.partition(":")[0] not in _ENGINE_DEVICES]

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


def place_profile(
    profile: Profile,
    *,
    objective: str = "latency",
    batch: int | str | None = None,
    threads: int | None = None,
    max_energy: float | None = None,
    devices: Sequence[str] | None = None,
    channels: Mapping[int, int] | None = None,
    engine: str = "",
    falls_back: bool = False,
) -> Placement:
    """Returns the best placement of a profiled model.

    Args:
        profile: The measured costs.
        objective: "latency" or "throughput": least seconds; "energy": least joules; "edp": least
            product of both.
        batch: A batch of the profile; "auto": the one of least cost for each image; None: the
            smallest.
        threads: A number of threads of the profile; None: the best.
        max_energy: The most joules that a batch may take; for "latency" and "throughput" only.
        devices: Names of the devices that may be used; None: all.
        channels: Output channels of the operators, by id, that two devices can share.
        engine: The version of the engine, which the placement records.
        falls_back: Whether an operator goes where the plug-in's options say if its device or kernel
            is missing when the model runs; else that is an error.

    Raises:
        ValueError: The profile lacks what is asked for, or nothing can compute an operator.
    """
    _check(profile, objective, batch, threads, max_energy)
    chosen = choose_devices(profile, devices)
    _check_gpus(chosen)
    batches = profile.batches()
    if batch != AUTO:
        batches = [min(batches) if batch is None else int(batch)]
    numbers = profile.threads() if threads is None else [threads]
    least_energy = objective == "energy"
    needs_joules = _needs_joules(objective, max_energy)
    shared = {} if _needs_joules(objective, max_energy) else channels or {}
    tried: list[tuple[float, Costs, Solution, Splits]] = []
    problem = ""
    for size in batches:
        for number in numbers:
            costs = costs_of(profile, size, number, chosen, least_energy, needs_joules)
            try:
                _check_all_known(profile, costs, needs_joules)
                solution = _solve(costs, objective, max_energy)
            except ValueError as error:
                problem = f"{_run_name(size, number)}: {error}"
                continue
            images = size**2 if objective == "edp" else size
            splits = choose_splits(costs, solution.devices, shared)
            cost = _objective_of(costs, solution.devices, splits.chosen, objective)
            assert cost is not None
            tried.append((cost / images, costs, solution, splits))
    if not tried:
        raise ValueError(problem)
    # Among equal ones, min takes the first: the smallest batch and the fewest threads.
    _, costs, solution, splits = min(tried, key=lambda entry: entry[0])
    alternatives = [
        _alternative(_run_name(other.batch, other.threads), other, found.devices, some.chosen)
        for _, other, found, some in tried
        if other is not costs
    ]
    if splits.chosen:
        alternatives.insert(0, _alternative("each layer on one device", costs, solution.devices))
    seconds, joules = _totals(costs, solution.devices, splits.chosen)
    cost = _objective_of(costs, solution.devices, splits.chosen, objective)
    assert seconds is not None and cost is not None
    return Placement(
        engine=engine,
        model=profile.model,
        batch=costs.batch,
        threads=costs.threads,
        objective=objective,
        max_energy=max_energy,
        ops=_ops(profile, costs, solution.devices, splits.chosen, objective),
        moves=_moves(profile, costs, solution.devices, splits.chosen),
        seconds=seconds,
        joules=joules,
        cost=cost,
        bound=None if solution.exact else solution.bound,
        way=_way(solution, splits),
        alternatives=(*_baselines(costs), *alternatives),
        falls_back=falls_back,
        unplaced=find_unplaced(profile, costs.batch, costs.threads),
    )


def _check(
    profile: Profile,
    objective: str,
    batch: int | str | None,
    threads: int | None,
    max_energy: float | None,
) -> None:
    if objective not in OBJECTIVES:
        raise ValueError(f"objective: expected one of {', '.join(OBJECTIVES)}, got '{objective}'")
    for what, asked, known in (
        ("batch", batch if batch != AUTO else None, profile.batches()),
        ("threads", threads, profile.threads()),
    ):
        if asked is not None and asked not in known:
            raise ValueError(
                f"{what}: expected one of the profile's ({', '.join(map(str, known))}), got "
                f"{asked}; profile the model with it"
            )
    if _needs_joules(objective, max_energy) and all(
        entry.joules is None for entry in profile.measurements
    ):
        raise ValueError(
            f"energy: expected a profile with joules, got one without ({profile.energy}); profile "
            "where there are counters, or with --energy SENSOR"
        )
    if max_energy is not None:
        if objective not in ("latency", "throughput"):
            raise ValueError(
                f"max_energy: expected the objective latency or throughput, got {objective}"
            )
        if not (np.isfinite(max_energy) and max_energy > 0):
            raise ValueError(f"max_energy: expected joules above 0, got {max_energy}")


def _check_gpus(devices: Sequence[Device]) -> None:
    """Checks that there is one GPU at most: a placement cannot name which GPU an operator is on."""
    gpus = [device.name for device in devices if device.name.partition(":")[0] == "cuda"]
    if len(gpus) > 1:
        raise ValueError(
            "devices: expected one GPU at most, as a model runs on one at a time, got "
            f"{', '.join(gpus)}; name the devices that may be used"
        )


def _needs_joules(objective: str, max_energy: float | None) -> bool:
    return objective in ("energy", "edp") or max_energy is not None


def _check_all_known(profile: Profile, costs: Costs, needs_joules: bool) -> None:
    table = costs.joules.op_cost if needs_joules else costs.seconds.op_cost
    for op in profile.ops:
        if np.isinf(table[op.id]).all():
            names = ", ".join(device.name for device in costs.devices)
            raise ValueError(
                f"{op.op} (node {op.node}): expected its {'joules' if needs_joules else 'time'} on "
                f"one of {names}, got none; take more devices, or profile it there"
            )


def _solve(costs: Costs, objective: str, max_energy: float | None) -> Solution:
    if max_energy is not None:
        try:
            return least_within(costs.seconds, costs.joules, max_energy)
        except ValueError as error:
            raise ValueError(f"max_energy: {error} joules a batch") from None
    if objective == "energy":
        return solve(costs.joules)
    if objective == "edp":
        return least_product(costs.seconds, costs.joules)
    return solve(costs.seconds)


def _way(solution: Solution, splits: Splits) -> str:
    if not splits.chosen:
        return solution.way
    how = "all sets of layers tried" if splits.all_tried else "some layers added one by one"
    return f"{solution.way} for whole layers; then layers on two devices: {how}"


def _totals(
    costs: Costs, devices: Sequence[int], splits: Sequence[Split] = ()
) -> tuple[float | None, float | None]:
    return (
        _known(seconds_of(costs, devices, splits)),
        _known(joules_of(costs, devices, splits)),
    )


def _known(cost: float) -> float | None:
    return cost if np.isfinite(cost) else None


def _objective_of(
    costs: Costs, devices: Sequence[int], splits: Sequence[Split], objective: str
) -> float | None:
    seconds, joules = _totals(costs, devices, splits)
    if objective == "energy":
        return joules
    if objective == "edp":
        return None if seconds is None or joules is None else seconds * joules
    return seconds


def _ops(
    profile: Profile,
    costs: Costs,
    devices: Sequence[int],
    splits: Sequence[Split],
    objective: str,
) -> tuple[PlacedOp, ...]:
    now = _objective_of(costs, devices, splits, objective)
    split_of = {split.op: split for split in splits}
    placed = []
    for op, device in zip(profile.ops, devices, strict=True):
        split = split_of.get(op.id)
        others = [other for other in splits if other is not split]
        elsewhere = []
        for other in range(len(costs.devices)):
            if other != device or split is not None:
                moved = [*devices[: op.id], other, *devices[op.id + 1 :]]
                cost = _objective_of(costs, moved, others, objective)
                more = None if cost is None or now is None else cost - now
                elsewhere.append(_elsewhere(costs, op.id, other, more, objective))
        own = costs.measured[op.id][device]
        assert own is not None
        placed.append(
            PlacedOp(
                op.node,
                op.op,
                op.layer,
                costs.devices[device].name,
                own.kernel,
                own.seconds.median if split is None else part_seconds(costs, devices, split),
                own.joules if split is None else _known(part_joules(costs, devices, split)),
                tuple(elsewhere),
                costs.devices[device].called,
                None if split is None else _second_half(costs, devices, splits, split),
            )
        )
    return tuple(placed)


def _elsewhere(costs: Costs, op: int, device: int, more: float | None, objective: str) -> Elsewhere:
    unit = {"energy": "J", "edp": "J s"}.get(objective, "s")
    name, title = costs.devices[device].name, costs.devices[device].called
    entry = costs.measured[op][device]
    if entry is None:
        return Elsewhere(name, title, None, None, None, unit)
    return Elsewhere(name, title, entry.seconds.median, entry.joules, more, unit)


def _second_half(
    costs: Costs, devices: Sequence[int], splits: Sequence[Split], split: Split
) -> SecondHalf:
    entry = costs.measured[split.op][split.second]
    assert entry is not None
    without = [other for other in splits if other is not split]
    return SecondHalf(
        costs.devices[split.second].name,
        entry.kernel,
        split.channels,
        split.of,
        seconds_of(costs, devices, without) - seconds_of(costs, devices, splits),
    )


def _moves(
    profile: Profile, costs: Costs, devices: Sequence[int], splits: Sequence[Split]
) -> tuple[Move, ...]:
    whole = [
        (value, source, target, 1.0, float(costs.seconds.move_cost[value, source, target]))
        for value, source, target in moves_of(costs.seconds, devices, helpers_of(splits))
    ]
    parts = [
        (move.value, move.source, move.target, move.share, move.seconds)
        for split in splits
        for move in moves_home(costs, devices, split)
    ]
    return tuple(
        Move(
            profile.values[value].name,
            costs.memories[source],
            costs.memories[target],
            round(profile.values[value].bytes[costs.batch] * share),
            seconds,
        )
        for value, source, target, share, seconds in sorted(whole + parts)
    )


def _baselines(costs: Costs) -> list[Alternative]:
    """Returns what people do without a placement: one device for all that it can compute."""
    cost = costs.seconds.op_cost
    found = []
    for number, device in enumerate(costs.devices):
        can = np.isfinite(cost[:, number])
        devices = [
            number if able else int(row.argmin()) for able, row in zip(can, cost, strict=True)
        ]
        rest = "" if can.all() else "; what it cannot, where that is fastest"
        name = f"all on {device.called}{rest}"
        found.append(_alternative(name, costs, devices))
    mapped, paid = greedy(costs.seconds)
    name = "greedy, each layer moving its own (HEP-BNN)"
    found.append(Alternative(name, _known(paid), None, costs.batch, costs.threads))
    found.append(_alternative("the same devices, values staying where they are", costs, mapped))
    return found


def _alternative(
    name: str, costs: Costs, devices: Sequence[int], splits: Sequence[Split] = ()
) -> Alternative:
    return Alternative(name, *_totals(costs, devices, splits), costs.batch, costs.threads)


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
        f"{move.bytes} bytes, {_time(move.seconds)}"
        for move in placement.moves
    ]
    proof = "proven the best"
    if placement.bound is not None:
        bound = placement.bound
        if placement.objective in ("latency", "throughput"):
            bound = placement.expected(bound)
        proof = f"none is below {bound:.4g}"
    lines += [
        f"{_run_name(placement.batch, placement.threads)}: {GOALS[placement.objective]}, {proof} "
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
        lines.append(f"measured: {called}, without a placement: {_time(unplaced.seconds)}")
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
            f"{_time(verified.seconds)} placed, {_time(verified.unplaced_seconds)} without: "
            f"{verified.text}"
        )
    time = _time(placement.expected(placement.seconds))
    if gain is None:
        return f"{time}, predicted"
    assert placement.unplaced is not None
    return (
        f"{time}, predicted: {gain:.2f}x as fast as without a placement "
        f"({_time(placement.unplaced.seconds)}, measured)"
    )


def _bill(placement: Placement, seconds: float | None, joules: float | None) -> str:
    time = "cannot be" if seconds is None else _time(placement.expected(seconds))
    return time if joules is None else f"{time}, {joules:.4g} J"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"


def _on(device: str, kernel: str | None) -> str:
    """Returns the device and kernel as the plug-in's option `placement` spells them."""
    known = device.partition(":")[0]
    return f"{known}:{kernel}" if kernel and known != "host" else known


def _run_name(batch: int, threads: int) -> str:
    return f"batch {batch}, {threads} thread" + ("" if threads == 1 else "s")
