"""Weights that larq wrote are read in Keras 3."""

import numpy as np
import pytest

from tests.converter.frameworks import require_keras

require_keras()

import keras  # noqa: E402
import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

import larq_engine.keras as lq  # noqa: E402


def make(module, frame):
    """Makes the same model with larq or larq_engine.keras."""
    binary = {
        "input_quantizer": "ste_sign",
        "kernel_quantizer": "ste_sign",
        "kernel_constraint": "weight_clip",
        "use_bias": False,
    }
    image = frame.layers.Input((12, 12, 3))
    x = frame.layers.Conv2D(16, 3)(image)
    x = frame.layers.BatchNormalization()(x)
    y = module.layers.QuantConv2D(16, 3, padding="same", pad_values=1.0, **binary)(x)
    x = frame.layers.Add()([x, frame.layers.BatchNormalization(scale=False)(y)])
    x = module.layers.QuantDepthwiseConv2D(
        3, depthwise_quantizer="magnitude_aware_sign", depthwise_constraint="weight_clip"
    )(x)
    x = frame.layers.BatchNormalization()(x)
    x = module.layers.QuantSeparableConv2D(8, 3, pointwise_quantizer="ste_tern")(x)
    x = frame.layers.Flatten()(x)
    x = module.layers.QuantDense(10, **binary)(x)
    return frame.models.Model(image, frame.layers.Activation("softmax")(x))


def shake(model, rng):
    """Changes all weights from their initial values."""
    weights = [weight + rng.uniform(0.1, 0.5, weight.shape) for weight in model.get_weights()]
    model.set_weights(weights)


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [
        *((kind, suffix) for kind in ("weights", "model") for suffix in ("h5", "hdf5")),
        ("weights", "weights.h5"),
        ("weights, quantized", "h5"),
        ("weights, quantized", "weights.h5"),
    ],
)
@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file:UserWarning")
def test_files_of_larq(tmp_path, rng, kind, suffix):
    theirs = make(larq, tf.keras)
    shake(theirs, rng)
    path = tmp_path / f"larq.{suffix}"
    with larq.context.quantized_scope(kind == "weights, quantized"):
        (theirs.save if kind == "model" else theirs.save_weights)(path)
    ours = make(lq, keras)
    ours.load_weights(path)
    x = rng.uniform(-1, 1, (4, 12, 12, 3)).astype(np.float32)
    np.testing.assert_allclose(ours(x), theirs(x), rtol=1e-5, atol=1e-6)
    if kind != "weights, quantized":
        for got, expected in zip(ours.get_weights(), theirs.get_weights(), strict=True):
            np.testing.assert_array_equal(got, expected)


def test_weights_in_memory(rng):
    theirs, ours = make(larq, tf.keras), make(lq, keras)
    shake(theirs, rng)
    ours.set_weights(theirs.get_weights())
    x = rng.uniform(-1, 1, (4, 12, 12, 3)).astype(np.float32)
    np.testing.assert_allclose(ours(x), theirs(x), rtol=1e-5, atol=1e-6)


def test_a_file_of_another_model(tmp_path, rng):
    theirs = tf.keras.Sequential([larq.layers.QuantDense(3, input_shape=(4,))])
    theirs.save_weights(tmp_path / "larq.h5")
    with pytest.raises(ValueError, match="layer"):
        make(lq, keras).load_weights(tmp_path / "larq.h5")
