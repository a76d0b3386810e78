"""Compares the solver with trying all assignments."""

import math
import random
import time

import numpy as np
import pytest

from larq_engine.placing.problem import Gain, Problem, ProblemValue, cost_of
from larq_engine.placing.solve import solve
from larq_engine.placing.two_costs import least_product, least_within
from tests.placing.random_problems import assignments, random_problem, total


def _small(seed: int, most_ops: int = 12) -> Problem:
    rng = random.Random(seed)
    num_devices = rng.choice((2, 3))
    # 12 operators on three devices have half a million assignments, so these problems are few.
    most = most_ops if num_devices == 2 or seed % 50 == 0 else min(most_ops, 7)
    return random_problem(rng, rng.randint(1, most), num_devices)


@pytest.mark.parametrize("part", range(10))
def test_equals_trying_all_on_1000_graphs(part: int) -> None:
    ways = set()
    for seed in range(part * 100, part * 100 + 100):
        problem = _small(seed)
        best = _least(problem)
        if math.isinf(best):
            with pytest.raises(ValueError, match="expected a known cost of each operator"):
                solve(problem)
            continue
        solution = solve(problem)
        assert solution.exact, (seed, solution)
        assert solution.cost == pytest.approx(best, rel=1e-9, abs=1e-9), seed
        assert total(problem, solution.devices) == pytest.approx(best, rel=1e-9, abs=1e-9), seed
        ways.add(solution.way)
    assert ways == {"minimum cut", "sweep of all states"}


def _least(problem: Problem) -> float:
    """Returns the least cost of all assignments, computed at once; the next test checks it."""
    choices = np.array(list(assignments(problem)), dtype=np.int8)
    memory = np.array(problem.memory_of)[choices]
    cost = problem.op_cost[np.arange(problem.num_ops), choices].sum(axis=1)
    for number, value in enumerate(problem.values):
        home = np.zeros(len(choices), int) if value.producer < 0 else memory[:, value.producer]
        for target in range(problem.move_cost.shape[1]):
            wanted = (memory[:, list(value.readers)] == target).any(axis=1)
            wanted |= value.host_reads and target == 0
            moved = wanted & (home != target)
            cost[moved] += problem.move_cost[number, home[moved], target]
    for gain in problem.gains:
        cost[(choices[:, list(gain.ops)] == gain.device).all(axis=1)] -= gain.saved
    return float(cost.min())


def test_trying_all_at_once_is_trying_each() -> None:
    for seed in range(100):
        problem = _small(seed, most_ops=5)
        expected = min(total(problem, devices) for devices in assignments(problem))
        assert _least(problem) == pytest.approx(expected)


def test_costs_are_summed_alike() -> None:
    rng = random.Random(1)
    for seed in range(100):
        problem = _small(seed)
        devices = [rng.randrange(problem.num_devices) for _ in range(problem.num_ops)]
        assert cost_of(problem, devices) == pytest.approx(total(problem, devices))


def _chain(costs: list[list[float]], move: float) -> Problem:
    count = len(costs)
    values = [ProblemValue(op - 1, (op,), False) for op in range(count)]
    values.append(ProblemValue(count - 1, (), True))
    return Problem(
        (0, 1),
        np.array(costs),
        tuple(values),
        np.tile([[0.0, move], [move, 0.0]], (count + 1, 1, 1)),
    )


def test_a_chain_moves_where_it_pays() -> None:
    # The device gains 3 on each of two operators, and pays two moves of 2 once.
    assert solve(_chain([[4, 1], [4, 1]], 2)).devices == (1, 1)
    assert solve(_chain([[4, 1], [4, 1]], 4)).devices == (0, 0)


def test_ties_stay_on_the_first_device() -> None:
    assert solve(_chain([[4, 1], [4, 1]], 3)).devices == (0, 0)
    assert solve(_chain([[0, 0]] * 5, 0)).devices == (0,) * 5
    # Rounding does not decide either: the sums differ in their last bit.
    assert solve(_chain([[0.1, 0.1], [0.2, 0.2]], 0)).devices == (0, 0)


def test_small_costs_beside_large_ones_are_exact() -> None:
    solution = solve(_chain([[1e9, 1e-9], [2e-9, 1e-9]], 1e-12))
    assert solution.devices == (1, 1)
    assert solution.cost == pytest.approx(2.002e-9)


def test_gains_of_both_sides_are_weighed() -> None:
    problem = _chain([[1, 1]] * 3, 0)
    gains = (Gain((0, 1), 0, 0.5), Gain((1, 2), 1, 0.7))
    assert solve(Problem(*_parts(problem), gains=gains)).devices == (0, 1, 1)


def _parts(problem: Problem) -> tuple:
    return problem.memory_of, problem.op_cost, problem.values, problem.move_cost


@pytest.mark.parametrize("shape", ["any", "chain", "residual"])
def test_1000_operators_on_two_devices(shape: str) -> None:
    rng = random.Random(5)
    if shape == "any":
        problem = random_problem(rng, 1000, 2)
        finite = np.where(np.isinf(problem.op_cost), 9.0, problem.op_cost)
        moves = np.where(np.isinf(problem.move_cost), 9.0, problem.move_cost)
        problem = Problem((0, 1), finite, problem.values, moves[:, :2, :2], problem.gains)
        if moves.shape[1] < 2:
            raise AssertionError("expected two memories")
    else:
        problem = _chain([[rng.random(), rng.random()] for _ in range(1000)], 1.5)
        if shape == "residual":
            values = list(problem.values)
            for op in range(2, 990, 3):
                values[op + 1] = ProblemValue(op, (op + 1, op + 4), False)
            problem = Problem((0, 1), problem.op_cost, tuple(values), problem.move_cost)
    begin = time.perf_counter()
    solution = solve(problem)
    print(f"{shape}: {time.perf_counter() - begin:.3f} s, {solution.way}")
    assert solution.exact
    # No assignment that differs in one operator is better.
    for op in range(1000):
        devices = list(solution.devices)
        devices[op] = 1 - devices[op]
        assert total(problem, devices) >= solution.cost - 1e-9 if op % 50 == 0 else True


def test_what_is_too_wide_has_a_bound() -> None:
    problem = random_problem(random.Random(11), 150, 3)
    finite = np.where(np.isinf(problem.op_cost), 9.0, problem.op_cost)
    size = max(3, problem.move_cost.shape[1])
    moves = np.ones((len(problem.values), size, size)) * (1 - np.eye(size))
    problem = Problem((0, 1, 2), finite, problem.values, moves, problem.gains)
    solution = solve(problem)
    assert solution.bound <= solution.cost
    assert solution.cost == pytest.approx(total(problem, solution.devices))
    for device in range(3):
        assert solution.cost <= total(problem, [device] * 150)


@pytest.mark.parametrize("part", range(3))
def test_two_costs_equal_trying_all(part: int) -> None:
    tried = 0
    for seed in range(part * 30, part * 30 + 30):
        first = _small(seed, most_ops=6)
        rng = random.Random(seed + 5000)
        second = Problem(
            first.memory_of,
            np.where(np.isinf(first.op_cost), np.inf, rng.random() + first.op_cost[::-1, ::-1]),
            first.values,
            first.move_cost * rng.random(),
            tuple(Gain(gain.ops, gain.device, rng.random()) for gain in first.gains),
        )
        both = [(total(first, d), total(second, d)) for d in assignments(first)]
        both = [pair for pair in both if all(map(math.isfinite, pair))]
        if not both or min(map(min, both)) < 0:
            continue
        tried += 1
        product = least_product(first, second)
        assert product.exact
        assert product.cost == pytest.approx(min(one * other for one, other in both), abs=1e-12)
        least = min(other for _, other in both)
        with pytest.raises(ValueError, match="expected at most"):
            least_within(first, second, least * 0.9 - 0.1)
        for limit in sorted(other for _, other in both)[:: max(1, len(both) // 5)]:
            solution = least_within(first, second, limit)
            expected = min(one for one, other in both if other <= limit)
            assert solution.exact
            assert solution.cost == pytest.approx(expected), (seed, limit)
    assert tried > 10
