"""Lists the quantizers and layers that tests compare with larq, and on each backend with NumPy."""

from typing import Any

import numpy as np

QUANTIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SteSign", {}),
    ("SteSign", {"clip_value": 0.3}),
    ("SteSign", {"clip_value": None}),
    ("ApproxSign", {}),
    ("SwishSign", {}),
    ("SwishSign", {"beta": 2.0}),
    ("SteHeaviside", {}),
    ("SteHeaviside", {"clip_value": 2.0}),
    ("SteHeaviside", {"clip_value": None}),
    ("MagnitudeAwareSign", {}),
    ("MagnitudeAwareSign", {"clip_value": 0.5}),
    ("SteTern", {}),
    ("SteTern", {"threshold_value": 0.5, "clip_value": None}),
    ("SteTern", {"ternary_weight_networks": True}),
    ("DoReFa", {}),
    ("DoReFa", {"k_bit": 1}),
    ("DoReFa", {"k_bit": 5}),
    ("DoReFa", {"k_bit": 3, "mode": "weights"}),
    ("NoOp", {"precision": 1}),
]

_BINARY = {"input_quantizer": "ste_sign", "kernel_quantizer": "ste_sign"}
_MAGNITUDE = {"input_quantizer": "approx_sign", "kernel_quantizer": "magnitude_aware_sign"}
_DEPTHWISE = {"input_quantizer": "swish_sign", "depthwise_quantizer": "ste_sign"}
_SEPARABLE = {**_DEPTHWISE, "pointwise_quantizer": "ste_tern"}
_IMAGE = (2, 7, 6, 4)
_PADDED = {"padding": "same", "pad_values": 1.0}

# Name, positional arguments, named arguments, shape of the inputs.
LAYERS: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[int, ...]]] = [
    ("QuantDense", (5,), {}, (3, 6)),
    ("QuantDense", (5,), _BINARY, (3, 6)),
    # Sums of an odd number of equal sizes are not 0, where relu has a corner.
    ("QuantDense", (5, "relu", False), _MAGNITUDE, (3, 7)),
    ("QuantDense", (5,), {**_BINARY, "activation": "hard_tanh"}, (2, 3, 6)),
    ("QuantConv1D", (5, 3), _BINARY, (2, 9, 4)),
    ("QuantConv1D", (5, 3, 2, "same"), {**_BINARY, "pad_values": 1.0}, (2, 9, 4)),
    ("QuantConv1D", (5, 4), {**_BINARY, "padding": "causal", "dilation_rate": 2}, (2, 9, 4)),
    ("QuantConv1D", (6, 3), {**_MAGNITUDE, "groups": 2, "padding": "same"}, (2, 9, 4)),
    ("QuantConv2D", (5, 3), {}, _IMAGE),
    ("QuantConv2D", (5, 3), _BINARY, _IMAGE),
    ("QuantConv2D", (5, 3, 2, "same"), _BINARY, _IMAGE),
    ("QuantConv2D", (5, 3, 2, "same"), {**_BINARY, "pad_values": 1.0}, _IMAGE),
    ("QuantConv2D", (5, (4, 2), (1, 2), "SAME"), {**_BINARY, "pad_values": -1.0}, _IMAGE),
    ("QuantConv2D", (5, 2, 3, "same"), {**_BINARY, "pad_values": 1.0}, _IMAGE),
    ("QuantConv2D", (5, 3), {**_BINARY, **_PADDED, "dilation_rate": 2}, _IMAGE),
    ("QuantConv2D", (6, 3), {**_MAGNITUDE, "groups": 2, "use_bias": False}, _IMAGE),
    ("QuantConv2D", (5, 3), {"input_quantizer": "ste_heaviside", "activation": "relu"}, _IMAGE),
    ("QuantConv2D", (5, 3), {"kernel_quantizer": "dorefa_quantizer"}, _IMAGE),
    ("QuantConv2D", (5, 3), {**_BINARY, "activation": "leaky_tanh"}, _IMAGE),
    ("QuantConv3D", (5, 2), {**_BINARY, **_PADDED}, (1, 4, 3, 5, 3)),
    ("QuantDepthwiseConv2D", (3,), _DEPTHWISE, _IMAGE),
    (
        "QuantDepthwiseConv2D",
        (3, 2, "same"),
        {**_DEPTHWISE, "pad_values": 1.0, "depth_multiplier": 2},
        _IMAGE,
    ),
    ("QuantSeparableConv1D", (5, 3), {**_SEPARABLE, "padding": "same"}, (2, 9, 4)),
    ("QuantSeparableConv2D", (5, 3, 2), _SEPARABLE, _IMAGE),
    ("QuantSeparableConv2D", (5, 3), {**_SEPARABLE, **_PADDED, "depth_multiplier": 2}, _IMAGE),
    ("QuantConv2DTranspose", (5, 3), _BINARY, _IMAGE),
    ("QuantConv2DTranspose", (5, (4, 3), 2, "same"), {**_MAGNITUDE, "activation": "relu"}, _IMAGE),
    ("QuantConv2DTranspose", (5, 2, 3), {**_BINARY, "use_bias": False}, _IMAGE),
    ("QuantConv3DTranspose", (5, 2, 2, "same"), _BINARY, (1, 4, 3, 5, 3)),
]


def numbers(rng: np.random.Generator) -> np.ndarray:
    """Returns random numbers, the edges of all quantizers, and the edges' neighbours."""
    edges = [0.0, 0.05, 0.1, 0.3, 0.5, 1.0, 2.0, 1 / 6, 1e-38, 1e-45, 3e4, 3e38]
    edges = np.float32([*edges, *(-np.float32(edge) for edge in edges)])
    near = [np.nextafter(edges, np.float32(to)) for to in (-np.inf, np.inf)]
    values = [rng.uniform(-1.5, 1.5, 500), rng.normal(0, 1e-3, 100), edges, *near]
    flat = np.concatenate(values).astype(np.float32)
    return np.resize(flat, (flat.size // 4, 4))
