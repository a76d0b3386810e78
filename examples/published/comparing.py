"""Trains a network, converts it, and compares the files' results with Keras and with float."""

import contextlib
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import tensorflow as tf
from published.digits import Part
from timing import measure, open_host, open_ours

import larq_engine as lce

_BATCH = 50
_SAMPLES = 100
_ROUNDS = 30


@dataclass(frozen=True)
class Files:
    """A network converted by TensorFlow's own converter, in float and int8, and by ours."""

    theirs: bytes
    theirs_int8: bytes
    ours: bytes
    ours_int8: bytes

    def sizes(self) -> list[int]:
        return [len(content) for content in astuple(self)]

    def milliseconds(self, image: Any, threads: int) -> list[float]:
        """Returns the milliseconds of one image for each file."""
        theirs = [open_host(content, threads) for content in (self.theirs, self.theirs_int8)]
        ours = [open_ours(content, threads) for content in (self.ours, self.ours_int8)]
        return measure([*theirs, *ours], image, _ROUNDS)


@dataclass(frozen=True)
class Accuracy:
    """Shares of held-out images that are right, and of those whose class is the same as Keras'."""

    keras: float
    theirs_int8: float
    ours: float
    ours_int8: float
    like_keras: float


def train(model: Any, part: Part, epochs: int, rate: float) -> None:
    optimizer = tf.keras.optimizers.Adam(
        tf.keras.optimizers.schedules.CosineDecay(rate, epochs * len(part.labels) // _BATCH)
    )
    model.compile(optimizer, "sparse_categorical_crossentropy")
    model.fit(part.images, part.labels, batch_size=_BATCH, epochs=epochs, verbose=0)


def make_up_norms(model: Any) -> None:
    """Sets statistics like those of a training, so that files keep all parts of a batch norm.

    A norm's result is 0 where its input is half a step from a whole number. Dot products of signs
    are whole numbers, those of bytes with signs are multiples of 1/255 here, and floats add them up
    with far smaller errors. So all correct programs see the same signs.
    """
    rng = np.random.default_rng(1)
    for layer in model.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            shape = layer.gamma.shape
            gamma, beta = rng.uniform(0.5, 1.5, shape), rng.normal(0, 1, shape)
            variance = 64 * rng.uniform(0.5, 1.5, shape)
            zero = np.rint(rng.normal(0, 4, shape)) + 0.5
            mean = zero + beta * np.sqrt(variance + layer.epsilon) / gamma
            layer.set_weights([gamma, beta, mean, variance])


def convert(model: Any, images: Any) -> Files:
    samples = [[image[None]] for image in images[:_SAMPLES]]
    ours = [lce.convert_keras_model(model, representative_dataset=s) for s in (None, samples)]
    with _stored_weights(model):
        theirs = [convert_with_tensorflow(model, s) for s in (None, samples)]
    return Files(*theirs, *ours)


def convert_with_tensorflow(model: Any, samples: Any = None) -> bytes:
    """Converts to float or, with samples, to int8."""
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    if samples is not None:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: iter(samples)
    return bytes(converter.convert())


@contextlib.contextmanager
def _stored_weights(model: Any) -> Iterator[None]:
    """Stores quantized weights in the model during the block.

    TensorFlow's converter computes quantizers of small weights only; it would leave the others to
    each run.
    """
    kept = [
        (layer.kernel, layer.kernel.quantizer, layer.kernel.latent_variable.numpy())
        for layer in model.layers
        if getattr(getattr(layer, "kernel", None), "quantizer", None) is not None
    ]
    for kernel, quantizer, latent in kept:
        kernel.assign(quantizer(latent))
        kernel.quantizer = None
    yield
    for kernel, quantizer, latent in kept:
        kernel.assign(latent)
        kernel.quantizer = quantizer


def judge(model: Any, files: Files, part: Part) -> Accuracy:
    expected = model.predict(part.images, verbose=0).argmax(axis=1)
    found = [
        lce.Interpreter(content).predict(part.images).argmax(axis=1)
        for content in (files.theirs_int8, files.ours, files.ours_int8)
    ]
    right = [float(np.mean(classes == part.labels)) for classes in (expected, *found)]
    return Accuracy(*right, float(np.mean(found[1] == expected)))
