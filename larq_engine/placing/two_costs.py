"""Weighs two costs: the least of one under a limit of the other, and the least product of both."""

import numpy as np

from larq_engine.placing.problem import Problem, cost_of, weighted
from larq_engine.placing.solve import Solution, solve
from larq_engine.placing.sweep import sweep

# Relative difference that sums of the same costs in another order may have.
_SAME = 1e-9


class _HullPoint:
    """An assignment that is best for some weights, and its two costs."""

    def __init__(self, first: Problem, second: Problem, weights: tuple[float, float]) -> None:
        self.solution = solve(weighted(first, second, *weights))
        self.one = cost_of(first, self.solution.devices)
        self.other = cost_of(second, self.solution.devices)


def _weights_between(left: _HullPoint, right: _HullPoint) -> tuple[float, float]:
    """Returns the weights with which both corners cost the same."""
    return left.other - right.other, right.one - left.one


def _is_below(corner: _HullPoint, end: _HullPoint, weights: tuple[float, float]) -> bool:
    """Tells whether the corner lies below the line through the end."""
    line = weights[0] * end.one + weights[1] * end.other
    return corner.solution.cost < line - _SAME * abs(line)


def least_product(first: Problem, second: Problem) -> Solution:
    """Returns the assignment with the least product of two costs, such as energy times delay.

    The product is least at a corner of the lower hull of all assignments' costs, and a corner is
    the best assignment for some weights of the two costs. So corners are searched for between known
    ones, as long as there may be a better one.

    Raises:
        ValueError: All assignments have infinite costs.
    """
    left, right = _HullPoint(first, second, (1, 0)), _HullPoint(first, second, (0, 1))
    best = min((left, right), key=_product)
    bound = left.solution.bound * right.solution.bound
    exact = left.solution.exact and right.solution.exact
    gaps = [(left, right)]
    while gaps:
        left, right = gaps.pop()
        weights = _weights_between(left, right)
        if left.one * right.other >= _product(best) or min(weights) <= 0:
            continue
        corner = _HullPoint(first, second, weights)
        exact = exact and corner.solution.exact
        if _is_below(corner, left, weights):
            best = min(best, corner, key=_product)
            gaps += [(left, corner), (corner, right)]
    product = _product(best)
    way = f"least product of the best for any weights; {best.solution.way}"
    return Solution(best.solution.devices, product, product if exact else bound, way)


def _product(corner: _HullPoint) -> float:
    return corner.one * corner.other


def least_within(first: Problem, second: Problem, limit: float) -> Solution:
    """Returns the assignment of least first cost whose second cost is at most `limit`.

    The best assignment for weights of both costs gives an assignment and a bound (Lagrange's). A
    sweep that keeps both costs closes the gap between them where the graph is narrow.

    Raises:
        ValueError: There is no such assignment.
    """
    within = limit * (1 + _SAME)
    above, below = _HullPoint(first, second, (1, 0)), _HullPoint(first, second, (0, 1))
    if above.other <= within:
        return above.solution
    if below.other > within:
        proof = "at least" if below.solution.exact else "nothing found below"
        raise ValueError(f"expected at most {limit:.6g}, got {proof} {below.other:.6g}")
    bound, weight = above.solution.bound, 0.0
    while True:
        weights = _weights_between(above, below)
        if min(weights) <= 0:
            break
        corner = _HullPoint(first, second, weights)
        least = (corner.solution.bound - weights[1] * limit) / weights[0]
        if least > bound:
            bound, weight = least, weights[1] / weights[0]
        if not _is_below(corner, below, weights):
            break
        if corner.other <= within:
            below = corner
        else:
            above = corner
    cost, devices = below.one, list(below.solution.devices)
    swept = sweep(first, cost, second, limit, weight, cost + weight * limit)
    if swept.devices is not None and cost_of(second, swept.devices) <= within:
        found = cost_of(first, swept.devices)
        if found < cost:
            cost, devices = found, swept.devices
    if swept.proven:
        return Solution(tuple(devices), cost, cost, "sweep of all states with both costs")
    way = "the best found; the bound is Lagrange's"
    return Solution(tuple(devices), cost, float(np.minimum(bound, cost)), way)
