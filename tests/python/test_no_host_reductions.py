"""SUM, MEAN and their kin over any axes make LiteRT's results without a host."""

import numpy as np
import pytest

from larq_engine.python import no_host
from tests.model_builder import one_op_model
from tests.no_host import check_equal, run_alone, run_in_host

_NUMPY = {
    "SUM": np.sum,
    "MEAN": np.mean,
    "REDUCE_PROD": np.prod,
    "REDUCE_MAX": np.max,
    "REDUCE_MIN": np.min,
}
_AXES = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2), (-1,), (-3, 1)]


def _model(kind, x, axes, keep) -> bytes:
    rank = x.ndim if keep else x.ndim - len({axis % x.ndim for axis in axes})
    y = {"shape": (1,) * rank, "dtype": x.dtype}
    operands = ("x", np.array(axes, np.int32))
    return one_op_model(kind, {"shape": x.shape, "dtype": x.dtype}, y, operands, keepDims=keep)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axes", _AXES)
@pytest.mark.parametrize("kind", _NUMPY)
def test_floats(rng, kind, axes, keep):
    x = rng.standard_normal((7, 5, 33)).astype(np.float32)
    axis = tuple(number % 3 for number in axes)
    expected = _NUMPY[kind](x.astype(np.float64), axis=axis, keepdims=keep)
    count = x.size // max(expected.size, 1)
    # Each of `count` steps rounds once; for products the error grows with the product.
    size = _NUMPY[kind](np.abs(x).astype(np.float64), axis=axis, keepdims=keep)
    bound = 0 if kind in ("REDUCE_MAX", "REDUCE_MIN") else count * 2.0**-23 * np.abs(size)
    content = _model(kind, x, axes, keep)
    for results in (run_alone(content, [x]), run_alone(content, [x], 2), run_in_host(content, [x])):
        assert results[0].shape == expected.shape
        assert np.all(np.abs(results[0] - expected) <= bound + 1e-30)


@pytest.mark.parametrize("axes", _AXES)
@pytest.mark.parametrize("kind", ["SUM", "REDUCE_PROD", "REDUCE_MAX", "REDUCE_MIN"])
def test_whole_numbers(rng, kind, axes):
    x = rng.integers(-(1 << 31), (1 << 31) - 1, (3, 4, 5)).astype(np.int32)
    check_equal(_model(kind, x, axes, False), [x])


def test_samples_that_a_sum_joins(rng):
    """A batch is not computed in parts if samples are added."""
    x = rng.integers(-8, 8, (64, 16, 40, 32)).astype(np.float32)
    check_equal(_model("SUM", x, (0,), True), [x])


def test_a_mean_of_whole_numbers_is_refused(rng):
    x = np.ones((2, 3), np.int32)
    with pytest.raises(ValueError, match="computes by itself, got MEAN"):
        no_host.Interpreter(model_content=_model("MEAN", x, (0,), False))


def test_an_axis_that_is_not_there():
    x = np.ones((2, 3), np.float32)
    content = _model("SUM", np.ones((2, 3, 4), np.float32), (2,), True)
    interpreter = no_host.Interpreter(model_content=content)
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], x.shape)
    with pytest.raises(ValueError, match="expected an axis 2, got shape"):
        interpreter.allocate_tensors()
