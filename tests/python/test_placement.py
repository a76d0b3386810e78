"""Placements name nodes that there are; what they do with a GPU is in tests/cuda."""

import numpy as np
import pytest

import larq_engine
from tests.hosts import HOSTS
from tests.model_builder import ModelBuilder


def branch_model() -> bytes:
    """Node 1 of the main graph and nodes 0 and 1 of graph 1 are the engine's, of graph 2 none."""
    builder = ModelBuilder()
    shape, packed = (1, 4, 4, 32), (1, 4, 4, 1)
    c, x, y = builder.tensor((1,), np.bool_), builder.tensor(shape), builder.tensor(shape)
    bits = builder.tensor(packed, np.int32, name="main")
    builder.builtin("IF", [c, x], [y], thenSubgraphIndex=1, elseSubgraphIndex=2)
    builder.custom("LceQuantize", [y], [bits])
    signs, double = builder.subgraph(), builder.subgraph()
    for branch in (signs, double):
        branch.interface([branch.tensor(shape)], [branch.tensor(shape, name="signs")])
    inner = signs.tensor(packed, np.int32, name="inner")
    signs.custom("LceQuantize", [0], [inner])
    signs.custom("LceDequantize", [inner], [1])
    double.builtin("ADD", [0, 0], [1])
    return builder.finish([c, x], [bits])


_CANNOT_BE = {
    "999:cpu": "expected nodes that the engine takes over, of graph 0 these: 1; got 999",
    "1:cpu,0:cpu": "expected nodes that the engine takes over, of graph 0 these: 1; got 0",
    "1/2:cpu": "expected nodes that the engine takes over, of graph 1 these: 0-1; got 1/2",
    "2/1:cpu": "expected nodes that the engine takes over, of graph 2 these: none; got 2/1",
    "3/0:cpu": "expected a graph of the model, got 3/0, and there is no graph 3",
}


@pytest.mark.parametrize("device", ["cpu", "auto"])
@pytest.mark.parametrize("placement", _CANNOT_BE)
@pytest.mark.parametrize("runtime", HOSTS)
def test_nodes_that_cannot_be_placed(runtime, placement, device):
    with pytest.raises(ValueError) as error:
        larq_engine.Interpreter(branch_model(), runtime=runtime, device=device, placement=placement)
    assert f"option placement: {_CANNOT_BE[placement]}" in str(error.value)


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("runtime", HOSTS)
def test_nodes_of_every_graph(runtime, taken):
    x = np.random.default_rng(3).standard_normal((1, 4, 4, 32)).astype(np.float32)
    inputs = [np.array([taken]), x]
    expected = larq_engine.Interpreter(branch_model(), runtime=runtime).predict(inputs)
    placed = larq_engine.Interpreter(
        branch_model(), runtime=runtime, placement="1:cpu,1/0:cpu,2/0:cpu"
    )
    np.testing.assert_array_equal(placed.predict(inputs), expected)


def test_float_operators_without_a_gpu():
    """They may be placed on the CPU, where they stay with the host."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4)), builder.tensor((1, 4))
    bits = builder.tensor((1, 1), np.int32)
    builder.builtin("LOGISTIC", [x], [y])
    builder.custom("LceQuantize", [y], [bits])
    model = builder.finish([x], [bits])
    placed = larq_engine.Interpreter(model, placement="0:cpu")
    assert placed.predict(np.ones((1, 4), np.float32)).tolist() == [[0]]
