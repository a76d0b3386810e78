"""Builds the .tflite models that the contenders run: one layer, in a chain.

The chain makes the layer dominate over passing arrays in and out. All have the same +-1 weights
(`Layer.signs`):

  binary      float -> LceQuantize -> LceBconv2d -> float     padding SAME with +1
  float32     float -> CONV_2D -> float                       padding SAME with 0
  int8        int8  -> CONV_2D -> int8                        padding SAME with 0
  bits        bits  -> LceBconv2d -> bits                     padding SAME with +1
  bits_float  bits  -> LceBconv2d -> float                    padding SAME with +1

Layers from bits to floats cannot be chained: these layers are side by side, with one input for all
and an output for each.

Each form has the padding that is fastest for the contender that runs it, so that nobody is slowed
down: LCE corrects zero padding afterwards; XNNPACK would need a PADV2 for any other value.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from benchmarks.shapes import ConvShape
from tests.model_builder import (
    ABSENT,
    PADDING,
    ModelBuilder,
    add_quantize,
    bconv_options,
    packed_shape,
)
from tests.oracle import Conv, pack_bits

# Activations of the int8 model: value = INT8_SCALE * q, range about -2..2.
INT8_SCALE = 1 / 64
INT8_WEIGHT = 127  # value of +1 in a per-channel symmetric int8 filter

# Gain of a float or int8 layer: below 1, so that float32 rounding dies out along the chain and the
# check can be tight, but not so small that the input has no effect at the end of the chain.
GAIN = 0.5


@dataclass(frozen=True)
class Layer:
    """Constants of one layer; the +-1 weights are the same in any arithmetic."""

    signs: npt.NDArray[np.float32]  # +-1, [out, kernel, kernel, in]
    multiplier: npt.NDArray[np.float32]  # for the binary form, per output channel
    bias: npt.NDArray[np.float32]  # for the binary form, per output channel
    scale: npt.NDArray[np.float32]  # for the float and int8 form: weight = scale * sign
    offset: npt.NDArray[np.float32]  # bias of the float and int8 form
    thresholds: npt.NDArray[np.int32]  # for the form that writes bits

    @property
    def int8_weight_scale(self) -> npt.NDArray[np.float32]:
        return self.scale / np.float32(INT8_WEIGHT)

    @property
    def int8_bias(self) -> npt.NDArray[np.int32]:
        return np.rint(self.offset / (INT8_SCALE * self.int8_weight_scale)).astype(np.int32)


def make_layer(shape: ConvShape, seed: int) -> Layer:
    """Draws a layer.

    Multipliers of the binary form are sixteenths and biases odd thirty-seconds: every value on the
    way is exact in float32 and none is 0, so that correct implementations agree bit for bit,
    through the whole chain of signs.
    """
    rng = np.random.default_rng(seed)
    filter_shape = (shape.channels, shape.kernel, shape.kernel, shape.channels)
    multiplier = rng.integers(1, 25, shape.channels) * rng.choice([-1, 1], shape.channels) / 16
    spread = GAIN / np.sqrt(shape.depth)
    spread_of_counts = np.sqrt(shape.depth) / 2  # spread of the differing bits of random operands
    return Layer(
        signs=rng.choice([-1, 1], filter_shape).astype(np.float32),
        multiplier=multiplier.astype(np.float32),
        bias=((2 * rng.integers(-64, 64, shape.channels) + 1) / 32).astype(np.float32),
        scale=(spread * rng.uniform(0.5, 1.5, shape.channels)).astype(np.float32),
        offset=rng.uniform(-1, 1, shape.channels).astype(np.float32),
        # Thresholds are near the middle of the sums, or all bits would be the same.
        thresholds=np.rint(rng.normal(shape.depth / 2, spread_of_counts, shape.channels)).astype(
            np.int32
        ),
    )


def build_binary(shape: ConvShape, layer: Layer, layers: int) -> bytes:
    """Expresses the layer in LCE's custom ops, float in and float out."""
    conv = _conv(shape)
    builder = ModelBuilder()
    constants = [
        builder.constant(values)
        for values in (pack_bits(layer.signs), layer.multiplier, layer.bias)
    ]
    x = first = builder.tensor(conv.input_shape)
    for _ in range(layers):
        bits = add_quantize(builder, x, conv.input_shape)
        x = builder.tensor(conv.output_shape)
        builder.custom("LceBconv2d", [bits, *constants, ABSENT], [x], bconv_options(conv))
    return builder.finish([first], [x])


def build_arrays(shape: ConvShape, layer: Layer, layers: int) -> bytes:
    """Returns the layers as an .npz file, for contenders that read no .tflite files."""
    file = io.BytesIO()
    np.savez(
        file,
        signs=layer.signs,
        multiplier=layer.multiplier,
        bias=layer.bias,
        layers=layers,
        size=shape.size,
    )
    return file.getvalue()


def build_bits(shape: ConvShape, layer: Layer, layers: int) -> bytes:
    """Expresses the layer in LCE's custom op, bits in and bits out."""
    conv = _conv(shape)
    builder = ModelBuilder()
    weights = builder.constant(pack_bits(layer.signs))
    thresholds = builder.constant(layer.thresholds)
    tensors = [builder.tensor(packed_shape(_dims(shape)), np.int32) for _ in range(layers + 1)]
    for x, y in pairwise(tensors):
        inputs = [x, weights, ABSENT, ABSENT, thresholds]
        builder.custom("LceBconv2d", inputs, [y], bconv_options(conv))
    return builder.finish(tensors[:1], tensors[-1:])


def build_bits_float(shape: ConvShape, layer: Layer, layers: int) -> bytes:
    """Expresses the layer in LCE's custom op, bits in and float out."""
    conv = _conv(shape)
    builder = ModelBuilder()
    weights = [
        builder.constant(values)
        for values in (pack_bits(layer.signs), layer.multiplier, layer.bias)
    ]
    x = builder.tensor(packed_shape(_dims(shape)), np.int32)
    outputs = [builder.tensor(_dims(shape)) for _ in range(layers)]
    for y in outputs:
        builder.custom("LceBconv2d", [x, *weights, ABSENT], [y], bconv_options(conv))
    return builder.finish([x], outputs)


def build_float32(shape: ConvShape, layer: Layer, layers: int) -> bytes:
    """Expresses the layer as a builtin float convolution."""
    builder = ModelBuilder()
    weights = builder.constant(layer.signs * layer.scale[:, None, None, None])
    bias = builder.constant(layer.offset)
    tensors = [builder.tensor(_dims(shape)) for _ in range(layers + 1)]
    return _chain_conv2d(builder, tensors, weights, bias)


def build_int8(shape: ConvShape, layer: Layer, layers: int) -> bytes:
    """Expresses the layer as a builtin int8 convolution with a weight scale per output channel."""
    builder = ModelBuilder()
    scale, zeros = layer.int8_weight_scale, [0] * shape.channels
    weights = builder.constant(
        (layer.signs * INT8_WEIGHT).astype(np.int8), scale=scale, zero_point=zeros
    )
    bias = builder.constant(layer.int8_bias, scale=np.float32(INT8_SCALE) * scale, zero_point=zeros)
    tensors = [builder.tensor(_dims(shape), np.int8, scale=INT8_SCALE) for _ in range(layers + 1)]
    return _chain_conv2d(builder, tensors, weights, bias)


def _conv(shape: ConvShape) -> Conv:
    return Conv(_dims(shape), (shape.kernel, shape.kernel), shape.channels)


def _dims(shape: ConvShape) -> tuple[int, int, int, int]:
    return (1, shape.size, shape.size, shape.channels)


def _chain_conv2d(builder: ModelBuilder, tensors: list[int], weights: int, bias: int) -> bytes:
    for x, y in pairwise(tensors):
        builder.builtin(
            "CONV_2D", [x, weights, bias], [y], padding=PADDING["SAME"], strideH=1, strideW=1
        )
    return builder.finish(tensors[:1], tensors[-1:])
