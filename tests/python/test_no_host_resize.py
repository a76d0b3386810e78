"""RESIZE_BILINEAR that the engine computes without a host is XNNPACK's."""

import numpy as np
import pytest

import larq_engine
from tests.model_builder import ModelBuilder
from tests.no_host import Array, check_equal, run_alone, run_in_host

_SIZES = [(4, 6), (9, 5), (3, 1), (8, 12), (17, 13), (1, 1), (40, 7)]
_SHAPES = [(1, 4, 6, 3), (3, 7, 5, 16), (17, 1, 9, 33), (1, 13, 1, 1)]
_FORMS = [(False, False), (True, False), (False, True)]


def _model(x: Array, size: tuple[int, ...], align: bool, centers: bool, **output: object) -> bytes:
    builder = ModelBuilder()
    quantization = {"scale": 0.5, "zero_point": 3} if x.dtype == np.int8 else {}
    given = builder.tensor(x.shape, x.dtype, **quantization)
    made = builder.tensor((1,) * 4, x.dtype, **{**quantization, **output})
    sizes = builder.constant(np.array(size, np.int32))
    builder.builtin(
        "RESIZE_BILINEAR", [given, sizes], [made], alignCorners=align, halfPixelCenters=centers
    )
    return builder.finish([given], [made])


@pytest.mark.parametrize(("align", "centers"), _FORMS)
@pytest.mark.parametrize("size", _SIZES)
def test_bytes(rng, size, align, centers):
    for shape in _SHAPES:
        x = rng.integers(-128, 128, shape).astype(np.int8)
        check_equal(_model(x, size, align, centers), [x])


@pytest.mark.parametrize(("align", "centers"), _FORMS)
@pytest.mark.parametrize("size", _SIZES)
def test_floats(rng, size, align, centers):
    """Six operations make a value of numbers up to the largest, and each rounds half a step."""
    for shape in _SHAPES:
        x = rng.standard_normal(shape).astype(np.float32)
        content = _model(x, size, align, centers)
        (expected,) = run_in_host(content, [x])
        bound = 6 * np.finfo(np.float32).eps * np.abs(x).max()
        for threads in (1, 2):
            (made,) = run_alone(content, [x], threads)
            np.testing.assert_allclose(made, expected, rtol=0, atol=bound)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_special_values_reach_their_neighbours(special):
    x = np.zeros((1, 4, 4, 1), np.float32)
    x[0, 1, 2, 0] = special
    check_equal(_model(x, (8, 8), False, True), [x])


@pytest.mark.parametrize("shape", [(0, 4, 6, 3), (2, 4, 6, 0)])
def test_no_values(shape):
    x = np.zeros(shape, np.float32)
    (made,) = run_alone(_model(x, (5, 7), False, False), [x])
    assert made.shape == (shape[0], 5, 7, shape[3])


def test_no_pixels():
    x = np.zeros((2, 0, 6, 3), np.float32)
    with pytest.raises(ValueError, match="at least one pixel, got shape"):
        run_alone(_model(x, (5, 7), False, False), [x])


def test_forms_that_are_refused():
    x, small = np.zeros((1, 4, 4, 2), np.float32), np.zeros((1, 4, 4, 2), np.int8)
    for content in (
        _model(x, (5, 7), True, True),
        _model(x, (0, 7), False, False),
        _model(x, (5, 7, 1), False, False),
        _model(x, (1 << 25, 1), False, False),
        _model(x.astype(np.int32), (5, 7), False, False),
        _model(small, (5, 7), False, False, scale=0.25),
    ):
        with pytest.raises(ValueError, match=r"got RESIZE_BILINEAR 't|the file is corrupted"):
            larq_engine.Interpreter(content, host="none")
