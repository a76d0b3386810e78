"""Espresso's two networks: an MLP, and BinaryNet's convolutional network for CIFAR-10.

Espresso: Efficient Forward Propagation for Binary Deep Neural Networks, 2018. All weights are
binary, also those of the first layer, which reads bytes.
"""

from typing import Any

import tensorflow as tf
from published.layers import (
    binary_conv,
    binary_dense,
    centre,
    first_conv,
    first_dense,
    image,
    layers,
    norm,
    scaled,
)


def mlp(width: float = 1) -> Any:
    """Makes 784-4096-4096-4096-10."""
    start = image(28, 1)
    units = scaled(4096, width)
    x = norm(first_dense(layers.Flatten()(centre(start)), units))
    for _ in range(2):
        x = norm(binary_dense(x, units))
    return _finish(start, x, "espresso_mlp")


def cnn(width: float = 1) -> Any:
    """Makes twice 128, 256 and 512 channels with poolings in between, then 1024-1024-10."""
    start = image(32, 3)
    x = norm(first_conv(centre(start), scaled(128, width), 3))
    x = norm(layers.MaxPool2D()(binary_conv(x, scaled(128, width), 3)))
    for filters in (256, 512):
        x = norm(binary_conv(x, scaled(filters, width), 3))
        x = norm(layers.MaxPool2D()(binary_conv(x, scaled(filters, width), 3)))
    x = layers.Flatten()(x)
    for _ in range(2):
        x = norm(binary_dense(x, scaled(1024, width)))
    return _finish(start, x, "espresso_cnn")


def _finish(start: Any, x: Any, name: str) -> Any:
    x = layers.Softmax()(norm(binary_dense(x, 10)))
    return tf.keras.Model(start, x, name=name)
