"""Computes quantizers and layers in NumPy, and their gradients, as larq's papers define them.

A function returns a value, and a function that turns the value's gradient into the gradients of the
arguments.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray
Gradient = Callable[[Array], Array]


def quantize(name: str, x: Array, **arguments: Any) -> tuple[Array, Gradient]:
    """Returns the value and gradient of a quantizer, by the name of its class."""
    value, gradient = _QUANTIZERS[name](x, **arguments)
    return value.astype(x.dtype), gradient


def _sign(x: Array) -> Array:
    return np.where(np.isnan(x), x, np.where(x < 0, -1, 1))


def _clipped(x: Array, clip_value: float | None) -> Gradient:
    inside = np.full(x.shape, True) if clip_value is None else np.abs(x) <= clip_value
    return lambda dy: np.where(inside, dy, 0)


def _ste_sign(x: Array, clip_value: float | None = 1.0) -> tuple[Array, Gradient]:
    return _sign(x), _clipped(x, clip_value)


def _approx_sign(x: Array) -> tuple[Array, Gradient]:
    return _sign(x), lambda dy: np.where(np.abs(x) <= 1, 2 * (1 - np.abs(x)) * dy, 0)


def _swish_sign(x: Array, beta: float = 5.0) -> tuple[Array, Gradient]:
    bx = beta * x
    slope = beta * (2 - bx * np.tanh(bx / 2)) / (1 + np.cosh(bx))
    return _sign(x), lambda dy: dy * slope


def _ste_heaviside(x: Array, clip_value: float | None = 1.0) -> tuple[Array, Gradient]:
    return np.where(np.isnan(x), x, x > 0), _clipped(x, clip_value)


def _magnitude_aware_sign(x: Array, clip_value: float | None = 1.0) -> tuple[Array, Gradient]:
    size = np.abs(x).mean(axis=tuple(range(x.ndim - 1)))
    inside = _clipped(x, clip_value)
    return size * _sign(x), lambda dy: inside(size * dy)


def _ste_tern(
    x: Array,
    threshold_value: float = 0.05,
    ternary_weight_networks: bool = False,
    clip_value: float | None = 1.0,
) -> tuple[Array, Gradient]:
    threshold = 0.7 * np.abs(x).mean() if ternary_weight_networks else threshold_value
    threshold = x.dtype.type(threshold)
    value = np.where(x >= threshold, 1, np.where(x <= -threshold, -1, 0))
    return np.where(np.isnan(x), x, value), _clipped(x, clip_value)


def _dorefa(x: Array, k_bit: int = 2, mode: str = "activations") -> tuple[Array, Gradient]:
    steps = 2**k_bit - 1
    if mode == "activations":
        inside = (x >= 0) & (x <= 1)
        return np.round(np.clip(x, 0, 1) * steps) / steps, lambda dy: np.where(inside, dy, 0)
    limited = np.tanh(x)
    largest = np.abs(limited).max()
    value = 2 * np.round((limited / (2 * largest) + 0.5) * steps) / steps - 1
    return value, lambda dy: dy * (1 - limited**2) / largest


_QUANTIZERS: dict[str, Callable[..., tuple[Array, Gradient]]] = {
    "ApproxSign": _approx_sign,
    "DoReFa": _dorefa,
    "MagnitudeAwareSign": _magnitude_aware_sign,
    "NoOp": lambda x, precision: (x, lambda dy: dy),
    "SteHeaviside": _ste_heaviside,
    "SteSign": _ste_sign,
    "SteTern": _ste_tern,
    "SwishSign": _swish_sign,
}
# Quantizers by the names that layers take.
_BY_NAME = {
    "approx_sign": "ApproxSign",
    "dorefa_quantizer": "DoReFa",
    "magnitude_aware_sign": "MagnitudeAwareSign",
    "ste_heaviside": "SteHeaviside",
    "ste_sign": "SteSign",
    "ste_tern": "SteTern",
    "swish_sign": "SwishSign",
}

# The slopes of each activation: below -1, from -1 to 0, from 0 to 1, and above 1.
_SLOPES = {
    None: (1, 1, 1, 1),
    "relu": (0, 0, 1, 1),
    "hard_tanh": (0, 1, 1, 0),
    "leaky_tanh": (0.2, 1, 1, 0.2),
}


def activate(name: str | None, x: Array) -> tuple[Array, Gradient]:
    """Computes an activation that is linear in pieces and 0 at 0."""
    parts = (np.minimum(x + 1, 0), np.clip(x, -1, 0), np.clip(x, 0, 1), np.maximum(x - 1, 0))
    slopes = _SLOPES[name]
    pieces = np.searchsorted([-1, 0, 1], x)
    return (
        sum(slope * part for slope, part in zip(slopes, parts, strict=True)),
        lambda dy: dy * np.take(slopes, pieces),
    )


def layer(
    name: str,
    positional: Sequence[Any],
    arguments: dict[str, Any],
    x: Array,
    weights: Sequence[Array],
    upstream: Callable[[tuple[int, ...]], Array],
) -> list[Array]:
    """Returns a layer's value, and the gradients of its input and weights.

    It computes in float64, where numbers of this size are not rounded visibly.

    Args:
        name: The class of the layer, which takes the next two arguments.
        positional: The arguments by position.
        arguments: The arguments by name.
        x: The input.
        weights: Kernels, then the bias if there is one.
        upstream: Makes the gradient of the value, from the value's shape.
    """
    given = _named(name, positional, arguments)
    x, *weights = (each.astype(np.float64) for each in (x, *weights))
    x, x_back = _quantized(given.get("input_quantizer"), x)
    kernels, kernel_backs = [], []
    for kernel, quantizer in zip(weights, _kernel_quantizers(name), strict=False):
        value, back = _quantized(given.get(quantizer), kernel)
        kernels.append(value)
        kernel_backs.append(back)
    products, backs = x, []
    for product in _products(name, given, kernels):
        products, back = product(products)
        backs.append(back)
    has_bias = len(weights) > len(kernels)
    sums = products + weights[-1] if has_bias else products
    y, y_back = activate(given.get("activation"), sums)

    dy = y_back(upstream(y.shape))
    of_bias = [dy.reshape(-1, dy.shape[-1]).sum(axis=0)] if has_bias else []
    of_kernels: list[Array] = []
    for back, kernel_back in zip(reversed(backs), reversed(kernel_backs), strict=True):
        dy, of_kernel = back(dy)
        of_kernels.insert(0, kernel_back(of_kernel))
    return [y, x_back(dy), *of_kernels, *of_bias]


def _named(name: str, positional: Sequence[Any], arguments: dict[str, Any]) -> dict[str, Any]:
    names = ["filters", "kernel_size", "strides", "padding"]
    if name == "QuantDense":
        names = ["units", "activation", "use_bias"]
    elif name == "QuantDepthwiseConv2D":
        names = names[1:]
    return {**dict(zip(names, positional, strict=False)), **arguments}


def _kernel_quantizers(name: str) -> list[str]:
    if "Separable" in name:
        return ["depthwise_quantizer", "pointwise_quantizer"]
    return ["depthwise_quantizer" if "Depthwise" in name else "kernel_quantizer"]


def _quantized(name: str | None, x: Array) -> tuple[Array, Gradient]:
    return (x, lambda dy: dy) if name is None else quantize(_BY_NAME[name], x)


Product = Callable[[Array], tuple[Array, Callable[[Array], tuple[Array, Array]]]]


def _products(name: str, given: dict[str, Any], kernels: Sequence[Array]) -> list[Product]:
    """Returns what a layer does with its kernels, one after the other."""
    if name == "QuantDense":
        return [lambda x: _matmul(x, kernels[0])]
    if "Transpose" in name:
        return [lambda x: _transposed(x, kernels[0], given)]
    if "Depthwise" not in name and "Separable" not in name:
        return [lambda x: _convolution(x, kernels[0], given, given.get("groups", 1))]

    def depthwise(x: Array) -> tuple[Array, Callable[[Array], tuple[Array, Array]]]:
        *window, channels, multiplier = kernels[0].shape
        kernel = kernels[0].reshape(*window, 1, channels * multiplier)
        y, back = _convolution(x, kernel, given, channels)

        def backward(dy: Array) -> tuple[Array, Array]:
            dx, dkernel = back(dy)
            return dx, dkernel.reshape(kernels[0].shape)

        return y, backward

    if "Depthwise" in name:
        return [depthwise]
    return [depthwise, lambda x: _convolution(x, kernels[1], {}, 1)]


def _matmul(x: Array, kernel: Array) -> tuple[Array, Callable[[Array], tuple[Array, Array]]]:
    def backward(dy: Array) -> tuple[Array, Array]:
        rows, drows = x.reshape(-1, x.shape[-1]), dy.reshape(-1, dy.shape[-1])
        return dy @ kernel.T, rows.T @ drows

    return x @ kernel, backward


def _convolution(
    x: Array, kernel: Array, given: dict[str, Any], groups: int
) -> tuple[Array, Callable[[Array], tuple[Array, Array]]]:
    """Convolves with channels last: each tap of the kernel multiplies a slice of the image."""
    window = kernel.shape[:-2]
    strides, dilation = (
        np.broadcast_to(given.get(key, 1), len(window)) for key in ("strides", "dilation_rate")
    )
    reach = (np.array(window) - 1) * dilation + 1
    padding, sizes = given.get("padding", "valid").lower(), np.array(x.shape[1:-1])
    if padding == "causal":
        before, after = reach - 1, 0 * reach
    elif padding == "same":
        pads = np.maximum((-(-sizes // strides) - 1) * strides + reach - sizes, 0)
        before, after = pads // 2, pads - pads // 2
    else:
        before = after = 0 * reach
    pads = [(0, 0), *zip(before, after, strict=True), (0, 0)]
    padded = np.pad(x, pads, constant_values=given.get("pad_values", 0.0))
    outputs = (sizes + before + after - reach) // strides + 1

    depth, channels = kernel.shape[-2], kernel.shape[-1] // groups
    y = np.zeros((len(x), *outputs, kernel.shape[-1]))
    taps = []
    for tap in itertools.product(*map(range, window)):
        pieces = [
            slice(int(t * d), int(t * d + (n - 1) * s + 1), int(s))
            for t, d, n, s in zip(tap, dilation, outputs, strides, strict=True)
        ]
        for group in range(groups):
            read = (slice(None), *pieces, slice(group * depth, (group + 1) * depth))
            made = (Ellipsis, slice(group * channels, (group + 1) * channels))
            taps.append((read, made, (*tap, slice(None), made[1])))
    for read, made, weights in taps:
        y[made] += padded[read] @ kernel[weights]

    def backward(dy: Array) -> tuple[Array, Array]:
        dpadded, dkernel = np.zeros(padded.shape), np.zeros(kernel.shape)
        for read, made, weights in taps:
            dpadded[read] += dy[made] @ kernel[weights].T
            rows = padded[read].reshape(-1, depth)
            dkernel[weights] += rows.T @ dy[made].reshape(-1, channels)
        inside = [slice(int(b), int(b) + size) for b, size in zip(before, sizes, strict=True)]
        box = (slice(None), *inside)
        return dpadded[box], dkernel

    return y, backward


def _transposed(
    x: Array, kernel: Array, given: dict[str, Any]
) -> tuple[Array, Callable[[Array], tuple[Array, Array]]]:
    """Convolves with channels last: each pixel adds the kernel times its value to a window."""
    window, sizes = np.array(kernel.shape[:-2]), np.array(x.shape[1:-1])
    strides = np.broadcast_to(given.get("strides", 1), len(window))
    over = np.maximum(window - strides, 0)
    whole = (sizes - 1) * strides + np.maximum(window, strides)
    same = given.get("padding", "valid").lower() == "same"
    before = over // 2 if same else 0 * over
    outputs = sizes * strides if same else sizes * strides + over
    kept = (slice(None), *(slice(int(b), int(b + n)) for b, n in zip(before, outputs, strict=True)))
    taps = [
        (
            tap,
            (
                slice(None),
                *(
                    slice(t, int(t + (n - 1) * s + 1), int(s))
                    for t, n, s in zip(tap, sizes, strides, strict=True)
                ),
            ),
        )
        for tap in itertools.product(*map(range, window))
    ]
    y = np.zeros((len(x), *whole, kernel.shape[-2]))
    for tap, made in taps:
        y[made] += x @ kernel[tap].T

    def backward(dy: Array) -> tuple[Array, Array]:
        dwhole, dx, dkernel = np.zeros(y.shape), np.zeros(x.shape), np.zeros(kernel.shape)
        dwhole[kept] = dy
        for tap, made in taps:
            dx += dwhole[made] @ kernel[tap]
            rows = dwhole[made].reshape(-1, kernel.shape[-2])
            dkernel[tap] = rows.T @ x.reshape(-1, x.shape[-1])
        return dx, dkernel

    return y[kept], backward
