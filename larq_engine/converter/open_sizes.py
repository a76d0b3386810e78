"""Computes shapes at conversion that a file computes when it runs, where only the batch is open.

Keras 3 writes Flatten and Reshape of an open batch as SHAPE, STRIDED_SLICE, PACK and RESHAPE.
Delegates of hosts leave values alone whose shape is computed so, and the engine by itself does not
compute shapes. A size that depends on the batch is -1 in a RESHAPE if it is the only one.

An open size is computed with as a very large number of its own. As all other numbers are small,
the result tells which of them is how many times in it.
"""

from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.activations import fused_activation
from larq_engine.converter.constants import evaluate_as
from larq_engine.converter.errors import naming
from larq_engine.converter.graph import NUMPY_TYPES, Array, Graph, Op, Tensor
from larq_engine.converter.schema import ACTIVATION

# Each of these gives a sum of products of the numbers that it reads.
_OF_ALL_INPUTS = ("ADD", "CONCATENATION", "MUL", "PACK", "SUB")
# The same of their first input; the others are numbers of dimensions and the like.
_OF_THE_FIRST = ("EXPAND_DIMS", "REDUCE_PROD", "RESHAPE", "SQUEEZE", "STRIDED_SLICE")

_INTEGERS = ("INT32", "INT64")
_SMALL = 2**31  # Integers of 32 bits are smaller.


@dataclass
class _Sizes:
    """Integers that are computed from shapes.

    Attributes:
        arrays: They are whole numbers of Python, which do not overflow.
        sources: For each large number the tensor whose open size it stands for.
    """

    arrays: dict[Tensor, Array] = field(default_factory=dict)
    sources: dict[int, Tensor] = field(default_factory=dict)

    def of_shape(self, x: Tensor) -> Array:
        """Returns the shape of a tensor, with new numbers for its open sizes."""
        sizes: list[int] = []
        for size in x.shape if x.signature is None else x.signature:
            if size < 0:
                size = _SMALL ** (2 * len(self.sources) + 2)
                self.sources[size] = x
            sizes.append(size)
        return np.array(sizes, object)

    def times_open(self, number: int) -> tuple[int, Tensor] | None:
        """Returns k and a tensor if the number is k times the tensor's open size."""
        for base, x in self.sources.items():
            if number % base == 0 and 0 < number // base < _SMALL:
                return number // base, x
        return None


def close_sizes(graph: Graph) -> None:
    """Makes constants of shapes that are known, and of shapes of RESHAPE with one open size."""
    sizes = _Sizes()
    for op in list(graph.ops):
        if op.custom or not op.outputs or op.output.producer is not op:
            continue  # A replacement has removed what only it needed.
        with naming(op, "computing its sizes"):
            if op.kind == "RESHAPE":
                op = _close(op, graph, sizes)
            found = _compute(op, sizes)
        if found is None:
            continue
        sizes.arrays[op.output] = found
        if all(abs(size) < _SMALL for size in found.flat):
            op.output.data = found.astype(NUMPY_TYPES[op.output.dtype])
            graph.discard(op)


def _compute(op: Op, sizes: _Sizes) -> Array | None:
    """Returns what an operator computes of shapes; None if it computes something else."""
    x = op.inputs[0] if op.inputs else None
    if x is None or op.output.dtype not in _INTEGERS or op.output.quantization:
        return None
    found: Array | None = None
    if op.kind == "SHAPE":
        found = sizes.of_shape(x)
    elif op.kind in _OF_ALL_INPUTS and any(tensor in sizes.arrays for tensor in op.inputs):
        found = _evaluate(op, [_numbers(tensor, sizes) for tensor in op.inputs])
    elif op.kind in _OF_THE_FIRST and x in sizes.arrays:
        rest = [None if tensor is None else tensor.data for tensor in op.inputs[1:]]
        found = _evaluate(op, [sizes.arrays[x], *rest])
    return found if found is not None and found.shape == op.output.shape else None


def _evaluate(op: Op, inputs: list[Array | None]) -> Array | None:
    known = [x for x in inputs if x is not None]
    if len(known) < len(inputs) or fused_activation(op) != ACTIVATION["NONE"]:
        return None
    return evaluate_as(object, op, known)


def _numbers(tensor: Tensor | None, sizes: _Sizes) -> Array | None:
    if tensor is None or tensor.dtype not in _INTEGERS:
        return None
    if tensor.data is None:
        return sizes.arrays.get(tensor)
    known = tensor.data.astype(object)
    return known if all(abs(number) < _SMALL for number in known.flat) else None


def _close(reshape: Op, graph: Graph, sizes: _Sizes) -> Op:
    """Returns the RESHAPE of the graph, which has a constant shape now if one size at most is open.

    The open size has to fit whatever the batch is: if it fits the batch of the file, and it and the
    open size of the input are multiples of one batch, then it always does.
    """
    x, target, output = reshape.inputs[0], reshape.input(1), reshape.output
    if x is None or target is None or x.signature is None or x.signature.count(-1) != 1:
        return reshape
    if target not in sizes.arrays or sizes.arrays[target].shape != (len(output.shape),):
        return reshape
    closed: list[int] = []
    for size, of_file in zip(sizes.arrays[target], output.shape, strict=True):
        closed.append(size)
        if size == -1:
            closed[-1] = of_file
        elif size >= _SMALL:
            found = sizes.times_open(size)
            if found is None or not _have_one_batch(x, found[1], graph):
                return reshape
            times, source = found
            at = source.signature.index(-1) if source.signature is not None else 0
            closed[-1] = -1 if times * source.shape[at] == of_file else 0
    fits = [
        of_file if size == -1 else size for size, of_file in zip(closed, output.shape, strict=True)
    ]
    if (
        closed.count(-1) != 1
        or tuple(fits) != output.shape
        or prod(fits) != x.elements
        or 0 in fits
    ):
        return reshape
    made = replace(reshape, inputs=[x, lce_ops.constant(np.array(closed, np.int32))])
    graph.replace(reshape, [made])
    return made


def _have_one_batch(x: Tensor, other: Tensor, graph: Graph) -> bool:
    """Tells whether the open sizes of two tensors are multiples of one batch."""
    if other.signature is None or other.signature.count(-1) != 1:
        return False
    opened = [size for given in graph.inputs for size in given.signature or () if size < 0]
    return other is x or len(opened) == 1
