"""Computes binarized operators from the maths in NumPy: without bits and without kernels.

A binary convolution is a float convolution of +-1 data; everything else follows from its dot
products. Padding with zero adds nothing to a dot product, padding with +-1 adds the filter's
values. float32 is exact here: a dot product is an integer far below 2**24.
"""

import itertools
from dataclasses import dataclass, replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

# Bounds of each activation, applied to the dot product.
_BOUNDS = {
    "NONE": (-np.inf, np.inf),
    "RELU": (0.0, np.inf),
    "RELU_N1_TO_1": (-1.0, 1.0),
    "RELU6": (0.0, 6.0),
}


# Padding before and after the image on one axis: "SAME", "VALID" or two numbers.
AxisPadding = str | tuple[int, int]


@dataclass(frozen=True)
class Conv:
    """The geometry of a convolution over NHWC.

    `padding` is "SAME", "VALID", or the numbers ((top, bottom), (left, right)).
    """

    input_shape: tuple[int, int, int, int]
    kernel: tuple[int, int]
    channels_out: int
    groups: int = 1
    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    padding: str | tuple[tuple[int, int], tuple[int, int]] = "SAME"
    pad_value: int = 1
    activation: str = "NONE"
    bits_in: int = 1
    bits_weights: int = 1

    @property
    def channels_in(self) -> int:
        return self.input_shape[3]

    @property
    def filter_shape(self) -> tuple[int, int, int, int]:
        return (self.channels_out, *self.kernel, self.channels_in // self.groups)

    @property
    def depth(self) -> int:
        """Number of terms of one dot product."""
        return self.kernel[0] * self.kernel[1] * self.channels_in // self.groups

    @property
    def largest_dot(self) -> int:
        """Largest sum that all terms can add up to."""
        return self.depth * (2**self.bits_in - 1) * (2**self.bits_weights - 1)

    @property
    def output_shape(self) -> tuple[int, int, int, int]:
        height, width = (
            output_size(size, taps, stride, padding, dilation)
            for size, taps, stride, dilation, padding in zip(
                self.input_shape[1:3],
                self.kernel,
                self.stride,
                self.dilation,
                _axes(self.padding),
                strict=True,
            )
        )
        return (self.input_shape[0], height, width, self.channels_out)

    def with_activation(self, activation: str) -> "Conv":
        return replace(self, activation=activation)

    def with_batch(self, batch: int) -> "Conv":
        return replace(self, input_shape=(batch, *self.input_shape[1:]))


def _axes(padding: str | tuple[tuple[int, int], tuple[int, int]]) -> tuple[AxisPadding, ...]:
    return (padding, padding) if isinstance(padding, str) else padding


def output_size(size: int, taps: int, stride: int, padding: AxisPadding, dilation: int = 1) -> int:
    """Returns the number of positions of a window along one axis; 0 if it does not fit."""
    if padding == "SAME":
        return -(-size // stride)
    pads = 0 if padding == "VALID" else sum(padding)
    return max(0, -(-(size + pads - (taps - 1) * dilation) // stride))


def _pads(
    size: int, taps: int, stride: int, dilation: int, padding: AxisPadding
) -> tuple[int, int]:
    if padding == "VALID":
        return 0, 0
    if padding != "SAME":
        return padding
    positions = output_size(size, taps, stride, padding)
    total = max(0, (positions - 1) * stride + (taps - 1) * dilation + 1 - size)
    return total // 2, total - total // 2


def _windows(
    x: np.ndarray,
    taps: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
    padding: str | tuple[tuple[int, int], tuple[int, int]],
    fill: float,
) -> np.ndarray:
    """Returns the windows as [N, Ho, Wo, kh, kw, C]."""
    pads = [
        _pads(*axis)
        for axis in zip(x.shape[1:3], taps, stride, dilation, _axes(padding), strict=True)
    ]
    padded = np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=fill)
    extents = [(t - 1) * d + 1 for t, d in zip(taps, dilation, strict=True)]
    windows = sliding_window_view(padded, extents, axis=(1, 2))
    windows = windows[:, :: stride[0], :: stride[1], :, :: dilation[0], :: dilation[1]]
    return windows.transpose(0, 1, 2, 4, 5, 3)


def signs(x: np.ndarray, zero_point: int = 0) -> np.ndarray:
    """Returns +1 or -1: values that are not less than zero, NaN and -0.0 among them, are +1."""
    return np.where(x < zero_point, -1.0, 1.0).astype(np.float32)


def count_limits(x: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Returns the odd number 2 * q - n, with q of the n limits (rows: one a channel) at most x."""
    q = sum((x >= limit).astype(np.float32) for limit in limits)
    return 2 * q - np.float32(len(limits))


def pack_planes(x: np.ndarray, bits: int) -> np.ndarray:
    """Packs odd numbers as planes of +-1 values, of which number j counts 2**j."""
    q = ((x + 2**bits - 1) / 2).astype(np.int64)
    return np.concatenate([pack_bits(2 * (q // 2**j % 2) - 1) for j in range(bits)], axis=-1)


def odd_numbers(rng: np.random.Generator, bits: int, shape: tuple[int, ...]) -> np.ndarray:
    """Draws numbers from the sums that this many planes can have."""
    return (2 * rng.integers(0, 2**bits, shape) - (2**bits - 1)).astype(np.float32)


def pack_bits(x: np.ndarray) -> np.ndarray:
    """Packs +-1 values along the last axis: channel c is bit c % 32 of word c // 32, 1 for -1."""
    channels = x.shape[-1]
    padding = [(0, 0)] * (x.ndim - 1) + [(0, -channels % 32)]
    bits = np.pad(x < 0, padding)
    packed = np.packbits(bits, axis=-1, bitorder="little")
    return np.ascontiguousarray(packed).view("<i4").astype(np.int32)


def signed_sums(x: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Adds up floats [rows][depth], each with its sign, in the order of docs/host_operators.md."""
    depth = x.shape[1]
    rows = np.zeros((len(x), -(-depth // 4) * 4), np.float32)
    rows[:, :depth] = x
    padded = np.ones((len(signs), rows.shape[1]), np.float32)
    padded[:, :depth] = signs
    total = np.zeros((len(rows), len(signs)), np.float32)
    for i in range(0, rows.shape[1], 4):
        four = rows[:, i, None] * padded[:, i]
        for j in range(i + 1, i + 4):
            four += rows[:, j, None] * padded[:, j]
        total += four
    return total


def unpack_bits(words: np.ndarray, channels: int) -> np.ndarray:
    """Reverses pack_bits; raises if the bits past the last channel are not zero."""
    octets = np.ascontiguousarray(words, "<i4").view(np.uint8)
    bits = np.unpackbits(octets, axis=-1, bitorder="little")
    if bits[..., channels:].any():
        raise AssertionError(f"bits past channel {channels} are set")
    return np.where(bits[..., :channels], -1.0, 1.0).astype(np.float32)


def dot_products(conv: Conv, x: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """Returns the convolution of +-1 data or odd numbers, [N, Ho, Wo, Cout]."""
    fill = float(conv.pad_value * (2**conv.bits_in - 1))
    windows = _windows(x, conv.kernel, conv.stride, conv.dilation, conv.padding, fill)
    per_group = conv.channels_in // conv.groups
    outputs = conv.channels_out // conv.groups
    results = []
    for group in range(conv.groups):
        patches = windows[..., group * per_group : (group + 1) * per_group]
        weights = filters[group * outputs : (group + 1) * outputs]
        rows = patches.reshape(-1, conv.depth)
        results.append(rows @ weights.reshape(outputs, conv.depth).T)
    return np.concatenate(results, axis=-1).reshape(conv.output_shape)


def float_output(
    dots: np.ndarray, activation: str, multiplier: np.ndarray, bias: np.ndarray
) -> np.ndarray:
    """Bounds the dot product by the activation, then adds the affine part, in float64."""
    return np.clip(dots.astype(np.float64), *_BOUNDS[activation]) * multiplier + bias


def check_int8(
    got: np.ndarray, expected: np.ndarray, scale: float, zero_point: int, tolerance: float = 1e-3
) -> None:
    """Asserts that `got` is `expected` quantized with rounding to the nearest.

    Values are compared before rounding, so that a wrong rounding shows. Values at a boundary may go
    either way by the float error of the sum: hence the tolerance, in quantization steps.
    """
    limits = np.iinfo(np.int8)
    steps = np.clip(expected / scale + zero_point, limits.min, limits.max)
    worst = np.max(np.abs(got.astype(np.float64) - steps))
    assert worst <= 0.5 + tolerance, f"int8 output is {worst} steps from the unrounded value"


def threshold_bits(dots: np.ndarray, depth: int, thresholds: np.ndarray) -> np.ndarray:
    """Returns the +-1 output of a convolution: -1 where a dot product is above the threshold."""
    above = depth - dots.astype(np.int64) > 2 * thresholds.astype(np.int64)
    return np.where(above, -1.0, 1.0).astype(np.float32)


def sum_pool(
    x: np.ndarray, window: tuple[int, int], stride: tuple[int, int], padding: str
) -> np.ndarray:
    """Returns the sums of windows, in which taps outside the image are 0."""
    taps = _windows(x.astype(np.float64), window, stride, (1, 1), padding, 0)
    return np.asarray(taps.sum((3, 4)))


def max_pool(
    x: np.ndarray, window: tuple[int, int], stride: tuple[int, int], padding: str
) -> np.ndarray:
    """Computes max pooling tap after tap: only a greater value replaces an earlier one."""
    taps = _windows(x, window, stride, (1, 1), padding, -np.inf)
    best = taps[:, :, :, 0, 0]
    for row, column in itertools.product(range(window[0]), range(window[1])):
        tap = taps[:, :, :, row, column]
        best = np.where(tap > best, tap, best)
    return best
