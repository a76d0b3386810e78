"""HEP-BNN's two networks, for images like those of FashionMNIST and of CIFAR-10.

HEP-BNN: A Framework for Finding Low-Latency Execution Configurations of BNNs on Heterogeneous
Multiprocessor Platforms, 2023, tables I and II. All weights are binary; what the tables call a step
is a batch norm and the next layer's sign here.
"""

from typing import Any

import tensorflow as tf
from published.layers import (
    binary_conv,
    binary_dense,
    centre,
    first_conv,
    image,
    layers,
    norm,
    scaled,
)


def fashion(width: float = 1) -> Any:
    start = image(28, 1)
    x = norm(layers.MaxPool2D()(first_conv(centre(start), scaled(64, width), 3)))
    x = norm(layers.MaxPool2D()(binary_conv(x, scaled(64, width), 3)))
    return _finish(start, x, scaled(2048, width), "hep_fashion")


def cifar(width: float = 1) -> Any:
    start = image(32, 3)
    x = norm(first_conv(centre(start), scaled(64, width), 3))
    x = norm(layers.MaxPool2D()(binary_conv(x, scaled(64, width), 3)))
    for filters in (256, 512):
        x = norm(binary_conv(x, scaled(filters, width), 3))
        x = norm(layers.MaxPool2D()(binary_conv(x, scaled(filters, width), 3)))
    return _finish(start, x, scaled(1024, width), "hep_cifar")


def _finish(start: Any, x: Any, units: int, name: str) -> Any:
    x = norm(binary_dense(layers.Flatten()(x), units))
    x = layers.Softmax()(norm(binary_dense(x, 10)))
    return tf.keras.Model(start, x, name=name)
