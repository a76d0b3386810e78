"""Activations that models write out of others become one operator."""

import numpy as np
import pytest

from tests.converter.graphs import Net, Value, convert_and_compare, edges, signs
from tests.model_builder import ACTIVATION

_SHAPE = (1, 4, 5, 6)
_SLOPES = np.array([0.5, -0.25, 0.0, 1.0, 2.0, -3.0], np.float32)


def _below(net: Net, x: Value, slope: object) -> Value:
    return net.op("MUL", slope, net.op("RELU", net.op("NEG", x)))


def _fused_below(net: Net, x: Value, factor: float, activation: str) -> Value:
    """As litert_torch writes relu(-x), if the factor is -1 and the activation is relu."""
    turned = net.op("MUL", x, factor, fusedActivationFunction=ACTIVATION[activation])
    return net.op("MUL", turned, _SLOPES)


def _prelu(kind: str, slope: object, *, first: bool = False):
    def form(net: Net, x: Value) -> Value:
        operands = [net.op("RELU", x), _below(net, x, slope)]
        if first:
            operands.reverse()
        return net.op(kind, *operands)

    return form


_PRELU = {
    "subtracted": _prelu("SUB", _SLOPES),
    "added": _prelu("ADD", _SLOPES),
    "added to": _prelu("ADD", _SLOPES, first=True),
    "one number": _prelu("SUB", 0.25),
    "dimensions of Keras": _prelu("ADD", _SLOPES.reshape(1, 1, 6)),
    "times minus one": lambda net, x: net.op(
        "SUB",
        net.op("RELU", x),
        net.op("MUL", _SLOPES, net.op("RELU", net.op("MUL", -1.0, x))),
    ),
    "relu fused into the change of sign": lambda net, x: net.op(
        "SUB", net.op("RELU", x), _fused_below(net, x, -1.0, "RELU")
    ),
}


@pytest.mark.parametrize("form", _PRELU)
def test_prelu(form, rng):
    net = Net()
    x = net.input(*_SHAPE)
    converted = convert_and_compare(net, _PRELU[form](net, x), inputs=[edges(rng, *_SHAPE)])
    assert converted.kinds == ["PRELU"]


def test_prelu_of_rows(rng):
    net = Net()
    x = net.input(3, 6)
    converted = convert_and_compare(net, _PRELU["subtracted"](net, x), inputs=[edges(rng, 3, 6)])
    assert converted.kinds == ["PRELU"]


_NOT_PRELU = {
    "change of sign without relu": lambda net, x: net.op(
        "SUB", net.op("RELU", x), _fused_below(net, x, -1.0, "NONE")
    ),
    "twice the negative": lambda net, x: net.op(
        "SUB", net.op("RELU", x), _fused_below(net, x, -2.0, "RELU")
    ),
    "NEG without relu": lambda net, x: net.op(
        "SUB", net.op("RELU", x), net.op("MUL", _SLOPES, net.op("NEG", x))
    ),
    "subtracted from": _prelu("SUB", _SLOPES, first=True),
    "other values": lambda net, x: net.op(
        "SUB", net.op("RELU", x), _below(net, net.op("ABS", x), 0.5)
    ),
    "slopes of lines": _prelu("SUB", np.full((5, 1), 0.5, np.float32) * np.arange(5).reshape(5, 1)),
    "fused activation": lambda net, x: net.op(
        "SUB",
        net.op("RELU", x),
        _below(net, x, 0.5),
        fusedActivationFunction=ACTIVATION["RELU_N1_TO_1"],
    ),
    "infinite slope": _prelu("SUB", np.inf),
    "relu6": lambda net, x: net.op("SUB", net.op("RELU6", x), _below(net, x, 0.5)),
    "more places than the value": _prelu("SUB", np.full((2, *_SHAPE), 0.5, np.float32)),
}


@pytest.mark.parametrize("form", _NOT_PRELU)
def test_not_prelu(form, rng):
    net = Net()
    x = net.input(*_SHAPE)
    converted = convert_and_compare(net, _NOT_PRELU[form](net, x), inputs=[edges(rng, *_SHAPE)])
    assert "PRELU" not in converted.kinds


def test_prelu_before_a_sign_becomes_thresholds(rng):
    net = Net()
    y = net.conv(net.sign(net.input(*_SHAPE)), signs(rng, 6, 3, 3, 6))
    y = _prelu("SUB", np.abs(_SLOPES))(net, net.op("ADD", y, 0.5))
    y = net.conv(net.sign(y), signs(rng, 2, 1, 1, 6))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *_SHAPE)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "LceBconv2d"]
