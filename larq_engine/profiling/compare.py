"""Compares what a candidate computed with the right result."""

from collections.abc import Sequence

import numpy as np

from larq_engine.python.tensors import Array

# Tolerance relative to the largest value: sums of floats depend on their order, and hosts round
# activations in their own ways.
_FLOAT_TOLERANCE = 1e-4

# Part of the words of bits that may differ: floats near 0 that differ by rounding can have other
# signs.
_OTHER_WORDS = 1e-3

# Tolerance in units of the last place of quantized values, to which floats are rounded.
_QUANTIZED_TOLERANCE = 1


def find_difference(got: Sequence[Array], expected: Sequence[Array], *, rounds: bool) -> str | None:
    """Says what is wrong with the outputs, or returns None.

    Args:
        got: The candidate's outputs: one batch, or the same batch several times.
        expected: The reference's outputs: one batch.
        rounds: Whether floats were computed on the way to bits.
    """
    for number, (ours, right) in enumerate(zip(got, expected, strict=True)):
        problem = _difference(ours, right, rounds)
        if problem:
            return f"output {number}: {problem}"
    return None


def _difference(got: Array, expected: Array, rounds: bool) -> str | None:
    if got.dtype != expected.dtype or got.shape[1:] != expected.shape[1:]:
        return (
            f"expected {expected.dtype} of the shape {expected.shape}, got {got.dtype} of "
            f"{got.shape}"
        )
    if not expected.size:
        return None
    copies = got.reshape(-1, *expected.shape)
    if expected.dtype.kind == "f":
        return _float_difference(copies, expected)
    wrong = copies != expected
    if expected.dtype in (np.int8, np.uint8, np.int16):
        wide = np.abs(copies.astype(np.int32) - expected.astype(np.int32))
        wrong = wide > (_QUANTIZED_TOLERANCE if rounds else 0)
    share = float(wrong.mean())
    if share > (_OTHER_WORDS if rounds else 0):
        return f"expected the reference's values, got others in {100 * share:.3g} % of the places"
    return None


def _float_difference(got: Array, expected: Array) -> str | None:
    finite = np.isfinite(expected)
    bound = _FLOAT_TOLERANCE * float(np.max(np.abs(expected[finite]), initial=0))
    with np.errstate(invalid="ignore"):
        close = (np.abs(got - expected) <= bound) | (got == expected)
    close |= np.isnan(got) & np.isnan(expected)
    if close.all():
        return None
    with np.errstate(invalid="ignore"):
        worst = float(np.nanmax(np.where(close, 0, np.abs(got - expected))))
    return f"expected the reference's values within {bound:.3g}, got one that is {worst:.3g} off"
