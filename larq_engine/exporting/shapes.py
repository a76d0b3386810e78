"""Checks that outputs have the shapes that follow from inputs: kernels trust them, and would write
beyond memory that is smaller."""

import math
from collections.abc import Sequence

import numpy as np

from larq_engine.converter.graph import Op
from larq_engine.converter.padding import Pads
from larq_engine.exporting.op_checks import check_made, data, unsupported

_OF_EACH_VALUE = (
    *("RELU", "RELU6", "RELU_N1_TO_1", "LOGISTIC", "TANH", "SOFTMAX"),
    *("QUANTIZE", "DEQUANTIZE", "CAST"),
)
_OF_PAIRS = ("ADD", "SUB", "MUL", "PRELU")
_POOLS = ("MAX_POOL_2D", "AVERAGE_POOL_2D")
_ALONG_AXES = ("MEAN", "ARG_MAX", "ARG_MIN")


def check_shape(op: Op) -> None:
    """Raises an error if the output of an operator of the host has another shape."""
    if op.kind in _OF_EACH_VALUE:
        check_made(op, op.output, data(op, 0).shape)
    elif op.kind in _OF_PAIRS:
        shapes = [tensor.shape for tensor in op.inputs[:2] if tensor is not None]
        try:
            check_made(op, op.output, np.broadcast_shapes(*shapes))
        except ValueError:
            raise unsupported(op, f"expected shapes that broadcast, got {shapes}") from None
    elif op.kind in _POOLS:
        x, y = data(op, 0).shape, op.output.shape
        if len(x) != 4 or len(y) != 4 or (x[0], x[3]) != (y[0], y[3]):
            raise unsupported(op, f"expected images of the same channels, got {x} to {y}")
    elif op.kind in _ALONG_AXES:
        _check_reduced(op)


def _check_reduced(op: Op) -> None:
    shape, axes = data(op, 0).shape, op.input(1)
    if axes is None or axes.data is None or axes.data.dtype not in (np.int32, np.int64):
        raise unsupported(op, "expected constant axes")
    given = [int(axis) for axis in axes.data.reshape(-1)]
    if not all(-len(shape) <= axis < len(shape) for axis in given):
        raise unsupported(op, f"expected axes of {len(shape)} dimensions, got {given}")
    gone = {axis % len(shape) for axis in given}
    left = math.prod(size for axis, size in enumerate(shape) if axis not in gone)
    if op.output.elements != left:
        raise unsupported(op, f"expected {left} results, got {op.output.elements}")


def check_positions(
    op: Op,
    image: Sequence[int],
    out: Sequence[int],
    taps: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    pads: Pads,
) -> None:
    """Raises an error unless the output has the size that follows: kernels trust it."""
    for d in (0, 1):
        if min(image[d], taps[d], strides[d], dilations[d]) < 1:
            raise unsupported(op, "expected an image, a window and strides of 1 or more")
        extent = (taps[d] - 1) * dilations[d] + 1
        room = image[d] + sum(pads[d]) - extent
        positions = room // strides[d] + 1 if room >= 0 else 0
        if out[d] != positions or positions < 1:
            raise unsupported(op, f"expected {positions} positions of its window, got {out[d]}")
