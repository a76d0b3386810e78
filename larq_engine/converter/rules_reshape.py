"""Moves reshapes down until they meet and cancel, between layers on images and on rows."""

from dataclasses import replace

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.rules_fuse import per_channel, producer

_UNARY = ("RELU", "RELU6", "RELU_N1_TO_1", "LEAKY_RELU", "NEG", "LceQuantize")
_WITH_CONSTANT = ("ADD", "SUB", "MUL", "DIV", "MINIMUM", "MAXIMUM")

_POOLINGS = ("AVERAGE_POOL_2D", "MAX_POOL_2D")

# Operators below which a reshape can move.
SINKING = (*_UNARY, *_WITH_CONSTANT, *_POOLINGS)


def sink_reshape(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites f(RESHAPE(x)) as RESHAPE(f(x)), for an f on each channel by itself after a layer."""
    if not op.output.shape:
        return None
    if op.kind in _POOLINGS:
        return _sink_below_pooling(op, graph)
    index = 0
    if op.kind in _WITH_CONSTANT:
        index = next(
            (i for i in (0, 1) if op.inputs[i] is not None and not _constant(op.inputs[i])), 0
        )
        if per_channel(op.inputs[1 - index], op.output.shape[-1]) is None:
            return None
    reshape = producer(op.inputs[index], "RESHAPE", graph)
    if reshape is None or reshape.inputs[0] is None:
        return None
    x = reshape.inputs[0]
    if not x.shape:
        return None
    before, after = x.shape[-1], reshape.output.shape[-1]
    bits = lce_ops.bits_made(op) if op.kind == "LceQuantize" else 1
    if op.kind == "LceQuantize":
        # Moving it is worth it for any x, because bits are 32 times less data to copy.
        whole = before % lce_ops.WORD == 0 and after % lce_ops.WORD == 0 and bits == 1
        legal = before == after or whole
    else:
        # A constant can make several channels of one.
        alike = op.output.shape == reshape.output.shape
        legal = before == after and alike and _follows_layer(reshape)
    if not legal:
        return None
    inputs = list(op.inputs)
    inputs[index] = x
    if op.kind in _WITH_CONSTANT:
        other = inputs[1 - index]
        assert other is not None and other.data is not None
        data = other.data.reshape(other.shape[-1:])
        inputs[1 - index] = Tensor(other.name, data.shape, other.dtype, data=data)
    shape = lce_ops.packed_shape(x.shape, bits) if op.kind == "LceQuantize" else x.shape
    signature = None if x.signature is None else (*x.signature[:-1], shape[-1])
    inner = op.output.like(f"{op.name}/image", shape=shape, signature=signature)
    below = replace(lce_ops.reshape(inner, op.output), layer=reshape.layer)
    return [replace(op, inputs=inputs, outputs=[inner]), below]


def _sink_below_pooling(op: Op, graph: Graph) -> list[Op] | None:
    """Moves a reshape below pooling if it turns a line of pixels from width to height, or back."""
    reshape = producer(op.inputs[0], "RESHAPE", graph)
    x = reshape.inputs[0] if reshape is not None else None
    if reshape is None or x is None or len(x.shape) != 4 or _is_open(x) or _is_open(op.output):
        return None
    turned = (0, 2, 1, 3)
    if 1 not in x.shape[1:3] or reshape.output.shape != tuple(x.shape[axis] for axis in turned):
        return None
    pool, shape = op.options, tuple(op.output.shape[axis] for axis in turned)
    made = lce_ops.with_options(
        op,
        filterHeight=pool.filterWidth,
        filterWidth=pool.filterHeight,
        strideH=pool.strideW,
        strideW=pool.strideH,
    )
    signature = None if op.output.signature is None else (op.output.signature[0], *shape[1:])
    inner = op.output.like(f"{op.name}/line", shape=shape, signature=signature)
    below = replace(lce_ops.reshape(inner, op.output), layer=reshape.layer)
    return [replace(op, inputs=[x], outputs=[inner], options=made), below]


def _constant(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.is_constant


def _follows_layer(reshape: Op) -> bool:
    """Tells whether moving the reshape brings an operator next to a layer with weights."""
    x = reshape.inputs[0]
    while x is not None and x.producer is not None:
        if x.producer.known.weights is not None:
            return True
        if x.producer.kind not in SINKING:
            return False
        x = next((t for t in x.producer.inputs if t is not None and not t.is_constant), None)
    return False


def merge_reshapes(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites RESHAPE(RESHAPE(x)) as RESHAPE(x)."""
    x = op.inputs[0]
    inner = x.producer if x is not None else None
    if inner is None or inner.kind != "RESHAPE" or inner.inputs[0] is None:
        return None
    return [replace(op, inputs=[inner.inputs[0], *op.inputs[1:]])]


def drop_reshape(op: Op, graph: Graph, options: Options) -> Tensor | None:
    """Removes a RESHAPE to the shape that its input already has."""
    x = op.inputs[0]
    if x is None or x.shape != op.output.shape or _is_open(x) or _is_open(op.output):
        return None
    return x if graph.is_internal(x) and graph.is_internal(op.output) else None


def _is_open(tensor: Tensor) -> bool:
    """Tells whether sizes other than the batch are known only when the model runs."""
    return tensor.signature is not None and -1 in tensor.signature[1:]


def open_batch(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Makes a RESHAPE to [1, ...] of a batch of 1 one to [-1, ...], so that batches can grow."""
    x, target = op.inputs[0], op.input(1)
    if x is None or target is None or target.data is None or not x.shape or not op.output.shape:
        return None
    sizes = target.data.reshape(-1)
    if (sizes < 0).any() or x.shape[0] != op.output.shape[0]:
        return None
    return [lce_ops.reshape(x, op.output)]
