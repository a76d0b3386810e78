"""Keras twins of networks of tests/torch/networks.py: the same layers with random weights."""

import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")  # larq needs Keras 2; TensorFlow reads it

import larq
import numpy as np
import tensorflow as tf

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


def sign_conv_1d(filters, size, x, stride=1):
    return larq.layers.QuantConv1D(
        filters,
        size,
        strides=stride,
        kernel_quantizer="ste_sign",
        use_bias=False,
    )(layers.ZeroPadding1D(size // 2)(larq.quantizers.SteSign()(x)))


def keywords():
    sound = layers.Input((8000, 1))
    x = layers.Conv1D(32, 25, strides=8, use_bias=False)(layers.ZeroPadding1D(12)(sound))
    x = sign_conv_1d(64, 5, layers.BatchNormalization()(x))
    x = layers.MaxPool1D(2)(layers.BatchNormalization()(x))
    x = layers.BatchNormalization()(sign_conv_1d(64, 5, x, 2))
    x = layers.BatchNormalization()(sign_conv_1d(128, 3, x))
    return tf.keras.Model(sound, layers.Dense(12)(layers.GlobalAvgPool1D()(x)))


class Bias(layers.Layer):
    """Adds a number to each channel, as RSign and RPReLU do."""

    def build(self, shape):
        self.bias = self.add_weight(shape=shape[-1:], initializer="random_normal")

    def call(self, x):
        return x + self.bias


def rsign(x):
    return larq.quantizers.SteSign()(Bias()(x))


def rprelu(x):
    slopes = tf.keras.initializers.RandomUniform(0.1, 0.5)
    return Bias()(layers.PReLU(slopes, shared_axes=[1, 2])(Bias()(x)))


def react_net(width=32):
    image = layers.Input((32, 32, 3))
    x = layers.Conv2D(width, 3, strides=2, use_bias=False)(layers.ZeroPadding2D(1)(image))
    x = layers.BatchNormalization()(x)
    for channels, copies, stride in ((width, 2, 1), (2 * width, 2, 2), (4 * width, 1, 1)):
        shortcut = layers.AvgPool2D()(x) if stride > 1 else x
        y = layers.BatchNormalization()(sign_conv(channels, 3, rsign(x), stride))
        x = rprelu(layers.Add()([y, shortcut]))
        signs = rsign(x)
        parts = [
            layers.Add()([layers.BatchNormalization()(sign_conv(channels, 1, signs)), x])
            for _ in range(copies)
        ]
        x = rprelu(layers.Concatenate()(parts) if copies > 1 else parts[0])
    return tf.keras.Model(image, layers.Dense(10)(layers.GlobalAvgPool2D()(x)))


def xnor_net():
    image = layers.Input((32, 32, 3))
    x = layers.Conv2D(32, 5)(layers.ZeroPadding2D(2)(image))
    x = layers.MaxPool2D()(layers.ReLU()(layers.BatchNormalization()(x)))
    for filters, size, pool in ((64, 3, True), (64, 3, False), (128, 1, False)):
        x = larq.quantizers.SteSign()(layers.BatchNormalization()(x))
        x = larq.layers.QuantConv2D(
            filters,
            size,
            kernel_quantizer="magnitude_aware_sign",
            bias_initializer="random_normal",
        )(layers.ZeroPadding2D(size // 2)(x))
        x = layers.ReLU()(x)
        x = layers.MaxPool2D()(x) if pool else x
    x = layers.AvgPool2D(8)(layers.Conv2D(10, 1)(x))
    return tf.keras.Model(image, layers.Flatten()(x))


def two_values(shape, dtype=None):
    """Draws weights as AdaBin has them: two numbers around a centre in each channel."""
    centre, spread = np.random.uniform(0.1, 0.5, (2, shape[-1]))
    return tf.constant(centre + spread * np.random.choice([-1, 1], shape), dtype)


def ada_bin(padding="same"):
    image = layers.Input((32, 32, 3))
    x = layers.Conv2D(32, 3, padding="same")(image)
    x = layers.BatchNormalization()(x)
    for _ in range(2):
        x = larq.quantizers.SteSign()((x - 0.25) / 0.75) * 0.75 + 0.25
        x = layers.Conv2D(64, 3, padding=padding, use_bias=False, kernel_initializer=two_values)(x)
        x = layers.BatchNormalization()(x)
    return tf.keras.Model(image, layers.Dense(10)(layers.GlobalAvgPool2D()(x)))


def brevitas():
    image = layers.Input((32, 32, 3))
    x = layers.BatchNormalization()(layers.Conv2D(32, 3, padding="same")(image))
    x = layers.BatchNormalization()(sign_conv(64, 3, larq.quantizers.SteSign()(x)))
    x = sign_conv(64, 3, larq.quantizers.SteSign()(layers.MaxPool2D()(x)), 2)
    x = larq.quantizers.SteSign()(layers.BatchNormalization()(x))
    x = larq.layers.QuantConv2D(64, 3, kernel_quantizer="ste_sign", use_bias=False)(x)
    x = layers.GlobalAvgPool2D()(layers.BatchNormalization()(x))
    return tf.keras.Model(image, layers.Dense(10)(x))


TWINS = {
    "AdaBin": ada_bin,
    "AdaBin without padding": lambda: ada_bin("valid"),
    "Bi-Real-18": bireal18,
    "Brevitas": brevitas,
    "MLP": mlp,
    "keywords": keywords,
    "ReActNet": react_net,
    "XNOR-Net": xnor_net,
}


def with_random_statistics(make):
    """Makes a twin with the statistics of a trained network; they are the same in every run."""
    tf.keras.utils.set_random_seed(1)
    model = make()
    for layer in model.layers:
        if isinstance(layer, layers.BatchNormalization):
            layer.set_weights([np.random.uniform(0.5, 1.5, w.shape) for w in layer.get_weights()])
    return model
