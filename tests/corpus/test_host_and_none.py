"""A sample of files that run without a host as they do in one, another one in each run."""

import os

import numpy as np
import pytest

from larq_engine.converter import rules_binary
from tests.corpus.host_and_none import Outcome, compare, compare_graph
from tests.model_builder import ModelBuilder

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


def _one_operator(name: str, *constants: np.ndarray) -> bytes:
    builder = ModelBuilder()
    x, y = builder.tensor((2, 3)), builder.tensor((2, 3))
    builder.builtin(name, [x, *map(builder.constant, constants)], [y])
    return builder.finish([x], [y])


def test_only_missing_operators_need_a_host():
    outcome = Outcome()
    files = {
        "needs a host": _one_operator("CUMSUM", np.array(1, np.int32)),
        "does not fit": _one_operator("ADD", np.ones((1, 7), np.float32)),
        "is no model": b"a text",
    }
    for name, content in files.items():
        compare(name, content, lambda info: np.zeros(info.shape, info.dtype), outcome)
    assert list(outcome.wrong) == ["does not fit", "is no model"]
    (refused,) = outcome.refused
    assert "got CUMSUM" in refused and outcome.refused[refused] == 1
    assert not outcome.compared
