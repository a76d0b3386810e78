"""The bounds of numbers of a few bits may come from another operator, which has a clamp fused.

TensorFlow's converter and litert_torch fuse a relu6 and a clamp to -1..1 into the operator before
it. If that operator becomes binary, the converted model has the clamp as an operator.
"""

from collections.abc import Callable

import numpy as np
import pytest

from tests.converter.graphs import Net, Value, convert_and_compare, signs
from tests.model_builder import ACTIVATION, PADDING

_SHAPE = (1, 6, 5, 16)

_Bounded = Callable[[Net, Value, np.random.Generator, str], Value]


def _quarters(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return (rng.integers(-9, 10, shape) / 4).astype(np.float32)


def _conv(net: Net, x: Value, rng: np.random.Generator, activation: str) -> Value:
    return net.conv(x, _quarters(rng, 16, 1, 1, 16), activation=activation)


def _depthwise(net: Net, x: Value, rng: np.random.Generator, activation: str) -> Value:
    return net.op(
        "DEPTHWISE_CONV_2D", x, _quarters(rng, 1, 1, 1, 16), np.zeros(16, np.float32),
        shape=x.shape, padding=PADDING["VALID"], strideH=1, strideW=1, depthMultiplier=1,
        dilationHFactor=1, dilationWFactor=1, fusedActivationFunction=ACTIVATION[activation],
    )  # fmt: skip


def _dense(net: Net, x: Value, rng: np.random.Generator, activation: str) -> Value:
    row = net.reshape(x, 1, 480)
    fused = ACTIVATION[activation]
    row = net.dense(row, _quarters(rng, 96, 480), fusedActivationFunction=fused)
    return net.reshape(row, 1, 3, 2, 16)


def _sum(net: Net, x: Value, rng: np.random.Generator, activation: str) -> Value:
    y = net.conv(x, _quarters(rng, 16, 1, 1, 16))
    return net.op("ADD", x, y, fusedActivationFunction=ACTIVATION[activation])


def _product(net: Net, x: Value, rng: np.random.Generator, activation: str) -> Value:
    y = net.conv(x, _quarters(rng, 16, 1, 1, 16))
    return net.op("MUL", x, y, fusedActivationFunction=ACTIVATION[activation])


def _pool(net: Net, x: Value, rng: np.random.Generator, activation: str) -> Value:
    return net.max_pool(x, activation=activation)


def _pooled(net: Net, x: Value, rng: np.random.Generator, activation: str) -> Value:
    """Pools with padding as PyTorch does it, takes a part of the channels, and transposes."""
    y = net.pad(_conv(net, x, rng, activation), ((1, 1), (1, 1)), -np.inf)
    y = net.split(net.max_pool(y), 2, 3)[1]
    return net.transpose(y, 0, 2, 1, 3)


_BOUNDED: dict[str, _Bounded] = {
    "convolution": _conv,
    "depthwise": _depthwise,
    "dense": _dense,
    "sum": _sum,
    "product": _product,
    "max pooling": _pool,
    "moved": _pooled,
}


@pytest.mark.parametrize("form", ["ROUND", "scaled", "FLOOR"])
@pytest.mark.parametrize(("activation", "bits"), [("RELU6", 3), ("RELU_N1_TO_1", 2)])
@pytest.mark.parametrize("bounded", _BOUNDED)
def test_the_clamp_is_fused_into(net, bounded, activation, bits, form, rng):
    x = net.input(*_SHAPE)
    y = _BOUNDED[bounded](net, x, rng, activation)
    if form == "ROUND":
        y = net.op("ROUND", y)
    elif form == "scaled":  # 6 before the scale is 3 after it
        scale = 0.5 if activation == "RELU6" else 1.0
        y = net.op("MUL", net.op("ROUND", net.op("MUL", y, scale)), 1 / scale)
        bits = 2
    else:
        y = net.op("FLOOR", net.op("ADD", y, 0.5))
    y = net.conv(y, signs(rng, 8, *np.minimum(y.shape[1:3], 2), y.shape[3]))
    values = (rng.integers(-16, 17, _SHAPE) / 4).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[values], check=True)
    last = converted.layers[-1]
    assert (last.became, last.input_bits) == ("binary", bits)
    assert not {"ROUND", "FLOOR", activation} & set(converted.kinds)


@pytest.mark.parametrize(("activation", "bits"), [("RELU6", 3), ("RELU_N1_TO_1", 2)])
def test_of_a_binary_layer(net, activation, bits, rng):
    """The self-check also finds the numbers in the float model, which has the clamp fused."""
    x = net.input(*_SHAPE)
    y = net.conv(net.sign(x), signs(rng, 24, 2, 2, 16) / 8, activation=activation)
    y = net.conv(net.op("ROUND", y), signs(rng, 8, 2, 2, 24))
    values = (rng.integers(-16, 17, _SHAPE) / 4).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[values], check=True)
    found = [(layer.became, layer.input_bits) for layer in converted.layers]
    assert found == [("binary", 1), ("binary", bits)]
    assert "ROUND" not in converted.kinds


def test_two_levels_are_a_sign(net, rng):
    x = net.input(*_SHAPE)
    y = net.op("ROUND", net.op("MUL", _conv(net, x, rng, "RELU6"), 1 / 6))
    y = net.conv(y, signs(rng, 8, 2, 2, 16))
    values = (rng.integers(-16, 17, _SHAPE) / 4).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[values], check=True)
    assert [layer.became for layer in converted.layers] == ["float", "binary"]
    assert converted.layers[1].input_bits == 1


def _relu(net: Net, x: Value, rng: np.random.Generator) -> Value:
    return _conv(net, x, rng, "RELU")


def _many_levels(net: Net, x: Value, rng: np.random.Generator) -> Value:
    return net.op("MUL", _conv(net, x, rng, "RELU6"), 64.0)


def _padded(net: Net, x: Value, rng: np.random.Generator) -> Value:
    """Pads with a number beyond the bounds."""
    return net.pad(_conv(net, x, rng, "RELU_N1_TO_1"), ((1, 1), (1, 1)), 9.0)


def _pooled_pads(net: Net, x: Value, rng: np.random.Generator) -> Value:
    """Pads so far that some windows have nothing but pads in them."""
    y = net.pad(_conv(net, x, rng, "RELU6"), ((2, 2), (1, 1)), -3.0)
    return net.max_pool(y)


@pytest.mark.parametrize("form", [_relu, _many_levels, _padded, _pooled_pads])
def test_without_bounds_or_beyond_them(net, form, rng):
    x = net.input(*_SHAPE)
    y = net.op("ROUND", form(net, x, rng))
    y = net.conv(y, signs(rng, 8, 2, 2, 16))
    values = (rng.integers(-16, 17, _SHAPE) / 4).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[values], check=True)
    assert [layer.became for layer in converted.layers] == ["float", "weights only"]


def test_values_that_are_no_number(net, rng):
    """Infinities are clamped before they are rounded."""
    x = net.input(*_SHAPE)
    y = net.op("ROUND", _pool(net, x, rng, "RELU6"))
    y = net.conv(y, signs(rng, 8, 2, 2, 16))
    values = rng.choice(np.array([np.inf, -np.inf, 0.5, 2.5, -0.0], np.float32), _SHAPE)
    convert_and_compare(net, y, inputs=[values])
