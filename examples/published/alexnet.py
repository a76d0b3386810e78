"""AlexNet with few bits: DoReFa-Net (inputs of 2 bits, weights of 1) and XNOR-Net (1 and 1).

DoReFa-Net, 2016, scales the signs of a layer's weights with their mean size; XNOR-Net, 2016, scales
those of each output channel. The first and the last layer are in float. Both networks have
DoReFa-Net's layers here.
"""

from typing import Any

import larq as lq
import tensorflow as tf
from published.layers import centre, image, layers, norm, scaled


def dorefa_net(width: float = 1, size: int = 224, classes: int = 1000) -> Any:
    quantizers = {"input_quantizer": "dorefa_quantizer", "kernel_quantizer": _scaled_by_layer}
    return _alexnet("dorefa_net", quantizers, width, size, classes)


def xnor_net(width: float = 1, size: int = 224, classes: int = 1000) -> Any:
    quantizers = {"input_quantizer": "ste_sign", "kernel_quantizer": _scaled_by_channel}
    return _alexnet("xnor_net", quantizers, width, size, classes)


def _scaled_by_layer(weights: Any) -> Any:
    return tf.reduce_mean(tf.abs(weights)) * lq.quantizers.ste_sign(weights)


def _scaled_by_channel(weights: Any) -> Any:
    axes = list(range(len(weights.shape) - 1))
    size = tf.reduce_mean(tf.abs(weights), axis=axes, keepdims=True)
    return size * lq.quantizers.ste_sign(weights)


def _alexnet(name: str, quantizers: Any, width: float, size: int, classes: int) -> Any:
    options = {"use_bias": False, "kernel_constraint": "weight_clip", **quantizers}
    start = image(size, 3)
    x = layers.Conv2D(scaled(96, width), 12, strides=4)(centre(start))
    for filters, window, pool in (
        (256, 5, "same"),
        (384, 3, "same"),
        (384, 3, ""),
        (256, 3, "valid"),
    ):
        x = norm(x)
        x = lq.layers.QuantConv2D(scaled(filters, width), window, padding="same", **options)(x)
        if pool:
            x = layers.MaxPool2D(3, strides=2, padding=pool)(x)
    x = layers.Flatten()(norm(x))
    for _ in range(2):
        x = norm(lq.layers.QuantDense(scaled(4096, width), **options)(x))
    x = layers.Dense(classes, activation="softmax")(layers.ReLU(1)(x))
    return tf.keras.Model(start, x, name=name)
