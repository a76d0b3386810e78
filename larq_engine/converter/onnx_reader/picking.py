"""Makers of operators that take values by their places, or repeat them."""

import math
from collections.abc import Sequence

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Array
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.layout import OPEN, Value, broadcast, identity
from larq_engine.converter.onnx_reader.moving import OPEN_SIZE, bring, pick


def gather(call: Call) -> Value:
    table = call.net.value(call.operand(0))
    axis, places = call.axis(call.integer("axis"), len(table.shape)), call.operand(1)
    if isinstance(places, np.ndarray):
        return _taken(call, table, axis, places)
    if isinstance(call.operand(0), Value) or not places.tensor.dtype.startswith("INT"):
        raise call.error(
            "a constant table, or whole numbers as places that are constant",
            f"places of {places.tensor.dtype.lower()} of a value, both computed",
            "export it with one of them constant",
        )
    places = call.net.plain(places)
    shape = (*table.shape[:axis], *places.shape, *table.shape[axis + 1 :])
    options = schema.make_options("GatherOptions", axis=axis)
    made = call.net.op("GATHER", [table.tensor, places.tensor], shape, table.tensor.dtype, options)
    return Value(shape, made, identity(shape))


def _taken(call: Call, x: Value, axis: int, places: Array) -> Value:
    size = x.shape[axis]
    if size == OPEN or places.dtype.kind not in "iu" or not places.size:
        raise call.error("places of a known size", f"places of {list(x.shape)}", "fix the sizes")
    flat = np.where(places < 0, places + size, places).reshape(-1)
    if flat.min() < 0 or flat.max() >= size:
        raise call.error(f"places of {size}", [*places.reshape(-1)][:8], "export it again")
    taken = pick(call, x, axis, flat)
    return bring(call.net, taken, (*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]))


def gather_nd(call: Call) -> Value:
    """Makes a GatherND with constant places, whose leading dimensions are joined into one."""
    x, places = call.net.value(call.operand(0)), call.constant(1, "its places")
    count = places.shape[-1] if places.ndim else 0
    sizes = x.shape[:count]
    if call.integer("batch_dims") or not 1 <= count <= len(x.shape) or OPEN in sizes:
        raise call.error(
            "places along dimensions of known size", f"{list(places.shape)}", "fix the sizes"
        )
    whole = np.where(places < 0, places + np.array(sizes), places)
    if (whole < 0).any() or (whole >= np.array(sizes)).any():
        raise call.error(f"places of {list(sizes)}", "others", "export it again")
    flat = np.ravel_multi_index(tuple(np.moveaxis(whole, -1, 0)), sizes)
    rows = bring(call.net, x, (math.prod(sizes), *x.shape[count:]))
    taken = pick(call, rows, 0, np.asarray(flat).reshape(-1))
    return bring(call.net, taken, (*places.shape[:-1], *x.shape[count:]))


def expand(call: Call) -> Value:
    x, wanted = call.net.value(call.operand(0)), call.numbers(1, "its shape") or []
    # One sample is broadcast to all of an open batch.
    sizes = tuple(1 if size in (OPEN_SIZE, 1) else size for size in wanted)
    try:
        shape = broadcast(x.shape, sizes)
    except ValueError as error:
        raise call.error("shapes that fit", error, "export it with a fixed batch") from error
    x = bring(call.net, x, (1,) * (len(shape) - len(x.shape)) + x.shape)
    times = [1 if old == new else new for old, new in zip(x.shape, shape, strict=True)]
    return _tiled(call, x, times)


def tile(call: Call) -> Value:
    return _tiled(call, call.net.value(call.operand(0)), call.numbers(1, "its repeats") or [])


def _tiled(call: Call, x: Value, times: Sequence[int]) -> Value:
    x = call.net.ordered(x, x.order)
    opens = any(size == OPEN and n != 1 for size, n in zip(x.shape, times, strict=False))
    if len(times) != len(x.shape) or min(times, default=1) < 1 or opens:
        raise call.error(f"repeats of {list(x.shape)}", times, "export it with a fixed batch")
    shape = tuple(size * n if n > 1 else size for size, n in zip(x.shape, times, strict=True))
    if shape == x.shape:
        return x
    stored_shape = tuple(shape[axis] for axis in x.order)
    inputs = [x.tensor, call.net.constant([times[axis] for axis in x.order])]
    return Value(shape, call.net.op("TILE", inputs, stored_shape, x.tensor.dtype), x.order)


def cumulative(call: Call) -> Value:
    x = call.value()
    x = call.net.ordered(x, x.order)
    axis = call.axis((call.numbers(1, "its axis") or [0])[0], len(x.shape))
    options = schema.make_options(
        "CumsumOptions",
        exclusive=bool(call.integer("exclusive")),
        reverse=bool(call.integer("reverse")),
    )
    inputs = [x.tensor, call.net.constant(np.array(x.axis(axis), np.int32))]
    return Value(x.shape, call.net.op("CUMSUM", inputs, x.stored_shape, options=options), x.order)
