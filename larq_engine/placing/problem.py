"""Defines a placing problem in numbers: operators, devices, values that move, gains of fusing.

A cost is any quantity that is to be least: seconds, joules, or a weighted sum of both. An infinite
cost stands for what is impossible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# Number of the host program's memory.
HOST = 0


@dataclass(frozen=True)
class ProblemValue:
    """A value that may move. It moves at most once to each memory, however many read it there."""

    producer: int  # an operator, or -1 for the host
    readers: tuple[int, ...]
    host_reads: bool  # whether it must end in the host's memory


@dataclass(frozen=True)
class Gain:
    """A cost that is saved if all these operators, which are in order, are on the device.

    It is negative where smaller gains of the same operators promise too much.
    """

    ops: tuple[int, ...]
    device: int
    saved: float


@dataclass(frozen=True)
class Problem:
    """A placing problem. Operators are in an order that can run. Arrays are not changed."""

    memory_of: tuple[int, ...]  # of each device
    op_cost: Array  # [operator, device]
    values: tuple[ProblemValue, ...]
    move_cost: Array  # [value, from memory, to memory]; 0 where both are the same
    gains: tuple[Gain, ...] = ()

    @property
    def num_ops(self) -> int:
        return int(self.op_cost.shape[0])

    @property
    def num_devices(self) -> int:
        return int(self.op_cost.shape[1])


# A helper is a second device that computes an operator together with the operator's own device. It
# reads the operator's inputs, too, and its operator is in no fused run. The caller adds what both
# devices' computing costs.
_NO_HELPERS: Final[Mapping[int, int]] = MappingProxyType({})


def cost_of(
    problem: Problem, devices: Sequence[int], helpers: Mapping[int, int] = _NO_HELPERS
) -> float:
    """Returns the cost of an assignment: `devices` has the device of each operator."""
    ops = sum(float(problem.op_cost[op, device]) for op, device in enumerate(devices))
    moves = sum(
        float(problem.move_cost[value, source, target])
        for value, source, target in moves_of(problem, devices, helpers)
    )
    return ops + moves - sum(gain.saved for gain in gains_of(problem, devices, helpers))


def moves_of(
    problem: Problem, devices: Sequence[int], helpers: Mapping[int, int] = _NO_HELPERS
) -> list[tuple[int, int, int]]:
    """Returns the moves of an assignment: (value, from memory, to memory)."""
    moves = []
    for number, value in enumerate(problem.values):
        home = HOST if value.producer < 0 else problem.memory_of[devices[value.producer]]
        reading = [devices[reader] for reader in value.readers]
        reading += [helpers[reader] for reader in value.readers if reader in helpers]
        targets = {problem.memory_of[device] for device in reading}
        if value.host_reads:
            targets.add(HOST)
        moves += [(number, home, target) for target in sorted(targets - {home})]
    return moves


def gains_of(
    problem: Problem, devices: Sequence[int], helpers: Mapping[int, int] = _NO_HELPERS
) -> list[Gain]:
    """Returns the gains that an assignment has."""
    return [
        gain
        for gain in problem.gains
        if all(devices[op] == gain.device and op not in helpers for op in gain.ops)
    ]


def weighted(first: Problem, second: Problem, one: float, other: float) -> Problem:
    """Returns the problem whose costs are `one` times the first's + `other` times the second's."""

    def add(a: Array, b: Array) -> Array:
        # An infinite cost stays infinite even if its weight is 0.
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(a) | np.isinf(b), np.inf, one * a + other * b)

    return Problem(
        first.memory_of,
        add(first.op_cost, second.op_cost),
        first.values,
        add(first.move_cost, second.move_cost),
        tuple(
            Gain(a.ops, a.device, one * a.saved + other * b.saved)
            for a, b in zip(first.gains, second.gains, strict=True)
        ),
    )
