"""Tests which devices compute placed nodes, in the main graph and in others."""

import numpy as np

import larq_engine
from tests.model_builder import ModelBuilder
from tests.python.test_placement import branch_model


def _devices(placement: str) -> dict[str, str]:
    with larq_engine.Interpreter(branch_model(), device="cuda", placement=placement) as model:
        x = np.random.default_rng(3).standard_normal((1, 4, 4, 32)).astype(np.float32)
        rows = model.profile([np.array([True]), x], runs=1)
        return {row.name: row.device for row in rows if row.op not in ("TRANSFER", "host runtime")}


def test_nodes_are_those_of_the_main_graph():
    assert _devices("1:cpu") == {"main": "cpu", "inner": "cuda", "signs": "cuda"}


def test_nodes_of_another_graph():
    assert _devices("1/1:cpu") == {"main": "cuda", "inner": "cuda", "signs": "cpu"}


def test_a_node_whose_neighbour_stays_with_the_host():
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 1, 4)) for _ in range(3))
    bits = builder.tensor((1, 1, 1), np.int32)
    builder.builtin("LOGISTIC", [x], [y])
    builder.builtin("LOGISTIC", [y], [z])
    builder.custom("LceQuantize", [z], [bits])
    data = np.linspace(-1, 1, 4, dtype=np.float32)[None, None]
    with larq_engine.Interpreter(
        builder.finish([x], [bits]), device="cuda", placement="0:cuda,1:cpu"
    ) as model:
        rows = model.profile([data], runs=1)
    assert [(row.node, row.device) for row in rows if row.op == "LOGISTIC"] == [(0, "cuda")]
