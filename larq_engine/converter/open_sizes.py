"""Computes sizes that a file computes when it runs, as far as it knows them before.

Keras 3 writes Flatten and Reshape of an open batch as SHAPE, STRIDED_SLICE, PACK and RESHAPE.
Delegates of hosts leave values alone whose shape is computed so, and the engine by itself does not
compute shapes. But all sizes save the batch are known when the file is converted, and a RESHAPE may
have one open size, written as -1, whatever computes it.
"""

from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.constants import evaluate_as
from larq_engine.converter.errors import naming
from larq_engine.converter.graph import NUMPY_TYPES, Array, Graph, Op, Tensor

# Operators whose formulas give NaN for all that depends on a NaN, which stands for an open size.
_OF_ALL_INPUTS = ("ADD", "CONCATENATION", "MUL", "PACK", "SUB")
# The same for their first input; the others are numbers of dimensions and the like.
_OF_THE_FIRST = ("EXPAND_DIMS", "REDUCE_PROD", "RESHAPE", "SQUEEZE", "STRIDED_SLICE")

_INTEGERS = ("INT32", "INT64")
_LARGEST = 2**31 - 1  # Integers of 32 bits overflow beyond it; doubles hold all that are smaller.


def close_sizes(graph: Graph) -> None:
    """Makes constants of sizes that are known, and of shapes of RESHAPE with one open size."""
    sizes: dict[Tensor, Array] = {}
    for op in list(graph.ops):
        if not op.outputs or op.output.producer is not op:
            continue  # Another operator's replacement has removed it.
        with naming(op, "computing its sizes"):
            if op.kind == "RESHAPE":
                op = _close(op, graph, sizes)
            found = _sizes(op, sizes)
        if found is None:
            continue
        if np.isnan(found).any():
            sizes[op.output] = found
        else:
            op.output.data = found.astype(NUMPY_TYPES[op.output.dtype])
            graph.discard(op)


def _sizes(op: Op, sizes: dict[Tensor, Array]) -> Array | None:
    """Returns the integers that an operator computes of sizes, or None if it computes others."""
    if op.custom or op.output.dtype not in _INTEGERS or op.output.quantization:
        return None
    if op.kind == "SHAPE":
        found = _shape(op.inputs[0])
    elif op.kind in _OF_ALL_INPUTS or op.kind in _OF_THE_FIRST:
        found = _of_sizes(op, [_known(tensor, sizes) for tensor in op.inputs])
    else:
        return None
    if found is None or found.shape != op.output.shape or (np.abs(found) > _LARGEST).any():
        return None
    return found


def _shape(x: Tensor | None) -> Array | None:
    if x is None:
        return None
    known = x.shape if x.signature is None else x.signature
    return np.array([np.nan if size < 0 else size for size in known], np.float64)


def _of_sizes(op: Op, inputs: list[Array | None]) -> Array | None:
    known = [x for x in inputs if x is not None]
    rest = known[1:] if op.kind in _OF_THE_FIRST else []
    if len(known) < len(inputs) or any(np.isnan(x).any() for x in rest):
        return None
    return evaluate_as(np.float64, op, known)


def _known(tensor: Tensor | None, sizes: dict[Tensor, Array]) -> Array | None:
    if tensor is None or tensor.dtype not in _INTEGERS:
        return None
    return sizes.get(tensor) if tensor.data is None else tensor.data.astype(np.float64)


def _close(reshape: Op, graph: Graph, sizes: dict[Tensor, Array]) -> Op:
    """Gives a RESHAPE a constant shape if at most one size is open; returns the RESHAPE then."""
    x, target, output = reshape.inputs[0], reshape.input(1), reshape.output
    if x is None or target is None or target not in sizes:
        return reshape
    known = np.nan_to_num(sizes[target], nan=-1).astype(np.int32)
    if known.shape != (len(output.shape),):
        return reshape
    if output.signature is not None and len(output.signature) == len(known):
        known = np.where(known < 0, np.array(output.signature, np.int32), known)
    is_of_file = tuple(np.where(known < 0, output.shape, known)) == output.shape
    if (known < 0).sum() > 1 or not is_of_file:
        return reshape
    closed = replace(reshape, inputs=[x, lce_ops.constant(known)])
    graph.replace(reshape, [closed])
    return closed
