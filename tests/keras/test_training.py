"""A network of larq_engine.keras learns like one of larq, and converts with all its binary layers.

The data are the 1,797 digits of 8x8 pixels in scikit-learn.
"""

import numpy as np
import pytest

from tests.converter.frameworks import require_keras

require_keras()
pytest.importorskip("sklearn", reason="scikit-learn, for its digits, is not installed here")

import keras  # noqa: E402
import larq  # noqa: E402
import tensorflow as tf  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402

import larq_engine  # noqa: E402
import larq_engine.keras as lq  # noqa: E402

SEEDS = (1, 2, 3)
EPOCHS = 6


@pytest.fixture(scope="module")
def digits():
    """Returns images and labels; the last 397 are for tests."""
    images, labels = load_digits(return_X_y=True)
    images = (images.reshape(-1, 8, 8, 1) / 8 - 1).astype(np.float32)
    return images[:1400], labels[:1400], images[1400:], labels[1400:]


def train(module, frame, data, seed):
    frame.utils.set_random_seed(seed)
    binary = {
        "input_quantizer": "ste_sign",
        "kernel_quantizer": "ste_sign",
        "kernel_constraint": "weight_clip",
        "use_bias": False,
    }
    model = frame.Sequential(
        [
            frame.layers.Input((8, 8, 1)),
            frame.layers.Conv2D(32, 3, padding="same", use_bias=False),
            frame.layers.BatchNormalization(),
            module.layers.QuantConv2D(32, 3, padding="same", pad_values=1.0, **binary),
            frame.layers.MaxPooling2D(),
            frame.layers.BatchNormalization(),
            module.layers.QuantConv2D(32, 3, padding="same", **binary),
            frame.layers.BatchNormalization(),
            frame.layers.Flatten(),
            module.layers.QuantDense(10, **binary),
            frame.layers.BatchNormalization(),
            frame.layers.Activation("softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    images, labels, *_ = data
    model.fit(images, labels, batch_size=50, epochs=EPOCHS, verbose=0)
    return model


def accuracy(scores, data):
    return float(np.mean(np.argmax(scores, axis=1) == data[3]))


@pytest.mark.slow
def test_digits_are_learned_as_with_larq(digits):
    ours = [train(lq, keras, digits, seed) for seed in SEEDS]
    theirs = [train(larq, tf.keras, digits, seed) for seed in SEEDS]
    got, expected = (
        np.array([accuracy(model.predict(digits[2], verbose=0), digits) for model in models])
        for models in (ours, theirs)
    )
    print(f"accuracy of seeds {SEEDS}: {got}, with larq {expected}")
    assert got.min() > 0.8
    # Seeds differ by 3 points from each other.
    assert abs(got.mean() - expected.mean()) < 0.03
    converted = larq_engine.convert_keras_model(ours[0])
    assert converted.report.count("binary") == 3
    scores = larq_engine.Interpreter(converted).predict(digits[2])
    np.testing.assert_allclose(scores, ours[0].predict(digits[2], verbose=0), atol=1e-4)
