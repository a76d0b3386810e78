"""The float32 numbers in ascending order, for bisecting over all of them."""

from collections.abc import Callable, Sequence

import numpy as np

from larq_engine.converter.graph import Array

_SMALLEST_NORMAL = np.finfo(np.float32).tiny

# A function of float32 values of the shape [..., channels].
Function = Callable[[Array], Array]


def evaluate_flushed(functions: Sequence[Function], small: Function, x: Array) -> Array:
    """Applies the functions in turn, with small numbers kept or flushed by `small`."""
    x = small(x)
    for function in functions:
        x = small(np.asarray(function(x), np.float32))
    return x


def keep(x: Array) -> Array:
    """Keeps numbers below the smallest normal one."""
    return x


def flush(x: Array) -> Array:
    """Replaces numbers below the smallest normal one by 0."""
    return np.where(np.abs(x) < _SMALLEST_NORMAL, np.float32(0), x)


def to_number(x: Array) -> Array:
    """Returns whole numbers that are in the same order as the floats."""
    bits = x.view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def from_number(number: Array) -> Array:
    """Returns the floats for whole numbers, as the inverse of `to_number`."""
    sign = np.where(number < 0, 0x80000000, 0)
    return np.asarray((np.abs(number) | sign).astype(np.uint32).view(np.float32))
