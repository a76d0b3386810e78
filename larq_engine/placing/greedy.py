"""HEP-BNN's mapping (Algorithm 1), to compare with: the best device of each layer alone.

Each layer pays the moves of all it reads and makes, as that runtime moves them for each layer,
also between two layers on one device.
"""

import numpy as np

from larq_engine.placing.problem import HOST, Problem


def greedy(problem: Problem) -> tuple[list[int], float]:
    """The assignment, and what it costs when each layer moves its own; infinite if it cannot be."""
    memories = np.array(problem.memory_of)
    cost = problem.op_cost.copy()
    for number, value in enumerate(problem.values):
        for reader in value.readers:
            cost[reader] += problem.move_cost[number, HOST, memories]
        if value.maker >= 0:
            cost[value.maker] += problem.move_cost[number, memories, HOST]
    return [int(device) for device in cost.argmin(axis=1)], float(cost.min(axis=1).sum())
