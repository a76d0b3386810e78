"""Layers on two devices at the same time, by output channels.

The first device is the one that the placement has the layer on: it computes the first channels and
joins both parts. The second computes the others. Only this computing is at the same time; what the
second reads is moved to it before, if it is not there, and what it makes is moved to the first
after. A device takes for some of the channels the same part of its time for all. A layer on two
devices is in none of the runs that a device fuses.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from larq_engine.placing.costs import Costs
from larq_engine.placing.problem import Problem, cost_of, gains_of

# Channels of the first device come in whole numbers of so many: they are bits of words, and kernels
# compute blocks of them.
STEP = 32

# What the plug-in can share a layer between.
_DEVICES = {"cpu", "cuda"}

# Sets of layers that are all tried, where what one saves depends on the others: of 12 layers.
_SETS = 1 << 12

# The plug-in cuts no more.
_MOST = 1024

# Sums of the same costs in another order may differ by this part.
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
        """Of the first device."""
        return self.channels / self.of


@dataclass(frozen=True)
class Splits:
    """Those that were chosen, and how."""

    chosen: tuple[Split, ...]
    all_tried: bool  # else some were added one by one, each the best with those before


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
    """What an assignment takes with some of its layers on two devices."""
    splits = tuple(splits)
    return cost_of(costs.seconds, devices, helpers_of(splits)) + sum(
        part_seconds(costs, devices, split)
        + sum(move.seconds for move in moves_home(costs, devices, split))
        - float(costs.seconds.op_cost[split.op, devices[split.op]])
        for split in splits
    )


def joules_of(costs: Costs, devices: Sequence[int], splits: Iterable[Split]) -> float:
    """The same of energy; infinite or no number where something is not known."""
    splits = tuple(splits)
    return cost_of(costs.joules, devices, helpers_of(splits)) + sum(
        part_joules(costs, devices, split)
        + sum(move.joules for move in moves_home(costs, devices, split))
        - float(costs.joules.op_cost[split.op, devices[split.op]])
        for split in splits
    )


def helpers_of(splits: Iterable[Split]) -> dict[int, int]:
    """The second devices, by layer."""
    return {split.op: split.second for split in splits}


def part_seconds(costs: Costs, devices: Sequence[int], split: Split) -> float:
    """Until both devices have computed their parts."""
    return max(_of_both(costs.seconds, devices, split))


def part_joules(costs: Costs, devices: Sequence[int], split: Split) -> float:
    """Of both devices."""
    return sum(_of_both(costs.joules, devices, split))


def _of_both(problem: Problem, devices: Sequence[int], split: Split) -> tuple[float, float]:
    cost = problem.op_cost[split.op]
    return (
        float(cost[devices[split.op]]) * split.share,
        float(cost[split.second]) * (1 - split.share),
    )


def moves_home(costs: Costs, devices: Sequence[int], split: Split) -> list[PartMove]:
    """What is moved of that which the second device makes."""
    problem, share = costs.seconds, 1 - split.share
    source, target = problem.memory_of[split.second], problem.memory_of[devices[split.op]]
    any_size = costs.routes.seconds_of(0, source, target)
    moves = []
    for number, value in enumerate(problem.values):
        if value.maker == split.op and source != target:
            seconds = float(problem.move_cost[number, source, target])
            joules = float(costs.joules.move_cost[number, source, target]) * share
            seconds = any_size + (seconds - any_size) * share
            moves.append(PartMove(number, source, target, share, seconds, joules))
    return moves


def choose_splits(costs: Costs, devices: Sequence[int], channels: Mapping[int, int]) -> Splits:
    """The splits that save most together; `channels` has those of the layers that can be split.

    What a split saves depends on another where both layers read the same value or are in the same
    fused run. Of layers that depend on each other all sets are tried; if there are too many, the
    split that saves most is added to those chosen before, until none saves anything.
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
    """For each layer and second device the best channels, which nothing else decides about.

    Only where they save something if what the second device reads is there and nothing was fused.
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
    most = sorted(found, key=lambda entry: (-entry[0], entry[1].op))[:_MOST]
    options: dict[int, list[Split]] = {}
    for _, split in sorted(most, key=lambda entry: (entry[1].op, entry[1].second)):
        options.setdefault(split.op, []).append(split)
    return options


def _can_share(costs: Costs, op: int, first: int, second: int) -> bool:
    """Whether both devices of the plug-in are there, and the second can compute it."""
    names = {costs.devices[device].name.partition(":")[0] for device in (first, second)}
    return names == _DEVICES and costs.measured[op][second] is not None


def _best_channels(
    costs: Costs, devices: Sequence[int], op: int, second: int, count: int
) -> Iterator[tuple[float, Split]]:
    """The best split and its seconds, moving what the second device makes included, if any."""
    tried = []
    for first in range(STEP, count, STEP):
        split = Split(op, second, first, count)
        moved = sum(move.seconds for move in moves_home(costs, devices, split))
        tried.append((part_seconds(costs, devices, split) + moved, split))
    if tried:
        yield min(tried, key=lambda entry: entry[0])


def _dependent(costs: Costs, devices: Sequence[int], ops: Sequence[int]) -> list[list[int]]:
    """Layers of which one's saving may depend on another's, together."""
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
