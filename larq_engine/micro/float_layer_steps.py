"""Steps of convolutions and dense layers of float32 values, whose sums have the engine's order."""

import numpy as np

from larq_engine.converter.graph import Op
from larq_engine.converter.padding import NO_PADS
from larq_engine.exporting.op_checks import constant, data, one_image, unsupported, weights_of
from larq_engine.micro.float_limits import fused_limits
from larq_engine.micro.plan import Array, Constant, Memory, Reference, Step, Struct
from larq_engine.micro.signed_steps import SignedWeights, signed_weights
from larq_engine.micro.step_maker import StepMaker, check_types, small
from larq_engine.micro.windows import builtin_axes, rows_of

_HEADERS = ("le_float_layers.h",)

# In layers of at most so many weights the engine rounds products and sums, each by itself; in
# larger ones both are one operation.
_FEW_WEIGHTS = 1 << 16

# Bytes of the tables of 32 inputs.
_TABLES = 8 * 16 * 4


def _weights(op: Op, rank: int) -> Array:
    weights = weights_of(op, 1)
    if weights.dtype != np.float32 or weights.ndim != rank:
        raise unsupported(
            op,
            f"expected weights of float32 in {rank} dimensions, got {weights.dtype} of shape "
            f"{list(weights.shape)}",
        )
    return weights


def _bias(op: Op, channels: int) -> Constant:
    values = np.zeros(channels, np.float32) if op.input(2) is None else constant(op, 2)
    if values.dtype != np.float32 or values.shape != (channels,):
        raise unsupported(op, f"expected a bias of {channels} floats")
    return Constant("bias", "float", values)


def _conv(maker: StepMaker, op: Op) -> Step:
    check_types(op, "FLOAT32")
    x, y = data(op, 0), op.output
    height, width, channels = one_image(op, x)
    out_height, out_width, outputs = one_image(op, y)
    filters = _weights(op, 4)
    is_depthwise = op.kind == "DEPTHWISE_CONV_2D"
    taps = (filters.shape[1], filters.shape[2])
    group_channels = 1 if is_depthwise else filters.shape[3]
    groups = channels // group_channels
    filter_outputs = filters.shape[3 if is_depthwise else 0]
    if filter_outputs != outputs or channels % group_channels or outputs % groups:
        raise unsupported(
            op,
            f"expected filters that make {outputs} channels of {channels}, got shape "
            f"{list(filters.shape)}",
        )
    dilations = (op.options.dilationHFactor, op.options.dilationWFactor)
    rows, columns, pads = builtin_axes(
        op, (height, width), (out_height, out_width), taps, dilations
    )
    reads_pixels = not is_depthwise and taps == (1, 1) and pads == NO_PADS
    fields = {
        "y": rows,
        "x": columns,
        "groups": small(op, "groups", groups),
        "group_channels": small(op, "channels", group_channels),
        "group_outputs": small(op, "channels", outputs // groups),
        "reads_pixels": int(reads_pixels),
        "weights": Reference("weights"),
        "bias": Reference("bias"),
        "limits": Reference("limits"),
    }
    step = Step(
        headers=_HEADERS,
        function="le_float_depthwise_run" if is_depthwise else "le_float_conv2d_run",
        arguments=[Reference("layer"), maker.memory(x), maker.memory(y)],
        reads=[maker.memory(x)],
        writes=[maker.memory(y)],
        constants=[Constant("weights", "float", filters), _bias(op, outputs), fused_limits(op)],
        structs=[Struct("layer", "le_float_conv2d", fields)],
    )
    if not is_depthwise:
        depth = taps[0] * taps[1] * group_channels
        step.scratch = None if reads_pixels else Memory(4 * depth)
        step.arguments.append("NULL" if step.scratch is None else step.scratch)
    return step


def _dense(maker: StepMaker, op: Op) -> Step:
    check_types(op, "FLOAT32")
    signed = signed_weights(op)
    if signed is not None:
        return _signed_dense(maker, op, signed)
    weights = _weights(op, 2)
    units, depth = weights.shape
    fields = {
        "rows": rows_of(op, depth, units),
        "depth": depth,
        "units": units,
        "weights": Reference("weights"),
        "bias": Reference("bias"),
        "limits": Reference("limits"),
    }
    source, target = maker.memory(data(op, 0)), maker.memory(op.output)
    is_small = weights.size <= _FEW_WEIGHTS
    return Step(
        headers=_HEADERS,
        function="le_float_dense_run" if is_small else "le_float_large_dense_run",
        arguments=[Reference("layer"), source, target],
        reads=[source],
        writes=[target],
        constants=[Constant("weights", "float", weights), _bias(op, units), fused_limits(op)],
        structs=[Struct("layer", "le_float_dense", fields)],
    )


def _signed_dense(maker: StepMaker, op: Op, weights: SignedWeights) -> Step:
    fields = {
        "rows": rows_of(op, weights.depth, weights.units),
        "depth": weights.depth,
        "units": weights.units,
        "signs": Reference("signs"),
        "scale": Reference("scales"),
        "bias": Reference("bias"),
        "limits": Reference("limits"),
    }
    source, target = maker.memory(data(op, 0)), maker.memory(op.output)
    tables = Memory(_TABLES)
    return Step(
        headers=("le_signed_dense.h",),
        function="le_signed_dense_run",
        arguments=[Reference("layer"), source, tables, target],
        reads=[source],
        writes=[target],
        constants=[
            weights.words,
            Constant("scales", "float", weights.scales),
            _bias(op, weights.units),
            fused_limits(op),
        ],
        structs=[Struct("layer", "le_signed_dense", fields)],
        scratch=tables,
    )


KERNELS = {"CONV_2D": _conv, "DEPTHWISE_CONV_2D": _conv, "FULLY_CONNECTED": _dense}
