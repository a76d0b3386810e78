"""A sample of files that run without a host as they do in one, another one in each run."""

import os

import pytest

from larq_engine.converter import rules_binary
from tests.corpus.host_and_none import Outcome, compare_graph

_GRAPHS = 24
_PARTS = 2


@pytest.mark.parametrize("part", range(_PARTS))
def test_random_graphs(part, monkeypatch):
    """Small layers stand for large ones."""
    monkeypatch.setattr(rules_binary, "_has_few_products", lambda layer: False)
    first = int.from_bytes(os.urandom(4), "little")
    outcome = Outcome()
    for seed in range(first, first + _GRAPHS // _PARTS):
        compare_graph(seed, outcome)
    wrong = "".join(f"\n{name}: {text}" for name, text in outcome.wrong.items())
    assert not wrong, (
        f"{wrong}\n  to replay: python -m tests.corpus.host_and_none --count 1 --seed SEED"
    )
    assert outcome.compared["as it is"] > 2
    assert outcome.compared["batch 3"] > 2
