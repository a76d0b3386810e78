"""Dense layers whose weights are plus or minus a number: the file and the flash have a bit each."""

from dataclasses import dataclass

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Op
from larq_engine.exporting.int8_results import limits_of
from larq_engine.exporting.op_checks import constant, data, scale_of
from larq_engine.micro import int8_layer_steps
from larq_engine.micro.int8_ends import as_int32, bias_of, end_of, instance, layer_scales, sum_range
from larq_engine.micro.plan import Array, Constant, Memory, Reference, Step, Struct
from larq_engine.micro.step_maker import StepMaker, check_types
from larq_engine.micro.windows import rows_of

# The engine takes this form for at most so many inputs.
_MOST_DEPTH = 1 << 16

# Bytes of the tables of 32 int8 inputs.
_TABLES = 8 * 16 * 2


@dataclass(frozen=True, eq=False)
class SignedWeights:
    """Weights [units][depth] with a scale a unit; `words` has their signs' bits, [word][unit]."""

    units: int
    depth: int
    signs: Array
    words: Constant
    scales: Array


def signed_weights(op: Op) -> SignedWeights | None:
    """Returns weights with whose bits the engine without a host computes, or None."""
    unpack = lce_ops.unpacking(op.input(1))
    if unpack is None or len(unpack.output.shape) != 2:
        return None
    units, depth = unpack.output.shape
    scales = constant(unpack, 1).reshape(-1)
    if depth > _MOST_DEPTH or (scales.size > 1 and unpack.options["axis"] != 0):
        return None
    signs = lce_ops.unpack_odd(constant(unpack, 0), units * depth).reshape(units, depth)
    words = np.ascontiguousarray(lce_ops.pack_bits(signs < 0).T).view("<u4")
    return SignedWeights(
        units,
        depth,
        signs,
        Constant("signs", "uint32_t", words),
        np.broadcast_to(scales, (units,)),
    )


def _int8_dense(maker: StepMaker, op: Op) -> Step:
    """Makes the step of a dense layer of int8 values, whether its weights are bits or not."""
    weights = signed_weights(op)
    if weights is None:
        return int8_layer_steps.KERNELS["FULLY_CONNECTED"](maker, op)
    check_types(op, "INT8")
    x, y = data(op, 0), op.output
    zero = scale_of(op, x)[1]
    bias = bias_of(op, weights.units)
    values = weights.signs.astype(np.int64) * weights.scales.astype(np.int64)[:, None]
    # A sum takes the zero point away as often as its weights say.
    stored = bias - zero * values.sum(axis=1)
    step = Step(
        headers=("le_int8_signed_dense.h",),
        function="",
        arguments=[],
        reads=[maker.memory(x)],
        writes=[maker.memory(y)],
        constants=[
            weights.words,
            Constant("scales", "int8_t", weights.scales.astype(np.int8)),
            Constant("bias", "int32_t", as_int32(op, stored)),
        ],
        scratch=Memory(4 * weights.units + _TABLES),
    )
    end, rescale = end_of(
        op,
        step,
        sum_range(values, bias, zero),
        layer_scales(op, weights.units),
        limits_of(op, y),
    )
    fields = {
        "rows": rows_of(op, weights.depth, weights.units),
        "depth": weights.depth,
        "units": weights.units,
        "signs": Reference("signs"),
        "scale": Reference("scales"),
        "bias": Reference("bias"),
        "end": end,
    }
    step.structs = [Struct("layer", "le_int8_signed_dense", fields)]
    step.instance = instance("int8_signed_dense", "le_int8_signed_dense", rescale, scratch=True)
    step.arguments = [Reference("layer"), step.reads[0], step.writes[0], step.scratch]
    return step


KERNELS = {"FULLY_CONNECTED": _int8_dense}
