"""Dense layers of binary weights that read a uint8 image use the bits of its bytes as planes."""

import numpy as np
import pytest

import larq_engine
from tests.converter.frameworks import require_keras

require_keras()

import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

keras = tf.keras

# Layers that normalise images, computed in Keras' float32.
_NORMALISED = {
    "as it is": [],
    "0 to 1": [keras.layers.Rescaling(1 / 255)],
    "-1 to 1": [keras.layers.Rescaling(1 / 127.5, -1.0)],
    "turned": [keras.layers.Rescaling(-1 / 255, 1.0)],
    "mean and deviation": [
        keras.layers.Rescaling(1 / 255),
        keras.layers.Normalization(mean=0.1307, variance=0.3081**2),
    ],
}


@pytest.fixture(autouse=True)
def _same_weights_in_every_run():
    keras.utils.set_random_seed(1)


def _dense(units, **options):
    return larq.layers.QuantDense(units, kernel_quantizer="ste_sign", use_bias=False, **options)


def _convert(layers, shape=(7, 6, 3)):
    model = keras.Sequential([keras.Input(shape, dtype="uint8"), *layers])
    rng = np.random.default_rng(1)
    for layer in model.layers:
        if isinstance(layer, keras.layers.BatchNormalization):
            layer.set_weights([rng.uniform(0.5, 1.5, w.shape) for w in layer.get_weights()])
    return model, larq_engine.convert_keras_model(model)


def _became(converted):
    return [(layer.became, layer.input_bits) for layer in converted.report.layers]


@pytest.mark.parametrize(("shape", "words"), [((28, 28, 1), 25), ((5, 5, 40), 32)])
def test_images_of_few_channels_are_flattened_before_they_are_bits(shape, words):
    """A pixel of fewer channels than a word has bits would still fill a word in each filter."""
    _, converted = _convert([keras.layers.Flatten(), _dense(1024)], shape)
    assert _became(converted) == [("binary", 8)]
    assert len(converted) < 1024 * words * 4 + 20_000


@pytest.mark.parametrize("normalised", _NORMALISED)
def test_layers_of_every_byte(normalised):
    """Keras sums floats and the engine whole numbers: the difference is Keras' rounding."""
    layers = [*_NORMALISED[normalised], keras.layers.Flatten(), _dense(40)]
    model, converted = _convert(layers)
    assert _became(converted) == [("binary", 8)]
    images = np.random.default_rng(2).integers(0, 256, (3, 7, 6, 3)).astype(np.uint8)
    images.ravel()[:256] = np.arange(256)[: images.size]
    got = larq_engine.Interpreter(converted).predict(images)
    expected = model(images, training=False).numpy()
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_whole_numbers_are_equal():
    """Sums of bytes are exact in Keras, too."""
    model, converted = _convert([keras.layers.Flatten(), _dense(40)], (28, 28))
    images = np.random.default_rng(2).integers(0, 256, (3, 28, 28)).astype(np.uint8)
    got = larq_engine.Interpreter(converted).predict(images)
    np.testing.assert_array_equal(got, model(images, training=False).numpy())


def test_signs_that_follow_are_thresholds():
    layers = [
        keras.layers.Rescaling(1 / 256),  # exact, and so are all sums
        keras.layers.Flatten(),
        _dense(70),
        keras.layers.BatchNormalization(),
        _dense(10, input_quantizer="ste_sign"),
    ]
    model, converted = _convert(layers)
    assert [(row.input_bits, row.output_bits) for row in converted.report.layers] == [
        (8, 1),
        (1, 32),
    ]
    images = np.random.default_rng(2).integers(0, 256, (20, 7, 6, 3)).astype(np.uint8)
    got = larq_engine.Interpreter(converted).predict(images)
    np.testing.assert_array_equal(got, model(images, training=False).numpy())


def test_convolutions_of_bytes_stay_with_the_host():
    """Weights are used for many pixels, so the host's floats beat eight products of bits."""
    layer = larq.layers.QuantConv2D(16, 3, kernel_quantizer="ste_sign")
    _, converted = _convert([keras.layers.Rescaling(1 / 255), layer])
    assert _became(converted) == [("weights only", 32)]
    assert "8 products of planes" in converted.report.layers[0].reason


@pytest.mark.parametrize("values", ["channels differ", "not even"])
def test_other_values_of_bytes_stay_float(values):
    if values == "channels differ":
        before = keras.layers.Normalization(mean=[0.1, 0.2, 0.3], variance=[1.0, 2.0, 3.0])
    else:
        before = keras.layers.Lambda(lambda x: tf.square(tf.cast(x, tf.float32)))
    _, converted = _convert([before, keras.layers.Flatten(), _dense(40)])
    assert _became(converted) == [("weights only", 32)]
