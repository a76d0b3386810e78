"""Reshapes move down and meet: between layers on images and on rows there is then none left."""

from dataclasses import replace

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.rules_fuse import per_channel, producer

_UNARY = ("RELU", "RELU6", "RELU_N1_TO_1", "LEAKY_RELU", "NEG", "LceQuantize")
_WITH_CONSTANT = ("ADD", "SUB", "MUL", "DIV", "MINIMUM", "MAXIMUM")

# What a reshape can sink below.
SINKING = (*_UNARY, *_WITH_CONSTANT)


def sink_reshape(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """f(RESHAPE(x)) -> RESHAPE(f(x)), for an f of each channel by itself after a binary layer."""
    if not op.output.shape:
        return None
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
        # Worth it for any x: bits are 32 times less to copy.
        whole = before % lce_ops.WORD == 0 and after % lce_ops.WORD == 0 and bits == 1
        legal = before == after or whole
    else:
        # A constant can make more channels of one.
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


def _constant(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.is_constant


def _follows_layer(reshape: Op) -> bool:
    """Whether moving the reshape brings something next to a binary convolution."""
    x = reshape.inputs[0]
    while x is not None and x.producer is not None:
        if x.producer.kind == "LceBconv2d":
            return True
        if x.producer.kind not in SINKING:
            return False
        x = next((t for t in x.producer.inputs if t is not None and not t.is_constant), None)
    return False


def merge_reshapes(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """RESHAPE(RESHAPE(x)) -> RESHAPE(x), or x itself where that is its shape already."""
    x = op.inputs[0]
    inner = x.producer if x is not None else None
    if inner is None or inner.kind != "RESHAPE" or inner.inputs[0] is None:
        return None
    if op.output.dtype != "INT32":
        return None  # Those of the float model stay as they were.
    source = inner.inputs[0]
    return [lce_ops.reshape(source, op.output)]


def drop_reshape(op: Op, graph: Graph, options: Options) -> Tensor | None:
    """A RESHAPE of bits to the shape that they have -> the bits."""
    x = op.inputs[0]
    if x is None or x.dtype != "INT32" or x.shape != op.output.shape:
        return None
    return x if graph.is_internal(x) and graph.is_internal(op.output) else None


def open_batch(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """RESHAPE to [1, ...] of what has a batch of 1 -> to [-1, ...], so that batches can grow."""
    x, target = op.inputs[0], op.input(1)
    if x is None or target is None or target.data is None or not x.shape or not op.output.shape:
        return None
    sizes = target.data.reshape(-1)
    if (sizes < 0).any() or x.shape[0] != op.output.shape[0]:
        return None
    return [lce_ops.reshape(x, op.output)]
