"""A network for spoken keywords: ten words in the voices of espeak-ng, a program of Debian's.

Images are log-mel spectrograms of a second: 32 moments of 32 bands of frequencies.
"""

import itertools
import math
import subprocess
from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf
from published.digits import Part
from published.layers import binary_conv, centre, conv, image, layers, norm, scaled

WORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
_ACCENTS = ("en-us", "en-gb", "en-gb-scotland", "en-029")
# Of espeak-ng's speakers these are trained with, and those are held out.
_TRAINING = ("m1", "m2", "m3", "m7", "f1", "f2", "f5", "croak")
_HELD_OUT = ("m4", "f3", "f4")
_TIMES = 4  # that each says each word in each accent, at another speed, pitch and loudness of noise

_RATE = 22_050  # of espeak-ng's sounds, which come as a WAV file
_HEADER = 44  # bytes before its samples
_WINDOW = 1024
_SIZE = 32


def network(width: float = 1) -> Any:
    start = image(_SIZE, 1)
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
    """To train with, and of other speakers, who are held out."""
    if (size, channels) != (_SIZE, 1):
        raise ValueError(f"expected {_SIZE}x{_SIZE} of 1 channel, got {size} and {channels}")
    rng = np.random.default_rng(1)
    return _speak(_TRAINING, rng), _speak(_HELD_OUT, rng)


def _speak(speakers: tuple[str, ...], rng: np.random.Generator) -> Part:
    images, labels = [], []
    said = itertools.product(range(_TIMES), enumerate(WORDS), _ACCENTS, speakers)
    for _, (label, word), accent, speaker in said:
        speed, pitch = rng.integers(120, 200), rng.integers(30, 70)  # words a minute; of 0 to 99
        options = ("-v", f"{accent}+{speaker}", "-s", str(speed), "-p", str(pitch))
        command = ("espeak-ng", "--stdout", *options, word)
        spoken = subprocess.run(command, check=True, capture_output=True).stdout
        sound = np.frombuffer(spoken, np.int16, offset=_HEADER) / 32768
        images.append(spectrogram(_in_noise(sound, rng)))
        labels.append(label)
    order = rng.permutation(len(labels))
    return Part(np.stack(images)[order], np.array(labels)[order])


def _in_noise(sound: Any, rng: np.random.Generator) -> Any:
    """A second with the word at some place of it, in white noise of 10 to 30 dB less."""
    sound = sound[:_RATE]
    begin = rng.integers(0, _RATE - len(sound) + 1)
    second = np.pad(sound, (begin, _RATE - len(sound) - begin))
    level = np.sqrt(np.mean(sound**2)) * 10 ** (-rng.uniform(10, 30) / 20)
    return second + level * rng.standard_normal(_RATE)


def spectrogram(second: Any) -> Any:
    """Decibels of each band, 60 of them up to the loudest, as bytes: [moment, band, 1]."""
    starts = np.linspace(0, _RATE - _WINDOW, _SIZE).astype(int)
    windows = second[starts[:, None] + np.arange(_WINDOW)] * np.hanning(_WINDOW)
    power = np.abs(np.fft.rfft(windows)) ** 2
    decibels = 10 * np.log10(power @ _bands() + 1e-9)
    bytes_ = np.rint(255 * (1 + (decibels - decibels.max()) / 60)).clip(0, 255)
    return bytes_.astype(np.float32)[..., None]


@cache
def _bands() -> Any:
    """Weights of frequencies: triangles, as wide as their distance on the mel scale."""
    most = 2595 * math.log10(1 + _RATE / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, most, _SIZE + 2) / 2595) - 1)
    frequency = np.fft.rfftfreq(_WINDOW, 1 / _RATE)[:, None]
    rising = (frequency - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - frequency) / (edges[2:] - edges[1:-1])
    return np.minimum(rising, falling).clip(0)
