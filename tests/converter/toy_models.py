"""Small models with the features that LCE's own tests exercise, by name; they need only larq.

Sizes of images are ours. The order of layers, their padding and activations are LCE's.
"""

from collections.abc import Callable
from typing import Any

import larq
import tensorflow as tf

IMAGE = (32, 32, 3)

# Range that quantization-aware models are trained with.
RANGE = 3.0


def where_sign(x: Any) -> Any:
    """Signs a value as a user's own function would."""
    return tf.where(x >= 0, tf.ones_like(x), -tf.ones_like(x))


# larq's own quantizers have this attribute, too.
where_sign.precision = 1  # type: ignore[attr-defined]


def _binary_convolution(quantizer: Any, filters: int = 32, **options: Any) -> Any:
    common = {"input_quantizer": quantizer, "kernel_quantizer": quantizer, "use_bias": False}
    return larq.layers.QuantConv2D(filters, 3, **(common | options))


def residual_model(quantizer: Any) -> Any:
    """Builds blocks with a shortcut: padded with zeros or ones, with or without an early relu."""
    image = tf.keras.Input(IMAGE)
    x = tf.keras.layers.Conv2D(32, 3, strides=2, padding="same")(image)
    for pad_value, activation in ((0.0, "relu"), (1.0, "relu"), (1.0, None)):
        convolution = _binary_convolution(
            quantizer, padding="same", pad_values=pad_value, activation=activation
        )
        y = tf.keras.layers.BatchNormalization()(convolution(x))
        x = tf.keras.layers.add([x, y])
    return tf.keras.Model(image, tf.keras.layers.GlobalAveragePooling2D()(x))


def sequential_model(quantizer: Any) -> Any:
    """Builds a chain with bits from layer to layer and through a pooling; scales are negative."""
    layers = tf.keras.layers
    options = {"padding": "same", "pad_values": 1.0}
    return tf.keras.Sequential(
        [
            layers.Input(IMAGE),
            layers.Conv2D(16, 3, strides=2, padding="same"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(2),
            _binary_convolution(quantizer, **options),
            layers.BatchNormalization(gamma_initializer=tf.keras.initializers.Constant(-0.1)),
            _binary_convolution(quantizer, strides=2, **options),
            layers.BatchNormalization(gamma_initializer=tf.keras.initializers.Constant(-0.1)),
            layers.MaxPooling2D((3, 2), strides=(1, 2)),
            _binary_convolution(quantizer, **options),
            layers.BatchNormalization(),
            layers.GlobalAveragePooling2D(),
        ]
    )


def _fake_quantized(x: Any) -> Any:
    return tf.quantization.fake_quant_with_min_max_vars(x, -RANGE, RANGE)


def int8_model() -> Any:
    """Builds a quantization-aware model: int8 between two binary convolutions and after them."""
    image = tf.keras.Input(IMAGE)
    x = _fake_quantized(image)
    for _ in range(2):
        x = _binary_convolution("ste_sign", 12, strides=2, use_bias=True)(x)
        x = _fake_quantized(tf.keras.layers.BatchNormalization()(x))
    x = _fake_quantized(tf.keras.layers.GlobalAveragePooling2D()(x))
    return tf.keras.Model(image, x)


def sign_model() -> Any:
    """Builds a model with a binary output."""
    image = tf.keras.Input(IMAGE)
    x = _binary_convolution("ste_sign", 256, padding="same", pad_values=1.0, use_bias=True)(image)
    return tf.keras.Model(image, larq.quantizers.SteSign()(x))


def int8_sign_model() -> Any:
    """Builds a quantization-aware model with a binary output."""
    image = tf.keras.Input(IMAGE)
    options = {"padding": "same", "pad_values": 1.0, "use_bias": True}
    x = _binary_convolution("ste_sign", 256, **options)(_fake_quantized(image))
    return tf.keras.Model(image, _fake_quantized(larq.quantizers.SteSign()(x)))


def tutorial_model() -> Any:
    """Builds the model of larq's tutorial on MNIST, from a float input to dense layers."""
    layers = tf.keras.layers
    binary = {"kernel_quantizer": "ste_sign", "use_bias": False}
    model = tf.keras.Sequential([layers.Input((28, 28, 1))])
    model.add(larq.layers.QuantConv2D(32, 3, **binary))
    for _ in range(2):
        model.add(layers.MaxPooling2D(2))
        model.add(layers.BatchNormalization(scale=False))
        model.add(larq.layers.QuantConv2D(64, 3, input_quantizer="ste_sign", **binary))
    model.add(layers.BatchNormalization(scale=False))
    model.add(layers.Flatten())
    for units in (64, 10):
        model.add(larq.layers.QuantDense(units, input_quantizer="ste_sign", **binary))
        model.add(layers.BatchNormalization(scale=False))
    model.add(layers.Activation("softmax"))
    return model


BUILDERS: dict[str, Callable[[], Any]] = {
    "residual": lambda: residual_model("ste_sign"),
    "residual with tf.where": lambda: residual_model(where_sign),
    "sequential": lambda: sequential_model("ste_sign"),
    "sequential with tf.where": lambda: sequential_model(where_sign),
    "int8": int8_model,
    "sign": sign_model,
    "int8 sign": int8_sign_model,
    "tutorial": tutorial_model,
}
