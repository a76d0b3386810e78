"""Operators between a value and its sign become one comparison, or nothing, if that is exact.

Inputs are all kinds of normal numbers: zeros of both signs, the smallest ones, and those at and
next to each bound, which the test finds for itself by trying.
"""

from collections.abc import Callable

import numpy as np
import pytest

from larq_engine.converter import schema
from larq_engine.converter.api import convert_tflite
from tests.converter.graphs import Net, Value, convert_and_compare, run_stock, signs
from tests.model_builder import ACTIVATION

_CHANNELS = 8
_SHAPE = (1, 64, 64, _CHANNELS)
_SCALES = np.array([3.0, 1.0, 7.25, 0.3, 1.5, 0.001, 123.0, 0.7], np.float32)
_SHIFTS = np.array([0.1, -0.2, 0.3, -7.7, 1e-3, -1e-4, 55.5, 1 / 3], np.float32)
_SIGNS_OF_CHANNELS = np.array([1, -1, 1, 1, -1, 1, 1, -1], np.float32)

_Form = Callable[[Net, Value], Value]


def _ops(*steps: tuple[str, object]) -> _Form:
    """Returns a form of operators in a row, each with a constant or none."""

    def form(net: Net, x: Value) -> Value:
        for kind, constant in steps:
            x = net.op(kind, x) if constant is None else net.op(kind, x, constant)
        return x

    return form


def _select(comparison: str, bound: object, *, first: bool) -> _Form:
    """Returns a clamp, as where(x > bound, bound, x) and the like."""

    def form(net: Net, x: Value) -> Value:
        values = [bound, x] if first else [x, bound]
        return net.op("SELECT_V2", net.op(comparison, x, bound, dtype=np.bool_), *values)

    return form


def _fused(net: Net, x: Value) -> Value:
    y = net.op("ADD", x, _SHIFTS, fusedActivationFunction=ACTIVATION["RELU_N1_TO_1"])
    return net.op("MUL", y, 5.0)


# Forms, and the operators that are left of each.
_SHORTER: dict[str, tuple[_Form, list[str]]] = {
    "RELU_N1_TO_1": (_ops(("RELU_N1_TO_1", None)), []),
    "clamp": (_ops(("MAXIMUM", -1.5), ("MINIMUM", 2.0)), []),
    "clamp of channels": (_ops(("MAXIMUM", -_SCALES), ("MINIMUM", _SCALES)), []),
    "clamp from 0": (_ops(("MINIMUM", 0.0)), []),
    "clamp with where": (_select("GREATER", 1.0, first=True), []),
    "clamp with where, below": (_select("LESS_EQUAL", -1.0, first=True), []),
    "clamp with where, the other way": (_select("LESS", _SCALES, first=False), []),
    "TANH": (_ops(("TANH", None)), []),
    "TANH of a clamp": (_ops(("MAXIMUM", -1.5), ("TANH", None), ("MUL", 2.0)), []),
    "scales from 1 on": (_ops(("MUL", np.maximum(_SCALES, 1))), []),
    "divided by up to 1": (_ops(("DIV", np.minimum(_SCALES, 1))), []),
    "plus 0": (_ops(("ADD", 0.0)), []),
    "leaky": (lambda net, x: net.op("LEAKY_RELU", x, alpha=1.0), []),
    "negated and clamped": (_ops(("NEG", None), ("RELU_N1_TO_1", None)), ["NEG"]),
    "times -3": (_ops(("MUL", -3.0)), ["MUL"]),
    "batch norm": (_ops(("MUL", _SCALES), ("ADD", _SHIFTS)), ["SUB"]),
    "batch norm of PyTorch": (
        _ops(("SUB", _SHIFTS[::-1]), ("MUL", _SCALES), ("MUL", _SCALES[::-1]), ("ADD", _SHIFTS)),
        ["SUB"],
    ),
    "falling batch norm": (_ops(("MUL", -_SCALES), ("SUB", _SHIFTS)), ["SUB"]),
    "batch norm and clamp": (
        _ops(("MUL", _SCALES), ("SUB", _SHIFTS), ("RELU_N1_TO_1", None)),
        ["SUB"],
    ),
    "bias and fused clamp": (_fused, ["SUB"]),
    "threshold": (_ops(("RELU", None), ("SUB", 0.75)), ["SUB"]),
    "one bias": (_ops(("ADD", _SHIFTS)), ["ADD"]),
}

# Forms of which every operator stays.
_STAYS: dict[str, _Form] = {
    "scale below 1": _ops(("MUL", 0.3)),
    "scales below 1 of a channel": _ops(("MUL", _SCALES)),
    "divided by more than 1": _ops(("DIV", 3.0)),
    "channels of both directions": _ops(("MUL", _SIGNS_OF_CHANNELS), ("ADD", _SHIFTS)),
    "clamp to one sign": _ops(("MAXIMUM", 0.0)),
    "clamp that the sign never changes in": _ops(("MINIMUM", -1.0), ("ADD", 0.5)),
    "bounds too small to subtract": _ops(("MUL", 2.0), ("ADD", 1e-36)),
    "TANH with a bias": _ops(("TANH", None), ("ADD", 0.5)),
}


def _numbers(net: Net, x: Value, y: Value, rng: np.random.Generator) -> np.ndarray:
    """Draws numbers, half of them next to where the float model's sign changes in each channel."""
    exponents = np.exp2(rng.integers(-126, 120, _SHAPE)).astype(np.float32)
    data = exponents * (1 + rng.random(_SHAPE).astype(np.float32)) * signs(rng, *_SHAPE)
    edges = np.array([0.0, -0.0, 1.2e-38, -1.2e-38, 1.0, -1.0, 3e38, -3e38], np.float32)
    data[0, 0] = np.resize(edges, (64, 1))
    data[0, 1:32] = _near_changes(net, y, rng)
    return data


def _near_changes(net: Net, y: Value, rng: np.random.Generator) -> np.ndarray:
    """Finds where stock LiteRT's signs change, by bisection for all channels at once."""
    content = net.finish(y)
    whole = np.zeros(_SHAPE, np.float32)
    low, high = np.full(_CHANNELS, -(2**30), np.int64), np.full(_CHANNELS, 2**30, np.int64)
    (first,) = run_stock(content, [whole + _float(low)])
    for _ in range(32):
        middle = (low + high) // 2
        (got,) = run_stock(content, [whole + _float(middle)])
        same = (got[0, 0, 0] >= 0) == (first[0, 0, 0] >= 0)
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    near = _float(high + rng.integers(-3, 4, (31, 64, _CHANNELS)))
    # Operators differ in how they treat numbers below the normal ones.
    return np.where(np.abs(near) < np.finfo(np.float32).tiny, np.float32(0), near)


def _float(number: np.ndarray) -> np.ndarray:
    """Returns the float32 number at this place in their order, in which 0 has the number 0."""
    size = np.abs(number).astype(np.uint32).view(np.float32)
    return np.where(number < 0, -size, size)


@pytest.mark.parametrize("form", [*_SHORTER, *_STAYS])
def test_before_a_sign(net, form, rng):
    build, left = _SHORTER[form] if form in _SHORTER else (_STAYS[form], None)
    x = net.input(*_SHAPE)
    y = build(net, x)
    # Stock hosts differ among themselves if small numbers matter.
    data = _numbers(net, x, y, rng) if form in _SHORTER else rng.normal(size=_SHAPE)
    kinds = [op.kind for op in schema.read(net.finish(y)).graphs[0].ops]
    z = net.conv(net.sign(y), signs(rng, 32, 3, 3, _CHANNELS))
    converted = convert_and_compare(net, z, inputs=[data.astype(np.float32)])
    assert converted.kinds == [*(kinds if left is None else left), "LceQuantize", "LceBconv2d"]
    convert_tflite(net.finish(z))


def test_values_that_others_read(rng):
    """A clamp that others read is left out of the sign; a batch norm is not computed twice."""
    for form, kinds in {
        "clamp": ["MAXIMUM", "MINIMUM"],
        "batch norm": ["MUL", "ADD"],
    }.items():
        net = Net()
        x = net.input(1, 5, 5, _CHANNELS)
        y = _SHORTER[form][0](net, x)
        z = net.conv(net.sign(y), signs(rng, 32, 3, 3, _CHANNELS))
        data = rng.normal(size=x.shape).astype(np.float32)
        converted = convert_and_compare(net, z, net.op("ABS", y), inputs=[data])
        assert sorted(converted.kinds) == sorted([*kinds, "ABS", "LceQuantize", "LceBconv2d"])


def test_one_sign_of_several_clamps(net, rng):
    """Two layers, only one of which clamps, share one sign."""
    x = net.input(1, 5, 5, _CHANNELS)
    both = [x, net.op("RELU_N1_TO_1", x)]
    outputs = [net.conv(net.sign(y), signs(rng, 32, 3, 3, _CHANNELS)) for y in both]
    data = rng.normal(size=x.shape).astype(np.float32)
    converted = convert_and_compare(net, *outputs, inputs=[data])
    assert sorted(converted.kinds) == ["LceBconv2d", "LceBconv2d", "LceQuantize"]
