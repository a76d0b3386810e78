"""Factors of whole numbers round every sum as floats do."""

import numpy as np
import pytest

from larq_engine.exporting.rescale import Sums
from larq_engine.micro.factors import Factors, fit

_MOST = 3000


def _sums(multiplier: np.ndarray, addend: np.ndarray, zero: int, most: int) -> Sums:
    def function(sums: np.ndarray) -> np.ndarray:
        y = sums.astype(np.float32) * multiplier[:, None] + addend[:, None]
        return np.rint(np.clip(y, -128 - zero, 127 - zero)).astype(np.int64) + zero

    ends = np.full(multiplier.shape, most, np.int64)
    return Sums(
        function, -ends, ends, (-128, 127), multiplier, addend, to_even=True, zero_point=zero
    )


def _compute(factors: Factors, sums: np.ndarray) -> np.ndarray:
    """Does what le_rescale.h does, with the limits of its types."""
    values = factors.values
    if factors.kernel == "le_rescale_high":
        product = _high_product(factors, sums, values[:, :1], values[:, 1:])
        return np.clip(product >> factors.shift, -128, 127)
    if factors.c_type == "le_factor_near":
        by, add = (values[name][:, None] for name in ("multiplier", "addend"))
        product = _high_product(factors, sums, by, add)
        results = np.clip(product >> 16, -128, 127)
        results[((product + 32) & 0xFFFF) < 64] = _FLOATS_DECIDE
        return results
    if factors.c_type == "le_factor32":
        by, add = values[:, :1].astype(np.int64), values[:, 1:].astype(np.int64)
        product = sums * by
        assert np.abs(product).max() < 2**31 and np.abs(product + add).max() < 2**31
        return np.clip((product + add) >> factors.shift, -128, 127)
    fields = ("multiplier", "addend", "shift")
    by, add, shift = (values[name][:, None].astype(np.int64) for name in fields)
    product = sums * by + add
    results = np.clip(product >> shift, -128, 127)
    if factors.c_type == "le_factor_float":
        # Floats decide next to a half; what they decide is tested in C.
        fraction = (product >> (shift - 16)) & 0xFFFF
        results[((fraction + 32) & 0xFFFF) < 64] = _FLOATS_DECIDE
    return results


def _high_product(
    factors: Factors, sums: np.ndarray, by: np.ndarray, add: np.ndarray
) -> np.ndarray:
    up = sums << factors.before
    product = ((up * by.astype(np.int64)) >> 32) + add.astype(np.int64)
    assert np.abs(up).max() < 2**31 and np.abs(product).max() < 2**31
    return product


_FLOATS_DECIDE = 1000


@pytest.mark.parametrize("seed", range(40))
def test_every_sum_of_random_scales(seed: int) -> None:
    rng = np.random.default_rng(seed)
    channels = 16
    scales = rng.uniform(0.2, 2, channels) * rng.choice([-0.1, 0.05], channels)
    multiplier = scales.astype(np.float32)
    addend = rng.normal(0, 30, channels).astype(np.float32)
    zero = int(rng.integers(-128, 128))
    sums = _sums(multiplier, addend, zero, _MOST)
    all_sums = np.tile(np.arange(-_MOST, _MOST + 1), (channels, 1))
    for narrow in (True, False):
        factors = fit(sums, narrow=narrow)
        assert narrow or not factors.kernel.startswith("le_rescale32")
        got, expected = _compute(factors, all_sums), sums.function(all_sums)
        known = got != _FLOATS_DECIDE
        assert known.all() or factors.c_type in ("le_factor_float", "le_factor_near")
        assert known.mean() > 0.99
        np.testing.assert_array_equal(got[known], expected[known])


def test_halves_that_go_to_the_even_number_are_left_to_floats() -> None:
    multiplier = np.array([0.5, 0.3137], np.float32)
    sums = _sums(multiplier, np.zeros(2, np.float32), 3, _MOST)
    factors = fit(sums)
    assert factors.kernel == "le_rescale_near_even" and factors.headers == ("le_rescale_float.h",)
    np.testing.assert_array_equal(factors.values["float_multiplier"], multiplier.view(np.uint32))
    all_sums = np.tile(np.arange(-250, 251), (2, 1))
    got = _compute(factors, all_sums)
    np.testing.assert_array_equal(got[0] == _FLOATS_DECIDE, all_sums[0] % 2 == 1)


def test_few_results_of_tiny_scales() -> None:
    """Shifts are so small that products of results do not leave 64 bits."""
    multiplier = np.array([1e-3, 2.0**-30], np.float32)

    def function(sums: np.ndarray) -> np.ndarray:
        y = sums.astype(np.float32) * multiplier[:, None]
        return np.rint(np.clip(y, -1, 1)).astype(np.int64) + 99

    ends = np.full(2, 66000 * 127, np.int64)
    zeros = np.zeros(2, np.float32)
    sums = Sums(function, -ends, ends, (98, 100), multiplier, zeros, to_even=True, zero_point=99)
    some = np.tile(np.linspace(-ends[0], ends[0], 10001).astype(np.int64), (2, 1))
    got = np.clip(_compute(fit(sums), some), 98, 100)
    np.testing.assert_array_equal(got, function(some))


def test_a_channel_without_sums_and_one_of_a_constant_result() -> None:
    multiplier = np.array([0.0, 1e-6, 0.01], np.float32)
    addend = np.array([5, -7, 500], np.float32)
    sums = _sums(multiplier, addend, 0, _MOST)
    all_sums = np.tile(np.arange(-_MOST, _MOST + 1), (3, 1))
    np.testing.assert_array_equal(_compute(fit(sums), all_sums), sums.function(all_sums))
