"""Layers of a network as hardware computes them: sizes and numbers, and nothing of a file."""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from larq_engine.converter.graph import Array
from larq_engine.converter.lce_ops import largest
from larq_engine.fpga.streams import Stream


@dataclass(frozen=True)
class Axis:
    """A window along one direction of an image."""

    size: int
    taps: int = 1
    stride: int = 1
    dilation: int = 1
    before: int = 0
    after: int = 0

    @property
    def extent(self) -> int:
        return (self.taps - 1) * self.dilation + 1

    @property
    def positions(self) -> int:
        return max(0, (self.size + self.before + self.after - self.extent) // self.stride + 1)

    @property
    def walked(self) -> int:
        """Pixels, pads among them, that pass until the last position, and to the image's end."""
        last = (self.positions - 1) * self.stride + self.extent
        return max(last, self.before + self.size)

    def inside(self, position: int) -> tuple[bool, ...]:
        """Tells for each tap of the window at a position whether it is inside the image."""
        first = position * self.stride - self.before
        return tuple(0 <= first + tap * self.dilation < self.size for tap in range(self.taps))

    def needed(self, position: int) -> int:
        """Returns how many of the image's pixels must have come before a position is complete."""
        end = position * self.stride + self.extent - self.before
        return min(self.size, max(0, end))


@dataclass(frozen=True)
class Window:
    """The windows of a layer over an image."""

    rows: Axis
    columns: Axis

    @property
    def taps(self) -> int:
        return self.rows.taps * self.columns.taps

    @property
    def positions(self) -> int:
        return self.rows.positions * self.columns.positions

    @property
    def walked(self) -> int:
        return self.rows.walked * self.columns.walked

    def needed(self) -> Array:
        """Returns for each position how many pixels of the image must have come."""
        columns = np.array([self.columns.needed(x) for x in range(self.columns.positions)])
        rows = np.array([self.rows.needed(y) for y in range(self.rows.positions)])
        before = np.maximum(rows - 1, 0)[:, None] * self.columns.size
        found = np.where((rows > 0)[:, None] & (columns > 0), before + columns, before)
        # Pixels come in order: no position is ready before those ahead of it.
        return np.maximum.accumulate(found.reshape(-1))


@dataclass(frozen=True, eq=False)
class Signs:
    """Output of a product as signs: 1 (-1) where the ones are at least `least` [class, channel]."""

    least: Array


@dataclass(frozen=True, eq=False)
class Dots:
    """Output of a product as integers: base[class, channel] - 2 * ones, limited."""

    base: Array
    lowest: int
    highest: int


@dataclass(frozen=True, eq=False)
class Bytes:
    """Output as int8: clamp((dot * multiplier + addend) >> shift), a number a channel."""

    dots: Dots
    multiplier: Array
    addend: Array
    shift: int


@dataclass(eq=False)
class Layer:
    """A layer; `name` is that of the model's layer, `op` that of its operator."""

    name: str
    op: str
    source: Stream
    target: Stream

    @property
    def folds(self) -> list[int]:
        """Returns in how many cycles a pixel of the output may be computed."""
        return [1]

    @property
    def products(self) -> int:
        """Products of bits for an image."""
        return 0

    def cycles(self, fold: int) -> int:
        """Returns the least cycles between two images."""
        del fold
        return max(self.source.pixels, self.target.pixels)


@dataclass(eq=False)
class Product(Layer):
    """A convolution or dense layer of bits.

    `weights` are bits [channel, beat, tap, value, plane]: 1 is -1. A pixel of the output is the sum
    over `beats` windows that follow each other.
    """

    window: Window
    pad: int  # what a value of a pad is
    weights: Array
    groups: int
    end: Signs | Dots | Bytes
    # The class of rows and of columns at each position: which taps are outside of the image.
    row_classes: tuple[int, ...]
    column_classes: tuple[int, ...]

    @property
    def beats(self) -> int:
        return int(self.weights.shape[1])

    @property
    def weight_planes(self) -> int:
        return int(self.weights.shape[4])

    @property
    def taps(self) -> int:
        """Values under a filter, of one group."""
        _, _, taps, values, _ = self.weights.shape
        return taps * values

    @property
    def planes(self) -> int:
        """Products of bits that a product of values takes."""
        return self.source.bits * self.weight_planes

    @property
    def most_ones(self) -> int:
        """The greatest sum of ones that a channel can have."""
        return self.taps * self.beats * self.worth

    @property
    def worth(self) -> int:
        """The greatest product of a value and a weight."""
        return largest(self.source.bits) * largest(self.weight_planes)

    @property
    def has_classes(self) -> bool:
        return len(set(self.row_classes)) * len(set(self.column_classes)) > 1

    @property
    def folds(self) -> list[int]:
        per_group = self.target.channels // self.groups
        found = {math.ceil(per_group / lanes) for lanes in range(1, per_group + 1)}
        if self.groups > 1:
            found = {fold for fold in found if per_group % fold == 0}
        return sorted(found)

    @property
    def products(self) -> int:
        return self.window.positions * self.taps * self.planes * self.target.channels

    def cycles(self, fold: int) -> int:
        steps = self.window.walked - self.window.positions
        return steps + self.window.positions * fold

    @cached_property
    def is_plain(self) -> bool:
        """Tells whether weights and values are single bits."""
        return self.planes == 1


@dataclass(eq=False)
class Pool(Layer):
    """A pool of maxima, of signs or of integers; of integers that `falls` names, of minima."""

    window: Window
    highest: int | None = None  # a limit of integers
    falls: tuple[bool, ...] = ()

    def cycles(self, fold: int) -> int:
        del fold
        return self.window.walked


@dataclass(eq=False)
class ToSigns(Layer):
    """Signs of integers: 1 where a value is less than its channel's limit, or else if it falls."""

    limits: Array
    falls: Array


@dataclass(eq=False)
class Sum(Layer):
    """A sum of two streams of int8: zero_point + ((start + a*of_a + b*of_b) >> shift), limited."""

    start: int
    of_a: int
    of_b: int
    shift: int
    zero_point: int
    lowest: int
    highest: int

    @property
    def folds(self) -> list[int]:
        return sorted(
            {math.ceil(self.target.channels / n) for n in range(1, self.target.channels + 1)}
        )

    def cycles(self, fold: int) -> int:
        return self.target.pixels * fold


@dataclass(eq=False)
class Join(Layer):
    """A concatenation along the channels."""


@dataclass(eq=False)
class Node:
    """A layer in a network, and the numbers of the values that it reads: 0 is the input's."""

    layer: Layer
    reads: tuple[int, ...]
    fold: int = 1


@dataclass(eq=False)
class Network:
    """Layers in order; node n makes value n + 1, and the last one makes the output."""

    source: Stream
    nodes: list[Node] = field(default_factory=list)

    @property
    def target(self) -> Stream:
        return self.nodes[-1].layer.target

    def stream(self, value: int) -> Stream:
        return self.source if value == 0 else self.nodes[value - 1].layer.target

    def readers(self, value: int) -> list[tuple[int, int]]:
        """Returns the nodes that read a value, with the places among what they read."""
        return [
            (number, place)
            for number, node in enumerate(self.nodes)
            for place, read in enumerate(node.reads)
            if read == value
        ]

    @property
    def cycles(self) -> int:
        """The least cycles between two images, once the pipeline is full."""
        least = max(self.source.pixels, self.target.pixels)
        return max(least, *(node.layer.cycles(node.fold) for node in self.nodes))
