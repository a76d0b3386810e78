"""Makers of operators that move values or drop some of them."""

import math
from collections.abc import Sequence

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Array
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.graph_builder import GraphBuilder, Operand
from larq_engine.converter.onnx_reader.layout import (
    OPEN,
    Shape,
    Value,
    channels_last,
    identity,
    is_same_order,
    resolve,
)

# Value that Shape gives for an open size. It may be moved about, but not computed with.
OPEN_SIZE = -(1 << 40)


def unchanged(call: Call) -> Operand:
    return call.operand(0)


def dropout(call: Call) -> Operand:
    training = call.input(2)
    if isinstance(training, Value) or (training is not None and training.any()):
        raise call.error("inference", "training", "export the model for inference (model.eval())")
    return call.operand(0)


def shape_of(call: Call) -> Array:
    x = call.operand(0)
    whole = slice(call.integer("start"), call.integer("end", len(x.shape)))
    sizes = [OPEN_SIZE if size == OPEN else size for size in x.shape[whole]]
    return np.array(sizes, np.int64)


# ---- Shapes --------------------------------------------------------------------------------------


def reshape(call: Call) -> Value:
    x, wanted = call.net.value(call.operand(0)), call.numbers(1, "its shape")
    # With `allowzero`, a size of 0 means no values; without it, the size of the input.
    is_empty = wanted is not None and 0 in wanted and call.integer("allowzero")
    if wanted is None or is_empty or OPEN_SIZE in wanted[1:]:
        sizes = ["open" if size == OPEN_SIZE else size for size in wanted or []]
        raise call.error(
            "a shape that is known but for the batch, its first size",
            sizes,
            "export it with a fixed batch",
        )
    return _reshaped(call, x, tuple(OPEN if size == OPEN_SIZE else size for size in wanted))


def flatten(call: Call) -> Value:
    x = call.net.value(call.operand(0))
    rank, axis = len(x.shape), call.integer("axis", 1)
    if not -rank <= axis <= rank:
        raise call.error(f"an axis of {rank} dimensions", axis, "it is damaged: export it again")
    axis = axis + rank if axis < 0 else axis
    rows, columns = x.shape[:axis], x.shape[axis:]
    if OPEN in columns:
        raise call.error(
            "an open size before its axis only", list(x.shape), "export it with a fixed batch"
        )
    batch = OPEN if OPEN in rows else math.prod(rows)
    return _reshaped(call, x, (batch, math.prod(columns)))


def squeeze(call: Call) -> Value:
    x = call.net.value(call.operand(0))
    axes = call.axes(len(x.shape), 1)
    if axes is None:
        axes = [axis for axis, size in enumerate(x.shape) if size == 1]
    if any(x.shape[axis] != 1 for axis in axes):
        raise call.error("sizes of 1", f"{axes} of {list(x.shape)}", "export it with fixed sizes")
    left = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
    return _reshaped(call, x, left)


def unsqueeze(call: Call) -> Value:
    x = call.net.value(call.operand(0))
    found = call.integers("axes") or call.numbers(1, "axes") or []
    rank = len(x.shape) + len(found)
    axes = {call.axis(axis, rank) for axis in found}
    sizes = iter(x.shape)
    return _reshaped(call, x, tuple(1 if axis in axes else next(sizes) for axis in range(rank)))


def _reshaped(call: Call, x: Value, wanted: Shape) -> Value:
    return bring(call.net, x, new_shape(call, x.shape, wanted))


def new_shape(call: Call, shape: Shape, wanted: Shape) -> Shape:
    """Returns the shape that Reshape makes."""
    try:
        return resolve(shape, wanted)
    except ValueError as error:
        raise call.error(
            "a shape of as many values, with the batch first",
            error,
            "export it with fixed sizes",
        ) from error


def bring(net: GraphBuilder, x: Value, shape: Shape) -> Value:
    """Returns the value in another shape; it is transposed only if that is needed."""
    if shape == x.shape:
        return x
    if not x.image:
        for order in (channels_last(len(shape)), identity(shape)):
            if _has_order(x, shape, order):
                stored_shape = tuple(shape[axis] for axis in order)
                return Value(shape, net.reshape(x.tensor, stored_shape), order)
        rank = len(x.shape)
        flat = (x.shape[0], math.prod(x.shape[1:]))
        if rank > 2 and shape == flat and x.order == channels_last(rank) and OPEN not in shape[1:]:
            return Value(shape, net.reshape(x.tensor, shape), (0, 1), image=x.stored_shape[1:])
    return Value(shape, net.reshape(net.plain(x).tensor, shape), identity(shape))


def _has_order(x: Value, shape: Shape, order: tuple[int, ...]) -> bool:
    """Tells whether x, with this shape and order, would have its values where they are now."""
    if is_same_order(x.shape, x.order, identity(x.shape)):
        return is_same_order(shape, order, identity(shape))
    before = [axis for axis, size in enumerate(x.shape) if size != 1]
    after = [axis for axis, size in enumerate(shape) if size != 1]
    if [x.shape[axis] for axis in before] != [shape[axis] for axis in after]:
        return False
    # Only dimensions of size 1 come and go; all others stay the same.
    places = dict(zip(before, after, strict=True))
    return [places[axis] for axis in x.order if axis in places] == [
        axis for axis in order if shape[axis] != 1
    ]


def transpose(call: Call) -> Value:
    """Returns the same tensor as a value with its dimensions in another order."""
    x = call.net.value(call.operand(0))
    turn = call.integers("perm") or list(reversed(range(len(x.shape))))
    if sorted(turn) != list(range(len(x.shape))):
        raise call.error(f"an order of {len(x.shape)} dimensions", turn, "export it again")
    return turned(call.net, x, turn)


def turned(net: GraphBuilder, x: Value, turn: Sequence[int]) -> Value:
    """Returns the value with its dimensions in another order."""
    x = net.ordered(x, x.order)
    shape = tuple(x.shape[axis] for axis in turn)
    return Value(shape, x.tensor, tuple(turn.index(axis) for axis in x.order))


# ---- Parts ---------------------------------------------------------------------------------------


def concat(call: Call) -> Value:
    net = call.net
    operands = [call.floats(number) for number in range(len(call.inputs))]
    first = next(operand for operand in operands if isinstance(operand, Value))
    rank = len(first.shape)
    axis = call.axis(call.integer("axis"), rank)
    orders = [operand.order for operand in operands if isinstance(operand, Value)]
    order = max(orders, key=lambda order: (order != identity(first.shape), order))
    others = {operand.shape[:axis] + operand.shape[axis + 1 :] for operand in operands}
    sizes = [operand.shape[axis] for operand in operands]
    if len(others) > 1 or OPEN in sizes:
        shapes = [list(operand.shape) for operand in operands]
        raise call.error("shapes that fit, and an axis of fixed size", shapes, "fix the sizes")
    values = [net.ordered(net.value(operand), order) for operand in operands]
    shape = (*first.shape[:axis], sum(sizes), *first.shape[axis + 1 :])
    options = schema.make_options("ConcatenationOptions", axis=order.index(axis))
    stored_shape = tuple(shape[axis] for axis in order)
    tensors = [value.tensor for value in values]
    return Value(shape, net.op("CONCATENATION", tensors, stored_shape, options=options), order)


def pad(call: Call) -> Value:
    """Makes a Pad; negative pads cut values off."""
    x = call.value()
    x = call.net.ordered(x, x.order)
    sides = _sides(call, len(x.shape))
    if any(size == OPEN and any(pair) for size, pair in zip(x.shape, sides, strict=True)):
        raise call.error("pads of known sizes", "of the open batch", "export it with fixed sizes")
    if any(min(pair) < 0 for pair in sides):
        if call.text("mode", "constant") != "constant":
            raise call.error("pads of 0 or more in this mode", [*sides], "use Slice to cut off")
        x = part_of(call, x, [slice(max(0, -a) or None, min(0, b) or None) for a, b in sides])
        sides = [(max(0, before), max(0, behind)) for before, behind in sides]
    if not any(map(any, sides)):
        return x
    shape = tuple(
        size + sum(pair) if any(pair) else size for size, pair in zip(x.shape, sides, strict=True)
    )
    return _padded(call, x, sides, shape)


def _sides(call: Call, rank: int) -> list[tuple[int, int]]:
    """Returns the pads of each dimension, before and behind."""
    flat = call.integers("pads")
    flat = call.numbers(1, "its pads") if flat is None else flat
    axes = call.axes(rank, 3)
    axes = list(range(rank)) if axes is None else axes
    if flat is None or len(flat) != 2 * len(axes) or len({*axes}) != len(axes):
        raise call.error(f"{2 * len(axes)} pads", flat, "it is damaged: export it again")
    pairs = {axis: (flat[n], flat[n + len(axes)]) for n, axis in enumerate(axes)}
    return [pairs.get(axis, (0, 0)) for axis in range(rank)]


def _padded(call: Call, x: Value, sides: Sequence[tuple[int, int]], shape: Shape) -> Value:
    net, mode = call.net, call.text("mode", "constant")
    stored_shape = tuple(shape[axis] for axis in x.order)
    inputs = [x.tensor, net.constant(np.array([sides[axis] for axis in x.order], np.int32))]
    if mode == "reflect":
        if any(size <= max(pair) for size, pair in zip(x.shape, sides, strict=True) if any(pair)):
            raise call.error("pads smaller than the value", [*sides], "use smaller pads")
        options = schema.make_options("MirrorPadOptions")  # The default mode is REFLECT.
        return Value(shape, net.op("MIRROR_PAD", inputs, stored_shape, options=options), x.order)
    if mode in ("edge", "wrap"):
        for axis, pair in enumerate(sides):
            places = np.arange(x.shape[axis]) if any(pair) else None
            if places is not None:
                x = pick(call, x, axis, np.pad(places, pair, "edge" if mode == "edge" else "wrap"))
        return x
    if mode != "constant":
        raise call.error("a mode of pads that ONNX has", mode, "export it again")
    value = call.number("value", 0.0)
    if call.input(2) is not None:
        value = float(call.weights(2, "its value").reshape(()))
    if value == 0:
        return Value(shape, net.op("PAD", inputs, stored_shape), x.order)
    return Value(shape, net.op("PADV2", [*inputs, net.constant(value)], stored_shape), x.order)


def pick(call: Call, x: Value, axis: int, places: Array) -> Value:
    """Returns the values at these places along a dimension, each as often as its place is named."""
    x = call.net.ordered(x, x.order)
    shape = (*x.shape[:axis], len(places), *x.shape[axis + 1 :])
    options = schema.make_options("GatherOptions", axis=x.axis(axis))
    inputs = [x.tensor, call.net.constant(places.astype(np.int32))]
    stored_shape = tuple(shape[axis] for axis in x.order)
    return Value(
        shape, call.net.op("GATHER", inputs, stored_shape, x.tensor.dtype, options), x.order
    )


def slice_of(call: Call) -> Value:
    x = call.net.value(call.operand(0))
    parts = _slices(call, x.shape)
    for axis, part in enumerate(parts):
        if part.step is not None and part.step < 0:
            x = _reversed(call.net, x, axis)
            parts[axis] = slice(_from_behind(part.start), _from_behind(part.stop), -part.step)
    return part_of(call, x, parts)


def _from_behind(place: int | None) -> int | None:
    """Returns a place in a dimension that has been reversed: 0 was the last one, -1."""
    return None if place is None else -1 - place


def _reversed(net: GraphBuilder, x: Value, axis: int) -> Value:
    x = net.ordered(x, x.order)
    inputs = [x.tensor, net.constant([x.axis(axis)])]
    return Value(x.shape, net.op("REVERSE_V2", inputs, x.stored_shape, x.tensor.dtype), x.order)


def _slices(call: Call, shape: Shape) -> list[slice]:
    """Returns the slice of each dimension, from attributes before opset 10 and from inputs since.

    A place is counted from the same end as in the model, so that it is right for other image sizes,
    too.
    """
    rank = len(shape)
    starts = call.integers("starts") or call.numbers(1, "its starts") or []
    ends = call.integers("ends") or call.numbers(2, "its ends") or []
    axes = call.axes(rank, 3)
    axes = list(range(len(starts))) if axes is None else axes
    steps = call.numbers(4, "its steps") or [1] * len(starts)
    if 0 in steps or not len(axes) == len(starts) == len(ends) == len(steps):
        numbers = f"starts {starts}, ends {ends}, steps {steps} of axes {axes}"
        raise call.error("as many of each, and no step of 0", numbers, "export the model again")
    taken = [slice(None)] * rank
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        size = shape[axis]
        if size == OPEN:
            if (start, step) != (0, 1) or end < (1 << 31) - 1:
                raise call.error("slices of known sizes", "of the open batch", "fix its size")
            continue
        # A place beyond the dimension means its end, for any size.
        if step > 0:
            first = None if start == 0 or start < -size else start
            taken[axis] = slice(first, None if end > size else end, step)
        else:
            first = None if start == -1 or start >= size else start
            taken[axis] = slice(first, None if end < -size else end, step)
    return taken


def split(call: Call) -> list[Value]:
    x = call.net.value(call.operand(0))
    axis = call.axis(call.integer("axis"), len(x.shape))
    size, count = x.shape[axis], len(call.node.outputs)
    parts = call.integers("split") or call.numbers(1, "its sizes")
    if parts is None:
        each = -(-size // count)
        parts = [each] * (count - 1) + [size - each * (count - 1)]
    if sum(parts) != size or min(parts) < 1 or len(parts) != count:
        raise call.error(f"{count} parts of {size}", parts, "it is damaged: export it again")
    ends = np.cumsum(parts)
    taken = [slice(int(end) - part, int(end), 1) for part, end in zip(parts, ends, strict=True)]
    whole = [slice(None)] * len(x.shape)
    return [part_of(call, x, [*whole[:axis], part, *whole[axis + 1 :]]) for part in taken]


def part_of(call: Call, x: Value, taken: Sequence[slice]) -> Value:
    """Returns what slices with steps of 1 or more take of each dimension."""
    net, x = call.net, call.net.ordered(x, x.order)
    is_whole = [(part.start, part.stop, part.step or 1) == (None, None, 1) for part in taken]
    if all(is_whole):
        return x
    shape = tuple(
        size if whole else len(range(*part.indices(size)))
        for size, part, whole in zip(x.shape, taken, is_whole, strict=True)
    )
    if 0 in shape:
        raise call.error("values to be left", f"the shape {list(shape)}", "cut less off")
    parts = [taken[axis] for axis in x.order]
    # Unlike SLICE, STRIDED_SLICE can do without the size that the image has here.
    options = schema.make_options(
        "StridedSliceOptions",
        beginMask=sum(1 << place for place, part in enumerate(parts) if part.start is None),
        endMask=sum(1 << place for place, part in enumerate(parts) if part.stop is None),
    )
    inputs = [
        x.tensor,
        net.constant([part.start or 0 for part in parts]),
        net.constant([part.stop or 0 for part in parts]),
        net.constant([part.step or 1 for part in parts]),
    ]
    stored_shape = tuple(shape[axis] for axis in x.order)
    tensor = net.op("STRIDED_SLICE", inputs, stored_shape, x.tensor.dtype, options)
    return Value(shape, tensor, x.order)
