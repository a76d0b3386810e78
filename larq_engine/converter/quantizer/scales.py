"""Scales, zero points and int8 values of tensors, weights and biases.

As TensorFlow's quantizer chooses them, so that other tools find what they expect: of values the
range with 0 in it, of weights one scale for each output channel and the zero point 0.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Array, Quantization

_LOW, _HIGH = -128, 127
_WEIGHT_LIMIT = 127

# Weights below this are taken for 0.
_SMALLEST_WEIGHT = 5e-7

# What a step of the sum is of a step of the output, at least and at most. XNNPACK takes from 2**-32
# and below 256.
_LEAST_RATIO, _MOST_RATIO = 2.0**-31, 128.0

# Where the half step of a sign must be told from the next of the accumulator's steps in float32.
_LEAST_RATIO_OF_SIGNS = 2.0**-18
_FLOAT_ROUNDING = 2.0**-20

_BIAS_LIMIT = 2.0**30


def quantize_range(low: float, high: float) -> Quantization:
    """Scale and zero point of values between two ends, and 0."""
    low, high = min(low, 0.0), max(high, 0.0)
    if high - low < np.finfo(np.float32).tiny * 256:
        return Quantization((1.0,), (0,))
    scale = (high - low) / (_HIGH - _LOW)
    from_low, from_high = _LOW - low / scale, _HIGH - high / scale
    # Of the two ends that with the smaller error.
    is_low = abs(_LOW) + abs(low / scale) < abs(_HIGH) + abs(high / scale)
    zero_point = int(np.clip(_round(np.array(from_low if is_low else from_high)), _LOW, _HIGH))
    return Quantization((float(np.float32(scale)),), (zero_point,))


def to_int8(values: Array, quantization: Quantization) -> Array:
    """The int8 values of a tensor with one scale."""
    steps = _round(values / np.float64(quantization.scale[0])) + quantization.zero_point[0]
    return np.asarray(np.clip(steps, _LOW, _HIGH).astype(np.int8))


def _round(values: Array) -> Array:
    """Halves away from zero."""
    return np.asarray(np.trunc(values + np.copysign(0.5, values)))


@dataclass(frozen=True)
class Int8Weights:
    """Weights and bias of a layer, one scale for each output channel."""

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
    """The int8 weights and the int32 bias of a layer.

    Args:
        weights: In float32.
        axis: Which of their dimensions has the output channels.
        bias: In float32.
        data: The scale of what the layer reads.
        output: The scale of what it makes.
        rounds_down: Whether outputs are to be rounded down, not to the nearest, so that those below
            the zero point are just those whose sum is below 0. A bias less by half a step of the
            output does that. Which of the accumulator's steps are in that half is the same for all
            who compute in float32.
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
    """Enlarges those by a little with which half a step of the output is a whole of the sum's."""
    halves = 0.5 / (scale.astype(np.float64) * step)
    off = np.abs(halves - np.rint(halves))
    enlarged = (scale * (1 + 0.25 / halves)).astype(np.float32)
    return np.where(off <= halves * _FLOAT_ROUNDING, enlarged, scale)


def least_output_scale(largest: float, data: Quantization) -> float:
    """The smallest scale that the output of a layer can have whose largest weight this is."""
    return max(largest, _SMALLEST_WEIGHT) / _WEIGHT_LIMIT * data.scale[0] / _MOST_RATIO


def least_sum_scale(inputs: Iterable[float]) -> float:
    """The smallest scale of a sum or difference of inputs with these.

    Where large values cancel out, less of it would show nothing but how they were rounded. Hosts
    abort on 2**-19 of an input's.
    """
    return max(inputs, default=0.0) / _MOST_RATIO
