"""Steps of transposed convolutions on int8 values."""

import numpy as np

from larq_engine.converter.graph import Op
from larq_engine.exporting.int8_results import limits_of
from larq_engine.exporting.op_checks import data, one_image, scale_of, unsupported, weights_of
from larq_engine.micro.int8_ends import as_int32, bias_of, end_of, instance, layer_scales, sum_range
from larq_engine.micro.plan import Constant, Reference, Step, Struct
from larq_engine.micro.step_maker import StepMaker, small
from larq_engine.micro.windows import builtin_axes

# The inputs are the sizes of the output, the filter, the image and perhaps a bias.
_FILTER, _IMAGE, _BIAS = 1, 2, 3


def _transposed(maker: StepMaker, op: Op) -> Step:
    x, y = data(op, _IMAGE), op.output
    filters = weights_of(op, _FILTER)
    if (x.dtype, y.dtype, filters.ndim) != ("INT8", "INT8", 4) or filters.dtype != np.int8:
        raise unsupported(op, f"its kernel in C takes int8, got {x.dtype} to {y.dtype}")
    image, out = one_image(op, x), one_image(op, y)
    outputs, *taps, channels = filters.shape
    if (channels, outputs) != (image[2], out[2]):
        raise unsupported(
            op, f"expected a filter of {image[2]} to {out[2]} channels, got {filters.shape}"
        )
    rows, columns, _ = builtin_axes(op, out[:2], image[:2], taps)
    bias = bias_of(op, outputs, _BIAS)
    step = Step(
        headers=("le_int8_transposed.h",),
        function="",
        arguments=[Reference("layer"), maker.memory(x), maker.memory(y)],
        reads=[maker.memory(x)],
        writes=[maker.memory(y)],
        constants=[
            Constant("weights", "int8_t", filters),
            Constant("bias", "int32_t", as_int32(op, bias)),
        ],
    )
    zero = scale_of(op, x)[1]
    # Sums of the taps that reach a pixel lie between those of all taps.
    sums = sum_range(filters.reshape(outputs, -1), bias, zero)
    end, form = end_of(op, step, sums, layer_scales(op, outputs, _IMAGE), limits_of(op, y))
    fields = {
        "y": rows,
        "x": columns,
        "channels": small(op, "channels", channels),
        "outputs": small(op, "channels", outputs),
        "zero_point": zero,
        "weights": Reference("weights"),
        "bias": Reference("bias"),
        "end": end,
    }
    step.structs = [Struct("layer", "le_int8_transposed", fields)]
    step.instance = instance("int8_transposed", "le_int8_transposed", form)
    return step


KERNELS = {"TRANSPOSE_CONV": _transposed}
