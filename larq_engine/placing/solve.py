"""Finds the best assignment, or a good one and a bound if it is not proven the best."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from larq_engine.placing.minimum_cut import cut_groups
from larq_engine.placing.problem import Problem, cost_of
from larq_engine.placing.sweep import sweep

# Relative difference that sums of the same costs in another order may have.
_SAME = 1e-9


@dataclass(frozen=True)
class Solution:
    """An assignment, its cost, and a bound that no assignment costs less than."""

    devices: tuple[int, ...]
    cost: float
    bound: float
    way: str  # how it was found, for people

    @property
    def exact(self) -> bool:
        """Tells whether the assignment is proven the best."""
        return self.cost <= self.bound + _SAME * abs(self.bound)


def solve(problem: Problem) -> Solution:
    """Returns the assignment of least cost; among equal ones, one with more on earlier devices.

    Two devices are solved exactly by a cut, in a graph of any shape. More devices are cut into two
    groups in several ways. Each cut bounds the cost, and is exact if the groups are memories and
    only moves between these two groups cost anything. Otherwise a sweep solves narrow graphs
    exactly. If nothing is proven, the result is the best assignment found, with the bound.

    Raises:
        ValueError: All assignments have infinite costs.
    """
    bound = _sum_of_least(problem)
    best: tuple[float, list[int]] = (np.inf, [])
    for device in range(problem.num_devices):
        best = _better(problem, best, [device] * problem.num_ops)
    # Without negative gains an assignment costs as much or less, so the cut is still a bound.
    easier = replace(problem, gains=tuple(gain for gain in problem.gains if gain.saved > 0))
    for group in _groups(problem):
        least, devices = cut_groups(easier, group)
        if np.isinf(least):
            raise _nothing()
        bound = max(bound, least)
        if (cost := cost_of(problem, devices)) <= least + _SAME * abs(least):
            return Solution(tuple(devices), cost, cost, "minimum cut")
        best = min(best, (cost, devices), key=lambda found: found[0])
    swept = sweep(problem, best[0])
    if swept.devices is not None:
        best = _better(problem, best, swept.devices)
    if np.isinf(best[0]):
        raise _nothing()
    cost, devices = best
    if swept.proven:
        return Solution(tuple(devices), cost, cost, "sweep of all states")
    way = "the best found; the bound is the largest minimum cut between two groups of devices"
    return Solution(tuple(devices), cost, min(bound, cost), way)


def _nothing() -> ValueError:
    return ValueError(
        "expected a known cost of each operator on some device, and of the moves between them, got "
        "operators that no device of these can compute; take more devices, or profile them"
    )


def _sum_of_least(problem: Problem) -> float:
    return float(problem.op_cost.min(axis=1).sum()) - sum(
        max(0.0, gain.saved) for gain in problem.gains
    )


def _better(
    problem: Problem, best: tuple[float, list[int]], devices: list[int]
) -> tuple[float, list[int]]:
    cost = cost_of(problem, devices)
    return (cost, devices) if cost < best[0] else best


def _groups(problem: Problem) -> Iterator[list[int]]:
    """Yields second groups: the devices of each memory against all others, then each device."""
    devices = range(problem.num_devices)
    seen = {frozenset[int](), frozenset(devices)}
    memories = sorted(set(problem.memory_of), reverse=True)
    for group in (
        *([d for d in devices if problem.memory_of[d] == memory] for memory in memories),
        *([device] for device in reversed(devices)),
    ):
        if frozenset(group) not in seen:
            seen |= {frozenset(group), frozenset(devices) - frozenset(group)}
            yield group
