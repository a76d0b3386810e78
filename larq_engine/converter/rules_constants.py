"""Rules that bring constants into the form that hosts read fastest."""

from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.python.operators import KNOWN_OPS, Samples

EACH = tuple(op.name for op in KNOWN_OPS if op.samples is Samples.EACH)
REDUCED = tuple(op.name for op in KNOWN_OPS if op.samples is Samples.REDUCED)


def shrink_constant(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Shrinks a constant that repeats along dimensions (PyTorch's expand_as) to size 1 there."""
    if len(op.inputs) != 2:
        return None
    for index, tensor in enumerate(op.inputs):
        x = op.inputs[1 - index]
        if x is None or x.shape != op.output.shape or not _is_large(tensor):
            continue
        assert tensor is not None and tensor.data is not None
        data = _shrunk(tensor.data)
        if data.size < tensor.elements:
            inputs = list(op.inputs)
            inputs[index] = lce_ops.constant(np.ascontiguousarray(data))
            return [replace(op, inputs=inputs)]
    return None


def _is_large(tensor: Tensor | None) -> bool:
    return (
        tensor is not None
        and tensor.is_constant
        and tensor.dtype == "FLOAT32"
        and tensor.quantization is None
        and len(tensor.shape) > 1
    )


def _shrunk(data: Array) -> Array:
    """Reduces each dimension to size 1 if all values along it are equal to the bit."""
    for axis in range(data.ndim):
        first = data.take([0], axis) if data.shape[axis] else data
        same = data.view(np.int32) == np.ascontiguousarray(first).view(np.int32)
        if first.size < data.size and same.all():
            data = np.ascontiguousarray(first)
    return data


def list_axes(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites the axis of a MEAN and the like from a number to a list, which XNNPACK takes."""
    axis = op.input(1)
    if axis is None or axis.data is None or axis.data.ndim or axis.dtype != "INT32":
        return None
    return [replace(op, inputs=[op.inputs[0], lce_ops.constant(axis.data.reshape(1))])]
