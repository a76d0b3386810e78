"""Keras twins of networks of tests/torch become the same operators; see tests/torch_twins.py."""

import numpy as np
import pytest

from larq_engine.converter.api import convert_keras_model
from tests.converter.frameworks import require_keras
from tests.torch_twins import OPERATORS

require_keras()


import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

layers = tf.keras.layers


def sign_conv(filters, size, x, stride=1):
    return larq.layers.QuantConv2D(
        filters,
        size,
        strides=stride,
        kernel_quantizer="magnitude_aware_sign",
        use_bias=False,
    )(layers.ZeroPadding2D(size // 2)(x))


def bireal18(width=32):
    image = layers.Input((64, 64, 3))
    x = layers.Conv2D(width, 7, strides=2, use_bias=False)(layers.ZeroPadding2D(3)(image))
    x = layers.BatchNormalization()(x)
    x = tf.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)], constant_values=-np.inf)
    x = layers.MaxPool2D(3, 2)(x)
    for stage in range(4):
        for number in range(4):
            filters = width << stage
            shortcut, stride = x, 1
            if stage and not number:
                stride = 2
                shortcut = layers.Conv2D(filters, 1, use_bias=False)(layers.AvgPool2D()(x))
                shortcut = layers.BatchNormalization()(shortcut)
            signs = larq.quantizers.SteSign()(x)
            x = layers.BatchNormalization()(sign_conv(filters, 3, signs, stride))
            x = layers.Add()([x, shortcut])
    return tf.keras.Model(image, layers.Dense(10)(layers.GlobalAvgPool2D()(x)))


def mlp(width=512):
    image = layers.Input((28, 28, 1))
    x = layers.Flatten()(image)
    for number, units in enumerate((width, width, width, 10)):
        x = larq.layers.QuantDense(
            units,
            input_quantizer="ste_sign" if number else None,
            kernel_quantizer="ste_sign",
            use_bias=False,
        )(x)
        x = layers.BatchNormalization()(x)
    return tf.keras.Model(image, tf.nn.log_softmax(x))


@pytest.mark.parametrize(("make", "name"), [(bireal18, "Bi-Real-18"), (mlp, "MLP")])
def test_twins_have_these_operators(make, name):
    tf.keras.utils.set_random_seed(1)
    model = make()
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights([np.random.uniform(0.5, 1.5, w.shape) for w in layer.get_weights()])
    converted = convert_keras_model(model, check=False)
    assert converted.report.operators == OPERATORS[name]
