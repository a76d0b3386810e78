"""Describes streams between layers: pixels, row by row, each with all of its channels."""

import math
from dataclasses import dataclass

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Array


@dataclass(frozen=True)
class Stream:
    """An image as a stream of pixels; channel 0 has the lowest bits of a pixel.

    Attributes:
        height: Rows of the image.
        width: Pixels of a row.
        channels: Values of a pixel.
        bits: Bits of a value.
        kind: "sign" (1 is -1), "count" (whole numbers from 0, that stand for 2 q - (2^bits - 1)) or
            "int" (two's complement).
    """

    height: int
    width: int
    channels: int
    bits: int = 1
    kind: str = "sign"

    @property
    def pixels(self) -> int:
        return self.height * self.width

    @property
    def pixel_bits(self) -> int:
        return self.channels * self.bits

    def __str__(self) -> str:
        values = {"sign": "signs", "count": f"counts of {self.bits} bits"}
        kind = values.get(self.kind, f"integers of {self.bits} bits")
        return f"{self.height}x{self.width}x{self.channels} {kind}"


def to_pixels(stream: Stream, values: Array) -> list[int]:
    """Returns the pixels of images, each as one number; `values` are what the bits hold."""
    flat = np.asarray(values, np.int64).reshape(-1, stream.channels) & ((1 << stream.bits) - 1)
    shifts = np.arange(stream.bits, dtype=np.int64)
    bits = (flat[..., None] >> shifts & 1).astype(np.uint8).reshape(len(flat), -1)
    rows = np.packbits(bits, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in rows]


def from_pixels(stream: Stream, pixels: list[int]) -> Array:
    """Returns values [pixels, channels] of pixels that are numbers."""
    size = math.ceil(stream.pixel_bits / 8)
    content = b"".join(pixel.to_bytes(size, "little") for pixel in pixels)
    rows = np.frombuffer(content, np.uint8).reshape(len(pixels), size)
    bits = np.unpackbits(rows, axis=1, bitorder="little", count=stream.pixel_bits)
    places = bits.reshape(len(pixels), stream.channels, stream.bits).astype(np.int64)
    values: Array = (places << np.arange(stream.bits, dtype=np.int64)).sum(axis=2)
    if stream.kind == "int":
        values -= (values >> (stream.bits - 1) & 1) << stream.bits
    return values


def from_words(stream: Stream, words: Array) -> Array:
    """Returns the values of a stream, of a tensor of packed words."""
    odd = lce_ops.unpack_odd(words, stream.channels, stream.bits).astype(np.int64)
    if stream.kind == "sign":
        return (odd < 0).astype(np.int64)
    return (odd + lce_ops.largest(stream.bits)) // 2


def to_words(stream: Stream, values: Array) -> Array:
    """Returns a tensor's packed words, of the values of a stream."""
    if stream.kind == "sign":
        return lce_ops.pack_bits(values != 0)
    odd = 2 * values - lce_ops.largest(stream.bits)
    return lce_ops.pack_odd(odd, stream.bits)
