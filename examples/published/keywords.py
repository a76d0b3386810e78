"""A network for spoken keywords, and its data: ten words in the voices of espeak-ng."""

import itertools
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
from published.digits import Part
from published.layers import binary_conv, centre, conv, image, layers, norm, scaled
from published.sounds import SIZE, WORDS, spectrogram
from published.speaking import RATE, as_samples, speak

_ACCENTS = ("en-us", "en-gb", "en-gb-scotland", "en-029")
# Speakers of espeak-ng to train with, and speakers that are held out.
_TRAINING = ("m1", "m2", "m3", "m7", "f1", "f2", "f5", "croak")
_HELD_OUT = ("m4", "f3", "f4")
_TIMES = 4  # times that each says each word in each accent, at another speed, pitch and noise


@dataclass(frozen=True)
class Sounds:
    """Seconds of 16-bit samples, and the labels of their words."""

    sounds: npt.NDArray[np.int16]
    labels: npt.NDArray[np.int64]


def network(width: float = 1) -> Any:
    start = image(SIZE, 1)
    x = norm(conv(centre(start), scaled(32, width), 3, strides=2))
    for filters in (64, 128):
        x = norm(binary_conv(x, scaled(filters, width), 3))
        x = layers.MaxPool2D()(x)
        x = layers.Add()([norm(binary_conv(x, scaled(filters, width), 3)), x])
    x = layers.GlobalAveragePooling2D()(layers.ReLU()(x))
    x = layers.Dense(len(WORDS), activation="softmax")(x)
    return tf.keras.Model(start, x, name="keywords")


@cache
def load(size: int, channels: int) -> tuple[Part, Part]:
    """Returns words to train with, and words of other speakers, who are held out."""
    if (size, channels) != (SIZE, 1):
        raise ValueError(f"expected {SIZE}x{SIZE} of 1 channel, got {size} and {channels}")
    return _as_images(training_words()), _as_images(held_out_words())


@cache
def training_words() -> Sounds:
    return _speak(_TRAINING, np.random.default_rng(1))


@cache
def held_out_words() -> Sounds:
    return _speak(_HELD_OUT, np.random.default_rng(2))


def _as_images(words: Sounds) -> Part:
    return Part(np.stack([spectrogram(sound) for sound in words.sounds]), words.labels)


def _speak(speakers: tuple[str, ...], rng: np.random.Generator) -> Sounds:
    sounds, labels = [], []
    said = itertools.product(range(_TIMES), enumerate(WORDS), _ACCENTS, speakers)
    for _, (label, word), accent, speaker in said:
        speed, pitch = rng.integers(120, 200), rng.integers(30, 70)
        sound = speak(word, f"{accent}+{speaker}", speed, pitch)
        sounds.append(_in_noise(sound, rng))
        labels.append(label)
    order = rng.permutation(len(labels))
    return Sounds(np.stack(sounds)[order], np.array(labels)[order])


def _in_noise(sound: Any, rng: np.random.Generator) -> Any:
    """Returns a second with the word somewhere in it, in white noise that is 10 to 30 dB weaker."""
    sound = sound[:RATE]
    begin = rng.integers(0, RATE - len(sound) + 1)
    second = np.pad(sound, (begin, RATE - len(sound) - begin))
    level = np.sqrt(np.mean(sound**2)) * 10 ** (-rng.uniform(10, 30) / 20)
    return as_samples(second + level * rng.standard_normal(RATE))
