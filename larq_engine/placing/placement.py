"""The placement of a profiled model: chosen, with what it costs, why, and what else would cost."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from larq_engine.placing.costs import Costs, choose_devices, costs_of
from larq_engine.placing.greedy import greedy
from larq_engine.placing.problem import cost_of, moves_of
from larq_engine.placing.profile_file import ModelIdentity, Profile
from larq_engine.placing.solve import Solution, solve
from larq_engine.placing.split import Split, find_splits
from larq_engine.placing.two_costs import least_product, least_within
from larq_engine.python.text_table import align_columns, printable

VERSION = 1

OBJECTIVES = ("latency", "throughput", "energy", "edp")

AUTO = "auto"

# Where the plug-in can put an operator; others are of devices' files, for planning.
_ENGINE_DEVICES = ("host", "cpu", "cuda")


@dataclass(frozen=True)
class PlacedOp:
    """Where an operator runs, and what it would cost elsewhere."""

    node: int
    op: str
    layer: str
    device: str
    kernel: str | None
    seconds: float
    joules: float | None
    elsewhere: tuple["Elsewhere", ...]

    @property
    def reason(self) -> str:
        here = f"{_time(self.seconds)} here"
        return "; ".join([here, *(other.text for other in self.elsewhere)])


@dataclass(frozen=True)
class Elsewhere:
    """An operator on another device, and all others where they are."""

    device: str
    seconds: float | None  # None: the device cannot, or it was not measured
    joules: float | None
    more: float | None  # of the objective, in all
    unit: str  # of `more`

    @property
    def text(self) -> str:
        if self.seconds is None:
            return f"not measured on {self.device}"
        if self.more is None:
            return f"{_time(self.seconds)} on {self.device}"
        change = _time(abs(self.more)) if self.unit == "s" else f"{abs(self.more):.4g} {self.unit}"
        change += " less" if self.more < 0 else " more"
        return f"{_time(self.seconds)} on {self.device}; there alone it costs {change} in all"


@dataclass(frozen=True)
class Alternative:
    """Another way to place the model, to compare with."""

    name: str
    seconds: float | None  # None: it cannot be
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
    """The result. Seconds and joules are of one batch."""

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
    bound: float | None  # below which none is; None where the placement is proven the best
    way: str
    alternatives: tuple[Alternative, ...]
    splits: tuple[dict[str, Any], ...]
    falls_back: bool = False  # for what is not there when the model runs

    @property
    def not_at_hand(self) -> list[str]:
        """The devices among its own that only a device file describes."""
        used = dict.fromkeys(op.device for op in self.ops)
        return [device for device in used if device.partition(":")[0] not in _ENGINE_DEVICES]

    @property
    def option(self) -> str:
        """The plug-in's option `placement`; empty where it has no such devices."""
        if self.not_at_hand:
            return ""
        devices = [op.device.partition(":")[0] for op in self.ops]
        items = [
            f"{op.node}:{device}" + (f":{op.kernel}" if op.kernel and device != "host" else "")
            for op, device in zip(self.ops, devices, strict=True)
        ]
        return ",".join(["fallback"] * self.falls_back + items)

    def to_fields(self) -> dict[str, Any]:
        """The fields of the JSON file."""
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
                    "elsewhere": [vars(other) for other in op.elsewhere],
                }
                for op in self.ops
            ],
            "moves": [vars(move) for move in self.moves],
            "seconds": self.seconds,
            "joules": self.joules,
            "bound": self.bound,
            "way": self.way,
            "alternatives": [vars(other) for other in self.alternatives],
            "splits": list(self.splits),
        }

    def to_json(self) -> str:
        """The JSON file."""
        return json.dumps(self.to_fields(), indent=1, allow_nan=False) + "\n"

    def __str__(self) -> str:
        return "\n".join(_lines(self))


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
    """The best placement of a profiled model.

    Args:
        profile: What was measured.
        objective: "latency" or "throughput": least seconds; "energy": least joules; "edp": least
            product of both.
        batch: A batch of the profile; "auto": that of least cost an image; None: the smallest.
        threads: A number of threads of the profile; None: the best.
        max_energy: The least seconds with at most so many joules a batch.
        devices: Names of those that may be used; None: all.
        channels: Output channels of the operators, by id, that could be split over two devices.
        engine: The version that the placement is made by.
        falls_back: Whether operators go where the plug-in's options say if their device or kernel
            is not there when the model runs, which is an error else.

    Raises:
        ValueError: The profile lacks what is asked for, or nothing can compute an operator.
    """
    _check(profile, objective, batch, threads, max_energy)
    chosen = choose_devices(profile, devices)
    batches = profile.batches()
    if batch != AUTO:
        batches = [min(batches) if batch is None else int(batch)]
    numbers = profile.threads() if threads is None else [threads]
    least_energy = objective == "energy"
    needs_joules = _needs_joules(objective, max_energy)
    tried: list[tuple[float, Costs, Solution]] = []
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
            tried.append((solution.cost / images, costs, solution))
    if not tried:
        raise ValueError(problem)
    # The first of equal ones: the smallest batch, the fewest threads.
    _, costs, solution = min(tried, key=lambda entry: entry[0])
    alternatives = [
        _alternative(_run_name(other.batch, other.threads), other, found.devices)
        for _, other, found in tried
        if other is not costs
    ]
    splits = (
        []
        if objective in ("energy", "edp")
        else find_splits(profile, costs, solution.devices, channels or {})
    )
    seconds, joules = _totals(costs, solution.devices)
    assert seconds is not None
    return Placement(
        engine=engine,
        model=profile.model,
        batch=costs.batch,
        threads=costs.threads,
        objective=objective,
        max_energy=max_energy,
        ops=_ops(profile, costs, solution, objective),
        moves=_moves(profile, costs, solution.devices),
        seconds=seconds,
        joules=joules,
        cost=solution.cost,
        bound=None if solution.exact else solution.bound,
        way=solution.way,
        alternatives=(*_baselines(costs), *alternatives),
        splits=tuple(_split_fields(profile, costs, split, solution.devices) for split in splits),
        falls_back=falls_back,
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
            f"energy: expected a profile with joules, got one without ({profile.energy})"
        )
    if max_energy is not None:
        if objective not in ("latency", "throughput"):
            raise ValueError(
                f"max_energy: expected the objective latency or throughput, got {objective}"
            )
        if not (np.isfinite(max_energy) and max_energy > 0):
            raise ValueError(f"max_energy: expected joules above 0, got {max_energy}")


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


def _totals(costs: Costs, devices: Sequence[int]) -> tuple[float | None, float | None]:
    return (
        _known(cost_of(costs.seconds, devices)),
        _known(cost_of(costs.joules, devices)),
    )


def _known(cost: float) -> float | None:
    return cost if np.isfinite(cost) else None


def _objective_of(costs: Costs, devices: Sequence[int], objective: str) -> float | None:
    seconds, joules = _totals(costs, devices)
    if objective == "energy":
        return joules
    if objective == "edp":
        return None if seconds is None or joules is None else seconds * joules
    return seconds


def _ops(
    profile: Profile, costs: Costs, solution: Solution, objective: str
) -> tuple[PlacedOp, ...]:
    placed = []
    unit = {"energy": "J", "edp": "J s"}.get(objective, "s")
    for op, device in zip(profile.ops, solution.devices, strict=True):
        elsewhere = []
        for other, known in enumerate(costs.devices):
            entry = costs.measured[op.id][other]
            if other == device:
                continue
            if entry is None:
                elsewhere.append(Elsewhere(known.name, None, None, None, unit))
                continue
            moved = [*solution.devices[: op.id], other, *solution.devices[op.id + 1 :]]
            cost = _objective_of(costs, moved, objective)
            now = _objective_of(costs, solution.devices, objective)
            more = None if cost is None or now is None else cost - now
            elsewhere.append(Elsewhere(known.name, entry.seconds.median, entry.joules, more, unit))
        own = costs.measured[op.id][device]
        assert own is not None
        placed.append(
            PlacedOp(
                op.node,
                op.op,
                op.layer,
                costs.devices[device].name,
                own.kernel,
                own.seconds.median,
                own.joules,
                tuple(elsewhere),
            )
        )
    return tuple(placed)


def _moves(profile: Profile, costs: Costs, devices: Sequence[int]) -> tuple[Move, ...]:
    return tuple(
        Move(
            profile.values[value].name,
            costs.memories[source],
            costs.memories[target],
            profile.values[value].bytes[costs.batch],
            float(costs.seconds.move_cost[value, source, target]),
        )
        for value, source, target in moves_of(costs.seconds, devices)
    )


def _baselines(costs: Costs) -> list[Alternative]:
    """What people do without a placement."""
    cost = costs.seconds.op_cost
    found = []
    for number, device in enumerate(costs.devices):
        can = np.isfinite(cost[:, number])
        devices = [
            number if able else int(row.argmin()) for able, row in zip(can, cost, strict=True)
        ]
        name = f"all on {device.name}" + ("" if can.all() else ", and where it cannot the fastest")
        found.append(_alternative(name, costs, devices))
    mapped, paid = greedy(costs.seconds)
    name = "greedy, each layer moving its own (HEP-BNN)"
    found.append(Alternative(name, _known(paid), None, costs.batch, costs.threads))
    found.append(_alternative("the same devices, values staying where they are", costs, mapped))
    return found


def _alternative(name: str, costs: Costs, devices: Sequence[int]) -> Alternative:
    return Alternative(name, *_totals(costs, devices), costs.batch, costs.threads)


def _split_fields(
    profile: Profile, costs: Costs, split: Split, devices: Sequence[int]
) -> dict[str, Any]:
    node = profile.ops[split.op].node
    own = costs.devices[devices[split.op]].name
    return {
        "node": node,
        "device": costs.devices[split.device].name,
        "item": f"{node}:{costs.devices[split.device].name}@{split.channels}+{own}",
        "channels": split.channels,
        "of": split.of,
        "seconds": split.seconds,
        "saved": split.saved,
    }


_COLUMNS = ("#", "operator", "layer", "device", "kernel", "time", "why")
_NUMBERS = ("#", "time")


def _lines(placement: Placement) -> list[str]:
    rows = [
        (
            str(op.node),
            op.op,
            op.layer,
            op.device,
            op.kernel or "",
            _time(op.seconds),
            "; ".join(other.text for other in op.elsewhere),
        )
        for op in placement.ops
    ]
    lines = [*align_columns(_COLUMNS, rows, _NUMBERS), ""]
    lines += [
        f"move {move.value}: {move.source} to {move.target}, {move.bytes} bytes, "
        f"{_time(move.seconds)}"
        for move in placement.moves
    ]
    proof = "proven the best" if placement.bound is None else f"none is below {placement.bound:.4g}"
    lines.append(
        f"{_run_name(placement.batch, placement.threads)}: "
        f"{_bill(placement.seconds, placement.joules)}; least {placement.objective}, {proof} "
        f"({placement.way})"
    )
    lines += [
        f"  {other.name}: {_bill(other.seconds, other.joules)}" for other in placement.alternatives
    ]
    lines += [
        f"  split node {split['node']}: {split['channels']} of {split['of']} channels on "
        f"{split['device']} at the same time would save {_time(split['saved'])} "
        f"({split['item']})"
        for split in placement.splits
    ]
    return [printable(line) for line in lines]


def _bill(seconds: float | None, joules: float | None) -> str:
    time = "cannot be" if seconds is None else _time(seconds)
    return time if joules is None else f"{time}, {joules:.4g} J"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"


def _run_name(batch: int, threads: int) -> str:
    return f"batch {batch}, {threads} thread" + ("" if threads == 1 else "s")
