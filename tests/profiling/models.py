"""Makes models that the tests of profiles share."""

import numpy as np

from tests.model_builder import PADDING, ModelBuilder, add_quantize, add_weights, bconv_options
from tests.oracle import Conv, pack_bits

CHANNELS = 32


def small_model(batch: int = 1) -> bytes:
    """Makes a float convolution, a binarized one with a shortcut, and a layer with 1-bit weights.

    Its nodes: 0 CONV_2D, 1 LceQuantize, 2 LceBconv2d, 3 ADD, 4 MUL, 5 LceQuantize, 6 LceBconv2d,
    7 RESHAPE, 8 LceUnpackWeights, 9 FULLY_CONNECTED.
    """
    rng = np.random.default_rng(5)
    builder = ModelBuilder()
    shape = (batch, 8, 8, CHANNELS)

    def floats(*sizes: int) -> np.ndarray:
        return rng.standard_normal(sizes).astype(np.float32)

    def binarized(x: int) -> int:
        conv = Conv(
            input_shape=shape,
            kernel=(3, 3),
            channels_out=CHANNELS,
            stride=(1, 1),
            dilation=(1, 1),
            padding="SAME",
            pad_value=1,
        )
        y = builder.tensor(shape)
        filters = np.where(rng.random((CHANNELS, 3, 3, CHANNELS)) < 0.5, -1.0, 1.0)
        constants = [pack_bits(filters), floats(CHANNELS), floats(CHANNELS)]
        numbers = [builder.constant(constant) for constant in constants]
        bits = add_quantize(builder, x, shape)
        builder.custom("LceBconv2d", [bits, *numbers, -1], [y], bconv_options(conv))
        return y

    x = builder.tensor((batch, 8, 8, 3), name="image")
    first, total, scaled = (builder.tensor(shape) for _ in range(3))
    weights = [builder.constant(floats(CHANNELS, 3, 3, 3)), builder.constant(floats(CHANNELS))]
    builder.builtin(
        "CONV_2D", [x, *weights], [first], padding=PADDING["SAME"], strideH=1, strideW=1
    )
    second = binarized(first)
    builder.builtin("ADD", [second, first], [total])
    builder.builtin("MUL", [total, builder.constant(floats(CHANNELS))], [scaled])
    third = binarized(scaled)
    flat = builder.tensor((batch, 64 * CHANNELS))
    sizes = builder.constant(np.array([-1, 64 * CHANNELS], np.int32))
    builder.builtin("RESHAPE", [third, sizes], [flat])
    signs = np.where(rng.random((10, 64 * CHANNELS)) < 0.5, -1.0, 1.0)
    dense = add_weights(builder, signs, np.abs(floats(10)), 0)
    y = builder.tensor((batch, 10), name="scores")
    builder.builtin("FULLY_CONNECTED", [flat, dense, -1], [y])
    return builder.finish([x], [y])


NODES = [0, 1, 2, 3, 4, 5, 6, 7, 9]
KINDS = [
    *("CONV_2D", "LceQuantize", "LceBconv2d", "ADD", "MUL", "LceQuantize", "LceBconv2d"),
    *("RESHAPE", "FULLY_CONNECTED"),
]
