"""Random graphs around signs give the same results after conversion, to the bit.

Inputs are zeros of both signs, infinities, numbers next to each bound, and, where nothing computes
with them, numbers below the normal ones. NaN has no sign to agree on.
"""

from collections import Counter

import pytest

from tests import samples
from tests.converter.graphs import convert_and_compare
from tests.converter.random_graphs import random_graph

_SEEDS = 4000
_SEEDS_PER_CASE = 20
_SAMPLED_CASES = 5  # without --full


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    firsts = samples.choose(metafunc.config, range(0, _SEEDS, _SEEDS_PER_CASE), _SAMPLED_CASES)
    metafunc.parametrize("first", firsts)


def test_random_graphs(first: int) -> None:
    found: Counter[str] = Counter()
    for seed in range(first, first + _SEEDS_PER_CASE):
        made = random_graph(seed)
        try:
            converted = convert_and_compare(made.net, *made.outputs, inputs=[made.data()])
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        found.update(layer.became for layer in converted.layers)
    assert found["binary"] > found.total() / 3
