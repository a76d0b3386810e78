"""BMXNet's two networks: a binary LeNet, and a ResNet-18 whose stages may stay in float.

BMXNet: An Open-Source Binary Neural Network Implementation Based on MXNet, 2017, tables 1 and 2.
"""

from typing import Any

import tensorflow as tf
from published.layers import binary_conv, binary_dense, centre, conv, image, layers, norm, scaled

_STAGES = (64, 128, 256, 512)


def lenet(width: float = 1) -> Any:
    """Makes LeNet; its first and last layers are in float."""
    start = image(28, 1)
    x = layers.Conv2D(scaled(64, width), 5, activation="tanh")(centre(start))
    x = norm(layers.MaxPool2D()(x))
    x = binary_conv(x, scaled(64, width), 5, padding="valid")
    x = layers.Flatten()(layers.MaxPool2D()(norm(x)))
    x = layers.Activation("tanh")(
        norm(binary_dense(x, scaled(1000, width) if width != 1 else 1000))
    )
    return tf.keras.Model(start, layers.Dense(10, activation="softmax")(x), name="lenet")


def resnet18(width: float = 1, size: int = 32, in_float: tuple[int, ...] = ()) -> Any:
    """Makes ResNet-18; the stages `in_float`, from 1 to 4, and both outer layers are in float."""
    start = image(size, 3)
    x = conv(centre(start), scaled(64, width), 3)
    for number, filters in enumerate(_STAGES, 1):
        for block in range(2):
            stride = 2 if number > 1 and block == 0 else 1
            x = _unit(x, scaled(filters, width), stride, number not in in_float)
    x = layers.GlobalAveragePooling2D()(layers.ReLU()(norm(x)))
    return tf.keras.Model(start, layers.Dense(10, activation="softmax")(x), name="resnet18")


def _unit(x: Any, filters: int, stride: int, binary: bool) -> Any:
    """Adds two convolutions, each after a batch norm, and the shortcut."""
    convolve = binary_conv if binary else conv
    activate = (lambda y: y) if binary else layers.ReLU()  # binary layers take the sign themselves
    first = activate(norm(x))
    y = convolve(first, filters, 3, strides=stride)
    y = convolve(activate(norm(y)), filters, 3)
    resized = stride > 1 or x.shape[-1] != filters
    shortcut = convolve(first, filters, 1, strides=stride) if resized else x
    return layers.Add()([y, shortcut])
