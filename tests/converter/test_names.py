"""The layer that an operator belongs to is read from names and written into names."""

import re
from pathlib import Path

import numpy as np
import pytest

from larq_engine import Interpreter, convert_tflite
from larq_engine.converter import layer_names, schema
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.names import find_layers, write_names
from tests.converter.graphs import Net

_NAMES = Path(__file__).parents[1] / "common" / "layer_names.txt"
_PLUG_IN = Path(layer_names.__file__).parents[1] / "runtime" / "ops" / "layer_name.cc"


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


@pytest.mark.parametrize(
    ("constant", "words"),
    [
        ("kWeighted", layer_names._WEIGHTED),
        ("kInnerScopes", layer_names._INNER_SCOPES),
        ("kSeparable", [layer_names._SEPARABLE]),
    ],
)
def test_the_plug_in_knows_the_same_words(constant, words):
    """The shared cases name a few of the words, and a word can be added to one side alone."""
    [value] = re.findall(rf"\b{constant} = (.*?);", _PLUG_IN.read_text(encoding="utf-8"), re.DOTALL)
    assert sorted(re.findall(r'"(.*?)"', value)) == sorted(words)


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
    # The last layer now has another tensor with the same data.
    assert shared.name == ""
    assert len(shared.consumers) == 2
    [named] = [tensor for tensor in ops[-1].inputs if tensor is not pooled]
    assert named.name == "d:FULLY_CONNECTED"
    assert named.data is shared.data
    assert named.consumers == [ops[-1]]


def _softmax_file(signature: str, name: str) -> bytes:
    """Makes a classifier as TensorFlow writes it: its last operator has no constant with a name."""
    net = Net()
    x = net.input(1, 8)
    scores = net.dense(x, np.ones((4, 8), np.float32))
    net.builder.graph.tensors[scores.number].name = "model/scores/MatMul"
    y = net.op("SOFTMAX", scores, beta=1.0)
    net.builder.graph.tensors[y.number].name = name
    net.builder.signature({"x": x.number}, {signature: y.number})
    return net.finish(y)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("StatefulPartitionedCall:0", "probabilities:SOFTMAX"),
        ("StatefulPartitionedCall_1:0", "probabilities:SOFTMAX"),
        ("PartitionedCall:0", "probabilities:SOFTMAX"),
        ("Identity", "probabilities:SOFTMAX"),
        ("my_output", "my_output"),
        ("model/answer/Softmax", "model/answer/Softmax"),
    ],
)
def test_an_output_without_a_name_is_named_after_the_last_layer(name, expected):
    """The signature calls such an output by that name; a name that someone gave is kept."""
    converted = convert_tflite(_softmax_file("probabilities", name))
    [output] = schema.read(converted).graphs[0].outputs
    assert output.name == expected
    assert convert_tflite(converted) == converted, "and it keeps that"
    assert Interpreter(converted).output_names == ["probabilities"]


def test_a_layer_with_weights_is_not_named_after_what_is_fused_into_it(net):
    x = net.input(1, 8)
    y = net.dense(x, np.ones((4, 8), np.float32))
    net.builder.graph.tensors[y.number].name = "StatefulPartitionedCall:0"
    net.builder.signature({"x": x.number}, {"batch_normalization": y.number})
    [output] = schema.read(convert_tflite(net.finish(y))).graphs[0].outputs
    assert output.name == "StatefulPartitionedCall:0"


def test_an_output_that_becomes_bits_is_named_after_what_makes_it(net):
    y = net.sign(net.input(1, 8))
    net.builder.graph.tensors[y.number].name = "StatefulPartitionedCall:0"
    net.builder.signature({"x": 0}, {"last_sign": y.number})
    names = [op.name for op in schema.read(convert_tflite(net.finish(y))).graphs[0].ops]
    assert names == ["last_sign:LceQuantize", "last_sign:LceDequantize"]


def test_names_do_not_change_when_they_are_written_again():
    x, y, z = _tensor("x"), _tensor("model/norm/Add;model/conv/Conv2D;"), _tensor("z")
    graph = Graph("main", [x], [z], [Op("NEG", [x], [y]), Op("ADD", [y, _constant("c")], [z])])
    find_layers(graph)
    write_names(graph)
    before = [(op.name, op.layer) for op in graph.ops]
    find_layers(graph)
    write_names(graph)
    assert [(op.name, op.layer) for op in graph.ops] == before == [("conv:NEG", "conv"), ("z", "z")]
