"""Forms of signs before a convolution with binary weights, and forms that only look like signs.

Inputs are mostly zeros of both signs, denormals and values at and next to the bound of a
comparison, as those decide whether a form is exactly a sign.
"""

from collections.abc import Callable

import numpy as np
import pytest

from larq_engine.converter import convert as pipeline
from larq_engine.converter import schema
from larq_engine.converter.rules_binary import binarize_layer
from tests.converter.graphs import (
    DENORMALS,
    EDGES,
    Net,
    Value,
    convert,
    convert_and_compare,
    edges,
    run_engine,
    run_stock,
    signs,
)
from tests.model_builder import ACTIVATION

_SHAPE = (1, 4, 5, 6)
_BOUND = np.float32(0.25)
_BOUNDS = np.array([-1.0, 0.0, 0.25, 1e-30, 7.5, -1e-30], np.float32)
# The difference of these numbers from one of EDGES is below the normal numbers.
_SMALL = np.float32(1.19e-38)

_Form = Callable[[Net, Value], Value]


def _shifted(
    shift: float | np.ndarray, *, kind: str = "ADD", first: bool = False, **options: int
) -> _Form:
    """Returns sign(sign(x) + shift)."""

    def form(net: Net, x: Value) -> Value:
        operands = [net.op("SIGN", x), shift]
        if first:
            operands.reverse()
        return net.op("SIGN", net.op(kind, *operands, **options))

    return form


def _select(
    comparison: str,
    bound: float | np.ndarray = 0.0,
    values: tuple[object, object] = (1.0, -1.0),
    *,
    bound_first: bool = False,
    negate: bool = False,
    kind: str = "SELECT_V2",
) -> _Form:
    """Returns where(x ? bound, *values)."""

    def form(net: Net, x: Value) -> Value:
        operands = [bound, x] if bound_first else [x, bound]
        condition = net.op(comparison, *operands, dtype=np.bool_)
        if negate:
            condition = net.op("LOGICAL_NOT", condition, dtype=np.bool_)
        return net.op(kind, condition, *values)

    return form


def _full(value: float) -> np.ndarray:
    return np.full(_SHAPE, value, np.float32)


def _relu(kind: str) -> _Form:
    return lambda net, x: net.op("SIGN", net.op(kind, x))


def _times(kind: str, number: float, *, first: bool = False) -> _Form:
    """Returns sign(x) ? number."""

    def form(net: Net, x: Value) -> Value:
        operands = [net.sign(x), number]
        if first:
            operands.reverse()
        return net.op(kind, *operands)

    return form


def _of_condition(net: Net, x: Value) -> Value:
    """Adds 2 * cast(x >= 0) - 1."""
    condition = net.op("GREATER_EQUAL", x, 0.0, dtype=np.bool_)
    zero_or_one = net.op("CAST", condition, inDataType=6, outDataType=0)
    return net.op("SUB", net.op("MUL", zero_or_one, 2.0), 1.0)


def _fused_relu(kind: str) -> _Form:
    def form(net: Net, x: Value) -> Value:
        shifted = net.op("ADD", x, 0.25, fusedActivationFunction=ACTIVATION[kind])
        return net.op("SIGN", shifted)

    return form


def _mean(net: Net, x: Value) -> Value:
    window = {"filterHeight": 2, "filterWidth": 2, "strideH": 1, "strideW": 1, "padding": 0}
    return net.op("AVERAGE_POOL_2D", x, **window)


def _largest(net: Net, x: Value) -> Value:
    return net.op("REDUCE_MAX", x, np.array([0], np.int32), shape=x.shape, keepDims=True)


def _padded(value: float | None) -> _Form:
    return lambda net, x: net.pad(x, ((1, 0), (0, 2)), value)


def _padded_with_input(net: Net, x: Value) -> Value:
    pads = np.array([(0, 0), (1, 0), (0, 2), (0, 0)], np.int32)
    return net.op("PADV2", x, pads, net.input(), shape=(1, 5, 7, 6))


def _largest_padded(net: Net, x: Value) -> Value:
    window = {"filterHeight": 2, "filterWidth": 2, "strideH": 1, "strideW": 1, "padding": 1}
    padded = net.pad(x, ((1, 0), (1, 1)), -np.inf)
    return net.op("MAX_POOL_2D", padded, **window)


def _as_given(net: Net, x: Value) -> Value:
    return x


def _times_number(number: float) -> _Form:
    return lambda net, x: net.op("MUL", x, number)


def _step_of(form: _Form, kind: str = "RELU") -> _Form:
    """Returns the sign of the result of a relu, or of another operator."""
    return lambda net, x: net.op("SIGN", form(net, net.op(kind, x)))


def _joined(net: Net, x: Value) -> Value:
    """Concatenates values that cannot be negative and values that can, and takes their sign."""
    return net.op("SIGN", net.concatenate([net.op("RELU", x), x], 1))


def _equal(net: Net, x: Value) -> Value:
    condition = net.op("EQUAL", x, 0.25, dtype=np.bool_)
    return net.op("SELECT_V2", condition, 1.0, -1.0)


def _truth(net: Net, kind: str, x: Value) -> Value:
    return net.op(kind, x, 0.0, dtype=np.bool_)


def _number(net: Net, truth: Value) -> Value:
    return net.op("CAST", truth, inDataType=6, outDataType=0)


def _sign_and_zero(kind: str, scale: float) -> _Form:
    """Returns sign(x) + (x == 0), or sign(x) - (x == 0) times something."""

    def form(net: Net, x: Value) -> Value:
        zero = _number(net, _truth(net, "EQUAL", x))
        return net.op("MUL", net.op(kind, net.op("SIGN", x), zero), scale)

    return form


def _sign_but_for_zero(comparison: str, number: float) -> _Form:
    """Returns where(x == 0, number, sign(x))."""

    def form(net: Net, x: Value) -> Value:
        values = [number, net.op("SIGN", x)]
        if comparison == "NOT_EQUAL":
            values.reverse()
        return net.op("SELECT_V2", _truth(net, comparison, x), *values)

    return form


def _two_comparisons(first: str, second: str) -> _Form:
    """Returns (x >= 0) - (x < 0)."""
    return lambda net, x: net.op(
        "SUB", *[_number(net, _truth(net, kind, x)) for kind in (first, second)]
    )


def _both(kind: str, first: str, second: str) -> _Form:
    def form(net: Net, x: Value) -> Value:
        truths = [_truth(net, comparison, x) for comparison in (first, second)]
        return net.op("SELECT_V2", net.op(kind, *truths, dtype=np.bool_), 1.0, -1.0)

    return form


def _integers_of_conditions(net: Net, x: Value) -> Value:
    """Adds float(2 * int(x >= 0) - 1)."""
    truth = _truth(net, "GREATER_EQUAL", x)
    number = net.op("CAST", truth, inDataType=6, outDataType=2, dtype=np.int32)
    two, one = np.array(2, np.int32), np.array(1, np.int32)
    number = net.op("SUB", net.op("MUL", number, two, dtype=np.int32), one, dtype=np.int32)
    return net.op("CAST", number, inDataType=2, outDataType=0)


def _half_of_integers(net: Net, x: Value) -> Value:
    """Adds float(3 * int(x >= 0) // 2), which is 0 or 1."""
    truth = _truth(net, "GREATER_EQUAL", x)
    number = net.op("CAST", truth, inDataType=6, outDataType=2, dtype=np.int32)
    for kind, constant in (("MUL", 3), ("DIV", 2)):
        number = net.op(kind, number, np.array(constant, np.int32), dtype=np.int32)
    return net.op("CAST", number, inDataType=2, outDataType=0)


def _divided_by_zeros(net: Net, x: Value) -> Value:
    """Divides the sign by 0 or -0, which also decides about the result's sign."""
    zeros = np.array([0.0, -0.0, 0.0, 0.0, -0.0, 0.0], np.float32)
    return _clamp(net, net.op("DIV", net.sign(x), zeros))


def _inverse(form: _Form) -> _Form:
    """Returns 1 / form, which tells 0 from -0, clamped."""
    return lambda net, x: _clamp(net, net.op("DIV", 1.0, form(net, x)))


def _chosen(comparison: str, *values: float | None, kind: str = "SELECT_V2") -> _Form:
    """Returns where(x ? 0, ...), with x itself for None: a relu."""

    def form(net: Net, x: Value) -> Value:
        chosen = [x if value is None else value for value in values]
        return net.op(kind, _truth(net, comparison, x), *chosen)

    return form


def _sign_of(form: _Form) -> _Form:
    return lambda net, x: net.op("SIGN", form(net, x))


def _mean_of_chosen(net: Net, x: Value) -> Value:
    return _mean(net, _chosen("GREATER", None, 0.0)(net, x))


def _as_is(net: Net, x: Value) -> Value:
    return net.sign(x)


def _straight_through(
    sign: _Form = _as_is, surrogate: _Form = lambda net, x: x, *, order: str = "c + (s - c)"
) -> _Form:
    """Returns the sign of x with the gradient of c, which is x or near it."""

    def form(net: Net, x: Value) -> Value:
        s, c = sign(net, x), surrogate(net, x)
        if order == "c - (c - s)":
            return net.op("SUB", c, net.op("SUB", c, s))
        operands = [c, net.op("SUB", s, c)]
        if order == "(s - c) + c":
            operands.reverse()
        return net.op("ADD", *operands)

    return form


def _clamp(net: Net, x: Value) -> Value:
    return net.op("MINIMUM", net.op("MAXIMUM", x, -1.0), 1.0)


# Forms, and the operators that make the value whose sign LceQuantize takes.
_BINARY: dict[str, tuple[_Form, list[str]]] = {
    "larq": (_as_is, []),
    "shift 0.999": (_shifted(0.999), []),
    "shift first": (_shifted(0.1, first=True), []),
    "shift in every place": (_shifted(_full(0.5)), []),
    "shift subtracted": (_shifted(-0.1, kind="SUB"), []),
    "shift -0.1": (_shifted(-0.1), ["NEG"]),
    "shift 0.1 subtracted": (_shifted(0.1, kind="SUB"), ["NEG"]),
    "x >= 0": (_select("GREATER_EQUAL"), []),
    "x > 0": (_select("GREATER"), ["NEG"]),
    "x <= 0": (_select("LESS_EQUAL"), ["NEG"]),
    "x < 0": (_select("LESS"), []),
    "0 >= x": (_select("GREATER_EQUAL", bound_first=True), ["NEG"]),
    "0 > x": (_select("GREATER", bound_first=True), []),
    "0 <= x": (_select("LESS_EQUAL", bound_first=True), []),
    "0 < x": (_select("LESS", bound_first=True), ["NEG"]),
    "x >= t": (_select("GREATER_EQUAL", _BOUND), ["SUB"]),
    "x > t": (_select("GREATER", _BOUND), ["SUB"]),
    "x <= t": (_select("LESS_EQUAL", _BOUND), ["SUB"]),
    "x < t": (_select("LESS", _BOUND), ["SUB"]),
    "t >= x": (_select("GREATER_EQUAL", _BOUND, bound_first=True), ["SUB"]),
    "t > x": (_select("GREATER", _BOUND, bound_first=True), ["SUB"]),
    "t <= x": (_select("LESS_EQUAL", _BOUND, bound_first=True), ["SUB"]),
    "t < x": (_select("LESS", _BOUND, bound_first=True), ["SUB"]),
    "bounds of channels": (_select("GREATER", _BOUNDS), ["SUB"]),
    "bounds of channels first": (_select("GREATER", _BOUNDS, bound_first=True), ["SUB"]),
    "x >= t, too near to 0": (_select("GREATER_EQUAL", _SMALL), ["GREATER_EQUAL"]),
    "x > t, too near to 0": (_select("GREATER", _SMALL), ["GREATER"]),
    "x < t, too near to 0": (_select("LESS", -_SMALL), ["LESS"]),
    "t > x, too near to 0": (_select("GREATER", np.float32(1e-45), bound_first=True), ["GREATER"]),
    "x >= NaN": (_select("GREATER_EQUAL", np.float32(np.nan)), ["GREATER_EQUAL"]),
    "x < infinity": (_select("LESS", np.float32(np.inf)), ["SUB"]),
    "branches swapped": (_select("LESS", 0.0, (-1.0, 1.0)), []),
    "not": (_select("GREATER_EQUAL", negate=True), []),
    "full constants": (_select("GREATER", 0.0, (_full(-1), _full(1)), kind="SELECT"), ["NEG"]),
    "full zeros": (_select("LESS", _full(0)), []),
    "0 or 1": (_select("GREATER", 0.0, (1.0, 0.0)), ["NEG"]),
    "2.5 or -0.5": (_select("GREATER_EQUAL", 0.0, (2.5, -0.5)), []),
    "cast": (_of_condition, []),
    "another condition": (_equal, ["EQUAL"]),
    "heaviside": (_relu("RELU"), ["NEG"]),
    "heaviside of relu6": (_relu("RELU6"), ["NEG"]),
    "heaviside of maximum": (
        lambda net, x: net.op("SIGN", net.op("MAXIMUM", x, 0.0)),
        ["NEG"],
    ),
    "heaviside of a choice": (_sign_of(_chosen("GREATER", None, 0.0)), ["NEG"]),
    "heaviside of a choice, x >= 0": (_sign_of(_chosen("GREATER_EQUAL", None, 0.0)), ["NEG"]),
    "heaviside of a choice, x < 0": (_sign_of(_chosen("LESS", 0.0, None)), ["NEG"]),
    "heaviside of a choice, x <= 0": (_sign_of(_chosen("LESS_EQUAL", 0.0, None)), ["NEG"]),
    "heaviside of a choice, all zeros": (
        lambda net, x: net.op("SIGN", net.op("SELECT", _truth(net, "GREATER", x), x, _full(0))),
        ["NEG"],
    ),
    "sign of a choice": (
        lambda net, x: net.sign(_chosen("GREATER", None, 0.0)(net, x)),
        ["MAXIMUM"],
    ),
    "heaviside of fused relu": (_fused_relu("RELU"), ["SUB"]),
    "heaviside of fused relu6": (_fused_relu("RELU6"), ["SUB"]),
    "step of means": (_step_of(_mean), ["RELU", "AVERAGE_POOL_2D", "NEG"]),
    "step of means of a choice": (
        _sign_of(_mean_of_chosen),
        ["MAXIMUM", "AVERAGE_POOL_2D", "NEG"],
    ),
    "step of largest": (_step_of(_largest), ["RELU", "REDUCE_MAX", "NEG"]),
    "step padded with 0": (_step_of(_padded(None)), ["RELU", "PAD", "NEG"]),
    "step padded with 2": (_step_of(_padded(2.0)), ["RELU", "PADV2", "NEG"]),
    "step of sizes": (_step_of(_as_given, "ABS"), ["ABS", "NEG"]),
    "step of means of sizes": (_step_of(_mean, "ABS"), ["ABS", "AVERAGE_POOL_2D", "NEG"]),
    "step of a square": (_sign_of(lambda net, x: net.op("MUL", x, x)), ["MUL", "NEG"]),
    "step of relu times 4": (_step_of(_times_number(4.0)), ["NEG"]),
    "step of a sum of two": (
        lambda net, x: net.op("SIGN", net.op("ADD", net.op("RELU", x), net.op("ABS", x))),
        ["RELU", "ABS", "ADD", "NEG"],
    ),
    "step of largest, padded as PyTorch does": (
        _step_of(_largest_padded),
        ["RELU", "PADV2", "MAX_POOL_2D", "NEG"],
    ),
    "times 4": (_times("MUL", 4.0), []),
    "times -4": (_times("MUL", -4.0, first=True), []),
    "divided by -2": (_times("DIV", -2.0), []),
    "plus 3": (_times("ADD", 3.0), []),
    "3 minus": (_times("SUB", 3.0, first=True), []),
    "minus 3": (_times("SUB", 3.0), []),
    "negated": (lambda net, x: net.op("NEG", net.sign(x)), []),
    "shift with fused clamp": (
        _shifted(0.1, fusedActivationFunction=ACTIVATION["RELU_N1_TO_1"]),
        [],
    ),
    "shift minus sign": (_shifted(0.1, kind="SUB", first=True), ["NEG"]),
    "sign and where it is 0": (_sign_and_zero("ADD", 1.0), []),
    "sign without where it is 0": (_sign_and_zero("SUB", -1.0), ["NEG"]),
    "sign but for 0": (_sign_but_for_zero("EQUAL", 1.0), []),
    "sign but for 0, not equal": (_sign_but_for_zero("NOT_EQUAL", -1.0), ["NEG"]),
    "two comparisons": (_two_comparisons("GREATER_EQUAL", "LESS"), []),
    "two comparisons, strict": (_two_comparisons("GREATER", "LESS_EQUAL"), ["NEG"]),
    "both": (_both("LOGICAL_AND", "GREATER_EQUAL", "NOT_EQUAL"), ["NEG"]),
    "either": (_both("LOGICAL_OR", "GREATER", "EQUAL"), []),
    "shift 1": (_shifted(1.0), []),
    "shift -1": (_shifted(-1.0), ["NEG"]),
    "shift 1 subtracted": (_shifted(1.0, kind="SUB"), ["NEG"]),
    "1 divided by": (_times("DIV", 1.0, first=True), []),
    "comparison of a sign": (lambda net, x: _select("GREATER", -0.5)(net, net.op("SIGN", x)), []),
    "relu of a sign": (lambda net, x: net.op("RELU", net.op("SIGN", x)), ["NEG"]),
    "clamped sign": (lambda net, x: net.op("MAXIMUM", net.sign(x), 0.0), []),
    "integers": (_integers_of_conditions, []),
    "half of integers": (_half_of_integers, []),
    "straight through": (_straight_through(), []),
    "straight through, other order": (_straight_through(order="(s - c) + c"), []),
    "straight through, subtracted": (_straight_through(order="c - (c - s)"), []),
    "straight through, x >= 0": (_straight_through(_select("GREATER_EQUAL")), []),
    "straight through, x > 0": (_straight_through(_select("GREATER")), ["NEG"]),
    "straight through, x < 0": (_straight_through(_select("LESS", values=(-1.0, 1.0))), []),
    "straight through, cast": (_straight_through(lambda net, x: _of_condition(net, x)), []),
    "straight through, heaviside": (_straight_through(_relu("RELU")), ["NEG"]),
    "straight through, clamp": (_straight_through(surrogate=_clamp), []),
    "straight through, hard tanh": (
        _straight_through(surrogate=lambda net, x: net.op("RELU_N1_TO_1", x)),
        [],
    ),
    "straight through, tanh": (_straight_through(surrogate=lambda net, x: net.op("TANH", x)), []),
}


# Padding a value of 0 or 1 with 0 is padding its sign with -1, and padding one of -4 or 4 is
# padding with 0. In these forms, 0 is neither one of the two values nor halfway between them, and
# an ADD corrects the layer's border.
_PADDED_WITH_A_THIRD_VALUE = {"2.5 or -0.5", "plus 3", "3 minus", "minus 3"}


@pytest.mark.parametrize("form", _BINARY)
@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_binary(net, form, padding, rng):
    build, before = _BINARY[form]
    x = net.input(*_SHAPE)
    y = net.conv(build(net, x), signs(rng, 7, 3, 3, 6), padding=padding)
    data = np.concatenate([np.resize(EDGES, 60), edges(rng, 60)]).reshape(_SHAPE)
    converted = convert_and_compare(net, y, inputs=[data])
    if padding == "VALID" and {"PAD", "PADV2"} & {*before} and "MAX_POOL_2D" not in before:
        before = ["NEG"]  # The layer pads by itself then.
    has_border = padding == "SAME" and form in _PADDED_WITH_A_THIRD_VALUE
    assert converted.kinds == [*before, "LceQuantize", "LceBconv2d", *["ADD"] * has_border]


@pytest.mark.parametrize(
    "form", [form for form, (_, before) in _BINARY.items() if not {"NEG", "SUB"} & {*before}]
)
def test_denormals_keep_their_sign(net, form, rng):
    x = net.input(*_SHAPE)
    y = net.conv(_BINARY[form][0](net, x), signs(rng, 7, 3, 3, 6))
    data = rng.choice(DENORMALS, _SHAPE)
    assert "LceBconv2d" in convert_and_compare(net, y, inputs=[data]).kinds


def _ternary(net: Net, x: Value) -> Value:
    """Adds larq's ste_tern."""
    parts = [net.op("SIGN", net.op(kind, x, 0.25)) for kind in ("ADD", "SUB")]
    return net.op("SIGN", net.op("ADD", *parts))


def _relu_of_sign(net: Net, x: Value) -> Value:
    shifted = net.op("ADD", net.op("SIGN", x), 0.1, fusedActivationFunction=ACTIVATION["RELU"])
    return net.op("SIGN", net.op("SUB", shifted, 0.1))


# Forms, and a phrase of the report's reason.
_NOT_BINARY: dict[str, tuple[_Form, str]] = {
    "sign": (lambda net, x: net.op("SIGN", x), "plain SIGN"),
    "ste_tern": (_ternary, "plain SIGN"),
    "shift 0": (_shifted(0.0), "c = 0;"),
    "shift 1.5": (_shifted(1.5), "c = 1.5;"),
    "shift of the value itself": (
        lambda net, x: net.op("SIGN", net.op("ADD", x, 0.1)),
        "plain SIGN",
    ),
    "shifts of channels": (_shifted(_BOUNDS), "plain SIGN"),
    "shift with relu": (_relu_of_sign, "plain SIGN"),
    "sign and where it is positive": (
        lambda net, x: net.op("ADD", net.op("SIGN", x), _number(net, _truth(net, "GREATER", x))),
        "has a third value, 0, for the sign of 0",
    ),
    "sign and where another value is 0": (
        lambda net, x: net.op(
            "ADD", net.op("SIGN", x), _number(net, _truth(net, "EQUAL", net.op("ABS", x)))
        ),
        "result of ADD",
    ),
    "fused relu_n1_to_1": (_fused_relu("RELU_N1_TO_1"), "plain SIGN"),
    "minimum": (lambda net, x: net.op("SIGN", net.op("MINIMUM", x, 0.0)), "plain SIGN"),
    "maximum of -1": (lambda net, x: net.op("SIGN", net.op("MAXIMUM", x, -1.0)), "plain SIGN"),
    "sign of means": (_step_of(_mean, "TANH"), "plain SIGN"),
    "step of a square and less": (
        lambda net, x: net.op("SIGN", net.op("SUB", net.op("MUL", x, x), 0.5)),
        "plain SIGN",
    ),
    "step of a sum with what may be negative": (
        lambda net, x: net.op("SIGN", net.op("ADD", net.op("RELU", x), x)),
        "plain SIGN",
    ),
    "step of relu times a negative number": (_step_of(_times_number(-4.0)), "plain SIGN"),
    "step padded with -1": (_step_of(_padded(-1.0)), "plain SIGN"),
    "step joined": (_joined, "plain SIGN"),
    "divided by a sign": (_inverse(lambda net, x: net.op("SIGN", x)), "result of MINIMUM"),
    "divided by a negative sign": (
        _inverse(lambda net, x: net.op("NEG", net.op("SIGN", x))),
        "result of MINIMUM",
    ),
    "divided by zeros of both signs": (_divided_by_zeros, "result of MINIMUM"),
    "select of one value": (_select("GREATER", 0.0, (1.0, 1.0)), "not two constants"),
    "select of arrays": (_select("GREATER", 0.0, (_BOUNDS, -1.0)), "not two constants"),
    "select that rounds": (_select("GREATER", 0.0, (1e30, 1.0)), "without rounding"),
    "times 0": (_times("MUL", 0.0), "result of MUL"),
    "tanh": (lambda net, x: net.op("TANH", x), "result of TANH"),
    "straight through of a plain sign": (
        _straight_through(lambda net, x: net.op("SIGN", x)),
        "plain SIGN",
    ),
    "straight through of an unlike sign": (
        _straight_through(lambda net, x: net.op("NEG", net.sign(x))),
        "result of ADD",
    ),
    "straight through with a threshold": (
        _straight_through(_select("GREATER_EQUAL", _BOUND)),
        "result of ADD",
    ),
    "straight through times 3": (_straight_through(_times("MUL", 3.0)), "result of ADD"),
    "straight through of another value": (
        _straight_through(surrogate=lambda net, x: net.op("ABS", x)),
        "result of ADD",
    ),
    "straight through, clamped from 1 on": (
        _straight_through(surrogate=lambda net, x: net.op("MAXIMUM", x, 1.0)),
        "result of ADD",
    ),
    "two values apart": (
        lambda net, x: net.op("ADD", x, net.op("SUB", net.sign(x), net.op("ABS", x))),
        "result of ADD",
    ),
    "nothing": (lambda net, x: x, "an input of the model"),
}


def test_a_sign_that_is_seen_too_late(net, rng, monkeypatch):
    """Operators may be joined to a sign after its layer was looked at; the report says so."""
    without = [stage for stage in pipeline._FLOAT_STAGES if binarize_layer not in stage]
    monkeypatch.setattr(pipeline, "_FLOAT_STAGES", without)
    y = net.conv(net.sign(net.input(*_SHAPE)), signs(rng, 7, 3, 3, 6))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *_SHAPE)])
    assert "only after other operators had been joined" in converted.reason


@pytest.mark.parametrize("form", _NOT_BINARY)
def test_not_binary(net, form, rng):
    build, reason = _NOT_BINARY[form]
    x = net.input(*_SHAPE)
    content = net.finish(net.conv(build(net, x), signs(rng, 7, 3, 3, 6)))
    converted = convert(content)
    assert reason in converted.reason
    assert converted.kinds[-1] == "CONV_2D"
    before = [op.kind for op in schema.read(content).graphs[0].ops]
    assert [kind for kind in converted.kinds if kind != "LceUnpackWeights"] == before
    data = np.concatenate([np.resize(EDGES, 60), edges(rng, 60)]).reshape(_SHAPE)
    (want,), (have,) = run_stock(content, [data]), run_engine(converted.content, [data])
    np.testing.assert_array_equal(have, want)


@pytest.mark.parametrize("form", [form for form in _BINARY if form.startswith("straight through")])
def test_straight_through_is_exact_up_to_16777216(net, form, rng):
    """Values have all sizes, and half of them are within some steps of the powers of two."""
    x = net.input(1, 64, 64, 6)
    y = net.conv(_BINARY[form][0](net, x), signs(rng, 7, 3, 3, 6))
    sizes = np.exp2(rng.integers(-40, 24, x.shape)).astype(np.float32)
    sizes.view(np.int32)[...] += rng.choice([0, 1, 2, 3, -1, -2, 1 << 22, 5_000_000], x.shape)
    data = np.minimum(sizes, np.float32(2**24)) * signs(rng, *x.shape)
    assert "LceBconv2d" in convert_and_compare(net, y, inputs=[data]).kinds


def test_straight_through_of_larger_values_is_the_sign(net, rng):
    """The float model's rounding loses the sign there; the converted model keeps it."""
    x = net.input(1, 1, 1, 6)
    y = net.conv(_straight_through()(net, x), np.eye(6, dtype=np.float32).reshape(6, 1, 1, 6))
    z = net.conv(_straight_through()(net, x), np.ones((6, 1, 1, 6), np.float32))
    large = np.array([2**24 + 2, -(2**24) - 2, 1e30, -1e30, np.inf, -np.inf], np.float32)
    data = [large.reshape(1, 1, 1, 6)]
    stock = run_stock(net.finish(y), data)[0]
    assert not np.isin(stock, [-1, 1]).any()
    converted = convert(net.finish(z))
    assert "LceBconv2d" in converted.kinds
    assert (run_engine(converted.content, data)[0] == 0).all()  # three of +1, three of -1


def test_many_ways_to_one_sign(net, rng):
    """Each operator doubles the number of ways: there are 2**64 in all."""
    x = net.input(*_SHAPE)
    y = net.sign(x)
    for _ in range(64):
        y = net.op("MUL", y, y)
    y = net.conv(net.op("MUL", y, net.sign(x)), signs(rng, 7, 3, 3, 6))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *_SHAPE)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d"]


def test_step_padded_with_an_input(net, rng):
    x = net.input(*_SHAPE)
    y = net.conv(_step_of(_padded_with_input)(net, x), signs(rng, 7, 3, 3, 6))
    converted = convert(net.finish(y))
    assert "LceBconv2d" not in converted.kinds


def test_sign_and_its_scale_are_told_apart_from_two_signs(net, rng):
    """sign(a) + sign(b) has three values."""
    a, b = net.input(*_SHAPE), net.input(*_SHAPE)
    y = net.conv(net.op("ADD", net.sign(a), net.sign(b)), signs(rng, 7, 3, 3, 6))
    data = [edges(rng, *_SHAPE), edges(rng, *_SHAPE)]
    assert "LceBconv2d" not in convert_and_compare(net, y, inputs=data).kinds


# Constants that make the result larger than the value whose sign it is.
_BROADCASTING: dict[str, _Form] = {
    "shift": _shifted(_full(0.5)),
    "bound": _select("GREATER_EQUAL", _full(0.25)),
    "zero": _select("GREATER_EQUAL", _full(0)),
    "choice": _select("GREATER_EQUAL", 0.0, (_full(1), _full(-1))),
    "factor": lambda net, x: net.op("MUL", net.sign(x), _full(2)),
    "maximum": lambda net, x: net.op("SIGN", net.op("MAXIMUM", x, _full(0))),
}


@pytest.mark.parametrize("form", _BROADCASTING)
def test_constant_larger_than_the_value(net, form, rng):
    x = net.input(1, 1, 1, 6)
    y = net.conv(_BROADCASTING[form](net, x), signs(rng, 7, 3, 3, 6))
    convert_and_compare(net, y, inputs=[edges(rng, 1, 1, 1, 6)])


@pytest.mark.parametrize("is_output", [False, True])
def test_one_sign_is_quantized_once(net, is_output, rng):
    """Two layers, another operator and perhaps the model's caller read the sign."""
    s = net.sign(net.input(*_SHAPE))
    outputs = [
        net.conv(s, signs(rng, 7, 3, 3, 6), padding=padding) for padding in ("VALID", "SAME")
    ]
    outputs += [net.op("MUL", s, 0.5)] + [s] * is_output
    converted = convert_and_compare(net, *outputs, inputs=[edges(rng, *_SHAPE)])
    signs_kept = ["LceDequantize"] if is_output else ["ADD", "SIGN", "SIGN"]
    expected = ["LceBconv2d", "LceBconv2d", "LceQuantize", "MUL", *signs_kept]
    assert sorted(converted.kinds) == sorted(expected)


def test_sign_as_output(net, rng):
    """Stripping the LceDequantize gives the sign's bits."""
    y = net.sign(net.input(*_SHAPE))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *_SHAPE)])
    assert converted.kinds == ["LceQuantize", "LceDequantize"]


@pytest.mark.parametrize("form", ["heaviside", "shift -0.1", "times 4"])
def test_output_of_other_values_stays(net, form, rng):
    y = _BINARY[form][0](net, net.input(*_SHAPE))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *_SHAPE)])
    assert not any(kind.startswith("Lce") for kind in converted.kinds)


def test_signs_written_differently_are_quantized_once(net, rng):
    x = net.input(*_SHAPE)
    forms = [_BINARY[name][0] for name in ("larq", "x >= 0", "x < 0", "times -4")]
    outputs = [net.conv(form(net, x), signs(rng, 7, 3, 3, 6)) for form in forms]
    converted = convert_and_compare(net, *outputs, inputs=[edges(rng, *_SHAPE)])
    assert sorted(converted.kinds) == ["LceBconv2d"] * 4 + ["LceQuantize"]


def test_negatives_are_made_once(net, rng):
    x = net.input(*_SHAPE)
    forms = [_BINARY[name][0] for name in ("heaviside", "x > 0", "shift -0.1")]
    outputs = [net.conv(form(net, x), signs(rng, 7, 3, 3, 6)) for form in forms]
    converted = convert_and_compare(net, *outputs, inputs=[edges(rng, *_SHAPE)])
    assert sorted(converted.kinds) == ["LceBconv2d"] * 3 + ["LceQuantize", "NEG"]


def test_a_chain_longer_than_recursion_allows(net, rng):
    y = net.input(1, 4, 4, 32)
    for number in range(600):
        y = net.op("RELU6", y) if number % 2 else net.op("ABS", y)
    y = net.conv(net.sign(y), signs(rng, 8, 3, 3, 32))
    converted = convert(net.finish(y))
    assert converted.kinds[-2:] == ["LceQuantize", "LceBconv2d"]
