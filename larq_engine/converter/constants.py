"""Evaluates operators whose inputs are all constants.

TensorFlow leaves such operators in a file where their results would be large, such as the signs of
XNORNet's 151 MB kernel. Weights cannot be recognised as binary before they are computed. Each
formula computes in the type of its inputs, as the runtime would.

The results of some operators are larger than their inputs: float32 of float16, an array of one
number. A constant remembers such an operator as its recipe, and `restore_recipes` puts it back into
the graph if the constant is still needed at the end.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from larq_engine.converter.activations import fused_activation, limit, range_of
from larq_engine.converter.errors import naming
from larq_engine.converter.graph import NUMPY_TYPES, Array, Graph, Op, Tensor
from larq_engine.python.operators import KNOWN_OPS


def fold_constants(graph: Graph) -> int:
    """Replaces operators on constants by their results; returns how many were replaced."""
    folded = 0
    waiting = deque(graph.ops)
    while waiting:
        # Operators are popped, as a list of all would keep every intermediate result alive.
        op = waiting.popleft()
        with naming(op, "computing it from constants"):
            values = _evaluate(op)
        if values is None:
            continue
        for tensor, value in zip(op.outputs, values, strict=True):
            dtype = NUMPY_TYPES[tensor.dtype]
            tensor.data = np.ascontiguousarray(value, dtype).reshape(tensor.shape)
            tensor.recipe = op if op.kind in _RECIPES else None
        # The outputs are constants now, and need no producer.
        graph.discard(op)
        folded += 1
    return folded


# Operators that make more data than they read.
_RECIPES = ("BROADCAST_TO", "DEQUANTIZE", "FILL")


def restore_recipes(graph: Graph) -> None:
    """Puts back the operators that make constants from less data, so that the file is smaller."""
    waiting = [tensor for op in graph.ops for tensor in op.inputs] + graph.outputs
    while waiting:
        tensor = waiting.pop()
        if tensor is not None and tensor.recipe is not None:
            waiting += tensor.recipe.inputs
            graph.add([tensor.recipe])
            tensor.data, tensor.recipe = None, None
    graph.sort()


def evaluate(op: Op, inputs: list[Array]) -> Array | None:
    """Returns the output that an operator computes of `inputs`; None if that is not known."""
    dtype = NUMPY_TYPES.get(op.output.dtype)
    return None if dtype is None else evaluate_as(dtype, op, inputs)


def evaluate_as(dtype: Any, op: Op, inputs: list[Array]) -> Array | None:
    """Does the same for an output of another type than the operator's."""
    formula = _FORMULAS.get(op.kind)
    if formula is None:
        return None
    # The runtime accepts infinities and NaN as results. Dividing whole numbers gives whole numbers.
    with np.errstate(all="ignore"):
        values = formula(op, *inputs)
        return None if values is None else np.asarray(values[0], dtype)


def _evaluate(op: Op) -> list[Array] | None:
    if op.custom or not op.inputs:
        return None
    known = all(tensor is not None and tensor.is_constant for tensor in op.inputs)
    tensors = [tensor for tensor in [*op.inputs, *op.outputs] if tensor is not None]
    plain = all(tensor.dtype in NUMPY_TYPES and not tensor.quantization for tensor in tensors)
    if not known or not plain:
        return None
    value = evaluate(op, [_data(tensor) for tensor in op.inputs])
    return None if value is None else [value]


def _data(tensor: Tensor | None) -> Array:
    assert tensor is not None and tensor.data is not None
    return tensor.data


def _elementwise(function: Callable[..., Any]) -> Callable[..., list[Array] | None]:
    def evaluate(op: Op, *inputs: Array) -> list[Array] | None:
        to = range_of(fused_activation(op))
        return None if to is None else [limit(function(*inputs), to)]

    return evaluate


def _clamp(op: Op, x: Array) -> list[Array] | None:
    to = op.known.clamp
    return None if to is None else [limit(x, to)]


def _reduce(function: Callable[..., Any]) -> Callable[..., list[Array] | None]:
    def evaluate(op: Op, x: Array, axes: Array) -> list[Array] | None:
        if not np.issubdtype(x.dtype, np.floating):
            return None
        axis = tuple(int(a) for a in axes.reshape(-1))
        return [function(x, axis=axis, keepdims=bool(op.options.keepDims))]

    return evaluate


def _reshape(op: Op, x: Array, *_shape: Array) -> list[Array] | None:
    return [x.reshape(op.output.shape)] if x.size == op.output.elements else None


def _broadcast(op: Op, x: Array, _shape: Array) -> list[Array]:
    return [np.broadcast_to(x, op.output.shape)]


def _fill(op: Op, _shape: Array, number: Array) -> list[Array]:
    return [np.full(op.output.shape, number)]


def _dequantize(op: Op, x: Array) -> list[Array] | None:
    """Converts float16; other inputs are integers with a scale, which are not evaluated."""
    return [x.astype(np.float32)] if x.dtype == np.float16 else None


def _transpose(_op: Op, x: Array, order: Array) -> list[Array] | None:
    return [x.transpose([int(axis) for axis in order])]


def _strided_slice(op: Op, x: Array, begin: Array, end: Array, step: Array) -> list[Array] | None:
    masks = op.options
    if masks.ellipsisMask or masks.newAxisMask or masks.offset:
        return None
    index: list[Any] = []
    for axis in range(len(begin)):
        bit = 1 << axis
        if masks.shrinkAxisMask & bit:
            # Runtimes do not agree on what an index that does not exist, or no index, means.
            if masks.beginMask & bit or not -x.shape[axis] <= begin[axis] < x.shape[axis]:
                return None
            index.append(int(begin[axis]))
            continue
        first = None if masks.beginMask & bit else int(begin[axis])
        last = None if masks.endMask & bit else int(end[axis])
        index.append(slice(first, last, int(step[axis])))
    return [x[tuple(index)]]


def _pack(op: Op, *parts: Array) -> list[Array] | None:
    return [np.stack(parts, axis=op.options.axis)]


def _concatenate(op: Op, *parts: Array) -> list[Array] | None:
    return [np.concatenate(parts, axis=op.options.axis)]


def _cast(op: Op, x: Array) -> list[Array] | None:
    return [x.astype(NUMPY_TYPES[op.output.dtype])]


def _pad(_op: Op, x: Array, pads: Array, *value: Array) -> list[Array] | None:
    if (pads < 0).any():
        return None
    return [np.pad(x, pads, constant_values=value[0].item() if value else 0)]


def _select(_op: Op, condition: Array, when_true: Array, when_false: Array) -> list[Array]:
    if condition.ndim == 1 and when_true.ndim > 1:
        # The condition has one truth value for each row.
        condition = condition.reshape(-1, *[1] * (when_true.ndim - 1))
    return [np.where(condition, when_true, when_false)]


def _product(op: Op, x: Array, axes: Array) -> list[Array] | None:
    axis = tuple(int(a) for a in axes.reshape(-1))
    return [np.prod(x, axis=axis, keepdims=bool(op.options.keepDims))]


_FORMULAS: dict[str, Callable[..., list[Array] | None]] = {
    "ABS": _elementwise(np.abs),
    "ADD": _elementwise(np.add),
    "BROADCAST_TO": _broadcast,
    "CAST": _cast,
    "CONCATENATION": _concatenate,
    "DEQUANTIZE": _dequantize,
    "DIV": _elementwise(np.divide),
    "EXPAND_DIMS": _reshape,
    "FILL": _fill,
    "EQUAL": _elementwise(np.equal),
    "GREATER": _elementwise(np.greater),
    "GREATER_EQUAL": _elementwise(np.greater_equal),
    "LESS": _elementwise(np.less),
    "LESS_EQUAL": _elementwise(np.less_equal),
    "LOGICAL_AND": _elementwise(np.logical_and),
    "LOGICAL_NOT": _elementwise(np.logical_not),
    "LOGICAL_OR": _elementwise(np.logical_or),
    "MAXIMUM": _elementwise(np.maximum),
    "MEAN": _reduce(np.mean),
    "MINIMUM": _elementwise(np.minimum),
    "MUL": _elementwise(np.multiply),
    "NEG": _elementwise(np.negative),
    "NOT_EQUAL": _elementwise(np.not_equal),
    "PACK": _pack,
    "PAD": _pad,
    "PADV2": _pad,
    "REDUCE_PROD": _product,
    **{op.name: _clamp for op in KNOWN_OPS if op.clamp is not None},
    "RESHAPE": _reshape,
    "SELECT": _select,
    "SELECT_V2": _elementwise(np.where),
    "SIGN": _elementwise(np.sign),
    "SQUEEZE": _reshape,
    "STRIDED_SLICE": _strided_slice,
    "SUB": _elementwise(np.subtract),
    "SUM": _reduce(np.sum),
    "TRANSPOSE": _transpose,
}
