"""Makes the operators of docs/operators.md, and the few builtin ones that go with them."""

from collections.abc import Sequence

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.activations import activation_name
from larq_engine.converter.graph import Array, Op, Tensor

WORD = 32


def is_ours(op: Op) -> bool:
    """Whether it is one of the operators that the engine runs."""
    return op.known.is_ours


def unpacking(weights: Tensor | None) -> Op | None:
    """What makes a layer's weights of bits, in files that store them so."""
    op = weights.producer if weights is not None else None
    return op if op is not None and op.kind == "LceUnpackWeights" else None


def words(channels: int) -> int:
    """Words that hold the bits of so many channels."""
    return -(-channels // WORD)


def packed_shape(shape: Sequence[int]) -> tuple[int, ...]:
    return (*shape[:-1], words(shape[-1]))


def pack_bits(negative: Array) -> Array:
    """Truth values along the last dimension to words: true (-1) is bit 1, channel 0 the lowest."""
    padding = [(0, 0)] * (negative.ndim - 1) + [(0, -negative.shape[-1] % WORD)]
    packed = np.packbits(np.pad(negative, padding), axis=-1, bitorder="little")
    return np.ascontiguousarray(packed).view("<i4")


def constant(data: Array) -> Tensor:
    """Without a name: nobody looks for it, and names were 3 of QuickNet's 24 KB beside weights."""
    dtypes = {"float32": "FLOAT32", "int32": "INT32"}
    return Tensor("", data.shape, dtypes[data.dtype.name], data=data)


def quantize(x: Tensor, name: str) -> Op:
    bits = Tensor(name, packed_shape(x.shape), "INT32", signature=packed_signature(x))
    return Op("LceQuantize", [x], [bits], custom=True)


def packed_signature(x: Tensor) -> tuple[int, ...] | None:
    return None if x.signature is None else packed_shape(x.signature)


def bmaxpool(bits: Tensor, pool: Op, output: Tensor) -> Op:
    """`pool` is the MAX_POOL_2D that it stands for."""
    options = {
        "filter_height": pool.options.filterHeight,
        "filter_width": pool.options.filterWidth,
        "padding": pool.options.padding,
        "stride_height": pool.options.strideH,
        "stride_width": pool.options.strideW,
    }
    return Op("LceBMaxPool2d", [bits], [output], options, custom=True, layer=pool.layer)


def reshape(x: Tensor, output: Tensor) -> Op:
    """Keeps the batch open where both sides have it first, so that batches can be enlarged."""
    shape = list(output.shape)
    if output.signature is not None and output.signature.count(-1) == 1:
        shape[output.signature.index(-1)] = -1
    elif shape and x.shape[:1] == output.shape[:1]:
        shape[0] = -1
    target = constant(np.array(shape, np.int32))
    return Op("RESHAPE", [x, target], [output], schema.make_options("ReshapeOptions"))


def activation(kind: int, x: Tensor, output: Tensor) -> Op:
    """One of the activations that operators can have fused, as an operator of its own."""
    name = activation_name(kind)
    assert name is not None
    return Op(name, [x], [output])
