"""Inputs and weights of two numbers that are not each other's negatives, as AdaBin has them."""

from typing import Any

import numpy as np
import pytest

from larq_engine.converter.api import convert_tflite
from tests.converter.graphs import Net, Value, convert, convert_and_compare, edges, signs, steps

_HIGH = np.array([1.5, 0.5, 2.0, 3.0, -0.5, 4.0, 0.25, 1.0], np.float32)
_LOW = np.array([-0.5, -0.5, 1.0, -3.0, -1.5, 0.0, 0.25, 1.0], np.float32)


def _weights(rng, *shape: int) -> np.ndarray:
    """Draws weights of two numbers in each channel; some are equal, or each other's negatives."""
    along = (8, *[1] * (len(shape) - 1))
    high, low = _HIGH.reshape(along), _LOW.reshape(along)
    return np.where(signs(rng, *shape) > 0, high, low).astype(np.float32)


def _two(net: Net, x: Value, scale: float, centre: float) -> Value:
    return net.op("ADD", net.op("MUL", net.sign(x), scale), centre)


_PADS: dict[str, tuple[dict[str, Any], float | None]] = {
    "none": ({}, None),
    "SAME": ({"padding": "SAME"}, None),
    "stride": ({"padding": "SAME", "stride": (2, 3)}, None),
    "dilation": ({"padding": "SAME", "dilation": (2, 1)}, None),
    "PAD": ({}, 0.0),
    "with the higher": ({}, 1.0),
    "activation": ({"activation": "RELU"}, 0.0),
}


@pytest.mark.parametrize("scale", [0.75, -0.75])
@pytest.mark.parametrize("pads", _PADS)
def test_convolution(net, pads, scale, rng):
    x = net.input(2, 7, 6, 5)
    options, fill = _PADS[pads]
    y = _two(net, x, scale, 0.25)
    if fill is not None:
        y = net.pad(y, ((1, 2), (0, 1)), fill)
    y = net.conv(y, _weights(rng, 8, 3, 3, 5), steps(rng, 8), **options)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    has_border = options.get("padding") == "SAME" or fill == 0
    kinds = ["LceQuantize", "LceBconv2d", "LceBconv2d", "MUL", "ADD", *["ADD"] * has_border]
    assert [kind for kind in converted.kinds if kind != "RELU"] == kinds
    assert [layer.became for layer in converted.layers] == ["binary"]


def test_plain_weights_and_a_border(net, rng):
    """Only the inputs have a centre."""
    x = net.input(1, 6, 6, 5)
    y = net.conv(_two(net, x, 0.75, 0.25), signs(rng, 8, 3, 3, 5), padding="SAME")
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "ADD"]


def test_dense_layer(net, rng):
    x = net.input(3, 40)
    y = net.dense(net.sign(x), _weights(rng, 8, 40), steps(rng, 8))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    kinds = [kind for kind in converted.kinds if kind != "RESHAPE"]
    assert kinds == ["LceQuantize", "LceBconv2d", "LceBconv2d", "MUL", "ADD"]


def test_numbers_that_are_no_powers_of_two(net, rng):
    """Sums of such numbers round, so the conversion's own check compares them."""
    x = net.input(1, 6, 6, 32)
    high, low = rng.normal(size=(2, 8, 1, 1, 1)).astype(np.float32)
    weights = np.where(signs(rng, 8, 3, 3, 32) > 0, high, low)
    y = net.conv(_two(net, x, 0.7312, 0.2113), weights, steps(rng, 8), padding="SAME")
    converted = convert_tflite(net.finish(y), check=True)
    assert converted.report.operators["LceBconv2d"] == 2


@pytest.mark.parametrize("least", [-1, -3, -8])
@pytest.mark.parametrize("inputs", ["signs", "two bits"])
def test_whole_numbers_times_a_size(net, least, inputs, rng):
    """Ternary and other whole weights of Brevitas and QONNX have 0 and even numbers among them."""
    x = net.input(2, 7, 6, 40)
    if inputs == "signs":
        data = net.sign(x)
    else:
        data = net.op("ROUND", net.op("MUL", net.op("RELU_0_TO_1", x), 3.0))
    weights = rng.integers(least, -least + (least != -8), (8, 3, 3, 40)).astype(np.float32)
    weights[1] = 0
    weights[2] = -0.5
    weights *= rng.choice(np.array([0.5, 2.0, 1.0], np.float32), (8, 1, 1, 1))
    y = net.conv(data, weights, steps(rng, 8), padding="SAME")
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape, step=0.25)])
    kinds = ["LceQuantize", "LceBconv2d", "LceBconv2d", "MUL", "ADD"]
    assert converted.kinds == kinds
    (layer,) = converted.layers
    bits = {-1: 2, -3: 3, -8: 4}[least]
    assert (layer.became, layer.weight_bits) == ("binary", bits)


def test_border_of_an_open_image_stays_in_float(net, rng):
    x = net.input(1, 6, 6, 5)
    two = _two(net, x, 0.75, 0.25)
    y = net.conv(two, _weights(rng, 8, 3, 3, 5), padding="SAME")
    for value in (x, two, y):
        tensor = net.builder.graph.tensors[value.number]
        tensor.shapeSignature = np.array((1, -1, -1, value.shape[3]), np.int32)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert "LceBconv2d" not in converted.kinds


# Weights and pads with which a layer stays in float.
_STAYS = {
    "three values": (lambda w: w + _third(w), None),
    "not finite": (lambda w: np.where(w == 1.5, np.inf, w).astype(np.float32), None),
    "groups": (lambda w: w[..., :1], None),
    "another pad": (lambda w: w, 0.5),
}


def _third(weights: np.ndarray) -> np.ndarray:
    """Returns numbers that turn one of the weights into a third number if they are added."""
    one = np.zeros_like(weights)
    one[0, 0, 0, 0] = 8.123
    return one


@pytest.mark.parametrize("case", _STAYS)
def test_stays(net, case, rng):
    x = net.input(1, 6, 6, 4)
    change, fill = _STAYS[case]
    y = _two(net, x, 0.75, 0.25)
    if fill is not None:
        y = net.pad(y, ((1, 1), (1, 1)), fill)
    y = net.conv(y, change(_weights(rng, 8, 3, 3, 4)))
    assert "LceBconv2d" not in convert(net.finish(y)).kinds
