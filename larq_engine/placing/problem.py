"""What is decided, as numbers: operators, devices, values that move, gains of fusing.

A cost is whatever is to be least: seconds, joules, or a sum of both with weights. An infinite cost
is what cannot be.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# The memory of the host program is number 0.
HOST = 0


@dataclass(frozen=True)
class ProblemValue:
    """What moves. It is moved at most once to each memory, however many read it there."""

    maker: int  # an operator, or -1 for the host
    readers: tuple[int, ...]
    host_reads: bool  # it must end in the host's memory


@dataclass(frozen=True)
class Gain:
    """What is saved if all these operators are on the device; operators in order."""

    ops: tuple[int, ...]
    device: int
    saved: float


@dataclass(frozen=True)
class Problem:
    """Operators are in an order in which they can run. Arrays are not changed."""

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


# Second devices of operators that compute with their own: each reads what its operator reads, and
# no run that is fused has such an operator. What both compute is for the caller to count.
_NONE: Final[Mapping[int, int]] = MappingProxyType({})


def cost_of(problem: Problem, devices: Sequence[int], helpers: Mapping[int, int] = _NONE) -> float:
    """The cost of an assignment: the device of each operator."""
    ops = sum(float(problem.op_cost[op, device]) for op, device in enumerate(devices))
    moves = sum(
        float(problem.move_cost[value, source, target])
        for value, source, target in moves_of(problem, devices, helpers)
    )
    return ops + moves - sum(gain.saved for gain in gains_of(problem, devices, helpers))


def moves_of(
    problem: Problem, devices: Sequence[int], helpers: Mapping[int, int] = _NONE
) -> list[tuple[int, int, int]]:
    """Which values move: (value, from memory, to memory)."""
    moves = []
    for number, value in enumerate(problem.values):
        home = HOST if value.maker < 0 else problem.memory_of[devices[value.maker]]
        reading = [devices[reader] for reader in value.readers]
        reading += [helpers[reader] for reader in value.readers if reader in helpers]
        targets = {problem.memory_of[device] for device in reading}
        if value.host_reads:
            targets.add(HOST)
        moves += [(number, home, target) for target in sorted(targets - {home})]
    return moves


def gains_of(
    problem: Problem, devices: Sequence[int], helpers: Mapping[int, int] = _NONE
) -> list[Gain]:
    """The gains that an assignment has."""
    return [
        gain
        for gain in problem.gains
        if all(devices[op] == gain.device and op not in helpers for op in gain.ops)
    ]


def weighted(first: Problem, second: Problem, one: float, other: float) -> Problem:
    """The problem whose costs are `one` times those of the first, `other` those of the second."""

    def add(a: Array, b: Array) -> Array:
        # Also where a weight is 0, what cannot be counted cannot be.
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
