"""Computes HEP-BNN's mapping (Algorithm 1) for comparison: each layer gets its own best device.

HEP-BNN's runtime moves values at each layer, also between two layers on one device. So each layer
pays for moving all that it reads and makes.
"""

import numpy as np

from larq_engine.placing.problem import HOST, Problem


def greedy(problem: Problem) -> tuple[list[int], float]:
    """Returns the assignment and its cost with each layer's moves; infinite if impossible."""
    memories = np.array(problem.memory_of)
    cost = problem.op_cost.copy()
    for number, value in enumerate(problem.values):
        for reader in value.readers:
            cost[reader] += problem.move_cost[number, HOST, memories]
        if value.producer >= 0:
            cost[value.producer] += problem.move_cost[number, memories, HOST]
    return [int(device) for device in cost.argmin(axis=1)], float(cost.min(axis=1).sum())
