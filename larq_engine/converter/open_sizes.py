"""Computes shapes at conversion that a file computes when it runs, where only the batch is open.

Keras 3 writes Flatten and Reshape of an open batch as SHAPE, STRIDED_SLICE, PACK and RESHAPE.
Delegates of hosts leave values alone whose shape is computed so, and the engine by itself does not
compute shapes. A size that depends on the batch is -1 in a RESHAPE if it is the only one.

An open size is computed with as a very large number of its own. As all other numbers are small, a
result tells whether it is some times one open size, and which.
"""

from dataclasses import dataclass, field, replace

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

# Bounds on what a file can make the converter compute. Shapes have far fewer sizes, and large
# networks a few hundred open ones.
_MOST_SIZES = 16
_MOST_OPEN = 1000

_BITS = (
    62  # A large number has this many bits more than the one before: twice those of a small one.
)


@dataclass
class _Sizes:
    """Integers that are computed from shapes.

    Attributes:
        arrays: They are whole numbers of Python, which do not overflow.
        sources: The tensors whose open sizes the large numbers stand for, in their order.
    """

    arrays: dict[Tensor, Array] = field(default_factory=dict)
    sources: list[Tensor] = field(default_factory=list)

    def of_shape(self, x: Tensor) -> Array | None:
        """Returns the shape of a tensor, with new numbers for its open sizes."""
        sizes: list[int] = []
        for size in x.shape if x.signature is None else x.signature:
            if size < 0:
                if len(self.sources) == _MOST_OPEN:
                    return None
                self.sources.append(x)
                size = 1 << _BITS * len(self.sources)
            sizes.append(size)
        return np.array(sizes, object)

    def times_open(self, number: int) -> tuple[int, Tensor] | None:
        """Returns k and a tensor if the number is k times the tensor's open size."""
        which = (number.bit_length() - 1) // _BITS
        times = number >> _BITS * which
        if which == 0 or times >= _SMALL or times << _BITS * which != number:
            return None
        return times, self.sources[which - 1]

    def may_hold(self, numbers: Array) -> bool:
        """Tells whether the numbers may be small, or some times an open size."""
        most = _SMALL << _BITS * len(self.sources)
        return all(abs(number) < most for number in numbers.flat)


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
    if op.output.elements > _MOST_SIZES:
        return None
    found: Array | None = None
    if op.kind == "SHAPE":
        found = sizes.of_shape(x)
    elif op.kind in _OF_ALL_INPUTS and any(tensor in sizes.arrays for tensor in op.inputs):
        found = _evaluate(op, [_numbers(tensor, sizes) for tensor in op.inputs])
    elif op.kind in _OF_THE_FIRST and x in sizes.arrays:
        rest = [None if tensor is None else tensor.data for tensor in op.inputs[1:]]
        found = _evaluate(op, [sizes.arrays[x], *rest])
    if found is None or found.shape != op.output.shape or not sizes.may_hold(found):
        return None
    return found


def _evaluate(op: Op, inputs: list[Array | None]) -> Array | None:
    known = [x for x in inputs if x is not None]
    if len(known) < len(inputs) or fused_activation(op) != ACTIVATION["NONE"]:
        return None
    return evaluate_as(object, op, known)


def _numbers(tensor: Tensor | None, sizes: _Sizes) -> Array | None:
    if tensor is None or tensor.dtype not in _INTEGERS or tensor.elements > _MOST_SIZES:
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
    if x is None or target is None or _open_size(x) is None:
        return reshape
    if target not in sizes.arrays or sizes.arrays[target].shape != (len(output.shape),):
        return reshape
    closed: list[int] = []
    for size, of_file in zip(sizes.arrays[target], output.shape, strict=True):
        if size == -1:
            closed.append(of_file)
        elif size < _SMALL and size == of_file:
            closed.append(size)
        elif _is_of_batch(size, of_file, x, graph, sizes):
            closed.append(-1)
        else:
            return reshape
    if closed.count(-1) != 1 or 0 in output.shape or output.elements != x.elements:
        return reshape
    made = replace(reshape, inputs=[x, lce_ops.constant(np.array(closed, np.int32))])
    graph.replace(reshape, [made])
    return made


def _is_of_batch(size: int, of_file: int, x: Tensor, graph: Graph, sizes: _Sizes) -> bool:
    """Tells whether a size is `of_file` for the file's batch, and a multiple of the batch of x."""
    found = sizes.times_open(size)
    if found is None:
        return False
    times, source = found
    opened = [size for given in graph.inputs for size in given.signature or () if size < 0]
    has_one_batch = source is x or len(opened) == 1
    one = _open_size(source)
    return has_one_batch and one is not None and times * one == of_file


def _open_size(x: Tensor) -> int | None:
    """Returns what the file has for the only open size; None if not exactly one is open."""
    if x.signature is None or x.signature.count(-1) != 1:
        return None
    return x.shape[x.signature.index(-1)]
