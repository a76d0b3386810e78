"""Windows over images and operands that are broadcast, as kernels go through them."""

import math
from collections.abc import Sequence
from typing import Any

from larq_engine.converter import schema
from larq_engine.converter.graph import Op
from larq_engine.converter.padding import NO_PADS, Pads
from larq_engine.exporting.op_checks import constant, data, one_image, pads_of, unsupported
from larq_engine.exporting.shapes import check_positions
from larq_engine.micro.step_maker import axis

# Kernels go through so many dimensions.
_PAIR_RANK = 4


def builtin_axes(
    op: Op,
    image: Sequence[int],
    out: Sequence[int],
    taps: Sequence[int],
    dilations: Sequence[int] = (1, 1),
) -> tuple[dict[str, int], dict[str, int], Pads]:
    """Returns the fields of le_axis for rows and columns, and the pads in pixels."""
    strides = (op.options.strideH, op.options.strideW)
    same = op.options.padding == schema.PADDING["SAME"]
    pads = pads_of(None if same else NO_PADS, image, taps, strides, dilations)
    check_positions(op, image, out, taps, strides, dilations, pads)
    rows, columns = (
        axis(op, (image[d], out[d]), taps[d], strides[d], dilations[d], pads[d][0]) for d in (0, 1)
    )
    return rows, columns, pads


def rows_of(op: Op, depth: int, units: int) -> int:
    """Returns the number of rows of a dense layer."""
    x, y = data(op, 0), op.output
    if x.elements % depth or y.elements != x.elements // depth * units:
        raise unsupported(
            op, f"expected rows of {depth} values, got shapes {list(x.shape)} and {list(y.shape)}"
        )
    return x.elements // depth


def pool_fields(op: Op) -> dict[str, Any]:
    """Returns the fields that pools of all types have: both axes, and the channels."""
    height, width, channels = one_image(op, data(op, 0))
    out_height, out_width, _ = one_image(op, op.output)
    taps = (op.options.filterHeight, op.options.filterWidth)
    rows, columns, _ = builtin_axes(op, (height, width), (out_height, out_width), taps)
    return {"y": rows, "x": columns, "channels": channels}


def axes_of(op: Op) -> list[int]:
    """Returns the axes of a MEAN, from the first dimension on."""
    rank = len(data(op, 0).shape)
    return sorted({int(axis) % rank for axis in constant(op, 1).reshape(-1)})


def mean_sizes(op: Op) -> tuple[int, int, int]:
    """Returns how often a MEAN begins, the values of one, and the values that lie between them."""
    shape, axes = data(op, 0).shape, axes_of(op)
    if not axes or axes != list(range(axes[0], axes[-1] + 1)):
        raise unsupported(op, f"expected axes that are neighbours, got {axes}")
    first, end = axes[0], axes[-1] + 1
    return math.prod(shape[:first]), math.prod(shape[first:end]), math.prod(shape[end:])


def covers(fields: dict[str, int]) -> bool:
    """Tells whether a pool has one window along an axis, which has the whole image under it."""
    last = min(fields["taps"] - fields["pad"], fields["in_size"])
    return fields["out_size"] == 1 and last == fields["in_size"]


def pair_fields(
    op: Op, a: Sequence[int], b: Sequence[int], y: Sequence[int]
) -> dict[str, list[int]]:
    """Returns sizes, and the distances between neighbours of both operands along them.

    Dimensions through which both operands go evenly become one.
    """
    found: list[tuple[int, int, int]] = []  # the innermost one first
    operands = [_distances(op, shape, y) for shape in (a, b)]
    for size, *steps in zip(reversed(y), *operands, strict=True):
        if size == 1:
            continue
        if found and steps == [found[-1][0] * step for step in found[-1][1:]]:
            found[-1] = (size * found[-1][0], *found[-1][1:])
        else:
            found.append((size, steps[0], steps[1]))
    if len(found) > _PAIR_RANK:
        raise unsupported(op, f"expected at most {_PAIR_RANK} dimensions, got {list(y)}")
    found += [(1, 0, 0)] * (_PAIR_RANK - len(found))
    sizes, a_steps, b_steps = (list(column) for column in zip(*reversed(found), strict=True))
    return {"sizes": sizes, "a_steps": a_steps, "b_steps": b_steps}


def _distances(op: Op, shape: Sequence[int], y: Sequence[int]) -> list[int]:
    """Returns the distances between neighbours, from the last dimension of the output on."""
    padded = [1] * (len(y) - len(shape)) + list(shape)
    fits = len(padded) == len(y) and all(n in (1, m) for n, m in zip(padded, y, strict=True))
    if not fits:
        raise unsupported(op, f"expected shapes that make {list(y)}, got {list(shape)}")
    distances = []
    distance = 1
    for size in reversed(padded):
        distances.append(distance if size > 1 else 0)
        distance *= size
    return distances
