"""Functions of several operands that the engine computes without a host are LiteRT's."""

import re

import numpy as np
import pytest

from tests.model_builder import ACTIVATION, ModelBuilder
from tests.no_host import run_alone, run_in_host
from tests.one_operator import OneOperator

_SHAPES = [
    ((), ()),
    ((), (7,)),
    ((5000,), (5000,)),
    ((5000,), (1,)),
    ((3, 7), (7,)),
    ((3, 7), (3, 1)),
    ((3, 1), (1, 7)),
    ((2, 5, 4, 33), (2, 5, 4, 33)),
    ((2, 5, 4, 33), (33,)),
    ((1, 1, 1, 33), (2, 5, 4, 33)),
    ((2, 5, 4, 33), (2, 1, 1, 33)),
    ((2, 5, 4, 33), (2, 5, 4, 1)),
    ((2, 5, 4, 1), (5, 1, 33)),
    ((17, 1, 6), (1, 9, 6)),
    ((0, 4), (4,)),
    ((0, 4), (1, 1)),
]

_SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 2.5, -2.5, 3e38, 1e-40], np.float32)

_ARITHMETIC = ["ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM"]
_COMPARISONS = ["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"]
_FUSED = ["ADD", "SUB", "MUL", "DIV"]


def _data(rng: np.random.Generator, shape: tuple[int, ...], dtype=np.float32) -> np.ndarray:
    if dtype is np.bool_:
        return rng.random(shape) < 0.5
    if dtype is np.float32:
        return (4 * rng.standard_normal(shape)).astype(np.float32)
    return rng.integers(-5, 6, shape).astype(dtype)


def _check(op: str, rng: np.random.Generator, dtype, out=None, places=((), (0,), (1,)), **options):
    for shapes in _SHAPES:
        operands = [_data(rng, shape, dtype) for shape in shapes]
        for constants in places:
            if any(operands[i].size == 0 for i in constants):
                continue
            OneOperator(op, operands, out or dtype, constants=constants, **options).check_equal()


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
@pytest.mark.parametrize("op", _ARITHMETIC)
def test_arithmetic(op, dtype, rng):
    _check(op, rng, dtype)


@pytest.mark.parametrize("op", ["DIV", "SQUARED_DIFFERENCE"])
def test_arithmetic_of_floats(op, rng):
    _check(op, rng, np.float32)


def test_squared_differences_of_integers(rng):
    _check("SQUARED_DIFFERENCE", rng, np.int32)


@pytest.mark.parametrize("activation", ["RELU", "RELU6", "RELU_N1_TO_1"])
@pytest.mark.parametrize("op", _FUSED)
def test_activations(op, activation, rng):
    options = {"fusedActivationFunction": ACTIVATION[activation]}
    _check(op, rng, np.float32, places=((), (1,)), **options)
    if op != "DIV":
        _check(op, rng, np.int32, places=((),), **options)


@pytest.mark.parametrize("op", ["ADD", "SUB", "MUL"])
def test_integers_wrap_around(op):
    for dtype in (np.int32, np.int64):
        limits = np.iinfo(dtype)
        values = np.array([limits.min, limits.max, -1, 1, 2], dtype)
        operands = [values, values[:, None]]
        expected = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply}[op](*operands)
        np.testing.assert_array_equal(OneOperator(op, operands, dtype).run(), expected)


_SPECIAL_PAIRS = [_SPECIAL[:, None] + np.zeros_like(_SPECIAL), _SPECIAL]


@pytest.mark.parametrize(
    "op", ["MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "POW", "PRELU", *_COMPARISONS]
)
def test_nan_and_infinities(op):
    dtype = np.bool_ if op in _COMPARISONS else np.float32
    OneOperator(op, _SPECIAL_PAIRS, dtype).check_equal()


@pytest.mark.parametrize(
    ("op", "function"),
    [("ADD", np.add), ("SUB", np.subtract), ("MUL", np.multiply), ("DIV", np.divide)],
)
def test_infinities_stay(op, function):
    """XNNPACK has them as well; LiteRT's own operators make them the greatest number."""
    with np.errstate(all="ignore"):
        expected = function(*_SPECIAL_PAIRS)
    np.testing.assert_array_equal(OneOperator(op, _SPECIAL_PAIRS).run(), expected)


def test_powers(rng):
    """The library's function errs by less than a step; both sides may."""
    for shapes in _SHAPES:
        base, exponent = (_data(rng, shape) for shape in shapes)
        model = OneOperator("POW", [np.abs(base), exponent])
        np.testing.assert_allclose(model.run(), model.run_in_litert(), rtol=2 * 2.0**-23)


# Neither LiteRT nor the engine has a FLOOR_DIV of int64.
_QUOTIENTS = [
    ("FLOOR_DIV", np.float32),
    ("FLOOR_DIV", np.int32),
    ("FLOOR_MOD", np.float32),
    ("FLOOR_MOD", np.int32),
    ("FLOOR_MOD", np.int64),
]


@pytest.mark.parametrize(("op", "dtype"), _QUOTIENTS)
def test_rounded_quotients(op, dtype, rng):
    values = _data(rng, (50, 1), dtype)
    divisors = np.array([3, -3, 1, -1, 7], dtype)
    OneOperator(op, [values, divisors], dtype, constants=[1]).check_equal()


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_least_integer_divided_by_minus_one(dtype):
    """The quotient wraps around. Processors, and LiteRT with them, fail here."""
    least = np.array([np.iinfo(dtype).min], dtype)
    minus_one = np.array([-1], dtype)
    assert OneOperator("FLOOR_MOD", [least, minus_one], dtype, constants=[1]).run() == 0
    if dtype is np.int32:
        assert OneOperator("FLOOR_DIV", [least, minus_one], dtype, constants=[1]).run() == least


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64])
@pytest.mark.parametrize("op", _COMPARISONS)
def test_comparisons(op, dtype, rng):
    _check(op, rng, dtype, np.bool_)


@pytest.mark.parametrize("op", ["EQUAL", "NOT_EQUAL", "LOGICAL_AND", "LOGICAL_OR"])
def test_truth(op, rng):
    _check(op, rng, np.bool_)


@pytest.mark.parametrize(
    "slopes", [(1,), (33,), (1, 1, 33), (5, 1, 1), (5, 4, 33), (4, 1), (2, 5, 4, 33)]
)
def test_prelu(slopes, rng):
    operands = [_data(rng, (2, 5, 4, 33)), _data(rng, slopes)]
    for constants in ((), (1,)):
        OneOperator("PRELU", operands, constants=constants).check_equal()


_SELECTED = [
    ((2, 3, 5), (2, 3, 5), (2, 3, 5)),
    ((2, 1, 5), (1, 3, 5), (2, 3, 1)),
    ((), (2, 3, 5), (2, 3, 5)),
    ((2, 3, 1), (), ()),
    ((7000,), (1,), (7000,)),
    ((1,), (3, 4), (4,)),
    ((0, 4), (1, 4), (4,)),
]


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.int8, np.bool_])
@pytest.mark.parametrize("shapes", _SELECTED)
def test_select_with_broadcasting(shapes, dtype, rng):
    condition = _data(rng, shapes[0], np.bool_)
    operands = [condition, *(_data(rng, shape, dtype) for shape in shapes[1:])]
    for constants in ((), (1,), (0, 2)):
        if all(operands[i].size > 0 for i in constants):
            OneOperator("SELECT_V2", operands, dtype, constants=constants).check_equal()


@pytest.mark.parametrize("condition", [(), (3,), (3, 4, 5)])
def test_select(condition, rng):
    operands = [_data(rng, condition, np.bool_), *(_data(rng, (3, 4, 5)) for _ in range(2))]
    OneOperator("SELECT", operands).check_equal()


def test_select_refuses_shapes_that_do_not_fit(rng):
    operands = [_data(rng, (3, 1), np.bool_), _data(rng, (3, 4)), _data(rng, (3, 4))]
    with pytest.raises(ValueError, match="a condition that fits it, got"):
        OneOperator("SELECT", [operands[0], operands[1], operands[2][:1]]).run()


def test_shapes_that_do_not_fit(rng):
    with pytest.raises(ValueError, match=re.escape("got [3, 4] and [3, 5]")):
        OneOperator("MAXIMUM", [_data(rng, (3, 4)), _data(rng, (3, 5))]).run()


@pytest.mark.parametrize("batch", [1, 3, 17])
def test_batches_of_another_size(batch, rng):
    operands = [_data(rng, (batch, 6, 5, 8)), _data(rng, (batch, 1, 1, 8))]
    OneOperator("SUB", operands, declared=[(1, 6, 5, 8), (1, 1, 1, 8)]).check_equal()


@pytest.mark.parametrize("same", [False, True])
def test_steps_in_one_group(same, rng):
    """Operators that follow each other are computed tile by tile, and in place."""
    builder = ModelBuilder()
    shape = (2, 6, 5, 8)
    x = builder.tensor(shape)
    half = builder.constant(np.float32(0.5).reshape(1))
    channels = builder.constant(_data(rng, (8,)))
    names = ["y", "z", "less", "chosen", "last"]
    y, z, less, chosen, last = (
        builder.tensor(shape, np.bool_ if name == "less" else np.float32, name=name)
        for name in names
    )
    builder.builtin("DIV", [x, channels], [y])
    builder.builtin("SQUARED_DIFFERENCE", [y, y if same else x], [z])
    builder.builtin("LESS", [z, half], [less])
    builder.builtin("SELECT_V2", [less, y, x], [chosen])
    builder.builtin("MAXIMUM", [chosen, channels], [last])
    content = builder.finish([x], [last])
    data = _data(rng, shape)
    expected = run_in_host(content, [data], xnnpack=False)
    for threads in (1, 2):
        for fuse in (True, False):
            result = run_alone(content, [data], threads, fuse=fuse)
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("op", "operands", "dtype", "constants"),
    [
        ("MAXIMUM", [np.zeros(2, np.float32), np.zeros(2, np.int32)], np.float32, ()),
        ("DIV", [np.ones(2, np.int32)] * 2, np.int32, ()),
        ("LESS", [np.zeros(2, np.float32)] * 2, np.float32, ()),
        ("LESS", [np.zeros(2, np.bool_)] * 2, np.bool_, ()),
        ("FLOOR_MOD", [np.ones(2, np.int32)] * 2, np.int32, ()),
        ("FLOOR_MOD", [np.ones(2, np.int32), np.array([1, 0], np.int32)], np.int32, (1,)),
        ("SELECT_V2", [np.zeros(2, np.int8), *[np.zeros(2, np.float32)] * 2], np.float32, ()),
    ],
)
def test_forms_that_are_refused(op, operands, dtype, constants):
    with pytest.raises(ValueError, match=re.escape(f"got {op} '")):
        OneOperator(op, operands, dtype, constants=constants).run()
