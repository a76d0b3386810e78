"""Finds whole numbers that round sums to int8 exactly as the engine's floats do.

The engine multiplies a sum by a float and rounds. That is a rising or falling function of the sum,
so the sums at which its result changes say all about it. Factors are taken only if they change the
result at the same sums, for all that a layer can have. Where none do, the chip computes what the
floats compute, where a result is next to a half (c/le_rescale_float.h).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from larq_engine.micro.plan import Array

# Returns the results of sums [channels, any] of int64.
Function = Callable[[Array], Array]

_MOST_32 = 2**31 - 1
_MOST_64 = 2**62

# The products of results, of up to 8 bits, fit in 64 bits.
_MOST_SHIFT_OF_RESULTS = 53

# Halvings of the range of slopes, after which they are as exact as multipliers of 31 bits.
_SEARCHES = 60


@dataclass(frozen=True)
class Factors:
    """Makes a result of a sum of each channel; `kernel` is the function that does."""

    kernel: str
    c_type: str
    # Structs as le_rescale.h has them, one a channel.
    values: Array
    shift: int = 0
    before: int = 0

    @property
    def headers(self) -> tuple[str, ...]:
        is_float = self.c_type in ("le_factor_float", "le_factor_near")
        return ("le_rescale_float.h",) if is_float else ("le_rescale.h",)


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


def fit(sums: Sums, *, narrow: bool = True) -> Factors:
    """Returns the cheapest factors that are exact; in 32 bits only if `narrow`."""
    changes = _Changes(sums)
    slopes = _find_slopes(changes, sums.multiplier)
    if narrow:
        for shift in _narrow_shifts(changes, slopes):
            multiplier, addend, fits = _with_shifts(
                changes, slopes, np.full(slopes.shape, shift), _MOST_32
            )
            if fits.all():
                values = np.stack([multiplier, addend], axis=1).astype(np.int32)
                kernel = "le_rescale32" + ("_byte" if sums.results == (-128, 127) else "")
                return Factors(kernel, "le_factor32", values, shift)
    high = _with_high_products(changes, slopes)
    if high is not None:
        return high
    _, exponents = np.frexp(slopes)
    shifts = np.clip(30 - exponents, 1, _MOST_SHIFT_OF_RESULTS).astype(np.int64)
    multiplier, addend, fits = _with_shifts(changes, slopes, shifts, _MOST_64)
    if fits.all():
        values = _structs(_FIELDS, addend, multiplier, shifts)
        return Factors("le_rescale64", "le_factor64", values)
    near = _near_floats(sums, int(changes.most.max()))
    return near if near is not None else _with_floats(sums)


def fit_shift(sums: Sums) -> tuple[Array, Array, int] | None:
    """Returns multipliers, addends and the smallest shift that are exact, or None.

    A result is (sum * multiplier + addend) >> shift, limited to `sums.results`.
    """
    changes = _Changes(sums)
    slopes = _find_slopes(changes, sums.multiplier)
    for shift in range(1, _MOST_SHIFT_OF_RESULTS):
        shifts = np.full(slopes.shape, shift)
        multiplier, addend, fits = _with_shifts(changes, slopes, shifts, _MOST_64)
        if fits.all():
            return multiplier, addend, shift
    return None


# The high half of a product leaves so many bits below.
_LOW_BITS = 32


def _with_high_products(changes: "_Changes", slopes: Array) -> Factors | None:
    """Returns factors whose products' high 32 bits are exact, or None."""
    before = _most_before(int(changes.most.max()))
    for shift in _high_shifts(changes, slopes, before):
        multiplier = np.rint(np.ldexp(slopes, _LOW_BITS + shift - before)).astype(np.int64)

        def product(sums: Array, by: Array = multiplier[:, None]) -> Array:
            return np.asarray((by * (sums << before)) >> _LOW_BITS)

        goals = changes.above << shift
        least, most = changes.bounds(
            goals - product(changes.sums), goals - 1 - product(changes.sums - 1)
        )
        addend = _between(least, most)
        largest = np.abs(product(changes.most[:, None]))[:, 0] + 1
        fits = (least <= most) & (multiplier <= _MOST_32) & (largest + np.abs(addend) <= _MOST_32)
        if fits.all():
            values = np.stack([multiplier * changes.sign[:, 0], addend], axis=1).astype(np.int32)
            return Factors("le_rescale_high", "le_factor32", values, shift, before)
    return None


def _most_before(most: int) -> int:
    """Returns how far sums up to a number can be shifted up within 32 bits."""
    return max(0, 31 - most.bit_length())


def _high_shifts(changes: "_Changes", slopes: Array, before: int) -> range:
    largest = max(
        float(slopes.max()) * 2.0 ** (_LOW_BITS - before), float((slopes * changes.most).max())
    )
    most = min(23, int(np.floor(np.log2(_MOST_32 / max(largest, 2.0**-30)))))
    return range(most, max(-1, most - 3), -1)


_FIELDS = (("addend", "<i8"), ("multiplier", "<i4"), ("shift", "<i4"))
_FLOAT_FIELDS = (
    *_FIELDS,
    ("float_multiplier", "<u4"),
    ("float_addend", "<u4"),
    ("floats_only", "<u4"),
)

# Whole numbers next to floats: a float has 24 bits, and a product of 31 and these fits in 64. The
# kernel looks at 16 bits of the fraction, and any sum is right to 15 bits with the greatest shift.
_FLOAT_BITS = 30
_LEAST_SHIFT, _MOST_SHIFT = 16, 45

# With more added, a product far beyond int8 may come back into it, with an error of its size.
_MOST_ADDED = 2.0**9


def _with_floats(sums: Sums) -> Factors:
    """Returns the floats themselves, and whole numbers that are right but next to a half."""
    _, exponents = np.frexp(sums.multiplier.astype(np.float64))
    shifts = np.clip(_FLOAT_BITS - exponents, _LEAST_SHIFT, _MOST_SHIFT).astype(np.int64)
    multiplier = np.rint(np.ldexp(sums.multiplier.astype(np.float64), shifts)).astype(np.int64)
    added = sums.addend.astype(np.float64) + sums.zero_point
    is_much = np.abs(sums.addend) + abs(sums.zero_point) > _MOST_ADDED
    halves = np.int64(1) << (shifts - 1)
    addend = np.rint(np.ldexp(np.where(is_much, 0.0, added), shifts)).astype(np.int64) + halves
    floats = [array.astype("<f4").view("<u4") for array in (sums.multiplier, sums.addend)]
    columns = (addend, multiplier, shifts, *floats, is_much)
    kernel = "le_rescale_even" if sums.to_even else "le_rescale_away"
    return Factors(kernel, "le_factor_float", _structs(_FLOAT_FIELDS, *columns))


_NEAR_FIELDS = (
    ("multiplier", "<i4"),
    ("addend", "<i4"),
    ("float_multiplier", "<u4"),
    ("float_addend", "<u4"),
)

# Bits of the fraction, to which the kernel compares what is near to a half.
_FRACTION = 16


def _near_floats(sums: Sums, most: int) -> Factors | None:
    """Returns what `_with_floats` does in half of the bytes, or None if results need more bits."""
    by = sums.multiplier.astype(np.float64)
    added = sums.addend.astype(np.float64) + sums.zero_point
    if (np.abs(sums.addend) + abs(sums.zero_point) > _MOST_ADDED).any():
        return None
    before = _most_before(most)
    multiplier = np.rint(np.ldexp(by, _LOW_BITS + _FRACTION - before))
    addend = np.rint(np.ldexp(added + 0.5, _FRACTION))
    largest = np.ldexp(np.abs(by), _FRACTION) * most + np.abs(addend) + 2
    if np.abs(multiplier).max() > _MOST_32 or largest.max() > _MOST_32:
        return None
    floats = [array.astype("<f4").view("<u4") for array in (sums.multiplier, sums.addend)]
    kernel = "le_rescale_near_even" if sums.to_even else "le_rescale_near_away"
    values = _structs(_NEAR_FIELDS, multiplier, addend, *floats)
    return Factors(kernel, "le_factor_near", values, 0, before)


def _structs(fields: tuple[tuple[str, str], ...], *columns: Array) -> Array:
    rows = zip(*columns, strict=True)
    return np.array([tuple(int(value) for value in row) for row in rows], list(fields))


class _Changes:
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
        least = np.where(self.are_reached, least, -_MOST_64)
        most = np.where(self.are_missed, most, _MOST_64)
        return least.max(axis=1, initial=-_MOST_64), most.min(axis=1, initial=_MOST_64)


def _find_slopes(changes: _Changes, multiplier: Array) -> Array:
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


def _narrow_shifts(changes: _Changes, slopes: Array) -> range:
    """Returns shifts for products of 32 bits, the most precise one first."""
    largest = max(1.0, float((slopes * changes.most).max()))
    most = min(30, int(np.floor(np.log2(_MOST_32 / largest))))
    return range(most, max(0, most - 10), -1)


def _with_shifts(
    changes: _Changes, slopes: Array, shifts: Array, limit: int
) -> tuple[Array, Array, Array]:
    """Returns multipliers and addends, and for which channels they are right."""
    multiplier = np.rint(slopes * 2.0**shifts).astype(np.int64)
    least, most = changes.addends(multiplier[:, None], changes.above << shifts[:, None], 1)
    addend = _between(least, most)
    product = multiplier * changes.most
    fits = (least <= most) & (multiplier <= _MOST_32) & (product <= limit)
    fits &= np.abs(addend) <= limit - np.minimum(product, limit)
    return multiplier * changes.sign[:, 0], addend, fits


def _between(least: Array, most: Array) -> Array:
    """Returns an addend within bounds: the middle."""
    # There is a limit on one side only, or none, where no sum changes the result.
    addend = np.where(
        least == -_MOST_64, most, np.where(most == _MOST_64, least, (least >> 1) + (most >> 1))
    )
    return np.asarray(np.clip(addend, least, np.maximum(least, most)))
