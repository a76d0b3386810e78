"""Evaluates operators on constants if sizes may be open, or if ONNX has no such operator.

All other operators are evaluated by ONNX's reference (evaluating.py).
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.file import MOST_BYTES
from larq_engine.converter.onnx_reader.moving import OPEN_SIZE

Formula = Callable[..., Any]


def check_size(call: Call, shape: Sequence[int]) -> None:
    """Raises ConversionError for constants that no file can hold, before they take memory."""
    if any(size < 0 for size in shape) or 8 * math.prod(shape) >= MOST_BYTES:
        raise call.error(
            "constants of less than 2 GB", f"the shape {list(shape)}", "convert a smaller model"
        )


def constant(call: Call) -> Array:
    """Returns the constant, from the one attribute that is there."""
    kinds = {
        "value": None,
        "value_float": np.float32,
        "value_floats": np.float32,
        "value_int": np.int64,
        "value_ints": np.int64,
    }
    for name, kind in kinds.items():
        found = call.node.attributes.get(name)
        if found is not None:
            return np.asarray(found, kind)
    raise call.error("a value of numbers", sorted(call.node.attributes), "export the model again")


def constant_of_shape(call: Call, shape: Array) -> Array:
    value = call.node.attributes.get("value", np.zeros(1, np.float32))
    # An open batch becomes 1: one sample is broadcast to all.
    sizes = [1 if size == OPEN_SIZE else int(size) for size in shape.reshape(-1)]
    check_size(call, sizes)
    return np.broadcast_to(np.asarray(value).reshape(()), sizes)


def expand(call: Call, x: Array, shape: Array) -> Array:
    sizes = [1 if size == OPEN_SIZE else int(size) for size in shape.reshape(-1)]
    whole = np.broadcast_shapes(x.shape, tuple(sizes))
    check_size(call, whole)
    return np.broadcast_to(x, whole)


def equal(call: Call, a: Array, b: Array) -> Array:
    """Compares constants; an open size is at least 1, so it is equal to no number below 1."""
    check_size(call, np.broadcast_shapes(a.shape, b.shape))
    for sizes, numbers in ((a, b), (b, a)):
        is_open = np.broadcast_to(sizes == OPEN_SIZE, np.broadcast_shapes(a.shape, b.shape))
        if a.dtype == np.int64 and (is_open & (numbers > 0)).any():
            raise call.error("sizes that are known", "the open batch", "export a fixed batch")
    return np.equal(a, b)


def reshape(call: Call, _x: Array, wanted: Array) -> None:
    """Refuses to reshape by sizes that are not known."""
    if OPEN_SIZE in wanted:
        raise call.error("sizes that are known", "the open batch", "export a fixed batch")
