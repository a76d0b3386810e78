"""Solves any number of devices by a sweep over the operators, exactly where the graph is narrow.

Later operators see earlier decisions only through a few facts, the state: which memories hold the
values that are still read, and which fused runs are still whole. For each state only those
assignments are kept that may still become the best: the cheapest one or, with a limit on a second
cost, all that no other beats in both costs. Chains, residual networks and small graphs have few
states. If there are too many, the most promising are kept, and the result is not proven the best.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from larq_engine.placing.problem import HOST, Array, Problem

# Most facts that a sweep looks at, over all states, operators and devices: takes some seconds.
_FACTS = 4_000_000

# Slack of bounds, so that rounding in another order of the same sums does not drop the best.
_ROUNDING = 1 + 1e-9

# A state has for each value that is still read (value, memory where it was made, bits of the
# memories that have it), and for each run that is still whole (number of the gain, -1, -1).
_State: TypeAlias = tuple[tuple[int, int, int], ...]


class _Label(NamedTuple):
    """An assignment of the operators up to one, as a linked list."""

    cost: float
    other: float
    device: int
    before: "_Label | None"


@dataclass(frozen=True)
class Swept:
    """The assignment found, and whether it is proven the best."""

    devices: list[int] | None
    proven: bool


def sweep(
    problem: Problem,
    upper: float,
    other: Problem | None = None,
    limit: float = np.inf,
    weight: float = 0.0,
    upper_weighted: float = np.inf,
) -> Swept:
    """Finds the assignment of least cost.

    Args:
        problem: The problem to solve.
        upper: The cost of an assignment that is known; assignments that must cost more are dropped.
        other: The same problem with another cost, whose sum must not be above `limit`.
        limit: See `other`.
        weight: The weight of the second cost in a sum with the first, by which labels are dropped
            too.
        upper_weighted: An upper bound of that sum for an assignment worth finding.
    """
    return _Sweep(problem, upper, other, limit, weight, upper_weighted).run()


class _Sweep:
    def __init__(
        self,
        problem: Problem,
        upper: float,
        other: Problem | None,
        limit: float,
        weight: float,
        upper_weighted: float,
    ) -> None:
        self._problem = problem
        self._other = other
        self._weight = weight
        self._upper = upper * _ROUNDING
        self._limit = limit
        self._upper_weighted = upper_weighted * _ROUNDING
        count = problem.num_ops
        self._reads: list[list[int]] = [[] for _ in range(count)]
        self._makes: list[list[int]] = [[] for _ in range(count)]
        self._last_read: list[int] = []
        for number, value in enumerate(problem.values):
            for reader in sorted(set(value.readers)):
                self._reads[reader].append(number)
            self._last_read.append(max(value.readers, default=-1))
            if value.producer >= 0:
                self._makes[value.producer].append(number)
        self._begins: list[list[int]] = [[] for _ in range(count)]
        self._gains_of: list[dict[int, int]] = [{} for _ in range(count)]
        for number, gain in enumerate(problem.gains):
            self._begins[gain.ops[0]].append(number)
            for op in gain.ops:
                self._gains_of[op][number] = gain.device
        self._rest = self._least_of_rest(problem)
        self._rest_other = None if other is None else self._least_of_rest(other)

    def _least_of_rest(self, problem: Problem) -> Array:
        """Returns for each operator a lower bound of the cost of it and all later ones."""
        least = problem.op_cost.min(axis=1)
        for gain in problem.gains:
            least[gain.ops[-1]] -= max(0.0, gain.saved)
        return np.append(np.cumsum(least[::-1])[::-1], 0.0)

    def run(self) -> Swept:
        count = self._problem.num_ops
        width = max(1, _FACTS // (self._facts_at_most() * count * self._problem.num_devices))
        start: _State = tuple(
            (number, HOST, 1 << HOST)
            for number, value in enumerate(self._problem.values)
            if value.producer < 0 and value.readers
        )
        states: dict[_State, list[_Label]] = {start: [_Label(0.0, 0.0, -1, None)]}
        proven = True
        for op in range(count):
            states = self._step(op, states)
            if sum(map(len, states.values())) > width:
                states = _most_promising(states, width, self._weight)
                proven = False
        labels = [label for found in states.values() for label in found]
        if not labels:
            return Swept(None, proven)
        best = min(labels, key=lambda label: label.cost)
        return Swept(_devices_of(best), proven)

    def _facts_at_most(self) -> int:
        """Returns the most facts of a state: values that are still read, and runs still whole."""
        lives = [0] * (self._problem.num_ops + 1)
        spans = [
            (value.producer, last)
            for value, last in zip(self._problem.values, self._last_read, strict=True)
        ]
        spans += [(gain.ops[0], gain.ops[-1]) for gain in self._problem.gains]
        for begin, end in spans:
            for op in range(begin + 1, end + 1):
                lives[op] += 1
        return 1 + max(lives)

    def _step(self, op: int, states: dict[_State, list[_Label]]) -> dict[_State, list[_Label]]:
        found: dict[_State, list[_Label]] = {}
        for device in range(self._problem.num_devices):
            if np.isinf(self._problem.op_cost[op, device]):
                continue
            for state, labels in states.items():
                following, cost, other = self._move_on(op, device, state)
                if np.isinf(cost) or np.isinf(other):
                    continue
                for label in labels:
                    new = _Label(label.cost + cost, label.other + other, device, label)
                    if self._may_be_best(op + 1, new):
                        found.setdefault(following, []).append(new)
        return {state: _undominated(labels) for state, labels in found.items()}

    def _may_be_best(self, op: int, label: _Label) -> bool:
        least = label.cost + self._rest[op]
        if least > self._upper:
            return False
        if self._rest_other is None:
            return True
        least_other = label.other + self._rest_other[op]
        return bool(
            least_other <= self._limit * _ROUNDING
            and least + self._weight * least_other <= self._upper_weighted
        )

    def _move_on(self, op: int, device: int, state: _State) -> tuple[_State, float, float]:
        """Returns the state after the operator, and what the operator adds to both costs."""
        problem, other = self._problem, self._other
        memory = problem.memory_of[device]
        moves = [
            (value, home, memory)
            for value, home, copies in state
            if home >= 0 and value in self._reads[op] and not copies >> memory & 1
        ]
        moves += [
            (value, memory, HOST)
            for value in self._makes[op]
            if problem.values[value].host_reads and memory != HOST
        ]
        whole = set(self._begins[op]) | {number for number, home, _ in state if home < 0}
        saved = []
        for number in self._gains_of[op]:
            if self._gains_of[op][number] != device:
                whole.discard(number)
            elif number in whole and problem.gains[number].ops[-1] == op:
                whole.discard(number)
                saved.append(number)
        costs = [
            float(part.op_cost[op, device])
            + sum(float(part.move_cost[move]) for move in moves)
            - sum(part.gains[number].saved for number in saved)
            if part is not None
            else 0.0
            for part in (problem, other)
        ]
        return tuple(self._facts(op, memory, state, whole)), costs[0], costs[1]

    def _facts(
        self, op: int, memory: int, state: _State, whole: set[int]
    ) -> Iterator[tuple[int, int, int]]:
        for value, home, copies in state:
            if home >= 0 and self._last_read[value] > op:
                read = value in self._reads[op]
                yield value, home, copies | 1 << memory if read else copies
        for value in self._makes[op]:
            if self._last_read[value] > op:
                copies = 1 << memory
                if self._problem.values[value].host_reads:
                    copies |= 1 << HOST
                yield value, memory, copies
        for number in sorted(whole):
            yield number, -1, -1


def _undominated(labels: list[_Label]) -> list[_Label]:
    """Returns the labels that no other beats in both costs; among equal ones the first."""
    kept: list[_Label] = []
    for label in sorted(labels, key=lambda label: label[:2]):
        if not kept or label.other < kept[-1].other:
            kept.append(label)
    return kept


def _most_promising(
    states: dict[_State, list[_Label]], width: int, weight: float
) -> dict[_State, list[_Label]]:
    entries = [(state, label) for state, labels in states.items() for label in labels]
    entries.sort(key=lambda entry: entry[1].cost + weight * entry[1].other)
    kept: dict[_State, list[_Label]] = {}
    for state, label in entries[:width]:
        kept.setdefault(state, []).append(label)
    return kept


def _devices_of(label: _Label) -> list[int]:
    devices = []
    at: _Label | None = label
    while at is not None and at.before is not None:
        devices.append(at.device)
        at = at.before
    return devices[::-1]
