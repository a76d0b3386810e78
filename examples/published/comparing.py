"""Trains a network, converts it, and compares what comes out with Keras and with float."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from published.digits import Part
from timing import measure, open_float, open_ours

import larq_engine as lce

_BATCH = 50
_SAMPLES = 100
_ROUNDS = 30


@dataclass(frozen=True)
class Files:
    """A network as TensorFlow's own converter writes it, as ours does, and with int8 layers."""

    in_float: bytes
    ours: bytes
    int8: bytes

    def sizes(self) -> list[int]:
        return [len(content) for content in (self.in_float, self.ours, self.int8)]

    def milliseconds(self, image: Any, threads: int) -> list[float]:
        """Of one image."""
        ours = [open_ours(content, threads) for content in (self.ours, self.int8)]
        return measure([open_float(self.in_float, threads), *ours], image, _ROUNDS)


@dataclass(frozen=True)
class Accuracy:
    """Shares of held-out images that are right, and how many have the class that Keras says."""

    keras: float
    ours: float
    int8: float
    like_keras: float


def train(model: Any, part: Part, epochs: int, rate: float) -> None:
    optimizer = tf.keras.optimizers.Adam(
        tf.keras.optimizers.schedules.CosineDecay(rate, epochs * len(part.labels) // _BATCH)
    )
    model.compile(optimizer, "sparse_categorical_crossentropy")
    model.fit(part.images, part.labels, batch_size=_BATCH, epochs=epochs, verbose=0)


def make_up_norms(model: Any) -> None:
    """Statistics as of a training, so that nothing of a batch norm is left out of the files."""
    rng = np.random.default_rng(1)
    for layer in model.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            gamma, beta, mean, variance = layer.get_weights()
            drawn = [rng.uniform(0.5, 1.5, gamma.shape), rng.normal(0, 1, beta.shape)]
            drawn += [rng.normal(0, 4, mean.shape), 64 * rng.uniform(0.5, 1.5, variance.shape)]
            layer.set_weights(drawn)


def convert(model: Any, images: Any) -> Files:
    in_float = tf.lite.TFLiteConverter.from_keras_model(model).convert()
    samples = [[image[None]] for image in images[:_SAMPLES]]
    int8 = lce.convert_keras_model(model, representative_dataset=samples)
    return Files(bytes(in_float), lce.convert_keras_model(model), int8)


def judge(model: Any, files: Files, part: Part) -> Accuracy:
    expected = model.predict(part.images, verbose=0).argmax(axis=1)
    found = [
        lce.Interpreter(content).predict(part.images).argmax(axis=1)
        for content in (files.ours, files.int8)
    ]
    right = [float(np.mean(classes == part.labels)) for classes in (expected, *found)]
    return Accuracy(*right, float(np.mean(found[0] == expected)))
