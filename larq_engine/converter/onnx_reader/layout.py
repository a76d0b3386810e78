"""How an ONNX value lies in the tensor that holds it.

ONNX has channels before height and width, TensorFlow Lite behind them. A tensor holds a value with
its dimensions in another order, and so transposes are made where an operator cannot do with the
order that is there, and nowhere else. What is flattened keeps the order that the image had: the
weights of the dense layer behind it are brought into that order instead.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Array, Tensor

# A size that the model leaves open, the batch; the file has it as 1. No other size is open.
OPEN = -1

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """A value of the shape that ONNX gives it, as a tensor whose dimension i is its order[i].

    If it is rows, each can be an `image` that was flattened: [..., channels], channels last, where
    ONNX would have them first.
    """

    shape: Shape
    tensor: Tensor
    order: tuple[int, ...]
    image: Shape = ()

    def axis(self, axis: int) -> int:
        """Which dimension of the tensor is this one of the value."""
        return self.order.index(axis % len(self.order))

    @property
    def lies(self) -> Shape:
        """The shape of the tensor, open sizes among it."""
        return tuple(self.shape[axis] for axis in self.order)


def identity(shape: Shape) -> tuple[int, ...]:
    return tuple(range(len(shape)))


def channels_last(rank: int) -> tuple[int, ...]:
    """The order with channels, the dimension behind the batch, at the end."""
    return (0, *range(2, rank), 1) if rank > 2 else tuple(range(rank))


def closed(shape: Shape) -> Shape:
    """The shape that the file declares."""
    return tuple(1 if size == OPEN else size for size in shape)


def is_same_order(shape: Shape, a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether two orders of dimensions leave values in the same order."""
    return [axis for axis in a if shape[axis] != 1] == [axis for axis in b if shape[axis] != 1]


def broadcast(*shapes: Shape) -> Shape:
    """Raises ValueError where shapes do not fit, and for an open size beside another than 1."""
    rank = max(map(len, shapes))
    whole = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result = []
    for sizes in zip(*whole, strict=True):
        larger = {size for size in sizes if size != 1}
        if len(larger) > 1:
            raise ValueError(" and ".join(str(list(shape)) for shape in shapes))
        result.append(larger.pop() if larger else 1)
    return tuple(result)


def resolve(shape: Shape, wanted: Shape) -> Shape:
    """The shape that Reshape makes of another; 0 is the size that is there, -1 what is left.

    Open sizes of `wanted` have become -1 before; so does a batch that is left.

    Raises:
        ValueError: They have not as many values, or not the dimensions whose sizes are asked for.
    """
    if 0 in wanted[len(shape) :]:
        raise ValueError(f"{list(wanted)} takes sizes of dimensions that {list(shape)} lacks")
    sizes = [shape[axis] if size == 0 else size for axis, size in enumerate(wanted)]
    is_open = OPEN in shape
    have, known = _known(shape), _known(sizes)
    if is_open and sizes and sizes[0] == 1 and (OPEN not in sizes or known != have):
        sizes[0] = OPEN  # as exported for a batch of 1
    # The first of two is the batch.
    left = [axis for axis, size in enumerate(sizes) if size == OPEN][is_open:]
    if len(left) == 1 and known and have % known == 0:
        sizes[left[0]], known = have // known, have
    open_sizes = sizes.count(OPEN)
    if known != have or open_sizes != is_open:
        raise ValueError(f"{list(wanted)} does not have as many values as {list(shape)}")
    return tuple(sizes)


def _known(sizes: Sequence[int]) -> int:
    return math.prod(size for size in sizes if size != OPEN)


def flattened(image: Shape) -> Array:
    """Of each value of a row that is an image with channels last: its place in ONNX's order."""
    *sizes, channels = image
    places = np.arange(math.prod(image)).reshape(channels, *sizes)
    return np.moveaxis(places, 0, -1).reshape(-1)
