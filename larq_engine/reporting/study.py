"""Collects what is shown: a profile and its placement at one batch and one number of threads."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from larq_engine.placing import split as splitting
from larq_engine.placing.costs import Costs, costs_of, measured_at
from larq_engine.placing.placement import Elsewhere, PlacedOp, Placement, SecondHalf
from larq_engine.placing.problem import gains_of, moves_of
from larq_engine.placing.profile import Measurement, Op, Profile, Timing, Total, Value
from larq_engine.placing.unplaced import Unplaced, find_unplaced, total_of


@dataclass(frozen=True)
class OpStudy:
    """An operator with its device, and its cost there and elsewhere."""

    op: Op
    device: str | None  # None: it was measured nowhere
    chosen: Measurement | None  # by itself there; if split, until both devices are done
    reason: str
    elsewhere: Mapping[str, Elsewhere]  # where the additional cost is known, by device
    alone: tuple[Measurement, ...]  # of the operator without fusing, the fastest first
    fused: tuple[Measurement, ...]  # runs that include it
    split: SecondHalf | None = None

    @property
    def is_whole(self) -> bool:
        """Tells whether one device computes the operator."""
        return self.split is None


@dataclass(frozen=True)
class Move:
    """A value that is moved to another memory, once for all its readers there.

    Of a split operator's output, a part is moved to the memory of the rest. The operator itself
    reads that part.
    """

    value: Value
    source: str
    target: str
    producer: int | None  # an operator; None for the caller
    readers: tuple[int, ...]  # operators; empty if the caller reads it
    size: int
    seconds: float | None
    joules: float | None


@dataclass(frozen=True)
class Study:
    """A profile and a placement, at one batch and one number of threads."""

    profile: Profile
    placement: Placement | None
    batch: int
    threads: int
    ops: tuple[OpStudy, ...]
    moves: tuple[Move, ...]
    saved: float  # seconds that fused runs save
    unplaced: Unplaced | None  # None: the model without a placement was not measured

    def expected(self, seconds: float) -> float:
        """Scales a sum of rows to the time of a whole model."""
        return seconds if self.unplaced is None else seconds * self.unplaced.scale

    def called(self, device: str) -> str:
        """Returns a device's name for people."""
        return self.profile.called(device)

    def place(self, op: OpStudy) -> str:
        """Names the device of an operator, or both devices of a split one."""
        if op.device is None:
            return "no device"
        second = "" if op.split is None else f" and {self.called(op.split.device)}"
        return f"{self.called(op.device)}{second}"

    def device_number(self, name: str) -> int:
        """Returns the position of a device among the profile's."""
        return [device.name for device in self.profile.devices].index(name)

    def ops_on(self, device: str) -> list[OpStudy]:
        """Returns the operators whose device this is."""
        return [op for op in self.ops if op.device == device]

    def fastest_on(self, op: OpStudy, device: str) -> Measurement | None:
        """Returns the operator's time without fusing, with the device's best kernel."""
        return next((entry for entry in op.alone if entry.device == device), None)

    def total_of(self, device: str) -> Total | None:
        """Returns the measured time of the whole model on the device."""
        return total_of(self.profile, device, self.batch, self.threads)


def make_study(
    profile: Profile, placement: Placement | None, batch: int | None, threads: int | None
) -> Study:
    """Chooses what is shown.

    Args:
        profile: The measured costs.
        placement: The operators' devices; None: each operator is where it is fastest, seen by
            itself.
        batch: A batch that was measured; None: the placement's, else the smallest.
        threads: A number of threads likewise.

    Raises:
        ValueError: Nothing was measured there, or the placement is for something else.
    """
    batch = _point(
        "batch", batch, profile.batches(), None if placement is None else placement.batch
    )
    threads = _point(
        "threads", threads, profile.threads(), None if placement is None else placement.threads
    )
    entries = [
        entry
        for device in profile.devices
        for entry in measured_at(profile, device, batch, threads)
    ]
    if not entries:
        raise ValueError(
            f"batch {batch}, threads {threads}: expected two that were measured together, got two "
            f"that never were; the profile has batches {profile.batches()}, threads "
            f"{profile.threads()}"
        )
    placed = {} if placement is None else {op.node: op for op in placement.ops}
    ops = tuple(_study_op(op, entries, placed.get(op.node)) for op in profile.ops)
    costs = costs_of(profile, batch, threads, profile.devices)
    devices = _device_numbers(ops, costs)
    splits = _splits(ops, costs)
    seconds = {split.op: splitting.part_seconds(costs, devices, split) for split in splits}
    ops = tuple(_share(op, seconds[op.op.id]) if op.op.id in seconds else op for op in ops)
    moves = _moves(profile, devices, splits, costs)
    gains = gains_of(costs.seconds, devices, splitting.helpers_of(splits))
    saved = sum(gain.saved for gain in gains)
    unplaced = find_unplaced(profile, batch, threads)
    return Study(profile, placement, batch, threads, ops, moves, saved, unplaced)


def _point(what: str, asked: int | None, measured: Sequence[int], placed: int | None) -> int:
    if asked is not None and placed is not None and asked != placed:
        raise ValueError(f"{what}: expected the placement's, {placed}, got {asked}; leave it out")
    point = next(value for value in (asked, placed, measured[0]) if value is not None)
    if point not in measured:
        raise ValueError(f"{what}: expected one of those measured, {measured}, got {point}")
    return point


def _study_op(op: Op, entries: Sequence[Measurement], placed: PlacedOp | None) -> OpStudy:
    def median(entry: Measurement) -> float:
        return entry.seconds.median

    alone = sorted((entry for entry in entries if entry.ops == (op.id,)), key=median)
    fused = sorted(
        (entry for entry in entries if len(entry.ops) > 1 and op.id in entry.ops), key=median
    )
    device = alone[0].device if alone else None
    kernel, reason = None, "fastest here alone; no placement was given" if alone else ""
    elsewhere: Mapping[str, Elsewhere] = {}
    split = None
    if placed is not None:
        device, kernel, reason, split = placed.device, placed.kernel, placed.reason, placed.split
        elsewhere = {other.device: other for other in placed.elsewhere if other.more is not None}
    there = [entry for entry in alone if entry.device == device]
    chosen = next((entry for entry in there if kernel is None or entry.kernel == kernel), None)
    return OpStudy(op, device, chosen, reason, elsewhere, tuple(alone), tuple(fused), split)


def _splits(ops: Sequence[OpStudy], costs: Costs) -> list[splitting.Split]:
    names = [device.name for device in costs.devices]
    splits = []
    for op in ops:
        if op.split is not None:
            second = names.index(op.split.device)
            if costs.measured[op.op.id][second] is None:
                raise ValueError(
                    f"placement: node {op.op.node}: expected its time on {op.split.device}, which "
                    "computes a part of it, got none; take the profile that it was made of"
                )
            splits.append(splitting.Split(op.op.id, second, op.split.channels, op.split.of))
    return splits


def _share(op: OpStudy, seconds: float) -> OpStudy:
    """Returns the operator with the time until both devices are done as its time."""
    if op.chosen is None or op.split is None:
        return op
    kernels = "+".join(filter(None, (op.chosen.kernel, op.split.kernel))) or None
    shared = replace(
        op.chosen,
        kernel=kernels,
        seconds=Timing(seconds),
        joules=None,
        limit_seconds=None,
        cut_seconds=None,
    )
    return replace(op, chosen=shared)


def _moves(
    profile: Profile, devices: Sequence[int], splits: Sequence[splitting.Split], costs: Costs
) -> tuple[Move, ...]:
    producers = {value: op.id for op in profile.ops for value in op.outputs}
    helpers = splitting.helpers_of(splits)
    memory_of = costs.seconds.memory_of
    moves = []
    for number, source, target in moves_of(costs.seconds, devices, helpers):
        there = [
            reader
            for reader in costs.seconds.values[number].readers
            if target
            in (memory_of[devices[reader]], memory_of[helpers.get(reader, devices[reader])])
        ]
        moves.append(
            Move(
                profile.values[number],
                costs.memories[source],
                costs.memories[target],
                producers.get(number),
                tuple(there),
                profile.values[number].bytes[costs.batch],
                _known(costs.seconds.move_cost[number, source, target]),
                _known(costs.joules.move_cost[number, source, target]),
            )
        )
    moves += [
        Move(
            profile.values[move.value],
            costs.memories[move.source],
            costs.memories[move.target],
            split.op,
            (split.op,),
            round(profile.values[move.value].bytes[costs.batch] * move.share),
            _known(move.seconds),
            _known(move.joules),
        )
        for split in splits
        for move in splitting.moves_home(costs, devices, split)
    ]
    return tuple(sorted(moves, key=lambda move: (move.value.id, move.source, move.target)))


def _device_numbers(ops: Sequence[OpStudy], costs: Costs) -> list[int]:
    """Numbers the operators' devices; an operator that was measured nowhere is on the first one."""
    names = [device.name for device in costs.devices]
    return [0 if op.device is None else names.index(op.device) for op in ops]


def _known(cost: float) -> float | None:
    return float(cost) if math.isfinite(cost) else None
