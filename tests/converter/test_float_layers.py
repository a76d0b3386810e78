"""Operators behind a layer that the host computes become its weights, bias and activation."""

import numpy as np
import pytest

from tests.converter.graphs import Net, Value, convert_and_compare, edges, signs, steps
from tests.model_builder import PADDING

_POWERS = np.array([0.5, 2.0, -1.0, 4.0, -0.25, 1.0, 0.0, -8.0], np.float32)
_NONZERO = np.where(_POWERS == 0, 2, _POWERS).astype(np.float32)
_SHIFTS = np.array([3.0, -2.5, 0.0, 1.0, 0.5, -7.0, 12.0, -0.25], np.float32)


def _conv(net: Net, rng, x: Value, **options) -> Value:
    return net.conv(x, steps(rng, 8, 3, 3, x.shape[3]), steps(rng, 8), **options)


def _depthwise(net: Net, rng, x: Value, channels: int = 8) -> Value:
    """Adds a depthwise convolution that makes eight channels."""
    return net.op(
        "DEPTHWISE_CONV_2D",
        x,
        steps(rng, 1, 3, 3, 8),
        steps(rng, 8),
        shape=(x.shape[0], x.shape[1] - 2, x.shape[2] - 2, 8),
        padding=PADDING["VALID"],
        strideH=1,
        strideW=1,
        dilationHFactor=1,
        dilationWFactor=1,
        depthMultiplier=8 // channels,
    )


def _dense(net: Net, rng, x: Value) -> Value:
    weights = steps(rng, 8, x.shape[3])
    return net.dense(x, weights, keepNumDims=True)  # no bias


_LAYERS = {"CONV_2D": _conv, "DEPTHWISE_CONV_2D": _depthwise, "FULLY_CONNECTED": _dense}

# Functions of a layer's result that the layer takes in.
_TAKEN_IN = {
    "add": lambda net, y: net.op("ADD", y, _SHIFTS),
    "add first": lambda net, y: net.op("ADD", _SHIFTS, y),
    "subtract": lambda net, y: net.op("SUB", y, _SHIFTS),
    "subtract from": lambda net, y: net.op("SUB", _SHIFTS, y),
    "multiply": lambda net, y: net.op("MUL", y, _POWERS),
    "divide": lambda net, y: net.op("DIV", y, _NONZERO),
    "number": lambda net, y: net.op("MUL", 2.0, y),
    "batch norm and relu": lambda net, y: net.op(
        "RELU", net.op("ADD", net.op("MUL", y, _POWERS), _SHIFTS)
    ),
    "relu6": lambda net, y: net.op("RELU6", y),
    "clamp": lambda net, y: net.op("RELU_N1_TO_1", net.op("MUL", y, 0.25)),
    "rows": lambda net, y: net.op("MUL", net.reshape(y, *y.shape[1:]), _POWERS),
}


@pytest.mark.parametrize("layer", _LAYERS)
@pytest.mark.parametrize("after", _TAKEN_IN)
def test_taken_in(net, layer, after, rng):
    x = net.input(1, 6, 6, 8)
    y = _TAKEN_IN[after](net, _LAYERS[layer](net, rng, x))
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert [kind for kind in converted.kinds if kind != "RESHAPE"] == [layer]


_PIXELS = np.resize(_NONZERO, (4, 4, 8 + 1))[..., :8]

# Functions of a layer's result that stay, and the operators that are left behind the layer.
_STAYS = {
    "divided": (lambda net, y: net.op("DIV", 8.0, y), ["DIV"]),
    "pixels": (lambda net, y: net.op("MUL", y, _PIXELS), ["MUL"]),
    "overflow": (lambda net, y: net.op("MUL", net.op("MUL", y, 2.0**100), 2.0**100), ["MUL"]),
    "two activations": (
        lambda net, y: net.op("ADD", net.op("RELU6", net.op("RELU", y)), 1.0),
        ["RELU6", "ADD"],
    ),
    "other": (lambda net, y: net.op("LEAKY_RELU", y), ["LEAKY_RELU"]),
    "twice": (lambda net, y: net.op("MUL", net.op("RELU", y), net.op("ADD", y, 1.0)), None),
}


@pytest.mark.parametrize("after", _STAYS)
def test_stays(net, after, rng):
    x = net.input(1, 6, 6, 4)
    make, left = _STAYS[after]
    y = make(net, _conv(net, rng, x))
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape) + 10])
    assert converted.kinds == ["CONV_2D", *(["RELU", "ADD", "MUL"] if left is None else left)]


def test_weights_of_two_layers_stay(net, rng):
    x = net.input(1, 6, 6, 4)
    weights = net.constant(steps(rng, 8, 3, 3, 4))
    halves = [net.op("MUL", net.conv(x, weights), scale) for scale in (2.0, 4.0)]
    converted = convert_and_compare(net, *halves, inputs=[steps(rng, *x.shape)])
    assert sorted(converted.kinds) == ["CONV_2D", "CONV_2D", "MUL", "MUL"]


def test_depthwise_convolution_of_one_channel(net, rng):
    """PyTorch writes convolutions of sound and of gray images in this form."""
    x = net.input(1, 6, 6, 1)
    y = net.op("MUL", _depthwise(net, rng, x, channels=1), _POWERS)
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["CONV_2D"]


def test_convolution_of_sequences(net, rng):
    """Between layers, batch norms and poolings there are reshapes to three dimensions and back."""
    x = net.input(1, 1, 34, 4)
    y = net.conv(x, steps(rng, 32, 1, 3, 4))
    y = net.op("ADD", net.op("MUL", net.reshape(y, 1, 32, 32), 2.0), steps(rng, 32))
    y = net.reshape(net.sign(y), 1, 1, 32, 32)
    y = net.reshape(net.conv(y, signs(rng, 32, 1, 3, 32)), 1, 30, 32)
    y = net.op("ADD", net.op("MUL", y, 2.0), steps(rng, 32))
    y = net.max_pool(net.reshape(y, 1, 1, 30, 32), (1, 2), (1, 2))
    y = net.conv(net.sign(y), signs(rng, 8, 1, 3, 32))
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == [
        *("CONV_2D", "LceQuantize", "LceBconv2d", "LceBMaxPool2d"),
        "LceBconv2d",
    ]


@pytest.mark.parametrize("kind", ["MAX_POOL_2D", "AVERAGE_POOL_2D"])
def test_pooling_of_a_line_that_is_turned(net, kind, rng):
    """Keras' MaxPool1D pools along the height, but its Conv1D works along the width."""
    x = net.input(2, 1, 32, 4)
    y = net.conv(x, steps(rng, 8, 1, 3, 4))
    pooling = {"filterHeight": 2, "filterWidth": 1, "strideH": 2, "strideW": 1}
    y = net.op(
        kind, net.reshape(y, 2, 30, 1, 8), shape=(2, 15, 1, 8), padding=PADDING["VALID"], **pooling
    )
    y = net.conv(net.reshape(y, 2, 1, 15, 8), steps(rng, 8, 1, 3, 8))
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["CONV_2D", kind, "CONV_2D"]


def test_reshape_of_open_sizes_stays(net, rng):
    """A tensor with one shape in the file may have another when it runs."""
    x = net.input(1, 4, 4, 8)
    shaped = net.reshape(net.op("NEG", x), 1, 4, 4, 8)
    y = net.op("ABS", shaped)
    for value in (x, shaped, y):
        tensor = net.builder.graph.tensors[value.number]
        tensor.shapeSignature = np.array((1, -1, -1, 8), np.int32)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["NEG", "RESHAPE", "ABS"]
