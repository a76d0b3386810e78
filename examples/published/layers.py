"""Layers that several networks have."""

from typing import Any

import larq as lq
import tensorflow as tf

layers = tf.keras.layers

_WEIGHTS = {"kernel_quantizer": "ste_sign", "kernel_constraint": "weight_clip", "use_bias": False}
_BINARY = {"input_quantizer": "ste_sign", **_WEIGHTS}


def image(size: int, channels: int) -> Any:
    """Makes an input of bytes, 0 to 255."""
    return tf.keras.Input((size, size, channels), name="image")


def centre(x: Any) -> Any:
    """Scales bytes to the range from -1 to 1."""
    return layers.Rescaling(1 / 127.5, offset=-1)(x)


def norm(x: Any, **options: Any) -> Any:
    """Adds a batch norm, whose momentum is for trainings of some hundred steps."""
    return layers.BatchNormalization(momentum=0.9, **options)(x)


def conv(x: Any, filters: int, size: int, **options: Any) -> Any:
    """Adds a convolution in float."""
    return layers.Conv2D(filters, size, **{"padding": "same", "use_bias": False, **options})(x)


def binary_conv(x: Any, filters: int, size: int, **options: Any) -> Any:
    return lq.layers.QuantConv2D(filters, size, **{"padding": "same", **_BINARY, **options})(x)


def binary_dense(x: Any, units: int) -> Any:
    return lq.layers.QuantDense(units, **_BINARY)(x)


def first_conv(x: Any, filters: int, size: int) -> Any:
    """Adds a convolution of binary weights with inputs that are not binary."""
    return lq.layers.QuantConv2D(filters, size, padding="same", **_WEIGHTS)(x)


def first_dense(x: Any, units: int) -> Any:
    return lq.layers.QuantDense(units, **_WEIGHTS)(x)


def scaled(units: int, width: float) -> int:
    """Returns the channels in a network of another width: whole words of 32 bits."""
    return max(32, round(units * width / 32) * 32)
