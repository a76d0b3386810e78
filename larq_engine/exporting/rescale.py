"""Finds whole numbers that round sums to int8 exactly as the engine's floats do.

The engine multiplies a sum by a float and rounds. That is a rising or falling function of the sum,
so the sums at which its result changes say all about it. Factors are taken only if they change the
result at the same sums, for all that a layer can have.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Array

# Returns the results of sums [channels, any] of int64.
Function = Callable[[Array], Array]


# Products and addends of 64 and of 32 bits; those of 64 leave room for a sum of both.
MOST_64, MOST_32 = 2**62, 2**31 - 1

# The products of results, of up to 8 bits, fit in 64 bits.
MOST_SHIFT_OF_RESULTS = 53

# Halvings of the range of slopes, after which they are as exact as multipliers of 31 bits.
_SEARCHES = 60


@dataclass(frozen=True)
class Sums:
    """The sums of a layer: of each channel the lowest and the highest, and the engine's results.

    Results are limited to `results` after the arithmetic, so nothing outside matters. They are
    round(float(sum) * multiplier + addend) + zero_point; `to_even` says where halves go.
    """

    function: Function
    lowest: Array
    highest: Array
    results: tuple[int, int]
    multiplier: Array
    addend: Array
    to_even: bool
    zero_point: int = 0


def fit_shift(sums: Sums) -> tuple[Array, Array, int] | None:
    """Returns multipliers, addends and the smallest shift that are exact, or None.

    A result is (sum * multiplier + addend) >> shift, limited to `sums.results`.
    """
    changes = Changes(sums)
    slopes = find_slopes(changes, sums.multiplier)
    for shift in range(1, MOST_SHIFT_OF_RESULTS):
        shifts = np.full(slopes.shape, shift)
        multiplier, addend, fits = with_shifts(changes, slopes, shifts, MOST_64)
        if fits.all():
            return multiplier, addend, shift
    return None


class Changes:
    """The sums at which results change: from `sums[c, n]` on a result is `above[n]` or more.

    Of a falling function the sums' signs are turned.
    """

    def __init__(self, sums: Sums) -> None:
        lowest, highest = sums.lowest.astype(np.int64), sums.highest.astype(np.int64)
        ends = sums.function(np.stack([lowest, highest], axis=1))
        falls = ends[:, 1] < ends[:, 0]
        self.sign = np.where(falls, -1, 1)[:, None]
        low = np.where(falls, -highest, lowest)[:, None]
        high = np.where(falls, -lowest, highest)[:, None]
        self.above = np.arange(sums.results[0] + 1, sums.results[1] + 1)[None, :]
        first = np.repeat(low, self.above.size, 1)
        last = np.repeat(high + 1, self.above.size, 1)
        while np.any(first < last):
            middle = (first + last) // 2
            reached = sums.function(self.sign * np.minimum(middle, high)) >= self.above
            reached |= middle > high
            is_open = first < last
            first = np.where(is_open & ~reached, middle + 1, first)
            last = np.where(is_open & reached, middle, last)
        self.sums = last
        self.are_reached = last <= high  # some sum has such a result
        self.are_missed = last > low  # some sum has a smaller one
        self.most = np.maximum(np.abs(lowest), np.abs(highest))

    def addends(self, slopes: Array, goals: Array, step: float) -> tuple[Array, Array]:
        """Returns the least and the greatest addends with which slopes change results rightly."""
        return self.bounds(goals - slopes * self.sums, goals - step - slopes * (self.sums - 1))

    def bounds(self, least: Array, most: Array) -> tuple[Array, Array]:
        """Returns the bounds of each channel's addend, of those of its changes that matter."""
        least = np.where(self.are_reached, least, -MOST_64)
        most = np.where(self.are_missed, most, MOST_64)
        return least.max(axis=1, initial=-MOST_64), most.min(axis=1, initial=MOST_64)


def find_slopes(changes: Changes, multiplier: Array) -> Array:
    """Returns the slope of each channel that leaves most room for the addend.

    That room is a concave function of the slope, so a search by thirds finds its greatest value.
    """
    slope = np.abs(multiplier.astype(np.float64))
    # A slope that is wrong by more than this is wrong by a whole sum over all results.
    reach = slope * np.minimum(0.5, slope / 16 + 2.0**-20)
    low, high = slope - reach, slope + reach

    def room(slopes: Array) -> Array:
        least, most = changes.addends(slopes[:, None], changes.above, 0)
        return np.asarray(most - least)

    for _ in range(_SEARCHES):
        third = (high - low) / 3
        is_right = room(low + third) < room(high - third)
        low = np.where(is_right, low + third, low)
        high = np.where(is_right, high, high - third)
    middle = (low + high) / 2
    return np.where(room(middle) > room(slope), middle, slope)


def with_shifts(
    changes: Changes, slopes: Array, shifts: Array, limit: int
) -> tuple[Array, Array, Array]:
    """Returns multipliers and addends, and for which channels they are right."""
    multiplier = np.rint(slopes * 2.0**shifts).astype(np.int64)
    least, most = changes.addends(multiplier[:, None], changes.above << shifts[:, None], 1)
    addend = between(least, most)
    product = multiplier * changes.most
    fits = (least <= most) & (multiplier <= MOST_32) & (product <= limit)
    fits &= np.abs(addend) <= limit - np.minimum(product, limit)
    return multiplier * changes.sign[:, 0], addend, fits


def between(least: Array, most: Array) -> Array:
    """Returns an addend within bounds: the middle."""
    # There is a limit on one side only, or none, where no sum changes the result.
    addend = np.where(
        least == -MOST_64, most, np.where(most == MOST_64, least, (least >> 1) + (most >> 1))
    )
    return np.asarray(np.clip(addend, least, np.maximum(least, most)))
