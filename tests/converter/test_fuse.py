"""Operators behind a binary layer become its multiplier, bias and activation if that is exact.

Reshapes that are in the way are moved.
"""

from collections.abc import Callable

import numpy as np
import pytest

from tests.converter.graphs import Net, Value, convert_and_compare, edges, signs, steps
from tests.model_builder import ACTIVATION

_CHANNELS = 8
_POWERS = np.array([0.5, 2.0, -1.0, 4.0, -0.25, 1.0, 0.0, -8.0], np.float32)
_NONZERO = np.where(_POWERS == 0, 2, _POWERS).astype(np.float32)
_POSITIVE = np.abs(_NONZERO)
_SHIFTS = np.array([3.0, -2.5, 0.0, 1.0, 0.5, -7.0, 12.0, -0.25], np.float32)

# Steps after a layer: an operator with its constant and whether that is the first operand, or an
# activation.
_Step = tuple[str, object, bool] | tuple[str, object] | tuple[str]


def _apply(net: Net, y: Value, chain: list[_Step]) -> Value:
    for kind, *rest in chain:
        if not rest:
            y = net.op(kind, y)
            continue
        operands = [y, rest[0]]
        if rest[1:] == [True]:
            operands.reverse()
        y = net.op(kind, *operands)
    return y


def _layer(net: Net, x: Value, rng: np.random.Generator, **options: object) -> Value:
    return net.conv(net.sign(x), signs(rng, _CHANNELS, 3, 3, x.shape[3]), **options)


def _convert(rng: np.random.Generator, chain: list[_Step], **options: object):
    net = Net()
    x = net.input(1, 5, 5, 6)
    y = _apply(net, _layer(net, x, rng, **options), chain)
    return convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])


# Chains that go into the layer as a whole.
_FUSED: dict[str, list[_Step]] = {
    "add": [("ADD", _SHIFTS)],
    "add first": [("ADD", _SHIFTS, True)],
    "subtract": [("SUB", _SHIFTS)],
    "subtract from": [("SUB", _SHIFTS, True)],
    "multiply": [("MUL", _POWERS)],
    "multiply first": [("MUL", _POWERS, True)],
    "divide": [("DIV", _NONZERO)],
    "numbers": [("MUL", 2.0), ("ADD", 3.0)],
    "one value in four dimensions": [("MUL", np.full((1, 1, 1, 1), -2, np.float32))],
    "channels in four dimensions": [("MUL", _POWERS.reshape(1, 1, 1, -1))],
    "batch norm": [("MUL", _POWERS), ("ADD", _SHIFTS)],
    "chain": [("SUB", 3.0, True), ("DIV", _NONZERO), ("ADD", _SHIFTS), ("MUL", -2.0)],
    "relu": [("RELU",)],
    "relu6": [("RELU6",)],
    "relu_n1_to_1": [("RELU_N1_TO_1",)],
    "relu and batch norm": [("RELU",), ("MUL", _POWERS), ("ADD", _SHIFTS)],
    "relu6 and batch norm": [("RELU6",), ("MUL", _POWERS), ("ADD", _SHIFTS)],
    "positive multiplier and relu": [("MUL", _POSITIVE), ("RELU",), ("ADD", _SHIFTS)],
    "zero and positive multiplier and relu": [("MUL", np.abs(_POWERS)), ("RELU",)],
    "cancelled bias": [("ADD", 3.0), ("SUB", 3.0), ("RELU",)],
}


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("chain", _FUSED)
def test_fused(chain, padding, rng):
    converted = _convert(rng, _FUSED[chain], padding=padding)
    assert converted.kinds == ["LceQuantize", "LceBconv2d"]


# Chains, and the operators of each that stay behind.
_NOT_FUSED: dict[str, tuple[list[_Step], list[str]]] = {
    "values of pixels": ([("MUL", np.resize(_NONZERO, (3, 3, 9))[..., :8])], ["MUL"]),
    "values of rows": ([("ADD", _NONZERO[:3].reshape(3, 1, 1))], ["ADD"]),
    "constant divided": ([("DIV", 8.0, True)], ["DIV"]),
    "divided by zero": ([("DIV", _POWERS)], ["DIV"]),
    "overflow": ([("MUL", 2.0**100), ("MUL", 2.0**100)], ["MUL"]),
    "negative multiplier and relu": ([("MUL", _NONZERO), ("RELU",)], ["RELU"]),
    "multiplier and relu6": ([("MUL", 2.0), ("RELU6",)], ["RELU6"]),
    "multiplier and relu_n1_to_1": ([("MUL", 2.0), ("RELU_N1_TO_1",)], ["RELU_N1_TO_1"]),
    "bias and relu": ([("ADD", _SHIFTS), ("RELU",), ("MUL", 2.0)], ["RELU", "MUL"]),
    "two activations": ([("RELU",), ("RELU6",), ("ADD", 1.0)], ["RELU6", "ADD"]),
    "another activation": ([("LEAKY_RELU",), ("ADD", 1.0)], ["LEAKY_RELU", "ADD"]),
    "maximum": ([("MAXIMUM", 2.0)], ["MAXIMUM"]),
}


@pytest.mark.parametrize("chain", _NOT_FUSED)
def test_not_fused(chain, rng):
    steps_after, left = _NOT_FUSED[chain]
    assert _convert(rng, steps_after).kinds == ["LceQuantize", "LceBconv2d", *left]


@pytest.mark.parametrize("shape", [(8, 1, 1), (8, 8, 1), (1, 8, 1), (8, 8, 8)])
@pytest.mark.parametrize("kind", ["MUL", "ADD"])
def test_values_of_an_image_as_large_as_its_channels(net, kind, shape, rng):
    """The constant has eight values and the layer eight channels, but not one for each."""
    x = net.input(1, 10, 10, 6)
    constant = _POWERS[np.indices(shape).sum(axis=0) % 8]
    y = net.op(kind, _layer(net, x, rng), constant)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", kind]


def test_constant_that_makes_more_of_one_channel(net, rng):
    """[N, H, W, 1] times [8] has eight channels; the layer has one multiplier for its only one."""
    x = net.input(1, 5, 5, 6)
    y = net.op("MUL", net.conv(net.sign(x), signs(rng, 1, 3, 3, 6)), _POWERS)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "MUL"]


@pytest.mark.parametrize("activation", ["RELU", "RELU6", "RELU_N1_TO_1"])
@pytest.mark.parametrize(("kind", "constant"), [("ADD", _SHIFTS), ("MUL", 1.0)])
def test_activation_fused_in_arithmetic(net, kind, constant, activation, rng):
    x = net.input(1, 5, 5, 6)
    y = _layer(net, x, rng)
    y = net.op(kind, y, constant, fusedActivationFunction=ACTIVATION[activation])
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    left = [activation] if kind == "ADD" else []
    assert converted.kinds == ["LceQuantize", "LceBconv2d", *left]


@pytest.mark.parametrize(("padding", "left"), [("SAME", ["RELU"]), ("VALID", [])])
def test_activation_of_a_zero_padded_layer_for_lce(net, padding, left, rng):
    """LCE's kernel has no activation with zero padding."""
    x = net.input(1, 5, 5, 6)
    y = _layer(net, x, rng, padding=padding, activation="RELU")
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)], compatibility="lce")
    assert converted.kinds == ["LceQuantize", "LceBconv2d", *left]


_READERS: dict[str, Callable[[Net, Value], list[Value]]] = {
    "an operator": lambda net, y: [net.op("ABS", y)],
    "the caller": lambda net, y: [y],
}


@pytest.mark.parametrize("reader", _READERS)
@pytest.mark.parametrize("kind", ["MUL", "RELU"])
def test_value_that_others_read(net, kind, reader, rng):
    x = net.input(1, 5, 5, 6)
    y = _layer(net, x, rng)
    after = net.op(kind, y, 2.0) if kind == "MUL" else net.op(kind, y)
    outputs = [after, *_READERS[reader](net, y)]
    converted = convert_and_compare(net, *outputs, inputs=[edges(rng, *x.shape)])
    assert kind in converted.kinds


def test_sum_of_two_layers_stays(net, rng):
    x = net.input(1, 5, 5, 6)
    y = net.op("ADD", _layer(net, x, rng), _layer(net, x, rng))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert sorted(converted.kinds) == ["ADD", "LceBconv2d", "LceBconv2d", "LceQuantize"]


def test_constant_that_is_no_float(net, rng):
    """The layer's result is cast to integers."""
    x = net.input(1, 5, 5, 6)
    y = net.op("CAST", _layer(net, x, rng), dtype=np.int32, inDataType=0, outDataType=2)
    z = net.op("ADD", y, net.constant(np.arange(_CHANNELS, dtype=np.int32)), dtype=np.int32)
    converted = convert_and_compare(net, z, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "CAST", "ADD"]


@pytest.mark.parametrize("units", [8, 32])
def test_chain_after_a_dense_layer(net, units, rng):
    """The layer's result is reshaped once, after everything that is fused into the layer."""
    x = net.input(3, 40)
    y = net.dense(net.sign(x), signs(rng, units, 40))
    y = net.op("ADD", net.op("MUL", net.op("RELU", y), 2.0), steps(rng, units))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert [kind for kind in converted.kinds if kind != "RESHAPE"] == ["LceQuantize", "LceBconv2d"]
    assert converted.kinds[-1] == "RESHAPE"


def test_chain_after_a_dense_layer_with_constants_first(net, rng):
    x = net.input(3, 40)
    y = net.dense(net.sign(x), signs(rng, 8, 40))
    y = net.op("MUL", 2.0, net.op("MINIMUM", net.op("SUB", 3.0, y), _SHIFTS))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    kinds = ["LceQuantize", "LceBconv2d", "MINIMUM", "MUL", "RESHAPE"]
    assert [kind for kind in converted.kinds if kind != "RESHAPE"] == kinds[:-1]
    assert converted.kinds[-4:] == kinds[1:]


def test_dense_layers_in_a_row(net, rng):
    """No reshape is left between them, as their bits are whole words."""
    x = net.input(3, 40)
    y = x
    for units in (32, 64, 5):
        y = net.dense(net.sign(y), signs(rng, units, y.shape[1]))
        y = net.op("ADD", net.op("MUL", y, 2.0), steps(rng, units))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    layers = ["LceBconv2d"] * 3
    assert [kind for kind in converted.kinds if kind != "RESHAPE"] == ["LceQuantize", *layers]
    assert converted.kinds[-4:] == [*layers, "RESHAPE"]


@pytest.mark.parametrize("kind", ["MUL", "ADD", "SUB", "MINIMUM"])
@pytest.mark.parametrize("first", [False, True])
def test_reshape_before_a_constant_that_makes_more(net, kind, first, rng):
    """[3, 1] and [8] make [3, 8]: the reshape has to stay where it is."""
    x = net.input(3, 40)
    y = net.dense(net.sign(x), signs(rng, 1, 40))
    y = net.op(kind, *[_POWERS, y] if first else [y, _POWERS])
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds[-3:] == ["LceBconv2d", "RESHAPE", kind]


def test_reshape_of_the_model_that_mixes_channels(net, rng):
    x = net.input(1, 5, 5, 6)
    y = net.reshape(_layer(net, x, rng), 1, 9, 4, 2)
    y = net.op("MUL", y, np.array([2.0, 4.0], np.float32))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "RESHAPE", "MUL"]


def test_reshape_of_the_model_that_keeps_channels(net, rng):
    x = net.input(1, 5, 5, 6)
    y = net.op("MUL", net.reshape(_layer(net, x, rng), 9, 8), _POWERS)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "RESHAPE"]


def test_reshape_that_others_read(net, rng):
    x = net.input(1, 5, 5, 6)
    y = net.reshape(_layer(net, x, rng), 9, 8)
    outputs = [net.op("MUL", y, _POWERS), net.op("ABS", y)]
    converted = convert_and_compare(net, *outputs, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "RESHAPE", "MUL", "ABS"]


def test_reshapes_of_floats_meet(net, rng):
    x = net.input(1, 4, 4, 8)
    same = net.reshape(net.reshape(x, 1, 4, 4, 8), 1, 4, 4, 8)
    y = net.op("MUL", net.reshape(same, 16, 8), _POWERS)
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["RESHAPE", "MUL"]
