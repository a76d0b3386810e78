"""Makes a small float model: one layer that becomes binary, one whose weights do."""

import numpy as np

from tests.model_builder import PADDING, ModelBuilder

_CHANNELS = 32


def float_model(
    x_name: str | bytes = "x",
    first_name: str | bytes = "first/Conv2D",
    second_name: str | bytes = "second/Conv2D",
) -> bytes:
    """Makes x -> convolution, binary weights -> sign -> zero-padded binary convolution -> y."""
    rng = np.random.default_rng(0)
    builder = ModelBuilder()
    shape = (1, 4, 4, _CHANNELS)
    x, y = builder.tensor((1, 4, 4, 4), name=x_name), builder.tensor(shape, name=second_name)
    first, inner, moved, signs = (
        builder.tensor(shape, name=name) for name in (first_name, "sign", "plus", "sign_1")
    )
    bias = builder.constant(np.zeros(_CHANNELS, np.float32))
    conv = {"padding": PADDING["SAME"], "strideH": 1, "strideW": 1}
    conv |= {"dilationHFactor": 1, "dilationWFactor": 1}
    for source, result, depth in ((x, first, 4), (signs, y, _CHANNELS)):
        weights = rng.choice(np.array([-1, 1], np.float32), (_CHANNELS, 3, 3, depth))
        builder.builtin("CONV_2D", [source, builder.constant(weights), bias], [result], **conv)
    builder.builtin("SIGN", [first], [inner])
    builder.builtin("ADD", [inner, builder.constant(np.array(0.1, np.float32))], [moved])
    builder.builtin("SIGN", [moved], [signs])
    # Operators run in the order in which they were added; the last convolution comes last.
    builder.graph.operators.append(builder.graph.operators.pop(1))
    return builder.finish([x], [y])
