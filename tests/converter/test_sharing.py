"""Weights that two layers share are in the file once, binary or not."""

import numpy as np
import pytest

from larq_engine.converter.api import convert_tflite
from tests.converter.graphs import Net, convert_and_compare, edges, signs

_BITS = 64 * 9 * 256 // 8


def _filters(rng):
    return signs(rng, 256, 3, 3, 64)


def _thresholds(net, x, filters, factors):
    """Builds a layer that writes bits, some of whose filters are negated for that."""
    y = net.op("MUL", net.conv(net.sign(x), filters), factors)
    return net.conv(net.sign(y), np.ones((8, 1, 1, 256), np.float32))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_layer_of_thresholds_and_one_of_numbers(net, swapped, padding, rng):
    x, u = net.input(1, 6, 5, 64), net.input(1, 5, 6, 64)
    filters, factors = _filters(rng), signs(rng, 256)
    scale = np.array([2.0, -0.5], np.float32)[rng.integers(0, 2, 256)]
    bits = _thresholds(net, x, filters, factors)
    numbers = net.conv(net.sign(u), filters * scale[:, None, None, None], padding=padding)
    outputs = (numbers, bits) if swapped else (bits, numbers)
    values = [edges(rng, *x.shape), edges(rng, *u.shape)]
    converted = convert_and_compare(net, *outputs, inputs=values)
    first, second = (
        op for op in converted.ops("LceBconv2d") if op.inputs[1].shape == (256, 3, 3, 2)
    )
    np.testing.assert_array_equal(first.inputs[1].data, second.inputs[1].data)
    # The file holds the weights, multipliers and biases or thresholds of 256 + 256 channels, and
    # what else a file has.
    assert _BITS < len(converted.content) < _BITS + 12 * 256 + 8000


def test_two_signatures(net, rng):
    filters = _filters(rng)
    x = net.input(1, 5, 5, 64)
    y = _thresholds(net, x, filters, signs(rng, 256))
    second = Net()
    second.builder = net.builder.subgraph()
    u = second.input(1, 5, 5, 64)
    v = second.conv(second.sign(u), filters)
    second.builder.interface([u.number], [v.number])
    net.builder.signature({"x": x.number}, {"y": y.number})
    net.builder.signature({"u": u.number}, {"v": v.number})
    net.builder.model.signatureDefs[1].subgraphIndex = 1
    converted = convert_tflite(net.finish(y))  # its self-check compares both with the float model
    assert [layer.became for layer in converted.report.layers] == ["binary"] * 3
    assert _BITS < len(converted) < _BITS + 12 * 256 + 8000


def test_other_weights_stay_apart(net, rng):
    x, u = net.input(1, 6, 5, 64), net.input(1, 5, 6, 64)
    filters = _filters(rng)
    other = filters.copy()
    other[3, 1, 1, 5] *= -1
    bits = _thresholds(net, x, filters, signs(rng, 256))
    numbers = net.conv(net.sign(u), other)
    values = [edges(rng, *x.shape), edges(rng, *u.shape)]
    converted = convert_and_compare(net, bits, numbers, inputs=values)
    assert len(converted.content) > 2 * _BITS


def test_a_relu_before_the_multiplier_keeps_its_filters(net, rng):
    x, u = net.input(1, 6, 5, 64), net.input(1, 5, 6, 64)
    filters = _filters(rng)
    bits = _thresholds(net, x, filters, signs(rng, 256))
    numbers = net.conv(net.sign(u), filters, activation="RELU")
    values = [edges(rng, *x.shape), edges(rng, *u.shape)]
    convert_and_compare(net, bits, numbers, inputs=values)
