"""Makes random problems, and finds their best assignments independently by trying all."""

import itertools
import random
from collections.abc import Iterator, Sequence

import numpy as np

from larq_engine.placing.problem import Gain, Problem, ProblemValue


def random_problem(rng: random.Random, num_ops: int, num_devices: int) -> Problem:
    """Makes a graph of any shape: several readers and outputs, costs that are 0 or infinite."""
    whole = rng.random() < 0.5  # Whole numbers make ties.

    def cost(scale: float, infinite: float) -> float:
        kind = rng.random()
        if kind < infinite:
            return float("inf")
        if kind < infinite + 0.15:
            return 0.0
        return float(rng.randint(1, 5)) if whole else rng.expovariate(1) * scale

    memories = [0, *(rng.randint(0, number) for number in range(1, num_devices))]
    if rng.random() < 0.2:
        memories = [memory + 1 for memory in memories]  # No device is in the host's memory.
    count = max(memories) + 1
    op_cost = np.array([[cost(1, 0.1) for _ in range(num_devices)] for _ in range(num_ops)])
    values = []
    for producer in [-1] * rng.randint(1, 2) + [op for op in range(num_ops) for _ in range(2)]:
        if producer >= 0 and rng.random() < 0.3:
            continue
        later = range(producer + 1, num_ops)
        readers = rng.sample(later, min(len(later), rng.choice((0, 1, 1, 1, 2, 3))))
        values.append(ProblemValue(producer, tuple(sorted(readers)), rng.random() < 0.2))
    scale = rng.choice((0.1, 1, 3))
    move_cost = np.zeros((len(values), count, count))
    for index in np.ndindex(move_cost.shape):
        if index[1] != index[2]:
            move_cost[index] = cost(scale, 0.02)
    gains = []
    for device in range(num_devices):
        for _ in range(rng.randint(0, 2) if num_ops > 1 else 0):
            length = rng.randint(2, min(4, num_ops))
            begin = rng.randint(0, num_ops - length)
            gains.append(Gain(tuple(range(begin, begin + length)), device, rng.random()))
    return Problem(tuple(memories), op_cost, tuple(values), move_cost, tuple(gains))


def total(problem: Problem, devices: Sequence[int]) -> float:
    """Returns an assignment's cost, computed in a second way: memory by memory."""
    memory = [problem.memory_of[device] for device in devices]
    cost = 0.0
    for op, device in enumerate(devices):
        cost += problem.op_cost[op][device]
    for number, value in enumerate(problem.values):
        home = 0 if value.producer == -1 else memory[value.producer]
        for target in range(problem.move_cost.shape[1]):
            wanted = any(memory[reader] == target for reader in value.readers)
            if target == 0 and value.host_reads:
                wanted = True
            if wanted and target != home:
                cost += problem.move_cost[number][home][target]
    for gain in problem.gains:
        if {devices[op] for op in gain.ops} == {gain.device}:
            cost -= gain.saved
    return float(cost)


def assignments(problem: Problem) -> Iterator[tuple[int, ...]]:
    """Yields all assignments."""
    return itertools.product(range(problem.num_devices), repeat=problem.num_ops)
