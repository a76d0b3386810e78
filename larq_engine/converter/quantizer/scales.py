"""Scales, zero points and int8 values of tensors, weights and biases.

They are chosen as TensorFlow's quantizer does, so that other tools find what they expect: for
values a range that includes 0, for weights one scale for each output channel and the zero point 0.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Array, Quantization

_LOW, _HIGH = -128, 127
_WEIGHT_LIMIT = 127

# Smaller weights count as 0.
_SMALLEST_WEIGHT = 5e-7

# Least and largest ratio of a step of the sum to a step of the output. XNNPACK accepts ratios from
# 2**-32 to below 256.
_LEAST_RATIO, _MOST_RATIO = 2.0**-31, 128.0

# Least ratio at which float32 tells half a step of a sign's input from the accumulator's next step.
_LEAST_RATIO_OF_SIGNS = 2.0**-18
_FLOAT_ROUNDING = 2.0**-20

_BIAS_LIMIT = 2.0**30


def quantize_range(low: float, high: float) -> Quantization:
    """Returns scale and zero point for values between two ends, with 0 included."""
    low, high = min(low, 0.0), max(high, 0.0)
    if high - low < np.finfo(np.float32).tiny * 256:
        return Quantization((1.0,), (0,))
    scale = (high - low) / (_HIGH - _LOW)
    from_low, from_high = _LOW - low / scale, _HIGH - high / scale
    # The end with the smaller error decides.
    is_low = abs(_LOW) + abs(low / scale) < abs(_HIGH) + abs(high / scale)
    zero_point = int(np.clip(_round(np.array(from_low if is_low else from_high)), _LOW, _HIGH))
    return Quantization((float(np.float32(scale)),), (zero_point,))


def to_int8(values: Array, quantization: Quantization) -> Array:
    """Returns the int8 values of a tensor with one scale."""
    steps = _round(values / np.float64(quantization.scale[0])) + quantization.zero_point[0]
    return np.asarray(np.clip(steps, _LOW, _HIGH).astype(np.int8))


def _round(values: Array) -> Array:
    """Rounds halves away from zero."""
    return np.asarray(np.trunc(values + np.copysign(0.5, values)))


@dataclass(frozen=True)
class Int8Weights:
    """Weights and bias of a layer, with one scale for each output channel."""

    weights: Array
    scale: Array
    bias: Array | None
    bias_scale: Array


def quantize_weights(
    weights: Array,
    axis: int,
    bias: Array | None,
    data: Quantization,
    output: Quantization,
    *,
    rounds_down: bool,
) -> Int8Weights:
    """Returns the int8 weights and the int32 bias of a layer.

    Args:
        weights: The weights in float32.
        axis: The dimension of the weights that has the output channels.
        bias: The bias in float32.
        data: The scale of the layer's input.
        output: The scale of the layer's output.
        rounds_down: Whether outputs are rounded down, not to the nearest, so that an output is
            below the zero point exactly if its sum is below 0. Reducing the bias by half a step of
            the output does that. All kernels that compute in float32 agree on which of the
            accumulator's steps are in that half.
    """
    others = tuple(n for n in range(weights.ndim) if n != axis)
    largest = np.maximum(np.abs(weights).max(axis=others).astype(np.float64), _SMALLEST_WEIGHT)
    scale = largest / _WEIGHT_LIMIT
    step = data.scale[0] / output.scale[0]
    scale = np.maximum(scale, (_LEAST_RATIO_OF_SIGNS if rounds_down else _LEAST_RATIO) / step)
    if bias is not None:
        scale = np.maximum(scale, np.abs(bias) / (data.scale[0] * _BIAS_LIMIT))
    scale = scale.astype(np.float32)
    if rounds_down:
        scale = _apart_from_halves(scale, step)
    shape = [-1 if n == axis else 1 for n in range(weights.ndim)]
    rounded = _round(weights / scale.astype(np.float64).reshape(shape))
    bias_scale = scale.astype(np.float64) * data.scale[0]
    steps = None if bias is None else _round(bias / bias_scale)
    if rounds_down:
        half = np.floor(0.5 / (scale.astype(np.float64) * step))
        steps = (0 if steps is None else steps) - half
    return Int8Weights(
        np.clip(rounded, -_WEIGHT_LIMIT, _WEIGHT_LIMIT).astype(np.int8),
        scale,
        None if steps is None else steps.astype(np.int32),
        bias_scale.astype(np.float32),
    )


def _apart_from_halves(scale: Array, step: float) -> Array:
    """Slightly enlarges scales for which half an output step is a whole number of sum steps."""
    halves = 0.5 / (scale.astype(np.float64) * step)
    off = np.abs(halves - np.rint(halves))
    enlarged = (scale * (1 + 0.25 / halves)).astype(np.float32)
    return np.where(off <= halves * _FLOAT_ROUNDING, enlarged, scale)


def least_output_scale(largest: float, data: Quantization) -> float:
    """Returns the smallest scale of a layer's output if `largest` is its largest weight."""
    return max(largest, _SMALLEST_WEIGHT) / _WEIGHT_LIMIT * data.scale[0] / _MOST_RATIO


def least_sum_scale(inputs: Iterable[float]) -> float:
    """Returns the smallest scale of a sum or difference of inputs with these scales.

    If large values cancel, a smaller scale would show only how they were rounded. Hosts abort if it
    is 2**-19 of an input's.
    """
    return max(inputs, default=0.0) / _MOST_RATIO
