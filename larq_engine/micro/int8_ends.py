"""Turns sums of int8 layers into int8 results: limits, scales and factors, as the engine has them.

larq_engine/runtime/ops/int8_layer.cc has the engine's arithmetic.
"""

from typing import Any

import numpy as np

from larq_engine.converter.graph import Op
from larq_engine.exporting.op_checks import constant, data, scale_of, unsupported
from larq_engine.exporting.rescale import Sums
from larq_engine.micro.factors import Factors, fit
from larq_engine.micro.plan import Array, Constant, Instance, Reference, Step

_INT32 = np.iinfo(np.int32)


def rounded(sums: Array, by: Array, low: int, high: int, zero: int) -> Array:
    """Computes what int8_output.h says."""
    values = sums.astype(np.float32) * by.astype(np.float32)
    return np.asarray(np.rint(np.clip(values, low - zero, high - zero)).astype(np.int64) + zero)


def end_of(
    op: Op, step: Step, sums: tuple[Array, Array], multiplier: Array, limits: tuple[int, int]
) -> tuple[dict[str, Any], str]:
    """Adds the factors of a layer to its step; returns the fields of le_int8_end and their form."""
    zero = scale_of(op, op.output)[1]
    lowest, highest = sums
    as_int32(op, np.concatenate([lowest, highest]))

    def function(values: Array) -> Array:
        return rounded(values, multiplier[:, None], *limits, zero)

    factors = fit(
        Sums(
            function,
            lowest,
            highest,
            limits,
            multiplier,
            np.zeros_like(multiplier),
            to_even=True,
            zero_point=zero,
        ),
    )
    return end_fields(step, factors, zero, limits), factors.kernel


def end_fields(step: Step, factors: Factors, zero: int, limits: tuple[int, int]) -> dict[str, Any]:
    """Adds factors to a step; returns the fields of le_int8_end."""
    step.constants.append(Constant("factors", factors.c_type, factors.values))
    step.headers += factors.headers
    return {
        "factors": Reference("factors"),
        "shift": factors.shift,
        "before": factors.before,
        "zero_point": zero,
        "lowest": limits[0],
        "highest": limits[1],
    }


def layer_scales(op: Op, channels: int, image: int = 0) -> Array:
    """Returns how many steps of the result a step of the sum of each channel is worth."""
    weights, y = op.inputs[1], op.output
    assert weights is not None
    scales = () if weights.quantization is None else weights.quantization.scale
    zero_points = () if weights.quantization is None else weights.quantization.zero_point
    if len(scales) not in (1, channels) or any(zero_points):
        raise unsupported(
            op, f"expected 1 or {channels} scales of its weights and zero points of 0"
        )
    by = np.broadcast_to(np.array(scales, np.float32), (channels,))
    multiplier = scale_of(op, data(op, image))[0] * by / scale_of(op, y)[0]
    if not (np.isfinite(multiplier).all() and multiplier.min() > 0):
        raise unsupported(op, "expected finite scales above 0")
    return np.asarray(multiplier, np.float32)


def bias_of(op: Op, channels: int, position: int = 2) -> Array:
    bias = op.input(position)
    if bias is None:
        return np.zeros(channels, np.int64)
    values = constant(op, position)
    if values.dtype != np.int32 or values.shape != (channels,):
        raise unsupported(op, f"expected a bias of {channels} numbers of 32 bits")
    return values.astype(np.int64)


def sum_range(weights: Array, bias: Array, zero: int) -> tuple[Array, Array]:
    """Returns the lowest and the highest sums of channels; weights are [channel, all others]."""
    w = weights.astype(np.int64)
    up, down = np.maximum(w, 0).sum(axis=1), np.minimum(w, 0).sum(axis=1)
    least, most = -128 - zero, 127 - zero
    return bias + up * least + down * most, bias + up * most + down * least


def as_int32(op: Op, values: Array) -> Array:
    if values.min() < _INT32.min or values.max() > _INT32.max:
        raise unsupported(op, "its sums may exceed 32 bits")
    return values.astype(np.int32)


def instance(
    name: str, struct: str, rescale: str, *, scratch: bool = False, of_four: bool = False
) -> Instance:
    """Returns a kernel compiled for a way to make int8 of sums, one or up to four at once."""
    more, passed = (", int8_t* scratch", ", scratch") if scratch else ("", "")
    text = (
        f"LE_KERNEL void {{name}}(const {struct}* layer, const int8_t* in, "
        f"int8_t* out{more}) {{{{\n"
        f"  le_{name}_run(layer, in, out{passed}, {rescale}{'_four' * of_four});\n"
        "}}\n"
    )
    return Instance(f"{name}_{rescale.removeprefix('le_rescale').strip('_')}", text)
