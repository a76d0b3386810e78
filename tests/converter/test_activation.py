"""A PRELU or a clamp that a model spells out with several operators becomes one operator."""

import numpy as np
import pytest

from tests.converter.graphs import Net, Value, convert_and_compare, edges, signs
from tests.model_builder import ACTIVATION

_SHAPE = (1, 4, 5, 6)
_SLOPES = np.array([0.5, -0.25, 0.0, 1.0, 2.0, -3.0], np.float32)


def _slope_times_relu_of_minus(net: Net, x: Value, slope: object) -> Value:
    return net.op("MUL", slope, net.op("RELU", net.op("NEG", x)))


def _slopes_times_fused(net: Net, x: Value, factor: float, activation: str) -> Value:
    """Returns slopes * activation(x * factor), with the activation fused into the first MUL.

    litert_torch writes slopes * relu(-x) like that, with the factor -1 and RELU.
    """
    turned = net.op("MUL", x, factor, fusedActivationFunction=ACTIVATION[activation])
    return net.op("MUL", turned, _SLOPES)


def _prelu(kind: str, slope: object, *, relu_second: bool = False):
    def form(net: Net, x: Value) -> Value:
        operands = [net.op("RELU", x), _slope_times_relu_of_minus(net, x, slope)]
        if relu_second:
            operands.reverse()
        return net.op(kind, *operands)

    return form


_PRELU = {
    "difference": _prelu("SUB", _SLOPES),
    "sum": _prelu("ADD", _SLOPES),
    "sum, relu second": _prelu("ADD", _SLOPES, relu_second=True),
    "one number": _prelu("SUB", 0.25),
    "dimensions of Keras": _prelu("ADD", _SLOPES.reshape(1, 1, 6)),
    "times minus one": lambda net, x: net.op(
        "SUB",
        net.op("RELU", x),
        net.op("MUL", _SLOPES, net.op("RELU", net.op("MUL", -1.0, x))),
    ),
    "relu fused into the change of sign": lambda net, x: net.op(
        "SUB", net.op("RELU", x), _slopes_times_fused(net, x, -1.0, "RELU")
    ),
}


@pytest.mark.parametrize("form", _PRELU)
def test_prelu(net, form, rng):
    x = net.input(*_SHAPE)
    converted = convert_and_compare(net, _PRELU[form](net, x), inputs=[edges(rng, *_SHAPE)])
    assert converted.kinds == ["PRELU"]


def test_prelu_of_rows(net, rng):
    x = net.input(3, 6)
    converted = convert_and_compare(net, _PRELU["difference"](net, x), inputs=[edges(rng, 3, 6)])
    assert converted.kinds == ["PRELU"]


_NOT_PRELU = {
    "change of sign without relu": lambda net, x: net.op(
        "SUB", net.op("RELU", x), _slopes_times_fused(net, x, -1.0, "NONE")
    ),
    "twice the negative": lambda net, x: net.op(
        "SUB", net.op("RELU", x), _slopes_times_fused(net, x, -2.0, "RELU")
    ),
    "NEG without relu": lambda net, x: net.op(
        "SUB", net.op("RELU", x), net.op("MUL", _SLOPES, net.op("NEG", x))
    ),
    "difference, relu second": _prelu("SUB", _SLOPES, relu_second=True),
    "other values": lambda net, x: net.op(
        "SUB", net.op("RELU", x), _slope_times_relu_of_minus(net, net.op("ABS", x), 0.5)
    ),
    "slope per column": _prelu(
        "SUB", np.full((5, 1), 0.5, np.float32) * np.arange(5).reshape(5, 1)
    ),
    "fused activation": lambda net, x: net.op(
        "SUB",
        net.op("RELU", x),
        _slope_times_relu_of_minus(net, x, 0.5),
        fusedActivationFunction=ACTIVATION["RELU_N1_TO_1"],
    ),
    "infinite slope": _prelu("SUB", np.inf),
    "relu6": lambda net, x: net.op(
        "SUB", net.op("RELU6", x), _slope_times_relu_of_minus(net, x, 0.5)
    ),
    "more places than the value": _prelu("SUB", np.full((2, *_SHAPE), 0.5, np.float32)),
}


@pytest.mark.parametrize("form", _NOT_PRELU)
def test_not_prelu(net, form, rng):
    x = net.input(*_SHAPE)
    converted = convert_and_compare(net, _NOT_PRELU[form](net, x), inputs=[edges(rng, *_SHAPE)])
    assert "PRELU" not in converted.kinds


def test_prelu_before_a_sign_becomes_thresholds(net, rng):
    y = net.conv(net.sign(net.input(*_SHAPE)), signs(rng, 6, 3, 3, 6))
    y = _prelu("SUB", np.abs(_SLOPES))(net, net.op("ADD", y, 0.5))
    y = net.conv(net.sign(y), signs(rng, 2, 1, 1, 6))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *_SHAPE)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "LceBconv2d"]


def _where(comparison: str, bound: object, *, chosen: str = "bound", swapped: bool = False):
    """Adds where(x OP bound, bound, x), or this with x and bound exchanged.

    Args:
        comparison: The operator OP.
        bound: The bound.
        chosen: "bound" or "x": the value where the comparison is true.
        swapped: Whether the comparison is bound OP x.
    """

    def form(net: Net, x: Value) -> Value:
        compared = [bound, x] if swapped else [x, bound]
        truth = net.op(comparison, *compared, dtype=np.bool_)
        values = [bound, x] if chosen == "bound" else [x, bound]
        return net.op("SELECT_V2", truth, *values)

    return form


_CLAMPS = {
    "x > 1 ? 1 : x": (_where("GREATER", 1.0), "MINIMUM"),
    "x >= 1 ? 1 : x": (_where("GREATER_EQUAL", 1.0), "MINIMUM"),
    "x < -1 ? -1 : x": (_where("LESS", -1.0), "MAXIMUM"),
    "x <= t ? t : x": (_where("LESS_EQUAL", _SLOPES), "MAXIMUM"),
    "x < 1 ? x : 1": (_where("LESS", 1.0, chosen="x"), "MINIMUM"),
    "x > t ? x : t": (_where("GREATER", _SLOPES, chosen="x"), "MAXIMUM"),
    "1 < x ? 1 : x": (_where("LESS", 1.0, swapped=True), "MINIMUM"),
    "t > x ? t : x": (_where("GREATER", _SLOPES, swapped=True), "MAXIMUM"),
}


@pytest.mark.parametrize("form", _CLAMPS)
def test_clamp_written_with_where(net, form, rng):
    build, kind = _CLAMPS[form]
    x = net.input(*_SHAPE)
    data = edges(rng, *_SHAPE)
    assert convert_and_compare(net, build(net, x), inputs=[data]).kinds == [kind]


def _choose(*values: object):
    """Returns a function that adds where(x > 1, ...)."""

    def form(net: Net, x: Value) -> Value:
        truth = net.op("GREATER", x, 1.0, dtype=np.bool_)
        chosen = [
            net.op("ABS", x) if value == "abs" else x if value == "x" else value for value in values
        ]
        return net.op("SELECT_V2", truth, *chosen)

    return form


@pytest.mark.parametrize("values", [(2.0, "x"), (1.0, "abs"), (1.0, 0.5)])
def test_other_choices_are_no_clamp(net, values, rng):
    x = net.input(*_SHAPE)
    y = net.op("ABS", _choose(*values)(net, x))
    assert "SELECT_V2" in convert_and_compare(net, y, inputs=[edges(rng, *_SHAPE)]).kinds


_SCALES_OF_CLAMPS = {
    "all alike": ((0.5, 0.5, 0.5, 0.5), True),
    "of the bound": ((0.5, 2.0, 0.5, 0.5), False),
    "of the choice": ((0.5, 0.5, 2.0, 0.5), False),
    "of the result": ((0.5, 0.5, 0.5, 2.0), False),
}


@pytest.mark.parametrize("case", _SCALES_OF_CLAMPS)
@pytest.mark.parametrize("comparison", ["GREATER", "LESS"])
def test_clamp_of_quantized_values(net, case, comparison):
    """The comparison is of real numbers, but bytes are chosen, so all scales must be the same."""
    (of_x, of_bound, of_choice, of_result), becomes_one_operator = _SCALES_OF_CLAMPS[case]
    x = net.input(1, 16, 16, 1, dtype=np.int8, scale=of_x, zero_point=3)
    ten = np.full((1, 1, 1, 1), 10, np.int8)
    bound, choice = (
        Value(net.builder.constant(ten, scale=scale, zero_point=3), ten.shape)
        for scale in (of_bound, of_choice)
    )
    truth = net.op(comparison, x, bound, dtype=np.bool_)
    y = net.op("SELECT_V2", truth, choice, x, dtype=np.int8, scale=of_result, zero_point=3)
    data = np.arange(-128, 128).astype(np.int8).reshape(1, 16, 16, 1)
    converted = convert_and_compare(net, y, inputs=[data])
    assert ("SELECT_V2" not in converted.kinds) == becomes_one_operator
