"""Describes how an ONNX value lies in the tensor that holds it.

ONNX has channels before height and width, TensorFlow Lite has them last. So a tensor may hold a
value with its dimensions in another order. Transposes are made only where an operator does not work
with the order of its input. Flattening an image keeps the order of the tensor: the weights of the
dense layer behind it are reordered instead.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Array, Tensor

# A size that the model leaves open, always the batch; in the file it is 1.
OPEN = -1

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """A value with ONNX's shape, in a tensor whose dimension i is the value's dimension order[i].

    If the value is rows, each may be a flattened `image` of this shape: [..., channels]. Its
    channels are last, where ONNX would have them first.
    """

    shape: Shape
    tensor: Tensor
    order: tuple[int, ...]
    image: Shape = ()

    def axis(self, axis: int) -> int:
        """Returns the tensor's dimension that is this dimension of the value."""
        return self.order.index(axis % len(self.order))

    @property
    def stored_shape(self) -> Shape:
        """The shape of the tensor, with OPEN for open sizes."""
        return tuple(self.shape[axis] for axis in self.order)


def identity(shape: Shape) -> tuple[int, ...]:
    return tuple(range(len(shape)))


def channels_last(rank: int) -> tuple[int, ...]:
    """Returns the order with channels, the dimension behind the batch, at the end."""
    return (0, *range(2, rank), 1) if rank > 2 else tuple(range(rank))


def closed(shape: Shape) -> Shape:
    """Returns the shape that the file declares, with 1 for open sizes."""
    return tuple(1 if size == OPEN else size for size in shape)


def is_same_order(shape: Shape, a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Tells whether two orders of dimensions leave the values in the same order."""
    return [axis for axis in a if shape[axis] != 1] == [axis for axis in b if shape[axis] != 1]


def broadcast(*shapes: Shape) -> Shape:
    """Returns the broadcast shape; raises ValueError if shapes, or open and other sizes, differ."""
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
    """Returns the shape that Reshape makes: 0 in `wanted` keeps a size, -1 is computed.

    Open sizes in `wanted` are -1, too, and a batch that is computed may become open.

    Raises:
        ValueError: The numbers of values differ, or `shape` lacks a dimension whose size is kept.
    """
    if 0 in wanted[len(shape) :]:
        raise ValueError(f"{list(wanted)} takes sizes of dimensions that {list(shape)} lacks")
    sizes = [shape[axis] if size == 0 else size for axis, size in enumerate(wanted)]
    is_open = OPEN in shape
    have, known = _known(shape), _known(sizes)
    if is_open and sizes and sizes[0] == 1 and (OPEN not in sizes or known != have):
        sizes[0] = OPEN  # The model was exported for a batch of 1.
    # If there are two, the first is the batch.
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
    """Returns for each value of a flattened image with channels last its place in ONNX's order."""
    *sizes, channels = image
    places = np.arange(math.prod(image)).reshape(channels, *sizes)
    return np.moveaxis(places, 0, -1).reshape(-1)
