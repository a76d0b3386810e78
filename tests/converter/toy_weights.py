"""Weights and images for the toy models, such that results can be compared.

Rounding must push no value over the place where its sign or its int8 value changes. Float models
get batch norms that keep off it, as the models of larq_zoo do; in quantization-aware ones
everything is a whole number of quantization steps and a quarter.
"""

import functools
from typing import Any

import numpy as np
import tensorflow as tf

from benchmarks.zoo_models import prepare
from tests.converter import toy_models

IMAGES = 4
_STEP = 2 * toy_models.RANGE / 255


@functools.cache
def build(name: str) -> tuple[Any, np.ndarray]:
    """Builds a model with weights, and images for it."""
    tf.keras.utils.set_random_seed(1)
    model = toy_models.BUILDERS[name]()
    rng = np.random.default_rng(1)
    shape = (IMAGES, *model.input_shape[1:])
    if name.startswith("int8"):
        images = _quarters(rng.integers(-40, 40, shape))
        for layer in model.layers:
            if isinstance(layer, tf.keras.layers.BatchNormalization):
                _draw_steps(layer, rng)
        return model, images
    if name == "sign":  # this model has nothing that could be rounded
        return model, rng.choice([-1, -0.5, 0.5, 1], shape).astype(np.float32)
    images = rng.uniform(-1, 1, shape).astype(np.float32)
    prepare(model, images)
    return model, images


def _quarters(steps: np.ndarray) -> np.ndarray:
    return (_STEP * (steps + 0.25)).astype(np.float32)


def _draw_steps(layer: Any, rng: np.random.Generator) -> None:
    """Sets a batch norm that turns dot products, whole numbers, into steps and a quarter."""
    channels = layer.gamma.shape
    gamma = _STEP * rng.choice([-2, -1, 1, 2], channels)
    mean, variance = np.zeros(channels), np.full(channels, 1 - layer.epsilon)
    layer.set_weights([gamma, _quarters(rng.integers(-9, 9, channels)), mean, variance])
