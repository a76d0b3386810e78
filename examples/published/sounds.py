"""Words, and sounds as images: log-mel spectrograms of a second, 32 moments of 32 bands."""

import math
from functools import cache
from typing import Any

import numpy as np
from published.speaking import RATE

WORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
SIZE = 32
_WINDOW = 1024


def spectrogram(second: Any) -> Any:
    """Returns the decibels of each band, the loudest 60 of them, as bytes: [moment, band, 1]."""
    starts = np.linspace(0, RATE - _WINDOW, SIZE).astype(int)
    windows = second[starts[:, None] + np.arange(_WINDOW)] * np.hanning(_WINDOW)
    power = np.abs(np.fft.rfft(windows)) ** 2
    decibels = 10 * np.log10(power @ _bands() + 1e-9)
    bytes_ = np.rint(255 * (1 + (decibels - decibels.max()) / 60)).clip(0, 255)
    return bytes_.astype(np.float32)[..., None]


@cache
def _bands() -> Any:
    """Returns weights of frequencies: triangles as wide as their distance on the mel scale."""
    most = 2595 * math.log10(1 + RATE / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, most, SIZE + 2) / 2595) - 1)
    frequency = np.fft.rfftfreq(_WINDOW, 1 / RATE)[:, None]
    rising = (frequency - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - frequency) / (edges[2:] - edges[1:-1])
    return np.minimum(rising, falling).clip(0)
