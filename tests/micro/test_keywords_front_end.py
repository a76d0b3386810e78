"""The spectrogram in C has the bits of the one in Python, which differs from floats by rounding."""

import os
import subprocess
import sys

import numpy as np

from tests.micro.example_programs import (
    EXAMPLES,
    KEYWORDS,
    images_on_the_pc,
    imported_from_examples,
)

with imported_from_examples():
    from published import sounds


def _sounds():
    """Returns noise, tones, and what makes numbers as large as they get."""
    places, random = np.arange(sounds.LENGTH), np.random.default_rng(1)
    constant = [np.full(sounds.LENGTH, value) for value in (32767, -32768, 0)]
    squares = [np.where(places // half % 2, 32767, -32768) for half in (1, 2, 3, 11, 100, 512, 677)]
    noise = [random.normal(0, level, sounds.LENGTH) for level in (2, 30, 3000, 1e6)]
    tones = [2.0**bits * np.sin(places * 0.3) for bits in (10, 15)]
    halves = np.where(places < sounds.LENGTH // 2, noise[0], noise[-1])
    return _as_samples([*constant, *squares, *noise, *tones, halves])


def _faint_sounds():
    """Returns sounds whose quiet bands hold nothing but what rounding makes."""
    return _as_samples([np.ones(sounds.LENGTH), 16 * np.sin(np.arange(sounds.LENGTH) * 0.3)])


def _as_samples(every):
    return np.rint(np.stack(every)).clip(-32768, 32767).astype(np.int16)


def _in_floats(second):
    """Returns the bytes as textbooks define them: a Hann window, and triangles on the mel scale."""
    size = sounds.WINDOW
    hann = np.sin(np.pi * np.arange(size) / size) ** 2
    power = np.abs(np.fft.rfft(sounds.moments(second) * hann)) ** 2
    most = 2595 * np.log10(1 + sounds.RATE / 2 / 700)
    edges = 700 * (10 ** (np.linspace(0, most, sounds.SIZE + 2) / 2595) - 1)
    frequency = np.fft.rfftfreq(size, 1 / sounds.RATE)[:, None]
    rising = (frequency - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - frequency) / (edges[2:] - edges[1:-1])
    decibels = 10 * np.log10(power @ np.minimum(rising, falling).clip(0) + 1)
    return np.rint(255 * (1 + (decibels - decibels.max()) / 60)).clip(0, 255)


def test_c_computes_as_python(tmp_path):
    seconds = np.concatenate([_sounds(), _faint_sounds()])
    images = images_on_the_pc(seconds, tmp_path) + 128.0
    for image, second in zip(images, seconds, strict=True):
        np.testing.assert_array_equal(image, sounds.spectrogram(second).ravel())


def test_whole_numbers_compute_as_floats():
    differing, most = 0, 0.0
    for second in _sounds():
        difference = np.abs(sounds.spectrogram(second)[..., 0] - _in_floats(second))
        differing, most = differing + np.count_nonzero(difference), max(most, difference.max())
    assert most <= 1
    assert differing < 200, "of 17,408 bytes, 127 on the day that it was written"


def test_the_tables_are_those_of_python():
    done = subprocess.run(
        [sys.executable, KEYWORDS / "make_tables.py"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (EXAMPLES.parent, EXAMPLES)))},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert done.stdout == (KEYWORDS / "tables.h").read_text(), "make_tables.py says how to write it"
