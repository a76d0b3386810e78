"""Right answers of the models of conv_models.py, in plain NumPy: independent of every contender.

binary   y = multiplier * conv(sign(x), signs; border +1) + bias, exact in float32
float32  y = scale * conv(x, signs; border 0) + offset, in float64
int8     q = clamp(round(scale * (127 * conv(q, signs; border 0) + int8_bias))), scaled in float32
         and rounded half to even, as XNNPACK defines it
bits     y = -1 where conv(x, signs; border +1) has more than `threshold` products of -1, else +1
bits_float  binary without its sign

All but float32 are compared bit for bit; float32, where the order of the sums is free, with a
tolerance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.conv_models import INT8_WEIGHT, Layer
from tests.oracle import pack_bits, threshold_bits, unpack_bits

# XNNPACK comes within 1e-5 on A to D; a single flipped weight changes more than this.
FLOAT_TOLERANCE = 1e-4


def expect_binary(x: npt.NDArray[np.float32], layer: Layer, layers: int) -> npt.NDArray[np.float32]:
    for _ in range(layers):
        signs = np.where(x < 0, np.float32(-1), np.float32(1))
        x = convolve(signs, layer.signs, border=1) * layer.multiplier + layer.bias
    return x.astype(np.float32)


def expect_bits(x: npt.NDArray[np.int32], layer: Layer, layers: int) -> npt.NDArray[np.int32]:
    signs = unpack_bits(x, layer.signs.shape[3])
    depth = layer.signs[0].size
    for _ in range(layers):
        signs = threshold_bits(convolve(signs, layer.signs, border=1), depth, layer.thresholds)
    return pack_bits(signs)


def expect_bits_float(
    x: npt.NDArray[np.int32], layer: Layer, layers: int
) -> npt.NDArray[np.float32]:
    """Computes one layer, whatever the number of layers side by side."""
    return expect_binary(unpack_bits(x, layer.signs.shape[3]), layer, 1)


def expect_float32(
    x: npt.NDArray[np.float32], layer: Layer, layers: int
) -> npt.NDArray[np.float64]:
    values = x.astype(np.float64)
    for _ in range(layers):
        values = convolve(values, layer.signs, border=0) * layer.scale + layer.offset
    return values


def expect_int8(x: npt.NDArray[np.int8], layer: Layer, layers: int) -> npt.NDArray[np.int8]:
    for _ in range(layers):
        sums = convolve(x.astype(np.float32), layer.signs, border=0) * np.float32(INT8_WEIGHT)
        # The scales of input and output are equal and cancel.
        scaled = (sums + layer.int8_bias.astype(np.float32)) * layer.int8_weight_scale
        x = np.clip(np.rint(scaled), -128, 127).astype(np.int8)
    return x


def find_error(actual: npt.NDArray[np.generic], expected: npt.NDArray[np.generic]) -> str | None:
    """Describes how `actual` differs from the expected array; returns None if it is right."""
    if actual.shape != expected.shape:
        return f"shape {actual.shape}, expected {expected.shape}"
    difference = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    tolerance = FLOAT_TOLERANCE if expected.dtype == np.float64 else 0.0
    wrong = ~(difference <= tolerance)  # this way round, NaN is wrong
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.unravel_index(np.argmax(wrong), wrong.shape))
    return (
        f"{int(wrong.sum())} of {wrong.size} values wrong, the first at {at}: "
        f"got {actual[at]}, expected {expected[at]}"
    )


def convolve(x: npt.NDArray[Any], filters: npt.NDArray[Any], border: float) -> npt.NDArray[Any]:
    """Convolves [1, h, w, in] with [out, k, k, in], stride 1, SAME: a matrix product per tap."""
    _, height, width, _ = x.shape
    out, kernel, _, _ = filters.shape
    reach = kernel // 2
    padded = np.pad(
        x, ((0, 0), (reach, reach), (reach, reach), (0, 0)), constant_values=x.dtype.type(border)
    )
    total = np.zeros((1, height, width, out), x.dtype)
    for dy in range(kernel):
        for dx in range(kernel):
            taps = padded[:, dy : dy + height, dx : dx + width]
            total += taps @ filters[:, dy, dx].T.astype(x.dtype)
    return total
