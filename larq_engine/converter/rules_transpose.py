"""Transposes move down and meet their inverses.

Models of frameworks that keep channels before height and width have a TRANSPOSE before and after
each convolution. What is between two convolutions works in any order of dimensions, so the pair can
meet behind it and go.
"""

from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.python.operators import KNOWN_OPS, Samples

# What computes each value from the values at the same place of its inputs. Comparisons and signs
# are not among them: they stay where the self-check finds them.
_ELEMENTWISE = tuple(
    op.name for op in KNOWN_OPS if op.samples is Samples.EACH and op.name != "SIGN"
)

# What a transpose can sink below, or vanish in.
SINKING = (*_ELEMENTWISE, "CONCATENATION", "PAD", "PADV2", "MEAN")


def merge_transposes(op: Op, graph: Graph, options: Options) -> list[Op] | Tensor | None:
    """TRANSPOSE(TRANSPOSE(x)) -> one TRANSPOSE, or x itself where they undo each other."""
    inner = _transpose(op.inputs[0])
    order = _order(op)
    if inner is None or order is None:
        return None
    x, inner_order = inner
    whole = inner_order[order]
    if not np.array_equal(whole, np.arange(len(whole))):
        return [_make(x, whole, op.output)]
    return x if graph.is_internal(op.output) or graph.is_internal(x) else None


def sink_transpose(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """f(TRANSPOSE(x)) -> TRANSPOSE(f(x)), if no reader of the transposed value needs it so."""
    for tensor in op.inputs:
        if _transpose(tensor) is None or tensor is None:
            continue
        readers = {reader.kind for reader in tensor.consumers}
        if not graph.is_internal(tensor) or not readers <= {"TRANSPOSE", *SINKING}:
            return None
    return _sink(op)


def _sink(op: Op) -> list[Op] | None:
    if op.kind not in SINKING or op.custom or not _is_per_tensor(op.output):
        return None
    values = op.inputs[:1] if op.kind in ("PAD", "PADV2", "MEAN") else op.inputs
    found = next((x.producer for x in values if x is not None and _transpose(x)), None)
    order = _order(found) if found is not None else None
    if found is None or order is None:
        return None
    # Where it stays, results of other transposes stay out: they could go round for ever.
    goes = all(reader is op for reader in found.output.consumers)
    inputs = [_before(x, order, found if goes else None) for x in values]
    if any(x is None for x in inputs):
        return None
    if op.kind == "MEAN":
        return _mean(op, inputs[0], order)
    if len(op.output.shape) != len(order):
        return None
    fields = op.options
    if op.kind == "CONCATENATION":
        fields = _with_axis(op, int(order[fields.axis]))
    if op.kind in ("PAD", "PADV2"):
        pads = op.inputs[1]
        if pads is None or pads.data is None:
            return None
        inputs += [lce_ops.constant(pads.data[np.argsort(order)].astype(np.int32)), *op.inputs[2:]]
    inner = op.output.like(
        f"{op.name}/before_transpose",
        shape=_reordered(op.output.shape, np.argsort(order)),
        signature=_reordered(op.output.signature, np.argsort(order)),
    )
    moved = replace(op, inputs=inputs, outputs=[inner], options=fields)
    return [moved, _make(inner, order, op.output)]


def _mean(op: Op, x: Tensor | None, order: Array) -> list[Op] | None:
    """Means over some dimensions, where the others stay in their order."""
    axes = op.inputs[1]
    if x is None or axes is None or axes.data is None or op.options.keepDims:
        return None
    gone = [int(order[axis]) for axis in axes.data.reshape(-1)]
    kept = [int(axis) for axis in order if axis not in gone]
    if kept != sorted(kept):
        return None
    return [replace(op, inputs=[x, lce_ops.constant(np.array(sorted(gone), np.int32))])]


def _with_axis(op: Op, axis: int) -> object:
    fields = type(op.options)()
    vars(fields).update(vars(op.options), axis=axis)
    return fields


def _transpose(tensor: Tensor | None) -> tuple[Tensor, Array] | None:
    """What a tensor is transposed from, and in which order."""
    op = tensor.producer if tensor is not None else None
    order = _order(op) if op is not None and op.kind == "TRANSPOSE" else None
    if op is None or order is None or op.inputs[0] is None:
        return None
    return op.inputs[0], order


def _order(op: Op) -> Array | None:
    order = op.inputs[1]
    if order is None or order.data is None or not _is_per_tensor(op.output):
        return None
    return order.data.reshape(-1).astype(np.int64)


def _is_per_tensor(tensor: Tensor) -> bool:
    """Whether a tensor has no scales along a dimension, which would have to move with it."""
    return tensor.quantization is None or len(tensor.quantization.scale) <= 1


def _before(tensor: Tensor | None, order: Array, going: Op | None) -> Tensor | None:
    """An input as it is without the transpose, if that is there or a constant can have it.

    Of a transpose that is `going`, it may be what another makes of the input.
    """
    if tensor is None:
        return None
    found = _transpose(tensor)
    if found is not None and np.array_equal(found[1], order):
        return found[0]
    for reader in tensor.consumers if going is not None else ():
        is_other = reader.kind == "TRANSPOSE" and reader is not going
        back = _order(reader) if is_other else None
        if back is not None and np.array_equal(back, np.argsort(order)):
            return reader.output
    if tensor.is_constant and tensor.elements == 1:
        return tensor
    if tensor.data is None or tensor.quantization or len(tensor.shape) > len(order):
        return None
    whole = tensor.data.reshape((1,) * (len(order) - tensor.data.ndim) + tensor.shape)
    data = np.ascontiguousarray(whole.transpose(np.argsort(order)))
    return Tensor(tensor.name, data.shape, tensor.dtype, data=data)


def _reordered(shape: tuple[int, ...] | None, order: Array) -> tuple[int, ...] | None:
    return None if shape is None else tuple(shape[axis] for axis in order)


def _make(x: Tensor, order: Array, output: Tensor) -> Op:
    return Op("TRANSPOSE", [x, lce_ops.constant(order.astype(np.int32))], [output])
