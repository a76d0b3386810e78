"""BATCH_MATMUL that the engine computes without a host is a product of matrices."""

import numpy as np
import pytest

from tests.one_operator import OneOperator

_SHAPES = [
    ((3, 4), (4, 5)),
    ((50, 7), (7, 70)),
    ((1, 64), (64, 130)),
    ((2, 13, 4), (4, 5)),
    ((17, 3, 4), (17, 4, 5)),
    ((1, 60, 8), (7, 8, 16)),
    ((3, 1, 12, 4), (5, 4, 17)),
    ((2, 2, 1, 3, 4), (2, 1, 5, 4, 6)),
]


def _swapped(array: np.ndarray, is_swapped: bool) -> np.ndarray:
    return np.ascontiguousarray(array.swapaxes(-1, -2)) if is_swapped else array


def _product(left, right, **options) -> OneOperator:
    return OneOperator("BATCH_MATMUL", [left, right], **options)


@pytest.mark.parametrize("swaps_right", [False, True])
@pytest.mark.parametrize("swaps_left", [False, True])
@pytest.mark.parametrize("shapes", _SHAPES)
def test_products(rng, shapes, swaps_left, swaps_right):
    """All sums are of few bits, and so they are exact."""
    left, right = ((rng.integers(-8, 9, shape) / 4).astype(np.float32) for shape in shapes)
    for constants in ([], [1]):
        product = _product(
            _swapped(left, swaps_left),
            _swapped(right, swaps_right),
            constants=constants,
            adjX=swaps_left,
            adjY=swaps_right,
        )
        for threads in (1, 2):
            np.testing.assert_array_equal(product.run(threads), left @ right)
        if not constants:
            np.testing.assert_array_equal(product.run_in_litert(), left @ right)


def test_rounding(rng):
    """The error of a sum is at most a step of each of its partial sums."""
    left, right = (rng.standard_normal(s).astype(np.float32) for s in [(3, 40, 300), (300, 33)])
    bound = 300 * np.finfo(np.float32).eps * (np.abs(left) @ np.abs(right))
    expected = left.astype(np.float64) @ right.astype(np.float64)
    assert (np.abs(_product(left, right).run() - expected) <= bound).all()


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_special_values_reach_their_row(special):
    left, right = np.ones((5, 4), np.float32), np.ones((4, 3), np.float32)
    left[2, 1] = special
    np.testing.assert_array_equal(_product(left, right).run(), left @ right)


@pytest.mark.parametrize(
    "shapes",
    [((2, 0, 4), (2, 4, 5)), ((2, 3, 0), (2, 0, 5)), ((2, 3, 4), (2, 4, 0)), ((0, 3, 4), (4, 5))],
)
def test_empty_matrices(shapes):
    left, right = (np.ones(shape, np.float32) for shape in shapes)
    made = _product(left, right).run()
    assert made.shape == (left @ right).shape
    np.testing.assert_array_equal(made, left @ right)


def test_images_in_parts_of_a_batch(rng):
    """A large batch of rank 4 is computed in passes."""
    left, right = (
        (rng.integers(-8, 9, shape) / 4).astype(np.float32)
        for shape in [(64, 4, 32, 64), (64, 4, 64, 32)]
    )
    np.testing.assert_array_equal(_product(left, right).run(), left @ right)


@pytest.mark.parametrize(
    "shapes", [((2, 3, 4), (2, 3, 5)), ((2, 3, 4), (3, 4, 5)), ((4,), (4, 5)), ((3, 4), ())]
)
def test_shapes_that_do_not_fit(shapes):
    left, right = (np.ones(shape, np.float32) for shape in shapes)
    with pytest.raises(ValueError, match=r"BATCH_MATMUL .*inputs: expected"):
        _product(left, right, rank=3).run()


@pytest.mark.parametrize("types", [(np.float32, np.int8), (np.int8, np.int8), (np.int32, np.int32)])
def test_types_that_are_refused(types):
    left, right = (np.ones((3, 3), dtype) for dtype in types)
    with pytest.raises(ValueError, match="got BATCH_MATMUL '"):
        OneOperator("BATCH_MATMUL", [left, right], np.float32).run()


def test_a_third_matrix_is_refused():
    with pytest.raises(ValueError, match="expected 2 inputs, got 3"):
        OneOperator("BATCH_MATMUL", [np.ones((3, 3), np.float32)] * 3).run()
