"""ARG_MAX, ARG_MIN and CAST that the engine computes without a host are LiteRT's."""

import re

import numpy as np
import pytest

from tests.one_operator import OneOperator

_TYPES = [np.float32, np.int32, np.int64, np.bool_, np.int8, np.uint8]
_OUTPUT_TYPE = {np.int32: 2, np.int64: 4}


def _arg(op, data, axis, dtype=np.int32, axis_type=np.int32) -> OneOperator:
    operands = [data, np.array(axis, axis_type)]
    rank = data.ndim - 1
    return OneOperator(
        op, operands, dtype, constants=[1], rank=rank, outputType=_OUTPUT_TYPE[dtype]
    )


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int8, np.uint8])
@pytest.mark.parametrize("op", ["ARG_MAX", "ARG_MIN"])
def test_indices(op, dtype, rng):
    for shape in [(9,), (17, 5), (1, 3000), (3, 4, 5), (2, 3, 4, 5), (0, 4)]:
        data = rng.integers(0, 4, shape).astype(dtype)  # several values are the best
        for axis in range(-len(shape), len(shape)):
            if shape[axis] > 0:
                _arg(op, data, axis).check_equal()


@pytest.mark.parametrize("axis_type", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_types_of_indices_and_of_the_axis(dtype, axis_type, rng):
    data = rng.standard_normal((4, 6)).astype(np.float32)
    for axis in (1, [-1]):
        _arg("ARG_MAX", data, axis, dtype, axis_type).check_equal()


@pytest.mark.parametrize("op", ["ARG_MAX", "ARG_MIN"])
def test_indices_among_nan_and_infinities(op):
    """LiteRT leaves NaN out along all axes but long last ones, where its vectors do not."""
    values = [np.nan, np.inf, -np.inf, 0, -0.0, 1]
    data = np.array([np.roll(values, i) for i in range(6)], np.float32)
    data[:, 5] = np.nan
    _arg(op, data, 0).check_equal()
    find = np.nanargmax if op == "ARG_MAX" else np.nanargmin
    np.testing.assert_array_equal(_arg(op, data[:, :5], 1).run(), find(data[:, :5], axis=1))


@pytest.mark.parametrize(("shape", "axis"), [((3, 4), 2), ((3, 4), -3), ((3, 0), 1)])
def test_an_axis_without_values(shape, axis):
    with pytest.raises(ValueError, match=re.escape(f"values along axis {axis}, got {list(shape)}")):
        _arg("ARG_MAX", np.zeros(shape, np.float32), axis).run()


@pytest.mark.parametrize("to", _TYPES)
@pytest.mark.parametrize("of", _TYPES)
def test_casts(of, to, rng):
    numbers = [0, 1, 5, -7, 127, 128, -128, -129, 255, 256, 300, 2**31 - 1, -(2**31), 1e10, -1e10]
    if of is np.float32:
        special = [np.nan, np.inf, -np.inf, 2.5, -2.5, -0.3, 127.9, 255.9, 1e-40, 1e30, -1e30]
        data = np.array([*numbers, *special], of)
    else:
        data = np.array(numbers, np.int64).astype(of)
    OneOperator("CAST", [data], to).check_equal()
    for shape in [(), (3, 4, 5), (5000,), (0, 4)]:
        OneOperator("CAST", [(3 * rng.standard_normal(shape)).astype(of)], to).check_equal()


@pytest.mark.parametrize(
    ("op", "operands", "dtype"),
    [
        ("ARG_MAX", [np.zeros((2, 3), np.float32), np.array(0, np.int32)], np.int32),
        ("CAST", [np.zeros(2, np.float16)], np.float32),
        ("CAST", [np.zeros(2, np.float32)], np.float64),
    ],
)
def test_forms_that_are_refused(op, operands, dtype):
    """An axis that is computed, and types that the engine does not know."""
    with pytest.raises(ValueError, match=re.escape(f"got {op} '")):
        OneOperator(op, operands, dtype).run()
