"""The layers that the benchmarks measure.

A to D are the 3x3 convolutions of the four stages of a ResNet-18-shaped network: resolution halves
while depth doubles, so all of them do the same work (115.6 million multiply-accumulates).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ConvShape:
    """A square stride-1 SAME convolution with as many output as input channels."""

    name: str
    size: int
    channels: int
    kernel: int = 3

    @property
    def depth(self) -> int:
        """Number of products that one output value sums: K in the GEMM view."""
        return self.kernel * self.kernel * self.channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one layer, padding taps included as is customary."""
        return self.size * self.size * self.channels * self.depth

    @property
    def chain(self) -> int:
        """Number of layers in a model, which share the cost of passing arrays in and out.

        It grows with the image, so that each layer's share of these arrays is 0.2 MB of floats.
        More layers would push the peers' weights out of the cache: with 10 layers of D in float32,
        each took twice as long.
        """
        return self.size // 7

    def __str__(self) -> str:
        size = f"{self.size}x{self.size}x{self.channels}"
        return self.name if size in self.name else f"{self.name} {size}"


CONV_SHAPES = (
    ConvShape("A", size=56, channels=64),
    ConvShape("B", size=28, channels=128),
    ConvShape("C", size=14, channels=256),
    ConvShape("D", size=7, channels=512),
)
