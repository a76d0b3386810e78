"""Small networks in the shape of QuickNet, Bi-Real net and MeliusNet.

The parts around their binary layers are in float. They are most of the file, and become int8 with
samples.
"""

from typing import Any

import tensorflow as tf
from published.layers import binary_conv, centre, conv, image, layers, norm, scaled


def quicknet(width: float = 1) -> Any:
    start = image(28, 1)
    x = layers.ReLU()(norm(conv(centre(start), scaled(64, width) // 4, 3)))
    x = norm(conv(x, scaled(64, width), 3, strides=2))
    for filters in (64, 128):
        if filters > 64:
            x = layers.MaxPool2D(2, strides=1)(layers.ReLU()(x))
            x = layers.DepthwiseConv2D(3, strides=2, padding="same", use_bias=False)(x)
            x = norm(conv(x, scaled(filters, width), 1))
        y = binary_conv(x, scaled(filters, width), 3, pad_values=1.0, activation="relu")
        x = layers.Add()([norm(y), x])
    return _finish(start, x, "quicknet")


def bireal_net(width: float = 1) -> Any:
    start = image(28, 1)
    x = norm(conv(centre(start), scaled(64, width), 7, strides=2))
    for filters, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2)):
        y = binary_conv(
            x,
            scaled(filters, width),
            3,
            strides=stride,
            input_quantizer="approx_sign",
            kernel_quantizer="magnitude_aware_sign",
        )
        if stride > 1:
            x = layers.AvgPool2D(2, padding="same")(x)
            x = norm(conv(x, scaled(filters, width), 1))
        x = layers.Add()([norm(y), x])
    return _finish(start, x, "bireal_net")


def melius_net(width: float = 1) -> Any:
    """Makes blocks that add 64 channels, and then correct these."""
    start = image(28, 1)
    x = layers.ReLU()(norm(conv(centre(start), 32, 3, strides=2)))
    x = conv(x, scaled(64, width), 3)
    for filters in (96, 128):
        for _ in range(2):
            x = layers.Concatenate()([x, binary_conv(norm(x), scaled(64, width), 3)])
            kept, last = x[..., : -scaled(64, width)], x[..., -scaled(64, width) :]
            y = layers.Add()([last, binary_conv(norm(x), scaled(64, width), 3)])
            x = layers.Concatenate()([kept, y])
        x = layers.ReLU()(layers.MaxPool2D()(norm(x)))
        x = conv(x, scaled(filters, width), 1)
    return _finish(start, norm(x), "melius_net")


def _finish(start: Any, x: Any, name: str) -> Any:
    x = layers.GlobalAveragePooling2D()(layers.ReLU()(x))
    x = layers.Dense(10, activation="softmax")(x)
    return tf.keras.Model(start, x, name=name)
