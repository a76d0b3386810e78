"""HEP-BNN's two networks, as its tables I and II have them, with weights drawn at random.

All convolutions are 3x3 and padded with 0, all poolings 2x2; no layer has a bias. All layers have
binary weights, and all but the first, which reads the image, binary inputs. Their steps are batch
norms here, and the sign is the next layer's; offsets are drawn, so that thresholds differ.
"""

from __future__ import annotations

import os
from typing import Any

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # larq is for Keras 2; read when TensorFlow is imported

import larq
import numpy as np
import tensorflow as tf

import larq_engine

Step = int | str

# A number is the channels of a convolution, or after "flatten" the outputs of a dense layer.
NETWORKS: dict[str, tuple[tuple[int, int, int], tuple[Step, ...]]] = {
    "fashion": (
        (28, 28, 1),
        (64, "pool", "step", 64, "pool", "step", "flatten", 2048, "step", 10),
    ),
    "cifar": (
        (32, 32, 3),
        (
            *(64, "step", 64, "pool", "step"),
            *(256, "step", 256, "pool", "step"),
            *(512, "step", 512, "pool", "step"),
            *("flatten", 1024, "step", 10),
        ),
    ),
}


def build(name: str) -> Any:
    """The network in Keras."""
    tf.keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)
    shape, steps = NETWORKS[name]
    model = tf.keras.Sequential([tf.keras.layers.InputLayer(shape, name="image")])
    for number, step in enumerate(steps):
        model.add(_layer(step, number, after="flatten" in steps[:number]))
    for layer in model.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            _draw(layer, rng)
    return model


def convert(name: str) -> larq_engine.ConvertedModel:
    """The network for the engine."""
    return larq_engine.convert_keras_model(build(name))


def _layer(step: Step, number: int, after: bool) -> Any:
    layers = tf.keras.layers
    if step == "pool":
        return layers.MaxPool2D(name=f"pool_{number}")
    if step == "step":
        return layers.BatchNormalization(name=f"step_{number}")
    if step == "flatten":
        return layers.Flatten(name=f"flatten_{number}")
    options: dict[str, Any] = {"kernel_quantizer": "ste_sign", "use_bias": False}
    options["kernel_constraint"] = "weight_clip"
    if number:
        options["input_quantizer"] = "ste_sign"
    if after:
        return larq.layers.QuantDense(step, name=f"dense_{number}", **options)
    return larq.layers.QuantConv2D(step, 3, padding="same", name=f"conv_{number}", **options)


def _draw(layer: Any, rng: np.random.Generator) -> None:
    """Offsets of a few counts: the sums that they are subtracted from have tens."""
    gamma, beta, mean, variance = layer.get_weights()
    mean = np.rint(rng.normal(0, 4, mean.shape))
    layer.set_weights([gamma, beta, mean, 64 * variance])
