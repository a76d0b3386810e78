"""Compares layers with larq's own, with the same weights: values and gradients."""

import logging

import numpy as np
import pytest

from tests.converter.frameworks import require_keras

require_keras()

import keras  # noqa: E402
import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

import larq_engine.keras as lq  # noqa: E402
from tests.keras.cases import LAYERS  # noqa: E402

BINARY = {"input_quantizer": "ste_sign", "kernel_quantizer": "ste_sign"}


def value_and_gradients(layer, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = layer(x)
    weights = layer.trainable_weights
    if isinstance(layer, keras.layers.Layer):
        weights = [weight.value for weight in weights]
    upstream = tf.cos(tf.range(tf.size(y), dtype=tf.float32))
    gradients = tape.gradient(y, [x, *weights], output_gradients=tf.reshape(upstream, y.shape))
    return [y.numpy(), *(gradient.numpy() for gradient in gradients)]


@pytest.mark.parametrize(("name", "positional", "arguments", "shape"), LAYERS)
def test_values_and_gradients_are_larqs(rng, name, positional, arguments, shape):
    x = rng.uniform(-1.5, 1.5, shape).astype(np.float32)
    layers = [getattr(module.layers, name)(*positional, **arguments) for module in (lq, larq)]
    for layer in layers:
        layer.build(shape)
    weights = [
        rng.uniform(-1.5, 1.5, weight.shape).astype(np.float32)
        for weight in layers[1].get_weights()
    ]
    for layer in layers:
        layer.set_weights(weights)
    got, expected = (value_and_gradients(layer, x) for layer in layers)
    assert len(got) == len(expected) == 2 + len(weights)
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    # The weights themselves stay latent.
    for ours, given in zip(layers[0].get_weights(), weights, strict=True):
        np.testing.assert_array_equal(ours, given)


@pytest.mark.parametrize(("name", "positional", "arguments", "shape"), LAYERS)
def test_shapes_and_configurations(rng, name, positional, arguments, shape):
    layer = getattr(lq.layers, name)(*positional, **arguments)
    given = keras.Input(shape[1:])
    symbolic = layer(given)
    again = type(layer).from_config(layer.get_config())
    again.build(shape)
    again.set_weights(layer.get_weights())
    x = rng.uniform(-1.5, 1.5, shape).astype(np.float32)
    np.testing.assert_array_equal(layer(x), again(x))
    assert symbolic.shape[1:] == layer(x).shape[1:]


def test_a_quantizer_as_activation(rng):
    plain, signs = (lq.layers.QuantDense(4, activation=name) for name in (None, "ste_sign"))
    x = rng.uniform(-1, 1, (5, 3)).astype(np.float32)
    signs.build(x.shape)
    plain.build(x.shape)
    plain.set_weights(signs.get_weights())
    np.testing.assert_array_equal(signs(x), lq.quantizers.SteSign()(plain(x)))
    again = lq.layers.QuantDense.from_config(signs.get_config())
    assert type(again.activation) is lq.quantizers.SteSign


@pytest.mark.parametrize("pad_values", [0.0, 1.0])
def test_sizes_that_are_open(rng, pad_values):
    layer = lq.layers.QuantConv2D(4, 3, 2, "same", pad_values=pad_values, **BINARY)
    given = keras.Input((None, None, 2))
    model = keras.Model(given, layer(given))
    for size in (5, 8):
        x = rng.uniform(-1, 1, (1, size, size + 1, 2)).astype(np.float32)
        got = tf.function(model, reduce_retracing=True)(tf.constant(x))
        np.testing.assert_array_equal(got, layer(x))


@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
@pytest.mark.filterwarnings("ignore:.*HDF5 file:UserWarning")
def test_models_in_files(tmp_path, rng, name):
    model = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            lq.layers.QuantConv2D(
                4,
                3,
                padding="same",
                pad_values=1.0,
                input_quantizer=lq.quantizers.SteSign(clip_value=0.5),
                kernel_quantizer="magnitude_aware_sign",
                kernel_constraint=lq.constraints.WeightClip(2.0),
                activation="leaky_tanh",
            ),
            lq.layers.QuantDepthwiseConv2D(3, depthwise_quantizer="ste_tern"),
            lq.layers.QuantSeparableConv2D(5, 3, pointwise_quantizer="ste_sign"),
            keras.layers.Flatten(),
            lq.layers.QuantDense(2, kernel_quantizer="ste_sign", kernel_constraint="weight_clip"),
        ]
    )
    model.save(tmp_path / name)
    again = keras.models.load_model(tmp_path / name, compile=False)
    x = rng.uniform(-1, 1, (2, 8, 8, 3)).astype(np.float32)
    np.testing.assert_array_equal(again(x), model(x))
    assert again.layers[0].input_quantizer.clip_value == 0.5
    assert again.layers[0].kernel_constraint.clip_value == 2.0
    assert again.layers[0].kernel.precision == 1


def test_kernels_tell_their_precision():
    for quantizer, precision in [("ste_sign", 1), (lq.quantizers.NoOp(1), 1), ("ste_tern", 2)]:
        layer = lq.layers.QuantDense(3, kernel_quantizer=quantizer)
        layer.build((2, 4))
        assert layer.kernel.precision == precision
    layer = lq.layers.QuantDense(3)
    layer.build((2, 4))
    assert layer.kernel.precision is None
    assert not lq.optimizers.Bop.is_binary_variable(layer.kernel)


def test_binary_weights_without_a_constraint(caplog):
    with caplog.at_level(logging.WARNING):
        lq.layers.QuantDense(3, kernel_quantizer="ste_sign", kernel_constraint="weight_clip")
        lq.layers.QuantDense(3, kernel_quantizer=lq.quantizers.NoOp(1))
        lq.layers.QuantDense(3, kernel_quantizer="ste_tern")
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        lq.layers.QuantDense(3, kernel_quantizer="ste_sign", name="last")
    assert "'last': binary weights without kernel_constraint" in caplog.text


def test_causal_padding_with_a_number():
    with pytest.raises(ValueError, match="expected pad_values=0 with causal padding, got 1"):
        lq.layers.QuantConv1D(3, 3, padding="causal", pad_values=1.0)
