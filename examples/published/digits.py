"""Loads scikit-learn's 1,797 handwritten digits of 8x8 pixels, enlarged."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from sklearn.datasets import load_digits

_TRAINING = 1000


@dataclass(frozen=True)
class Part:
    """Images as bytes in float32, 0 to 255, and their labels."""

    images: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64]


def load(size: int, channels: int) -> tuple[Part, Part]:
    """Returns 1,000 to train with, and 797 that are held out: the same ones for any size."""
    images, labels = load_digits(return_X_y=True)
    larger = tf.image.resize(images.reshape(-1, 8, 8, 1) * (255 / 16), (size, size)).numpy()
    larger = np.rint(larger).astype(np.float32).repeat(channels, axis=-1)
    order = np.random.default_rng(1).permutation(len(labels))
    training, held_out = order[:_TRAINING], order[_TRAINING:]
    return Part(larger[training], labels[training]), Part(larger[held_out], labels[held_out])
