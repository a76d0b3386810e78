"""Makes the operators of docs/operators.md, and the few builtin ones that are used with them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.activations import activation_name
from larq_engine.converter.graph import Array, Op, Tensor

WORD = 32

# Most bits of a value or weight.
MOST_BITS = 8


def is_ours(op: Op) -> bool:
    """Tells whether it is one of the operators that the engine runs."""
    return op.known.is_ours


def unpacking(weights: Tensor | None) -> Op | None:
    """Returns the operator that unpacks a layer's weights, if the file stores them as bits."""
    op = weights.producer if weights is not None else None
    return op if op is not None and op.kind == "LceUnpackWeights" else None


def words(channels: int) -> int:
    """Returns the number of words that hold the bits of these channels."""
    return -(-channels // WORD)


def packed_shape(shape: Sequence[int], bits: int = 1) -> tuple[int, ...]:
    """Returns the shape of words: each pixel has one plane of its bits after the other."""
    return (*shape[:-1], bits * words(shape[-1]))


def bits_made(op: Op) -> int:
    """Returns the number of bits of each value that an operator makes, if it makes bits."""
    return _bits_option(op, "bits")


def takes_sign(op: Op) -> bool:
    """Tells whether it is an LceQuantize to one bit."""
    return op.kind == "LceQuantize" and bits_made(op) == 1


def layer_bits(op: Op) -> tuple[int, int]:
    """Returns the bits of each input and of each weight of an LceBconv2d."""
    return _bits_option(op, "bits_in"), _bits_option(op, "bits_weights")


def _bits_option(op: Op, key: str) -> int:
    options = op.options if isinstance(op.options, dict) else {}
    return int(options.get(key, 1))


def bits_options(bits_in: int, bits_weights: int) -> dict[str, int]:
    """Returns the options of an LceBconv2d for these numbers of bits."""
    is_binary = bits_in == bits_weights == 1
    return {} if is_binary else {"bits_in": bits_in, "bits_weights": bits_weights}


def largest(bits: int) -> int:
    """Returns the largest of the odd numbers that `bits` planes add up to."""
    return int(2**bits - 1)


def odd_type(bits: int) -> type[np.signedinteger[Any]]:
    """Returns the smallest type that holds the odd numbers of `bits` planes."""
    return np.int8 if largest(bits) <= np.iinfo(np.int8).max else np.int16


def pack_bits(negative: Array) -> Array:
    """Packs truth values along the last dimension into words: true (-1) is 1, channel 0 lowest."""
    padding = [(0, 0)] * (negative.ndim - 1) + [(0, -negative.shape[-1] % WORD)]
    packed = np.packbits(np.pad(negative, padding), axis=-1, bitorder="little")
    return np.ascontiguousarray(packed).view("<i4")


def pack_odd(values: Array, bits: int) -> Array:
    """Packs odd numbers along the last dimension into words, plane by plane, lowest first."""
    counts = (values.astype(np.int16) + np.int16(largest(bits))) >> 1
    planes = [pack_bits(counts >> plane & 1 == 0) for plane in range(bits)]
    return np.concatenate(planes, axis=-1)


def unpack_odd(packed: Array, channels: int, bits: int = 1) -> Array:
    """Returns the odd numbers (+1 and -1 for one bit) in words along the last dimension."""
    planes = np.ascontiguousarray(packed, "<i4").reshape(*packed.shape[:-1], bits, -1)
    negative = np.unpackbits(planes.view(np.uint8), axis=-1, bitorder="little", count=channels)
    signs = np.where(negative, -1, 1).astype(odd_type(bits))
    return np.asarray(sum(signs[..., plane, :] << plane for plane in range(bits)))


def constant(data: Array) -> Tensor:
    """Returns a constant without a name, which nobody needs: names were 3 of QuickNet's 24 KB."""
    dtypes = {"float32": "FLOAT32", "int32": "INT32"}
    return Tensor("", data.shape, dtypes[data.dtype.name], data=data)


def quantize(x: Tensor, name: str) -> Op:
    bits = Tensor(name, packed_shape(x.shape), "INT32", signature=packed_signature(x))
    return Op("LceQuantize", [x], [bits], custom=True)


def quantize_planes(x: Tensor, limits: Array, bits: int, name: str) -> Op:
    """Makes an operator that counts, for each value, the limits that it is not smaller than.

    The counts are numbers of `bits` bits. Bytes are such numbers already.
    """
    planes = Tensor(name, packed_shape(x.shape, bits), "INT32", signature=packed_signature(x, bits))
    inputs: list[Tensor | None] = [x] if x.dtype == "UINT8" else [x, constant(limits)]
    return Op("LceQuantize", inputs, [planes], {"bits": bits}, custom=True)


def packed_signature(x: Tensor, bits: int = 1) -> tuple[int, ...] | None:
    return None if x.signature is None else packed_shape(x.signature, bits)


def bmaxpool(bits: Tensor, pool: Op, output: Tensor) -> Op:
    """Makes the LceBMaxPool2d that replaces `pool`, a MAX_POOL_2D."""
    options = {
        "filter_height": pool.options.filterHeight,
        "filter_width": pool.options.filterWidth,
        "padding": pool.options.padding,
        "stride_height": pool.options.strideH,
        "stride_width": pool.options.strideW,
    }
    return Op("LceBMaxPool2d", [bits], [output], options, custom=True, layer=pool.layer)


def reshape(x: Tensor, output: Tensor) -> Op:
    """Makes a RESHAPE that keeps the batch open if it is the first dimension on both sides."""
    shape = list(output.shape)
    if output.signature is not None and output.signature.count(-1) == 1:
        shape[output.signature.index(-1)] = -1
    elif shape and x.shape[:1] == output.shape[:1]:
        shape[0] = -1
    target = constant(np.array(shape, np.int32))
    return Op("RESHAPE", [x, target], [output], schema.make_options("ReshapeOptions"))


def transpose(x: Tensor, order: Sequence[int] | Array, output: Tensor) -> Op:
    """Makes a TRANSPOSE: dimension n of the output is dimension order[n] of x."""
    return Op("TRANSPOSE", [x, constant(np.array(order, np.int32))], [output])


def turned_order(rank: int) -> list[int]:
    """Returns the order of a TRANSPOSE that exchanges the last two dimensions."""
    return [*range(rank - 2), rank - 1, rank - 2]


def activation(kind: int, x: Tensor, output: Tensor) -> Op:
    """Makes an operator of an activation that other operators can have fused."""
    name = activation_name(kind)
    assert name is not None
    return Op(name, [x], [output])


def with_options(op: Op, **values: Any) -> Any:
    """Returns a copy of the options of a builtin operator with some values replaced."""
    options = type(op.options)()
    vars(options).update(vars(op.options), **values)
    return options
