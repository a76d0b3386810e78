"""The studies of published profiles: their greedy sums are those that were published."""

import itertools

import pytest

from benchmarks.placing.hep_bnn import LAYERS, PUBLISHED, problem_of, published
from larq_engine.placing.greedy import greedy
from larq_engine.placing.solve import solve
from tests.placing.random_problems import total


@pytest.mark.parametrize("free", [False, True])
def test_nothing_is_better_that_differs_in_three_layers(free: bool) -> None:
    for batch in (1, 128):
        problem, _ = problem_of(published()["configurations"], batch, free)
        able = [n for n in range(len(LAYERS)) if problem.op_cost[n, 1] < float("inf")]
        solution = solve(problem)
        for changed in itertools.combinations(able, 3):
            devices = list(solution.devices)
            for layer in changed:
                devices[layer] = 1 - devices[layer]
            assert total(problem, devices) >= solution.cost - 1e-9
        assert total(problem, solution.devices) == pytest.approx(solution.cost)


def test_greedy_on_the_profile_is_the_published_total() -> None:
    problem, _ = problem_of(published()["configurations"], 128)
    assert greedy(problem)[1] == pytest.approx(PUBLISHED["laptop"], abs=0.5)


def test_layers_are_those_of_the_profile() -> None:
    assert len(LAYERS) == len(published()["automatic"]["128"]["host"])
    assert sum(layer.kind.startswith("conv") for layer in LAYERS) == 6
