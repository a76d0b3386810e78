"""Has the arithmetic of the engine's int8 results, which is in larq_engine/runtime/ops/."""

import math

import numpy as np

from larq_engine.converter.activations import range_of
from larq_engine.converter.graph import Array, Op, Tensor
from larq_engine.exporting.op_checks import constant, scale_of, unsupported
from larq_engine.exporting.rescale import Sums


def limits_of(op: Op, y: Tensor) -> tuple[int, int]:
    """Returns the range of an output's bytes with its fused activation."""
    scale, zero = scale_of(op, y)
    limits = range_of(getattr(op.options, "fusedActivationFunction", 0))
    if limits is None:
        raise unsupported(op, "its fused activation cannot be exported")

    def byte(value: int | None, end: int) -> int:
        if value is None:
            return end
        steps = np.float32(value) / scale + np.float32(zero)
        return int(np.rint(np.clip(steps, -128, 127)))

    return byte(limits[0], -128), byte(limits[1], 127)


def of_channels(op: Op, position: int) -> Array:
    """Returns a constant of one number for each output channel."""
    values, channels = constant(op, position), constant(op, 1).shape[0]
    if values.shape != (channels,):
        raise unsupported(
            op, f"input {position}: expected {channels} numbers, got shape {list(values.shape)}"
        )
    return values


def int8_sums(op: Op, multiplier: Array, bias: Array, dots: tuple[int, int]) -> Sums:
    """Returns the sums of a layer with int8 results, which are from dots[0] to dots[1]."""
    scale, zero = scale_of(op, op.output)
    # Both are divided in double precision, and then everything is float32.
    by = (multiplier.astype(np.float64) / float(scale)).astype(np.float32)
    add = (bias.astype(np.float64) / float(scale)).astype(np.float32)
    if not (np.isfinite(by).all() and np.isfinite(add).all()):
        raise unsupported(op, "expected finite multipliers and biases, got others")
    below_half = np.nextafter(np.float32(0.5), np.float32(0))

    def function(sums: Array) -> Array:
        y = sums.astype(np.float32) * by[:, None] + add[:, None]
        y = np.clip(y, np.float32(-128 - zero), np.float32(127 - zero))
        rounded = np.trunc(y + np.where(y < 0, -below_half, below_half))
        return np.asarray(rounded.astype(np.int64) + zero)

    ends = np.tile(np.array(dots, np.int64), (by.size, 1))
    results = (-128, 127)
    return Sums(function, ends[:, 0], ends[:, 1], results, by, add, to_even=False, zero_point=zero)


# XNNPACK's sums: the larger operand's parts have 21 bits, and ratios of scales are within these.
_SUM_BITS = 21
_SUM_RATIOS = (2.0**-10, 256)


def sum_fields(op: Op, operands: tuple[Tensor, Tensor]) -> dict[str, int]:
    """Returns the numbers of ((start + a * of_a + b * of_b) >> shift) + zero_point."""
    y_scale, y_zero = scale_of(op, op.output)
    scales = [scale_of(op, tensor) for tensor in operands]
    ratios = [np.float32(scale / y_scale) for scale, _ in scales]
    if not all(_SUM_RATIOS[0] <= ratio < _SUM_RATIOS[1] for ratio in ratios):
        raise unsupported(op, f"expected ratios of scales from 2^-10 to 256, got {ratios}")
    shift = _SUM_BITS - math.frexp(max(ratios))[1]
    parts = [int(np.rint(np.ldexp(float(ratio), shift))) for ratio in ratios]
    if op.kind == "SUB":
        parts[1] = -parts[1]
    start = (1 << (shift - 1)) - sum(zero * p for (_, zero), p in zip(scales, parts, strict=True))
    return {
        "start": start,
        "of_a": parts[0],
        "of_b": parts[1],
        "shift": shift,
        "zero_point": y_zero,
    }
