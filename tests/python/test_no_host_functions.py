"""Functions of one value that the engine computes without a host are LiteRT's."""

import math
import re

import numpy as np
import pytest

from tests.one_operator import OneOperator

# A float's distance to the next one, relative to it.
_STEP = 2.0**-23

_SPECIAL = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 300, -300, 3e9, -3e9, 1e20, 1e-40, 0.5, 1.5, 2.5, -2.5],
    np.float32,
)

# Functions whose results do not depend on a library's approximations.
_EXACT = [
    "ABS",
    "CEIL",
    "FLOOR",
    "LEAKY_RELU",
    "NEG",
    "RELU",
    "RELU6",
    "RELU_0_TO_1",
    "RELU_N1_TO_1",
    "ROUND",
    "RSQRT",
    "SIGN",
    "SQRT",
    "SQUARE",
]

# The true functions in float64.
_TRUE = {
    "COS": np.cos,
    "ELU": lambda x: np.where(x < 0, np.expm1(x), x),
    "EXP": np.exp,
    "HARD_SWISH": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "LOG": np.log,
    "LOGISTIC": lambda x: 1 / (1 + np.exp(-x)),
    "SIN": np.sin,
    # NumPy's own tanh is wrong on an emulated CPU with AVX2 (QEMU 7.2).
    "TANH": np.vectorize(math.tanh, otypes=[np.float64]),
}

_SHAPES = [(), (1,), (7,), (5000,), (3, 11), (17, 5, 33), (1, 9, 7, 33), (3, 2, 3, 2, 5), (0, 4)]

_OPTIONS = {"LEAKY_RELU": {"alpha": 0.2}}


def _numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return (4 * rng.standard_normal(shape)).astype(np.float32)


@pytest.mark.parametrize("op", _EXACT)
def test_results_are_those_of_litert(op, rng):
    for data in [_SPECIAL, *(_numbers(rng, shape) for shape in _SHAPES)]:
        OneOperator(op, [data], **_OPTIONS.get(op, {})).check_equal()


@pytest.mark.parametrize("op", _TRUE)
def test_results_are_near_the_true_ones(op, rng):
    """The library's functions err by less than 2 steps, and so does each operation on them."""
    for shape in _SHAPES:
        data = _numbers(rng, shape)
        if op == "LOG":
            data = np.abs(data) + np.float32(0.01)
        model = OneOperator(op, [data])
        result = model.run()
        expected = _TRUE[op](data.astype(np.float64))
        np.testing.assert_allclose(result, expected, rtol=4 * _STEP, atol=4 * _STEP)
        np.testing.assert_array_equal(model.run(threads=2), result)


@pytest.mark.parametrize("op", _TRUE)
def test_nan_and_infinities(op):
    model = OneOperator(op, [_SPECIAL])
    np.testing.assert_allclose(model.run(), model.run_in_litert(), rtol=4 * _STEP, atol=4 * _STEP)


@pytest.mark.parametrize("shape", [(7,), (3, 11), (17, 5, 33), (1, 9, 7, 1), (0, 4), (2, 1000)])
def test_log_softmax(shape, rng):
    """A sum adds a step for each value, and the differences a few of the greatest number's."""
    data = _numbers(rng, shape)
    model = OneOperator("LOG_SOFTMAX", [data])
    result = model.run()
    x = data.astype(np.float64)
    x = x - x.max(-1, keepdims=True, initial=-np.inf)
    expected = x - np.log(np.exp(x).sum(-1, keepdims=True))
    bound = _STEP * (shape[-1] + 4 * (1 + np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(result, expected, rtol=0, atol=bound)
    np.testing.assert_array_equal(model.run(threads=2), result)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_log_softmax_of_special_values(special):
    data = np.ones((2, 5), np.float32)
    data[0, 3] = special
    model = OneOperator("LOG_SOFTMAX", [data])
    np.testing.assert_allclose(model.run(), model.run_in_litert(), rtol=4 * _STEP, atol=4 * _STEP)


@pytest.mark.parametrize("approximate", [False, True])
def test_gelu(approximate, rng):
    """The cubic polynomial of the approximate form has about 8 roundings."""
    for data in [_SPECIAL, *(_numbers(rng, shape) for shape in _SHAPES)]:
        model = OneOperator("GELU", [data], approximate=approximate)
        np.testing.assert_allclose(
            model.run(), model.run_in_litert(), rtol=8 * _STEP, atol=8 * _STEP
        )


def test_the_forms_of_gelu_differ(rng):
    data = _numbers(rng, (100,))
    exact, approximate = (OneOperator("GELU", [data], approximate=a).run() for a in (False, True))
    assert 1e-5 < np.abs(exact - approximate).max() < 1e-3


@pytest.mark.parametrize(
    ("op", "dtype"), [("ABS", np.int32), ("NEG", np.int32), ("SIGN", np.int32), ("NEG", np.int64)]
)
def test_integers(op, dtype, rng):
    limits = np.iinfo(dtype)
    data = rng.integers(limits.min, limits.max, (3, 50), dtype, endpoint=True)
    data[0, :5] = [limits.min, limits.max, 0, 1, -1]
    OneOperator(op, [data], dtype).check_equal()


def test_logical_not(rng):
    for shape in _SHAPES:
        OneOperator("LOGICAL_NOT", [rng.random(shape) < 0.5], np.bool_).check_equal()


def test_a_batch_that_is_computed_in_passes(rng):
    """The tensors of all samples exceed the cache."""
    OneOperator("NEG", [_numbers(rng, (64, 20000))]).check_equal()
    OneOperator("CAST", [_numbers(rng, (64, 20000))], np.int8).check_equal()


@pytest.mark.parametrize("batch", [1, 3, 17])
def test_a_batch_of_another_size(batch, rng):
    data = _numbers(rng, (batch, 6, 5, 8))
    OneOperator("NEG", [data], declared=[(1, 6, 5, 8)]).check_equal()


@pytest.mark.parametrize(
    ("op", "operands", "dtype"),
    [
        ("TANH", [np.zeros(2, np.int32)], np.int32),
        ("SQUARE", [np.zeros(2, np.int64)], np.int64),
        ("ABS", [np.zeros(2, np.float32)], np.int32),
        ("LOGICAL_NOT", [np.zeros(2, np.float32)], np.float32),
        ("EXP", [np.zeros(2, np.float32)] * 2, np.float32),
    ],
)
def test_forms_that_are_refused(op, operands, dtype):
    refused = re.escape(f"got {op} '")
    with pytest.raises(ValueError, match=f"{refused}|expected 1 inputs, got 2"):
        OneOperator(op, operands, dtype).run()
