"""Finds bounds of values that hold for any input of the model: those of the clamps before them."""

from larq_engine.converter.activations import EVERYTHING, fused_activation, range_of
from larq_engine.converter.graph import Tensor
from larq_engine.converter.not_negative import is_not_negative, without_pads
from larq_engine.python.operators import Range


def find_range(x: Tensor) -> Range:
    """Returns the least and the largest value that a float tensor may have; None if not known.

    NaN is not counted.
    """
    low, high = _of_clamp(x)
    return (0 if low is None and is_not_negative(x) else low), high


def _of_clamp(x: Tensor) -> Range:
    """Returns the range of the last clamp, which may be fused into another operator.

    Only operators that move values may lie between the clamp and the tensor.
    """
    tensor: Tensor | None = x
    while tensor is not None and tensor.producer is not None:
        op = tensor.producer
        found = op.known.clamp or range_of(fused_activation(op))
        if op.custom or found is None:
            break
        if found != EVERYTHING:
            return found
        if op.kind == "MAX_POOL_2D" and op.inputs[0] is not None:
            tensor = without_pads(op, op.inputs[0])
            continue
        moved = [] if op.known.moved is None else op.inputs[op.known.moved]
        if len(moved) != 1 or op.kind in ("PAD", "PADV2"):
            break
        (tensor,) = moved
    return EVERYTHING
