"""What operators make of constants, computed with NumPy.

Exporters leave such operators where weights are quantized and where sizes are computed.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.elementwise import clip_range
from larq_engine.converter.onnx_reader.file import MOST_BYTES
from larq_engine.converter.onnx_reader.moving import OPEN_SIZE, new_shape, slices

Formula = Callable[..., Any]


def each(function: Callable[..., Any]) -> Formula:
    """A formula of each value by itself."""

    def evaluate(call: Call, *inputs: Array) -> Array:
        check_size(call, np.broadcast_shapes(*[x.shape for x in inputs]))
        if any(x.dtype != inputs[0].dtype for x in inputs):
            types = [x.dtype.name for x in inputs]
            raise call.error("constants of one type", types, "export the model again")
        return np.asarray(function(*inputs))

    return evaluate


def check_size(call: Call, shape: Sequence[int]) -> None:
    """Raises ConversionError for constants that no file can hold, before they take memory."""
    if any(size < 0 for size in shape) or 8 * math.prod(shape) >= MOST_BYTES:
        raise call.error(
            "constants of less than 2 GB", f"the shape {list(shape)}", "convert a smaller model"
        )


def divide(call: Call, a: Array, b: Array) -> Array:
    """Of whole numbers, the fraction is dropped."""
    if a.dtype.kind != "f" and not b.all():
        raise call.error("a divisor", "0", "export the model again")
    return np.asarray(each(_quotient)(call, a, b))


def _quotient(a: Array, b: Array) -> Array:
    return np.asarray(a / b if a.dtype.kind == "f" else np.trunc(a / b).astype(a.dtype))


def where(call: Call, condition: Array, a: Array, b: Array) -> Array:
    check_size(call, np.broadcast_shapes(condition.shape, a.shape, b.shape))
    return np.where(condition, a, b)


def clip(call: Call, x: Array, *_limits: Array | None) -> Array:
    low, high = clip_range(call)
    return np.clip(x, x.dtype.type(low), x.dtype.type(high))


def constant(call: Call) -> Array:
    """Of the attributes that it can have, the one that is there."""
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
    # Of an open batch: one sample goes with all of them.
    sizes = [1 if size == OPEN_SIZE else int(size) for size in shape.reshape(-1)]
    check_size(call, sizes)
    return np.broadcast_to(np.asarray(value).reshape(()), sizes)


def expand(call: Call, x: Array, shape: Array) -> Array:
    sizes = [1 if size == OPEN_SIZE else int(size) for size in shape.reshape(-1)]
    whole = np.broadcast_shapes(x.shape, tuple(sizes))
    check_size(call, whole)
    return np.broadcast_to(x, whole)


def reshape(call: Call, x: Array, _shape: Array) -> Array:
    wanted = call.numbers(1, "its shape") or []
    if OPEN_SIZE in wanted:
        raise call.error("sizes that are known", "the open batch", "export it with a fixed batch")
    return x.reshape(new_shape(call, x.shape, tuple(wanted)))


def flatten(call: Call, x: Array) -> Array:
    return x.reshape(math.prod(x.shape[: call.integer("axis", 1)]), -1)


def squeeze(call: Call, x: Array, *_axes: Array) -> Array:
    axes = call.axes(x.ndim, 1)
    return np.squeeze(x, None if axes is None else tuple(axes))


def unsqueeze(call: Call, x: Array, *_axes: Array) -> Array:
    found = call.integers("axes") or call.numbers(1, "axes") or []
    return np.expand_dims(x, tuple(found))


def transpose(call: Call, x: Array) -> Array:
    return x.transpose(call.integers("perm"))


def concat(call: Call, *parts: Array) -> Array:
    return np.concatenate(parts, call.integer("axis"))


def gather(call: Call, x: Array, indices: Array) -> Array:
    return np.take(x, indices, call.integer("axis"))


def slice_of(call: Call, x: Array, *_where: Array) -> Array:
    return x[tuple(slices(call, x.shape))]


def reduce(function: Callable[..., Any]) -> Formula:
    def evaluate(call: Call, x: Array, *_axes: Array) -> Array:
        axes = call.axes(x.ndim, 1)
        if not axes and call.integer("noop_with_empty_axes"):
            return x
        keeps = bool(call.integer("keepdims", 1))
        return np.asarray(function(x, axis=tuple(axes) if axes else None, keepdims=keeps))

    return evaluate
