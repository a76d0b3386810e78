"""Splits layers by output channels between two devices that compute at the same time.

The first device is the one that the placement gives the layer: it computes the first channels and
joins both parts. The second device computes the other channels. Only the computing overlaps: inputs
that the second device's memory lacks are moved to it before, and its part of the output is moved to
the first device after. A device's time for a part of the channels is that part of its time for all.
A layer on two devices is in no fused run.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from larq_engine.placing.costs import Costs
from larq_engine.placing.problem import Problem, cost_of, gains_of
from larq_engine.python.devices import ACCELERATORS, CPU

# The first device computes a multiple of this number of channels: they are bits of words, and
# kernels compute blocks of them.
STEP = 32

# Most sets of dependent layers that are all tried: the sets of 12 layers.
_SETS = 1 << 12

# Most splits that are tried; the plug-in cuts no more layers.
_MAX_SPLITS = 1024

# Relative difference that sums of the same costs in another order may have.
_SAME = 1e-9


@dataclass(frozen=True)
class Split:
    """A layer whose last channels a second device computes."""

    op: int
    second: int  # device
    channels: int  # of the first device
    of: int

    @property
    def share(self) -> float:
        """Returns the first device's part of the channels."""
        return self.channels / self.of


@dataclass(frozen=True)
class Splits:
    """The chosen splits, and how they were chosen."""

    chosen: tuple[Split, ...]
    all_tried: bool  # else some were added one by one: each time the one that saves most


@dataclass(frozen=True)
class PartMove:
    """A part of a value that is moved from the second device's memory to the first's."""

    value: int
    source: int
    target: int
    share: float
    seconds: float
    joules: float


def seconds_of(costs: Costs, devices: Sequence[int], splits: Iterable[Split]) -> float:
    """Returns the seconds of an assignment in which some layers are on two devices."""
    splits = tuple(splits)
    return cost_of(costs.seconds, devices, helpers_of(splits)) + sum(
        part_seconds(costs, devices, split)
        + sum(move.seconds for move in moves_home(costs, devices, split))
        - float(costs.seconds.op_cost[split.op, devices[split.op]])
        for split in splits
    )


def joules_of(costs: Costs, devices: Sequence[int], splits: Iterable[Split]) -> float:
    """Returns the joules likewise; infinite or NaN where a cost is unknown."""
    splits = tuple(splits)
    return cost_of(costs.joules, devices, helpers_of(splits)) + sum(
        part_joules(costs, devices, split)
        + sum(move.joules for move in moves_home(costs, devices, split))
        - float(costs.joules.op_cost[split.op, devices[split.op]])
        for split in splits
    )


def helpers_of(splits: Iterable[Split]) -> dict[int, int]:
    """Returns the second device of each split layer."""
    return {split.op: split.second for split in splits}


def part_seconds(costs: Costs, devices: Sequence[int], split: Split) -> float:
    """Returns the seconds until both devices have computed their parts."""
    return max(_of_both(costs.seconds, devices, split))


def part_joules(costs: Costs, devices: Sequence[int], split: Split) -> float:
    """Returns the joules of both devices' parts."""
    return sum(_of_both(costs.joules, devices, split))


def _of_both(problem: Problem, devices: Sequence[int], split: Split) -> tuple[float, float]:
    cost = problem.op_cost[split.op]
    return (
        float(cost[devices[split.op]]) * split.share,
        float(cost[split.second]) * (1 - split.share),
    )


def moves_home(costs: Costs, devices: Sequence[int], split: Split) -> list[PartMove]:
    """Returns the moves of the second device's output to the first device's memory."""
    problem, share = costs.seconds, 1 - split.share
    source, target = problem.memory_of[split.second], problem.memory_of[devices[split.op]]
    any_size = costs.routes.seconds_of(0, source, target)
    moves = []
    for number, value in enumerate(problem.values):
        if value.producer == split.op and source != target:
            seconds = float(problem.move_cost[number, source, target])
            joules = float(costs.joules.move_cost[number, source, target]) * share
            seconds = any_size + (seconds - any_size) * share
            moves.append(PartMove(number, source, target, share, seconds, joules))
    return moves


def choose_splits(costs: Costs, devices: Sequence[int], channels: Mapping[int, int]) -> Splits:
    """Returns the splits that save most together; `channels` has the layers that can be split.

    One split's saving depends on another's if both layers read the same value or are in the same
    fused run. All sets of layers that depend on each other are tried. If there are too many sets,
    the split that saves most is added to those already chosen, until none saves anything.
    """
    options = _options(costs, devices, channels)
    chosen: list[Split] = []
    all_tried = True
    for together in _dependent(costs, devices, list(options)):
        own = [options[op] for op in together]
        sets = 1
        for some in own:
            sets *= 1 + len(some)
        if sets <= _SETS:
            chosen += _best_set(costs, devices, own)
        else:
            chosen += _one_by_one(costs, devices, [split for some in own for split in some])
            all_tried = False
    return Splits(tuple(sorted(chosen, key=lambda split: split.op)), all_tried)


def _options(
    costs: Costs, devices: Sequence[int], channels: Mapping[int, int]
) -> dict[int, list[Split]]:
    """Returns the best split of each layer for each second device, seen by itself.

    A split is left out if it saves nothing even when its inputs are already there and no run was
    fused.
    """
    found: list[tuple[float, Split]] = []
    for op, count in sorted(channels.items()):
        for second in range(costs.seconds.num_devices):
            if _can_share(costs, op, devices[op], second):
                own = float(costs.seconds.op_cost[op, devices[op]])
                found += [
                    (own - seconds, split)
                    for seconds, split in _best_channels(costs, devices, op, second, count)
                    if seconds < own * (1 - _SAME)
                ]
    most = sorted(found, key=lambda entry: (-entry[0], entry[1].op))[:_MAX_SPLITS]
    options: dict[int, list[Split]] = {}
    for _, split in sorted(most, key=lambda entry: (entry[1].op, entry[1].second)):
        options.setdefault(split.op, []).append(split)
    return options


def _can_share(costs: Costs, op: int, first: int, second: int) -> bool:
    """Tells whether the plug-in has these two devices and the second can compute the operator."""
    kinds = {costs.devices[device].name.partition(":")[0] for device in (first, second)}
    are_two = any(kinds == {CPU, row.name} for row in ACCELERATORS)
    return are_two and costs.measured[op][second] is not None


def _best_channels(
    costs: Costs, devices: Sequence[int], op: int, second: int, count: int
) -> Iterator[tuple[float, Split]]:
    """Yields the best split, if any, with its seconds, which include moving the second's output."""
    tried = []
    for first in range(STEP, count, STEP):
        split = Split(op, second, first, count)
        moved = sum(move.seconds for move in moves_home(costs, devices, split))
        tried.append((part_seconds(costs, devices, split) + moved, split))
    if tried:
        yield min(tried, key=lambda entry: entry[0])


def _dependent(costs: Costs, devices: Sequence[int], ops: Sequence[int]) -> list[list[int]]:
    """Groups layers whose savings may depend on each other."""
    group = {op: {op} for op in ops}
    links = [value.readers for value in costs.seconds.values]
    links += [gain.ops for gain in gains_of(costs.seconds, devices)]
    for link in links:
        known = [op for op in link if op in group]
        joined = {member for op in known for member in group[op]}
        for member in joined:
            group[member] = joined
    return [list(members) for members in sorted({tuple(sorted(g)) for g in group.values()})]


def _best_set(
    costs: Costs, devices: Sequence[int], options: Sequence[Sequence[Split]]
) -> list[Split]:
    best: list[Split] = []
    least = seconds_of(costs, devices, best)
    for picked in itertools.product(*((None, *some) for some in options)):
        splits = [split for split in picked if split is not None]
        seconds = seconds_of(costs, devices, splits)
        if seconds < least * (1 - _SAME):
            best, least = splits, seconds
    return best


def _one_by_one(costs: Costs, devices: Sequence[int], options: Sequence[Split]) -> list[Split]:
    chosen: list[Split] = []
    least = seconds_of(costs, devices, chosen)
    while True:
        taken = {split.op for split in chosen}
        tried = [
            (seconds_of(costs, devices, [*chosen, split]), split)
            for split in options
            if split.op not in taken
        ]
        if not tried:
            return chosen
        seconds, split = min(tried, key=lambda entry: entry[0])
        if seconds >= least * (1 - _SAME):
            return chosen
        chosen.append(split)
        least = seconds
