"""Makers of poolings and of reductions."""

from collections.abc import Callable, Sequence

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.activations import excludes_negative
from larq_engine.converter.graph import Tensor
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.layout import Shape, Value, channels_last
from larq_engine.converter.onnx_reader.moving import bring
from larq_engine.converter.onnx_reader.windows import (
    Windows,
    as_image,
    from_image,
    padded,
    read_windows,
)
from larq_engine.converter.padding import SAME, VALID


def max_pool(call: Call) -> Value:
    x, windows = call.value(), _windows(call)
    image = as_image(call.net, x)
    if windows.is_padded and not windows.is_same:
        # Pads must be below all values. After a relu, 0 is enough, and hosts pad faster with it.
        producer = call.net.producers.get(image)
        is_relu = producer is not None and excludes_negative(producer.known.clamp)
        lowest = 0.0 if is_relu else float(np.finfo(np.float32).min)
        image = padded(call.net, image, _image_shape(x, windows), windows, lowest)
    return _pool(call, "MAX_POOL_2D", image, windows)


def average_pool(call: Call) -> Value:
    x, windows = call.value(), _windows(call)
    image, counts_pads = as_image(call.net, x), bool(call.integer("count_include_pad"))
    if windows.is_same and not (windows.is_padded and counts_pads):
        return _pool(call, "AVERAGE_POOL_2D", image, windows)
    if windows.is_padded:
        image = padded(call.net, image, _image_shape(x, windows), windows, 0.0)
    result = _pool(call, "AVERAGE_POOL_2D", image, windows, is_padded=True)
    # In windows at the borders, not all taps count.
    counts = []
    for axis in windows.axes:
        before, behind = axis.pads if counts_pads else (0, 0)
        counts.append(axis.taps / axis.taps_inside(before, behind))
    factors = np.outer(*counts).astype(np.float32)
    if (factors == 1).all():
        return result
    return call.each("MUL", result, factors.reshape(result.shape[2:]))


def _windows(call: Call) -> Windows:
    x = call.value()
    call.rank(x, 3, 4)
    taps = call.integers("kernel_shape")
    if taps is None or set(call.integers("dilations") or [1]) != {1}:
        raise call.error(
            "a kernel_shape, and no dilations",
            [taps, call.integers("dilations")],
            "use dilations of 1, as hosts have no other pooling",
        )
    return read_windows(call, x.shape[2:], taps)


def _image_shape(x: Value, windows: Windows) -> Shape:
    return (x.shape[0], *(axis.size for axis in windows.axes), x.shape[1])


def _pool(call: Call, kind: str, image: Tensor, windows: Windows, is_padded: bool = False) -> Value:
    x = call.value()
    shape = windows.shape(x.shape[0], x.shape[1])
    options = schema.make_options(
        "Pool2DOptions",
        padding=SAME if windows.is_same and not is_padded else VALID,
        filterHeight=windows.axes[0].taps,
        filterWidth=windows.axes[1].taps,
        **windows.stride,
    )
    made = call.net.op(kind, [image], shape, options=options)
    sizes = windows.result[4 - len(x.shape) :]
    return from_image(call.net, made, (*x.shape[:2], *sizes))


def global_pool(kind: str) -> Callable[[Call], Value]:
    def make(call: Call) -> Value:
        x = call.value()
        call.rank(x, 3, 4, 5)
        x = call.net.ordered(x, channels_last(len(x.shape)))
        return reduced(call, kind, x, list(range(2, len(x.shape))), keeps=True)

    return make


def reduce(kind: str, before: str = "", after: str = "") -> Callable[[Call], Value]:
    """Returns a function that reduces `before` of the values, and applies `after` to the result."""

    def make(call: Call) -> Value:
        x = call.value()
        axes = _axes(call, len(x.shape))
        if not axes:
            return x
        changed = call.each(before, x) if before else x
        result = reduced(call, kind, changed, axes, keeps=bool(call.integer("keepdims", 1)))
        return call.each(after, result) if after else result

    return make


def _axes(call: Call, rank: int) -> list[int]:
    """Returns the axes to reduce; if none are named, all or none, as the operator defines."""
    axes = call.axes(rank, 1)
    if axes or call.integer("noop_with_empty_axes"):
        return axes or []
    return list(range(rank))


def log_sum_exp(call: Call) -> Value:
    """Makes a ReduceLogSumExp; subtracting the largest value keeps the exponentials finite."""
    x = call.value()
    axes = _axes(call, len(x.shape))
    if not axes:
        return x
    largest = reduced(call, "REDUCE_MAX", x, axes, keeps=True)
    shares = call.each("EXP", call.each("SUB", x, largest))
    logarithm = call.each("LOG", reduced(call, "SUM", shares, axes, keeps=True))
    result = call.each("ADD", logarithm, largest)
    if call.integer("keepdims", 1):
        return result
    return bring(
        call.net, result, tuple(size for a, size in enumerate(result.shape) if a not in axes)
    )


def arg(kind: str) -> Callable[[Call], Value]:
    """Returns a function that makes ArgMax or ArgMin, which find the first of equal values."""

    def make(call: Call) -> Value:
        x = call.value()
        if call.integer("select_last_index"):
            raise call.error("the first of equal values", "the last", "export it without that")
        axis = call.axis(call.integer("axis"), len(x.shape))
        x = call.net.ordered(x, x.order)
        shape, order = _without(x, [axis])
        options = schema.make_options(
            "ArgMaxOptions" if kind == "ARG_MAX" else "ArgMinOptions",
            outputType=schema.type_number("INT64"),
        )
        inputs = [x.tensor, call.net.constant(np.array(x.axis(axis), np.int32))]
        stored_shape = tuple(shape[a] for a in order)
        found = Value(shape, call.net.op(kind, inputs, stored_shape, "INT64", options), order)
        if call.integer("keepdims", 1):
            return bring(call.net, found, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
        return found

    return make


def reduced(call: Call, kind: str, x: Value, axes: list[int], keeps: bool) -> Value:
    x = call.net.ordered(x, x.order)
    where = sorted(x.axis(axis) for axis in axes)
    if keeps:
        shape = tuple(1 if axis in axes else size for axis, size in enumerate(x.shape))
        order = x.order
    else:
        shape, order = _without(x, axes)
    options = schema.make_options("ReducerOptions", keepDims=keeps)
    stored_shape = tuple(shape[axis] for axis in order)
    made = call.net.op(kind, [x.tensor, call.net.constant(where)], stored_shape, options=options)
    return Value(shape, made, order)


def _without(x: Value, axes: Sequence[int]) -> tuple[Shape, tuple[int, ...]]:
    """Returns the shape and the order of a value that has lost these axes."""
    kept = [axis for axis in x.order if axis not in axes]
    left = sorted(kept)
    return tuple(x.shape[axis] for axis in left), tuple(left.index(axis) for axis in kept)
