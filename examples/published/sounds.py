"""Words, and sounds as images: log-mel spectrograms of a second, 32 moments of 32 bands.

All is computed in whole numbers, so that examples/micro/keywords/spectrogram.c makes of the same
sound the same bytes on a microcontroller. Its tables are made of those that are here.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from published.speaking import RATE

WORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
SIZE = 32
WINDOW = 1024  # samples of a moment
HOP = 678  # samples from the start of a moment to that of the next
LENGTH = (SIZE - 1) * HOP + WINDOW  # samples of a spectrogram: a second, but for 8 samples

SINE_BITS = 30  # fractional bits of sines
SAMPLE_BITS = 4  # fractional bits of samples in the window
WEIGHT_BITS = 12  # fractional bits of the weights of frequencies in bands
LEVEL_BITS = 10  # fractional bits of levels, which are logarithms to the base of 2
TABLE_BITS = 5  # the table of logarithms has 2 to this power of intervals
STEP_BITS = 20  # fractional bits of STEPS
# Steps of bytes in a level of 1, a power of 2: 255 of them are 60 decibels.
STEPS = round(255 / 60 * 10 * math.log10(2) * 2 ** (STEP_BITS - LEVEL_BITS))


def spectrogram(second: Any) -> Any:
    """Returns the decibels of each band, the loudest 60 of them, as bytes: [moment, band, 1].

    Args:
        second: LENGTH samples of 16 bits; what is behind them is not looked at.
    """
    power = _power(moments(second))
    whole = 1 << WEIGHT_BITS
    rising, falling = power * rising_weights(), power * (whole - rising_weights())
    first = first_frequencies()
    sums = np.add.reduceat(rising, first[:-1], -1)[:, :-1]
    sums += np.add.reduceat(falling, first[:-1], -1)[:, 1:]
    levels = _levels(sums + whole)  # of silence, too, there is a logarithm
    below = (levels.max() - levels) * STEPS + (1 << (STEP_BITS - 1)) >> STEP_BITS
    return (255 - below).clip(0).astype(np.float32)[..., None]


def moments(second: Any) -> Any:
    """Returns the samples of each moment: [moment, sample]."""
    return np.asarray(second, np.int64)[np.arange(SIZE)[:, None] * HOP + np.arange(WINDOW)]


@cache
def sines() -> Any:
    """Returns sines of the first quarter of a circle, both ends among them."""
    angles = 2 * np.pi / WINDOW * np.arange(WINDOW // 4 + 1)
    return np.rint(np.sin(angles) * 2**SINE_BITS).astype(np.int64)


@cache
def first_frequencies() -> Any:
    """Returns where intervals between the edges of bands begin, and where the last one ends.

    Bands are triangles over two intervals, which are equally wide on the mel scale. Frequencies
    count from 0 to WINDOW / 2, both of which are in no band.
    """
    return np.ceil(_edges() * WINDOW / RATE).astype(int).clip(1)


@cache
def rising_weights() -> Any:
    """Returns weights of all frequencies in the triangle that rises over their interval."""
    edges, frequency = _edges(), np.arange(WINDOW // 2) * RATE / WINDOW
    interval = np.searchsorted(edges, frequency, "right") - 1
    share = (frequency - edges[interval]) / np.diff(edges)[interval]
    return np.rint(share * 2**WEIGHT_BITS).astype(np.int64)


@cache
def logarithms() -> Any:
    """Returns logarithms of numbers from 1 to 2, both among them."""
    numbers = 1 + np.arange(2**TABLE_BITS + 1) / 2**TABLE_BITS
    return np.rint(np.log2(numbers) * 2**LEVEL_BITS).astype(np.int64)


def _edges() -> Any:
    most = 2595 * math.log10(1 + RATE / 2 / 700)
    return 700 * (10 ** (np.linspace(0, most, SIZE + 2) / 2595) - 1)


def _power(windows: Any) -> Any:
    """Returns the power of each frequency, in squares of samples.

    Two samples are one complex number, whose transform has half the size.
    """
    half = WINDOW // 2
    hann = (1 << (SINE_BITS - 1)) - (_cosine(np.arange(WINDOW)) >> 1)
    windowed = _shifted(windows * hann, SINE_BITS - SAMPLE_BITS)
    real, imaginary = _transformed(windowed[..., ::2], windowed[..., 1::2])
    other = -np.arange(half)
    even = real + real[..., other], imaginary - imaginary[..., other]
    odd = imaginary + imaginary[..., other], real[..., other] - real
    turned = _turned(*odd, np.arange(half))
    doubled = even[0] + turned[0], even[1] + turned[1]
    return doubled[0] ** 2 + doubled[1] ** 2 >> 2 * (SAMPLE_BITS + 1)


def _transformed(real: Any, imaginary: Any) -> Any:
    """Returns the Fourier transform of complex numbers along the last axis, a power of 2."""
    count = real.shape[-1]
    order = np.zeros(1, int)
    while len(order) < count:
        order = np.concatenate([2 * order, 2 * order + 1])
    real, imaginary, width = real[..., order], imaginary[..., order], 1
    while width < count:
        pairs = [x.reshape(*x.shape[:-1], -1, 2, width) for x in (real, imaginary)]
        lower = [x[..., 0, :] for x in pairs]
        angles = np.arange(width) * (WINDOW // 2 // width)
        upper = _turned(*(x[..., 1, :] for x in pairs), angles)
        joined = [
            np.stack([a + b, a - b], -2).reshape(real.shape)
            for a, b in zip(lower, upper, strict=True)
        ]
        real, imaginary, width = *joined, 2 * width
    return real, imaginary


def _turned(real: Any, imaginary: Any, angles: Any) -> Any:
    """Returns complex numbers turned back by angles, of which WINDOW are a circle."""
    cosine, sine = _cosine(angles), _cosine(angles - WINDOW // 4)
    return (
        _shifted(real * cosine + imaginary * sine, SINE_BITS),
        _shifted(imaginary * cosine - real * sine, SINE_BITS),
    )


def _cosine(angles: Any) -> Any:
    quarter = WINDOW // 4
    angle = angles % WINDOW
    angle = np.minimum(angle, WINDOW - angle)
    return np.where(angle <= quarter, sines()[abs(quarter - angle)], -sines()[abs(angle - quarter)])


def _shifted(numbers: Any, bits: int) -> Any:
    """Divides by a power of 2, and rounds halves up."""
    return numbers + (1 << (bits - 1)) >> bits


def _levels(numbers: Any) -> Any:
    """Returns logarithms to the base of 2 of positive numbers below 2 ** 62."""
    exponent = np.frexp(numbers.astype(np.float64))[1].astype(np.int64) - 1
    exponent -= numbers < 1 << exponent  # a float may be rounded up to a power of 2
    fraction_bits = 16
    # The leading one is taken away; the rest is between two entries of the table.
    aligned = np.where(
        exponent >= fraction_bits,
        numbers >> np.maximum(exponent - fraction_bits, 0),
        numbers << np.maximum(fraction_bits - exponent, 0),
    )
    rest = aligned - (1 << fraction_bits)
    between = fraction_bits - TABLE_BITS
    entry, part = rest >> between, rest & ((1 << between) - 1)
    table = logarithms()
    slope = table[entry + 1] - table[entry]
    return (exponent << LEVEL_BITS) + table[entry] + (slope * part >> between)
