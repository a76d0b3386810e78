"""Finds the exact least cost for two groups of devices, in graphs of any shape: a minimum cut.

The engine has its own minimum cut in C++, with which it places operators when it loads a model. The
one here also counts what fusing saves and needs no library, so a profile can be placed on a machine
where the engine does not run. Costs are added up as integers, so rounding decides nothing.
"""

import math
from collections import deque
from collections.abc import Sequence

import numpy as np

from larq_engine.placing.problem import HOST, Array, Problem

_SOURCE, _SINK = 0, 1

# A cost of at least 2 ** -47 of the sum of all costs keeps all its digits.
_BITS = 100


class _Network:
    """Nodes and edges between a source and a sink."""

    def __init__(self) -> None:
        self.edges_of: list[list[int]] = [[], []]
        self.target: list[int] = []
        self.left: list[int] = []  # of each edge; the opposite of edge e is e ^ 1

    def add_node(self) -> int:
        self.edges_of.append([])
        return len(self.edges_of) - 1

    def add_edge(self, source: int, target: int, capacity: int, back: int = 0) -> None:
        """Adds an edge; a cut pays `capacity` if only `source` is on the source's side."""
        if capacity or back:
            for node, other, amount in ((source, target, capacity), (target, source, back)):
                self.edges_of[node].append(len(self.target))
                self.target.append(other)
                self.left.append(amount)

    def cut(self) -> tuple[int, list[bool]]:
        """Returns the least capacity, and by node whether it is on the sink's side (the fewest)."""
        flow = 0
        while True:
            distance = self._distances()
            if distance[_SOURCE] < 0:
                return flow, [far >= 0 for far in distance]
            flow += self._push_all(distance)

    def _distances(self) -> list[int]:
        """Returns distances to the sink over edges with capacity left; -1 without a path."""
        distance = [-1] * len(self.edges_of)
        distance[_SINK] = 0
        queue = deque([_SINK])
        target, left = self.target, self.left
        while queue:
            node = queue.popleft()
            for edge in self.edges_of[node]:
                if left[edge ^ 1] and distance[target[edge]] < 0:
                    distance[target[edge]] = distance[node] + 1
                    queue.append(target[edge])
        return distance

    def _push_all(self, distance: list[int]) -> int:
        """Pushes flow along shortest paths until there are none (Dinic), without recursion."""
        target, left, edges_of = self.target, self.left, self.edges_of
        following = [0] * len(edges_of)
        flow = 0
        path: list[int] = []
        node = _SOURCE
        while True:
            if node == _SINK:
                amount = min(left[edge] for edge in path)
                flow += amount
                full = 0
                for position in range(len(path) - 1, -1, -1):
                    edge = path[position]
                    left[edge] -= amount
                    left[edge ^ 1] += amount
                    if not left[edge]:
                        full = position
                node = target[path[full] ^ 1]
                del path[full:]
                continue
            edges = edges_of[node]
            index, nearer = following[node], distance[node] - 1
            while index < len(edges):
                edge = edges[index]
                if left[edge] and distance[target[edge]] == nearer:
                    break
                index += 1
            following[node] = index
            if index < len(edges):
                path.append(edge)
                node = target[edge]
            elif path:
                node = target[path.pop() ^ 1]
                following[node] += 1
            else:
                return flow


def cut_groups(problem: Problem, second: Sequence[int]) -> tuple[float, list[int]]:
    """Splits the devices into two groups; moves cost between the groups and nothing within one.

    Args:
        problem: The problem to solve.
        second: The devices of the second group; the others are the first.

    Returns:
        A bound that no assignment is below, and an assignment. If each group is one device, or one
        memory without gains, the assignment costs the bound and so is the best. Among equal
        assignments it has the most operators in the first group. The bound is infinite if there is
        no assignment.
    """
    groups = [
        [device for device in range(problem.num_devices) if (device in second) == side]
        for side in (False, True)
    ]
    cost = np.stack([problem.op_cost[:, group].min(axis=1) for group in groups], axis=1)
    cut = _GroupCut(problem, groups, cost)
    bound, on_second = cut.solve()
    devices = []
    for op, side in enumerate(on_second):
        group = groups[side]
        devices.append(group[int(problem.op_cost[op, group].argmin())])
    return bound, devices


class _GroupCut:
    """The network of a problem and two groups: the first group is on the source's side."""

    def __init__(self, problem: Problem, groups: list[list[int]], cost: Array) -> None:
        self._problem = problem
        self._memories = [sorted({problem.memory_of[d] for d in group}) for group in groups]
        self._second = frozenset(groups[1])
        self._cost = cost
        finite = cost[np.isfinite(cost)].sum()
        moves = problem.move_cost[np.isfinite(problem.move_cost)].sum()
        total = float(finite + moves + sum(gain.saved for gain in problem.gains))
        self._scale = math.ldexp(1.0, _BITS - math.frexp(total)[1])
        self._network = _Network()
        self._nodes = [self._network.add_node() for _ in range(problem.num_ops)]

    def solve(self) -> tuple[float, list[bool]]:
        network, offset = self._network, 0
        for node, (first, second) in zip(self._nodes, self._cost, strict=True):
            # The part that both sides cost is always paid; the rest is the capacity of one edge.
            on_first, on_second = self._integer(first), self._integer(second)
            both = min(on_first, on_second)
            offset += both
            network.add_edge(node, _SINK, on_first - both)
            network.add_edge(_SOURCE, node, on_second - both)
        for number in range(len(self._problem.values)):
            offset += self._add_value(number)
        offset -= self._add_gains()
        flow, on_second_side = network.cut()
        if flow + offset >= self._infinite // 2:
            return np.inf, [False] * len(self._nodes)
        return (flow + offset) / self._scale, [on_second_side[node] for node in self._nodes]

    @property
    def _infinite(self) -> int:
        return 1 << (_BITS + 2)

    def _integer(self, cost: float) -> int:
        return self._infinite if np.isinf(cost) else round(float(cost) * self._scale)

    def _least_move(self, value: int, sources: list[int], targets: list[int]) -> int:
        return self._integer(self._problem.move_cost[value][np.ix_(sources, targets)].min())

    def _add_value(self, number: int) -> int:
        """Adds the moves of a value; returns the part that every assignment pays."""
        value = self._problem.values[number]
        first, second = self._memories
        readers = [self._nodes[reader] for reader in value.readers]
        # The host belongs to the group that has its memory; without one it is a third party.
        host_node = None
        if HOST in first:
            host_node = _SOURCE
        elif HOST in second:
            host_node = _SINK
        if value.producer >= 0:
            producer = self._nodes[value.producer]
            if value.host_reads and host_node is not None:
                readers.append(host_node)
            elif value.host_reads:
                self._network.add_edge(producer, _SINK, self._least_move(number, first, [HOST]))
                self._network.add_edge(_SOURCE, producer, self._least_move(number, second, [HOST]))
            to_second = self._least_move(number, first, second)
            to_first = self._least_move(number, second, first)
            self._add_copy(producer, to_second, readers, to_sink=True)
            self._add_copy(producer, to_first, readers, to_sink=False)
        elif set(first) & set(second):
            # One copy may serve readers of both groups.
            return self._least_move(number, [HOST], sorted({*first, *second})) if readers else 0
        else:
            to_second = self._least_move(number, [HOST], second)
            to_first = self._least_move(number, [HOST], first)
            self._add_copy(_SOURCE, to_second, readers, to_sink=True)
            self._add_copy(_SINK, to_first, readers, to_sink=False)
        return 0

    def _add_copy(self, producer: int, cost: int, readers: list[int], to_sink: bool) -> None:
        """Adds a cost that is paid once if any reader is on the other side than the producer."""
        if not cost:
            return
        if len(readers) == 1:
            ends = (producer, readers[0]) if to_sink else (readers[0], producer)
            self._network.add_edge(*ends, cost)
            return
        copy = self._network.add_node()
        if to_sink:
            self._network.add_edge(producer, copy, cost)
        else:
            self._network.add_edge(copy, producer, cost)
        for reader in readers:
            ends = (copy, reader) if to_sink else (reader, copy)
            self._network.add_edge(*ends, self._infinite)

    def _add_gains(self) -> int:
        """Adds the gains and returns their sum; a gain is lost if an operator is off its side."""
        sums: dict[tuple[tuple[int, ...], int], float] = {}
        for gain in self._problem.gains:
            sums[gain.ops, gain.device] = sums.get((gain.ops, gain.device), 0.0) + gain.saved
        # At most one device of a group can have the gain.
        best: dict[tuple[tuple[int, ...], bool], float] = {}
        for (ops, device), saved in sums.items():
            key = (ops, device in self._second)
            best[key] = max(best.get(key, 0.0), saved)
        total = 0
        for (ops, on_second), saved in best.items():
            amount = self._integer(saved)
            total += amount
            together = self._network.add_node()
            if on_second:
                self._network.add_edge(together, _SINK, amount)
            else:
                self._network.add_edge(_SOURCE, together, amount)
            for op in ops:
                ends = (self._nodes[op], together) if on_second else (together, self._nodes[op])
                self._network.add_edge(*ends, self._infinite)
        return total
