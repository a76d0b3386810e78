"""The float32 numbers in their order, for bisecting over all of them."""

from collections.abc import Callable, Sequence

import numpy as np

from larq_engine.converter.graph import Array

_SMALLEST_NORMAL = np.finfo(np.float32).tiny

# Of float32 values [..., channels].
Function = Callable[[Array], Array]


def evaluate_flushed(functions: Sequence[Function], small: Function, x: Array) -> Array:
    """The functions in their order, and what the runtime does to small numbers: keep or flush."""
    x = small(x)
    for function in functions:
        x = small(np.asarray(function(x), np.float32))
    return x


def keep(x: Array) -> Array:
    """Numbers below the normal ones are numbers."""
    return x


def flush(x: Array) -> Array:
    """Numbers below the normal ones are 0."""
    return np.where(np.abs(x) < _SMALLEST_NORMAL, np.float32(0), x)


def to_number(x: Array) -> Array:
    """Whole numbers in the order of the floats that they stand for."""
    bits = x.view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def from_number(number: Array) -> Array:
    """The floats of whole numbers."""
    sign = np.where(number < 0, 0x80000000, 0)
    return np.asarray((np.abs(number) | sign).astype(np.uint32).view(np.float32))
