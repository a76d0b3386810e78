"""The layer that an operator belongs to, read from names, and written into them."""

from pathlib import Path

import numpy as np
import pytest

from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.names import find_layers, write_names

_NAMES = Path(__file__).parents[1] / "common" / "layer_names.txt"


def _cases() -> list[list[str]]:
    lines = _NAMES.read_text(encoding="utf-8").splitlines()
    return [line.split(" -> ") for line in lines if line and not line.startswith("#")]


def _tensor(name: str) -> Tensor:
    return Tensor(name, (1,), "FLOAT32")


def _constant(name: str) -> Tensor:
    return Tensor(name, (1,), "FLOAT32", data=np.zeros(1, np.float32))


@pytest.mark.parametrize(("name", "layer"), _cases())
def test_layers_in_names(name, layer):
    assert name_layer(Op("ADD", [_tensor("x")], [_tensor(name)])) == layer


def test_weights_tell_what_the_output_does_not():
    weights = _constant("model/scores/MatMul")
    assert name_layer(Op("FULLY_CONNECTED", [None, weights], [_tensor("Call:0")])) == "scores"
    assert name_layer(Op("FULLY_CONNECTED", [None, weights], [_tensor("m/d/MatMul")])) == "d"
    assert name_layer(Op("ADD", [None, weights], [_tensor("Call:0")])) == "Call:0"


def test_names_are_the_layers():
    x, y = _tensor("x" * 70), _tensor("Call:0")
    shared = _constant("weights")
    first, again, pooled = (_tensor(f"model/{n}") for n in ("c/Conv2D", "c/Conv2D_1", "p/MaxPool"))
    ops = [
        Op("CONV_2D", [x, shared], [first]),
        Op("CONV_2D", [first, shared], [again]),
        Op("MAX_POOL_2D", [again], [pooled]),
        Op("FULLY_CONNECTED", [pooled, shared], [y]),
    ]
    graph = Graph("main", [x], [y], ops)
    ops[-1].outputs[0].name = "model/d/MatMul"
    find_layers(graph)
    y.name = "Call:0"
    write_names(graph)
    assert [op.name for op in ops] == ["c:CONV_2D", "c:CONV_2D_1", "p:MAX_POOL_2D", "Call:0"]
    assert [name_layer(op) for op in ops] == ["c", "c", "p", "d"]
    assert x.name == "x" * 70
    # The last layer's is another tensor now, of the same data.
    assert shared.name == ""
    assert len(shared.consumers) == 2
    [named] = [tensor for tensor in ops[-1].inputs if tensor is not pooled]
    assert named.name == "d:FULLY_CONNECTED"
    assert named.data is shared.data
    assert named.consumers == [ops[-1]]


def test_names_do_not_change_when_they_are_written_again():
    x, y, z = _tensor("x"), _tensor("model/norm/Add;model/conv/Conv2D;"), _tensor("z")
    graph = Graph("main", [x], [z], [Op("NEG", [x], [y]), Op("ADD", [y, _constant("c")], [z])])
    find_layers(graph)
    write_names(graph)
    before = [(op.name, op.layer) for op in graph.ops]
    find_layers(graph)
    write_names(graph)
    assert [(op.name, op.layer) for op in graph.ops] == before == [("conv:NEG", "conv"), ("z", "z")]
