"""Moves transposes down until they meet their inverses.

Models of frameworks that keep channels before height and width have a TRANSPOSE before and after
each convolution. The operators between two convolutions work in any order of dimensions. So the two
transposes can meet behind these operators and cancel.
"""

from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.bits import computes_the_same
from larq_engine.converter.graph import NUMPY_TYPES, Array, Counterpart, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.transposed import POSITIONS, order_of_single_channel, values_of

# Reshapes that a transpose can move below, or become part of.
_RESHAPES = ("RESHAPE", "EXPAND_DIMS", "SQUEEZE")
SINKING = (*POSITIONS, *_RESHAPES)


def merge_transposes(op: Op, graph: Graph, options: Options) -> list[Op] | Tensor | None:
    """Rewrites TRANSPOSE(TRANSPOSE(x)) as one TRANSPOSE, or as x if they cancel."""
    inner = find_transpose(op.inputs[0])
    order = _order(op)
    if inner is None or order is None:
        return None
    x, inner_order = inner
    whole = inner_order[order]
    if not np.array_equal(whole, np.arange(len(whole))):
        return [lce_ops.transpose(x, whole, op.output)]
    return x if graph.is_internal(op.output) or graph.is_internal(x) else None


def reshape_for_transpose(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites a TRANSPOSE that moves only dimensions of size 1 as RESHAPE.

    Images of one channel stay transposed: a RESHAPE would hold their size, and the file could not
    be resized.
    """
    x, order = op.inputs[0], _order(op)
    if x is None or order is None or order[0] != 0:
        return None
    if order_of_single_channel(x.shape, op.output.shape) == tuple(order):
        return None
    if x.signature is not None and -1 in x.signature[1:]:
        return None
    moved = [axis for axis in order if x.shape[axis] != 1]
    return [lce_ops.reshape(x, op.output)] if moved == sorted(moved) else None


def sink_transpose(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites f(TRANSPOSE(x)) as TRANSPOSE(f(x)), if no reader needs the transposed value."""
    for tensor in op.inputs:
        if find_transpose(tensor) is None or tensor is None:
            continue
        readers = {reader.kind for reader in tensor.consumers}
        if not graph.is_internal(tensor) or not readers <= {"TRANSPOSE", *SINKING}:
            return None
    return _sink(op, graph)


def lift_transpose(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites TRANSPOSE(PAD(x)) as PAD(TRANSPOSE(x)), as a layer can take in pads before it."""
    pad, order = op.inputs[0].producer if op.inputs[0] is not None else None, _order(op)
    if pad is None or pad.kind not in ("PAD", "PADV2") or order is None:
        return None
    x = pad.inputs[0]
    positions = POSITIONS[pad.kind](pad, np.argsort(order))
    if x is None or positions is None or not _is_per_tensor(x):
        return None
    before = _turned_back(x, np.argsort(order))
    transpose = lce_ops.transpose(x, order, before)
    same = next((known for known in x.consumers if computes_the_same(known, transpose)), transpose)
    inputs = [same.output, lce_ops.constant(positions.inputs[1].astype(np.int32)), *pad.inputs[2:]]
    padded = replace(pad, inputs=inputs, outputs=[op.output])
    return [padded] if same is not transpose else [transpose, padded]


def turn_before_reshape(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites TRANSPOSE(RESHAPE(TRANSPOSE(x))) so that the transposes meet.

    The reshape splits or joins dimensions before the last two, which the outer transpose exchanges.
    PyTorch's exports have this between the heads of a transformer and their matrices.
    """
    x, order = op.inputs[0], _order(op)
    reshape = x.producer if x is not None else None
    if x is None or order is None or reshape is None or reshape.kind not in _RESHAPES:
        return None
    matrices = reshape.inputs[0]
    if matrices is None or find_transpose(matrices) is None:
        return None
    if len(matrices.shape) < 3 or len(x.shape) < 3 or _has_open_sizes(matrices, x, op.output):
        return None
    if order.tolist() != lce_ops.turned_order(len(order)):
        return None
    if not graph.only_use(x) or matrices.shape[-2:] != x.shape[-2:]:
        return None
    turn = lce_ops.turned_order(len(matrices.shape))
    turned = _turned_back(matrices, np.array(turn))
    return [lce_ops.transpose(matrices, turn, turned), lce_ops.reshape(turned, op.output)]


def _sink(op: Op, graph: Graph) -> list[Op] | None:
    if op.kind in _RESHAPES:
        return _sink_below_reshape(op)
    if op.kind not in POSITIONS or op.custom or not all(map(_is_per_tensor, op.outputs)):
        return None
    values = op.inputs[values_of(op)]
    found = next((x.producer for x in values if x is not None and find_transpose(x)), None)
    order = _order(found) if found is not None else None
    if found is None or order is None:
        return None
    # If the transpose stays, results of other transposes are not used: rules could loop forever.
    goes = all(reader is op for reader in found.output.consumers)
    before = [_before(x, order, found if goes else None) for x in values]
    positions = POSITIONS[op.kind](op, order)
    if positions is None or any(x is None for x in before):
        return None
    inputs = list(op.inputs)
    inputs[values_of(op)] = before
    for index, position in positions.inputs.items():
        inputs[index] = lce_ops.constant(position.astype(np.int32))
    after = order if positions.order is None else positions.order
    outputs = [_turned_back(output, after) for output in op.outputs]
    moved = replace(op, inputs=inputs, outputs=outputs, options=positions.options)
    if np.array_equal(after, np.arange(len(after))):
        return [replace(moved, outputs=op.outputs)]
    pairs = zip(outputs, op.outputs, strict=True)
    # Some outputs of a SPLIT may have no reader.
    return [
        moved,
        *(lce_ops.transpose(inner, after, output) for inner, output in pairs if graph.uses(output)),
    ]


def _sink_below_reshape(op: Op) -> list[Op] | None:
    """Moves a transpose below an operator that inserts or removes dimensions of size 1."""
    found = find_transpose(op.inputs[0])
    output = op.output
    if found is None or op.inputs[0] is None or not _is_per_tensor(output):
        return None
    (x, order), before, after = found, op.inputs[0].shape, output.shape
    if _has_open_sizes(x, output) or order[0] != 0 or not after or before[0] != after[0]:
        return None
    # The first dimension stays first, even if its size is 1.
    old = [axis for axis, size in enumerate(before) if size != 1 or axis == 0]
    new = [axis for axis, size in enumerate(after) if size != 1 or axis == 0]
    if [before[axis] for axis in old] != [after[axis] for axis in new]:
        return None
    # A dimension of size 1 stays before the dimension that it precedes now.
    where = dict(zip(new, order[old], strict=True))
    places = [next((where[a] for a in new if a >= axis), len(order)) for axis in range(len(after))]
    turned = np.argsort(np.argsort(places, kind="stable"), kind="stable")
    inner = _turned_back(output, turned)
    reshaped = replace(lce_ops.reshape(x, inner), layer=op.layer)
    if np.array_equal(turned, np.arange(len(turned))):
        return [replace(reshaped, outputs=[output])]
    return [reshaped, lce_ops.transpose(inner, turned, output)]


def _has_open_sizes(*tensors: Tensor) -> bool:
    """Tells whether a size after the first is open, so that the shape has a placeholder there."""
    return any(-1 in (tensor.signature or ())[1:] for tensor in tensors)


def _turned_back(output: Tensor, order: Array) -> Tensor:
    """Returns a tensor that gives the output when it is transposed."""
    back = np.argsort(order)
    known = output.counterpart
    turned = None
    if known is not None:
        whole = order[list(known.order)] if known.order else order
        turned = Counterpart(known.origin, tuple(map(int, whole)))
    return output.like(
        f"{output.name}/before_transpose",
        shape=_reordered(output.shape, back),
        signature=_reordered(output.signature, back),
        turned=turned,
    )


def find_transpose(tensor: Tensor | None) -> tuple[Tensor, Array] | None:
    """Returns the tensor that another is transposed from, and the order."""
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
    """Tells whether a tensor has no scales along a dimension, which would have to be moved."""
    return tensor.quantization is None or len(tensor.quantization.scale) <= 1


def _before(tensor: Tensor | None, order: Array, going: Op | None) -> Tensor | None:
    """Returns an input as it is before the transpose, if the graph has that or it is a constant.

    If the transpose is `going`, it may also be what another transpose makes of the input.
    """
    if tensor is None:
        return None
    found = find_transpose(tensor)
    if found is not None and np.array_equal(found[1], order):
        return found[0]
    for reader in tensor.consumers if going is not None else ():
        is_other = reader.kind == "TRANSPOSE" and reader is not going
        back = _order(reader) if is_other else None
        if back is not None and np.array_equal(back, np.argsort(order)):
            return reader.output
    if tensor.is_constant and tensor.elements == 1:
        return tensor
    if tensor.data is None or tensor.dtype not in NUMPY_TYPES or tensor.quantization:
        return None
    if len(tensor.shape) > len(order):
        return None
    whole = tensor.data.reshape((1,) * (len(order) - tensor.data.ndim) + tensor.shape)
    data = np.ascontiguousarray(whole.transpose(np.argsort(order)))
    return Tensor(tensor.name, data.shape, tensor.dtype, data=data)


def _reordered(shape: tuple[int, ...] | None, order: Array) -> tuple[int, ...] | None:
    return None if shape is None else tuple(shape[axis] for axis in order)
