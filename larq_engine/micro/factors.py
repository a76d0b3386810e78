"""Chooses the cheapest form of a layer's factors that C kernels have and that is exact.

Where no whole numbers round sums as the engine does, the chip computes what the floats compute,
where a result is next to a half (c/le_rescale_float.h).
"""

from dataclasses import dataclass

import numpy as np

from larq_engine.exporting.rescale import (
    MOST_32,
    MOST_64,
    MOST_SHIFT_OF_RESULTS,
    Changes,
    Sums,
    between,
    find_slopes,
    with_shifts,
)
from larq_engine.micro.plan import Array


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


def fit(sums: Sums, *, narrow: bool = True) -> Factors:
    """Returns the cheapest factors that are exact; in 32 bits only if `narrow`."""
    changes = Changes(sums)
    slopes = find_slopes(changes, sums.multiplier)
    if narrow:
        for shift in _narrow_shifts(changes, slopes):
            multiplier, addend, fits = with_shifts(
                changes, slopes, np.full(slopes.shape, shift), MOST_32
            )
            if fits.all():
                values = np.stack([multiplier, addend], axis=1).astype(np.int32)
                kernel = "le_rescale32" + ("_byte" if sums.results == (-128, 127) else "")
                return Factors(kernel, "le_factor32", values, shift)
    high = _with_high_products(changes, slopes)
    if high is not None:
        return high
    _, exponents = np.frexp(slopes)
    shifts = np.clip(30 - exponents, 1, MOST_SHIFT_OF_RESULTS).astype(np.int64)
    multiplier, addend, fits = with_shifts(changes, slopes, shifts, MOST_64)
    if fits.all():
        values = _structs(_FIELDS, addend, multiplier, shifts)
        return Factors("le_rescale64", "le_factor64", values)
    near = _near_floats(sums, int(changes.most.max()))
    return near if near is not None else _with_floats(sums)


# The high half of a product leaves so many bits below.
_LOW_BITS = 32


def _with_high_products(changes: Changes, slopes: Array) -> Factors | None:
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
        addend = between(least, most)
        largest = np.abs(product(changes.most[:, None]))[:, 0] + 1
        fits = (least <= most) & (multiplier <= MOST_32) & (largest + np.abs(addend) <= MOST_32)
        if fits.all():
            values = np.stack([multiplier * changes.sign[:, 0], addend], axis=1).astype(np.int32)
            return Factors("le_rescale_high", "le_factor32", values, shift, before)
    return None


def _most_before(most: int) -> int:
    """Returns how far sums up to a number can be shifted up within 32 bits."""
    return max(0, 31 - most.bit_length())


def _high_shifts(changes: Changes, slopes: Array, before: int) -> range:
    largest = max(
        float(slopes.max()) * 2.0 ** (_LOW_BITS - before), float((slopes * changes.most).max())
    )
    most = min(23, int(np.floor(np.log2(MOST_32 / max(largest, 2.0**-30)))))
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
    if np.abs(multiplier).max() > MOST_32 or largest.max() > MOST_32:
        return None
    floats = [array.astype("<f4").view("<u4") for array in (sums.multiplier, sums.addend)]
    kernel = "le_rescale_near_even" if sums.to_even else "le_rescale_near_away"
    values = _structs(_NEAR_FIELDS, multiplier, addend, *floats)
    return Factors(kernel, "le_factor_near", values, 0, before)


def _structs(fields: tuple[tuple[str, str], ...], *columns: Array) -> Array:
    rows = zip(*columns, strict=True)
    return np.array([tuple(int(value) for value in row) for row in rows], list(fields))


def _narrow_shifts(changes: Changes, slopes: Array) -> range:
    """Returns shifts for products of 32 bits, the most precise one first."""
    largest = max(1.0, float((slopes * changes.most).max()))
    most = min(30, int(np.floor(np.log2(MOST_32 / largest))))
    return range(most, max(0, most - 10), -1)
