"""Keras models with larq's DoReFa quantizers become layers of few bits that equal Keras'."""

import numpy as np
import pytest

import larq_engine
from tests.converter.frameworks import require_keras

require_keras()

import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

keras = tf.keras


def _activations(bits):
    return larq.quantizers.DoReFa(k_bit=bits)


def _weights(bits):
    return "ste_sign" if bits == 1 else larq.quantizers.DoReFa(k_bit=bits, mode="weights")


def _convert_and_compare(layers, shape, expected, **options):
    """Converts a model of these layers, and compares its results with Keras' and its report."""
    model = keras.Sequential([keras.Input(shape), *layers])
    rng = np.random.default_rng(1)
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            values = [rng.uniform(0.5, 1.5, w.shape) for w in layer.get_weights()]
            layer.set_weights(values)
    converted = larq_engine.convert_keras_model(model, **options)
    found = [
        (layer.became, layer.input_bits, layer.weight_bits) for layer in converted.report.layers
    ]
    assert found == expected
    # Inputs are multiples of 1/64, so that no product with 3, 7 or 15 is next to a half.
    x = rng.integers(-32, 96, (3, *shape)).astype(np.float32) / 64
    got = larq_engine.Interpreter(converted).predict(x)
    np.testing.assert_allclose(got, model(x, training=False).numpy(), rtol=0, atol=1e-4)
    return converted


@pytest.fixture(autouse=True)
def _same_weights_in_every_run():
    keras.utils.set_random_seed(1)


@pytest.mark.parametrize(
    ("bits", "bits_weights"), [(2, 1), (3, 1), (4, 1), (2, 2), (1, 2), (1, 3), (1, 4)]
)
@pytest.mark.parametrize("padding", ["valid", "same"])
def test_convolutions(bits, bits_weights, padding):
    layer = larq.layers.QuantConv2D(
        24, 3, strides=(1, 2), padding=padding,
        input_quantizer="ste_sign" if bits == 1 else _activations(bits),
        kernel_quantizer=_weights(bits_weights), use_bias=True,
    )  # fmt: skip
    layers = [layer, keras.layers.BatchNormalization()]
    _convert_and_compare(layers, (9, 10, 40), [("binary", bits, bits_weights)])


@pytest.mark.parametrize("bits", [2, 3])
def test_dense_layers(bits):
    layers = [
        keras.layers.Flatten(),
        larq.layers.QuantDense(16, input_quantizer=_activations(bits), kernel_quantizer="ste_sign"),
    ]
    _convert_and_compare(layers, (4, 5, 40), [("binary", bits, 1)])


def test_a_network_as_dorefa_net():
    """No value between its layers is as near to a half as batch norm and pooling round."""
    layers = []
    for filters in (32, 48):
        layers += [
            larq.layers.QuantConv2D(
                filters, 3, padding="same", input_quantizer=_activations(2),
                kernel_quantizer="magnitude_aware_sign", use_bias=False,
            ),
            keras.layers.BatchNormalization(scale=False),
            keras.layers.MaxPool2D(3, 2, padding="same"),
        ]  # fmt: skip
    _convert_and_compare(layers, (12, 12, 40), [("binary", 2, 1)] * 2)


def test_many_bits_stay_in_float():
    layers = [larq.layers.QuantConv2D(
        24, 3, input_quantizer=_activations(3), kernel_quantizer=_weights(3)
    )]  # fmt: skip
    converted = _convert_and_compare(layers, (8, 8, 40), [("float", 32, 32)])
    assert "9 products of planes" in converted.report.layers[0].reason


def test_files_for_lce_keep_float_layers():
    layers = [larq.layers.QuantConv2D(
        24, 3, input_quantizer=_activations(2), kernel_quantizer="ste_sign"
    )]  # fmt: skip
    _convert_and_compare(layers, (8, 8, 40), [("float", 32, 32)], compatibility="lce")
