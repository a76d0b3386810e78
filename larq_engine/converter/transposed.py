"""Operators on transposed values, and what they become on the values before the TRANSPOSE.

In f(TRANSPOSE(x)) = TRANSPOSE(f'(x)), these tell how f' differs from f: in its positions along
dimensions, and in the order in which the last TRANSPOSE puts the dimensions that are left. This
module also finds the TRANSPOSE that a RESHAPE stands for.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Array, Op
from larq_engine.python.operators import KNOWN_OPS, Samples


@dataclass(frozen=True)
class Positions:
    """Options and inputs of f' that differ from those of the operator f on transposed values."""

    options: Any
    inputs: dict[int, Array] = field(default_factory=dict)
    # The order of the dimensions of the result; None if it is that of the values.
    order: Array | None = None


def order_of_single_channel(
    before: tuple[int, ...], after: tuple[int, ...]
) -> tuple[int, ...] | None:
    """Returns the order that moves the only channel of images last, or first; None for others."""
    rank = len(before)
    if rank < 3 or before == after:
        return None
    for channel, order in (
        (1, (0, *range(2, rank), 1)),
        (rank - 1, (0, rank - 1, *range(1, rank - 1))),
    ):
        if before[channel] == 1 and tuple(before[axis] for axis in order) == after:
            return order
    return None


def values_of(op: Op) -> slice:
    """Returns the range of inputs that are values; the others are positions."""
    if op.known.moved is not None:
        return op.known.moved
    return slice(0, 1) if op.known.samples is Samples.REDUCED else slice(None)


def _elementwise(op: Op, order: Array) -> Positions | None:
    # A SELECT may have one truth value for each sample.
    whole = op.kind != "SELECT" or len(op.inputs[0].shape if op.inputs[0] else ()) == len(order)
    return Positions(op.options) if whole and len(op.output.shape) == len(order) else None


def _concatenation(op: Op, order: Array) -> Positions | None:
    return Positions(lce_ops.with_options(op, axis=int(order[op.options.axis])))


def _split(op: Op, order: Array) -> Positions | None:
    axis = _constant(op, 0)
    return None if axis is None else Positions(op.options, {0: order[axis.reshape(())]})


def _rows(op: Op, order: Array) -> Positions | None:
    """Moves a PAD, whose input 1 has a row for each dimension."""
    table = _constant(op, 1)
    return None if table is None else Positions(op.options, {1: table[np.argsort(order)]})


def _slice(op: Op, order: Array) -> Positions | None:
    return _each_dimension(op, order, 2)


def _strided_slice(op: Op, order: Array) -> Positions | None:
    masks, back = op.options, np.argsort(order)
    if masks.ellipsisMask or masks.newAxisMask or masks.shrinkAxisMask or masks.offset:
        return None

    def turned(mask: int) -> int:
        return sum(1 << axis for axis, old in enumerate(back) if mask >> int(old) & 1)

    found = _each_dimension(op, order, 3)
    options = lce_ops.with_options(
        op, beginMask=turned(masks.beginMask), endMask=turned(masks.endMask)
    )
    return None if found is None else Positions(options, found.inputs)


def _each_dimension(op: Op, order: Array, count: int) -> Positions | None:
    """Moves an operator whose inputs after the first have a number for each dimension."""
    numbers = [_constant(op, index) for index in range(1, count + 1)]
    back = np.argsort(order)
    known = [
        array.reshape(-1)[back]
        for array in numbers
        if array is not None and array.size == len(back)
    ]
    if len(known) != count:
        return None
    return Positions(op.options, dict(enumerate(known, 1)))


def _reduction(op: Op, order: Array) -> Positions | None:
    axes = _constant(op, 1)
    if axes is None:
        return None
    gone = order[axes.reshape(-1)]
    kept = order if op.options.keepDims else order[~np.isin(order, gone)]
    return Positions(op.options, {1: np.sort(gone)}, np.argsort(np.argsort(kept)))


def _constant(op: Op, index: int) -> Array | None:
    tensor = op.input(index)
    return None if tensor is None else tensor.data


# For each operator that can work on values with their dimensions in another order.
POSITIONS: dict[str, Callable[[Op, Array], Positions | None]] = {
    **{op.name: _elementwise for op in KNOWN_OPS if op.samples is Samples.EACH},
    **{op.name: _reduction for op in KNOWN_OPS if op.samples is Samples.REDUCED},
    **dict.fromkeys(["PAD", "PADV2", "MIRROR_PAD"], _rows),
    "CONCATENATION": _concatenation,
    "SLICE": _slice,
    "SPLIT": _split,
    "STRIDED_SLICE": _strided_slice,
}
