"""Steps of layers of int8 values whose weights are bytes."""

import numpy as np

from larq_engine.converter.graph import Op
from larq_engine.converter.padding import NO_PADS
from larq_engine.exporting.int8_results import limits_of
from larq_engine.exporting.op_checks import data, one_image, scale_of, unsupported, weights_of
from larq_engine.micro.int8_ends import as_int32, bias_of, end_of, instance, layer_scales, sum_range
from larq_engine.micro.plan import Constant, Memory, Reference, Step, Struct
from larq_engine.micro.step_maker import StepMaker, check_types, small
from larq_engine.micro.windows import builtin_axes, rows_of

_HEADERS = ("le_int8_layers.h",)


def _conv(maker: StepMaker, op: Op) -> Step:
    check_types(op, "INT8")
    x, y = data(op, 0), op.output
    height, width, channels = one_image(op, x)
    out_height, out_width, outputs = one_image(op, y)
    filters = weights_of(op, 1)
    if filters.ndim != 4 or filters.dtype != np.int8:
        raise unsupported(op, f"expected a filter of int8 in four dimensions, got {filters.shape}")
    is_depthwise = op.kind == "DEPTHWISE_CONV_2D"
    taps = (filters.shape[1], filters.shape[2])
    dilations = (op.options.dilationHFactor, op.options.dilationWFactor)
    rows, columns, pads = builtin_axes(
        op, (height, width), (out_height, out_width), taps, dilations
    )
    groups = channels if is_depthwise else channels // max(1, filters.shape[3])
    if is_depthwise:
        fits = filters.shape[0] == 1 and filters.shape[3] == outputs
    else:
        fits = filters.shape[0] == outputs and groups * filters.shape[3] == channels
    if not fits or groups < 1 or outputs % groups:
        raise unsupported(
            op, f"expected a filter of {channels} to {outputs} channels, got {filters.shape}"
        )
    zero = scale_of(op, x)[1]
    of_channel = filters.reshape(-1, outputs).T if is_depthwise else filters.reshape(outputs, -1)
    bias = bias_of(op, outputs)
    sums = sum_range(of_channel, bias, zero)
    reads_pixels = not is_depthwise and taps == (1, 1) and pads == NO_PADS
    depth = of_channel.shape[1]
    step = Step(
        headers=_HEADERS,
        function="",
        arguments=[],
        reads=[maker.memory(x)],
        writes=[maker.memory(y)],
        constants=[Constant("weights", "int8_t", filters)],
        scratch=None if is_depthwise or reads_pixels else Memory(depth),
    )
    end, form = end_of(op, step, sums, layer_scales(op, outputs), limits_of(op, y))
    # A whole window takes the zero point away as often as it has weights.
    stored = bias if is_depthwise else bias - zero * of_channel.astype(np.int64).sum(axis=1)
    step.constants.append(Constant("bias", "int32_t", as_int32(op, stored)))
    fields = {
        "y": rows,
        "x": columns,
        "groups": small(op, "groups", groups),
        "group_channels": small(op, "channels", 1 if is_depthwise else filters.shape[3]),
        "group_outputs": small(op, "channels", outputs // groups),
        "reads_pixels": int(reads_pixels),
        "pad": zero,
        "weights": Reference("weights"),
        "bias": Reference("bias"),
        "end": end,
    }
    step.structs = [Struct("layer", "le_int8_conv2d", fields)]
    scratch = step.scratch if step.scratch is not None else "NULL"
    step.arguments = [Reference("layer"), step.reads[0], step.writes[0]]
    if is_depthwise:
        has_one = outputs == groups
        name = "int8_depthwise" if has_one else "int8_depthwise_several"
        step.instance = instance(name, "le_int8_conv2d", form, of_four=has_one)
    else:
        step.arguments.append(scratch)
        step.instance = instance("int8_conv2d", "le_int8_conv2d", form, scratch=True, of_four=True)
    return step


def _dense(maker: StepMaker, op: Op) -> Step:
    check_types(op, "INT8")
    x, y = data(op, 0), op.output
    weights = weights_of(op, 1)
    if weights.ndim != 2 or weights.dtype != np.int8:
        raise unsupported(op, f"expected weights of int8 in two dimensions, got {weights.shape}")
    units, depth = weights.shape
    zero = scale_of(op, x)[1]
    bias = bias_of(op, units)
    sums = sum_range(weights, bias, zero)
    stored = bias - zero * weights.astype(np.int64).sum(axis=1)
    step = Step(
        headers=_HEADERS,
        function="",
        arguments=[Reference("layer"), maker.memory(x), maker.memory(y)],
        reads=[maker.memory(x)],
        writes=[maker.memory(y)],
        constants=[
            Constant("weights", "int8_t", weights),
            Constant("bias", "int32_t", as_int32(op, stored)),
        ],
    )
    end, form = end_of(op, step, sums, layer_scales(op, units), limits_of(op, y))
    fields = {
        "rows": rows_of(op, depth, units),
        "depth": depth,
        "units": units,
        "weights": Reference("weights"),
        "bias": Reference("bias"),
        "end": end,
    }
    step.structs = [Struct("layer", "le_int8_dense", fields)]
    step.instance = instance("int8_dense", "le_int8_dense", form, of_four=True)
    return step


KERNELS = {
    "CONV_2D": _conv,
    "DEPTHWISE_CONV_2D": _conv,
    "FULLY_CONNECTED": _dense,
}
