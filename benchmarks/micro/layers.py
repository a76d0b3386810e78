"""Single layers of bits and of int8, of the same shapes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.model_builder import ABSENT, PADDING, ModelBuilder, bconv_options, packed_shape
from tests.oracle import Conv, pack_bits

FORMS = ("bits to bits", "bits to int8", "int8")
_SCALE = 1 / 32  # of int8 values


@dataclass(frozen=True)
class Layer:
    """A convolution of stride 1 with the padding SAME; a dense layer is one of a single pixel."""

    size: int
    taps: int
    inputs: int
    outputs: int

    @property
    def name(self) -> str:
        kind = "dense" if self.size == 1 else f"{self.taps}x{self.taps}"
        return f"{kind} {self.inputs} -> {self.outputs}"

    @property
    def depth(self) -> int:
        return self.taps * self.taps * self.inputs

    @property
    def products(self) -> int:
        """Number of products, with those of pads, as is customary."""
        return self.size * self.size * self.outputs * self.depth


LAYERS = (
    *(Layer(8, 3, channels, channels) for channels in (32, 64, 128)),
    *(Layer(8, 1, channels, channels) for channels in (64, 128)),
    Layer(1, 1, 1024, 128),
)


def build(layer: Layer, form: str) -> bytes:
    """Returns a model of the one layer."""
    return _int8(layer) if form == "int8" else _binary(layer, to_bits=form == "bits to bits")


def _binary(layer: Layer, to_bits: bool) -> bytes:
    random = np.random.default_rng(0)
    shape = (1, layer.size, layer.size, layer.inputs)
    conv = Conv(shape, (layer.taps, layer.taps), layer.outputs)
    builder = ModelBuilder()
    x = builder.tensor(packed_shape(shape), np.int32)
    weights = builder.constant(pack_bits(random.choice([-1, 1], conv.filter_shape)))
    out = (*shape[:3], layer.outputs)
    if to_bits:
        y = builder.tensor(packed_shape(out), np.int32)
        # Thresholds are near the middle of the counts, or all bits would be the same.
        near = layer.depth // 2 + random.integers(-9, 9, layer.outputs)
        inputs = [ABSENT, ABSENT, builder.constant(near.astype(np.int32))]
    else:
        y = builder.tensor(out, np.int8, scale=_SCALE)
        multiplier = random.uniform(0.5, 1.5, layer.outputs) / np.sqrt(layer.depth)
        bias = random.uniform(-1, 1, layer.outputs)
        constants = (builder.constant(v.astype(np.float32)) for v in (multiplier, bias))
        inputs = [*constants, ABSENT]
    builder.custom("LceBconv2d", [x, weights, *inputs], [y], bconv_options(conv))
    return builder.finish([x], [y])


def _int8(layer: Layer) -> bytes:
    random = np.random.default_rng(0)
    is_dense = layer.size == 1
    image = (1, layer.size, layer.size)
    lead = (1,) if is_dense else image
    builder = ModelBuilder()
    x = builder.tensor((*lead, layer.inputs), np.int8, scale=_SCALE, zero_point=-5)
    y = builder.tensor((*lead, layer.outputs), np.int8, scale=_SCALE, zero_point=3)
    shape = (layer.inputs,) if is_dense else (layer.taps, layer.taps, layer.inputs)
    # A dense layer has one scale, a convolution one for each channel.
    scale = random.uniform(0.5, 1.5, 1 if is_dense else layer.outputs) / 64 / np.sqrt(layer.depth)
    zeros = [0] * scale.size
    weights = builder.constant(
        random.integers(-127, 128, (layer.outputs, *shape)).astype(np.int8),
        scale=scale,
        zero_point=zeros,
    )
    bias = builder.constant(
        random.integers(-500, 500, layer.outputs).astype(np.int32),
        scale=scale * _SCALE,
        zero_point=zeros,
    )
    if is_dense:
        builder.builtin("FULLY_CONNECTED", [x, weights, bias], [y])
    else:
        same = {"strideH": 1, "strideW": 1, "padding": PADDING["SAME"]}
        dilation = {"dilationHFactor": 1, "dilationWFactor": 1}
        builder.builtin("CONV_2D", [x, weights, bias], [y], **same, **dilation)
    return builder.finish([x], [y])
