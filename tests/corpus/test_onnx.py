"""A sample of the corpus of random ONNX graphs, another one in each run."""

import os

import pytest

from larq_engine.converter import rules_binary
from tests.corpus.onnx import try_graph

_GRAPHS = 60
_PARTS = 4


@pytest.mark.parametrize("part", range(_PARTS))
def test_random_graphs(part, monkeypatch):
    """Small layers stand for large ones."""
    monkeypatch.setattr(rules_binary, "_has_few_products", lambda layer: False)
    first = int.from_bytes(os.urandom(4), "little")
    found = {seed: try_graph(seed) for seed in range(first, first + _GRAPHS // _PARTS)}
    wrong = "".join(
        f"\n{outcome.wrong}\n  to replay: python -m tests.corpus.onnx --count 1 --seed {seed}"
        for seed, outcome in found.items()
        if outcome.wrong
    )
    assert not wrong, wrong
    assert sum(outcome.compared["its own inputs"] for outcome in found.values()) > 10
    assert sum(outcome.layers["binary"] for outcome in found.values()) > 1
