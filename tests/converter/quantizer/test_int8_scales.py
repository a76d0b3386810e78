"""Half a step is subtracted before a sign, for any ratio of the sum's steps to the output's."""

import numpy as np
import pytest

from larq_engine.converter.graph import Quantization
from larq_engine.converter.quantizer.scales import quantize_weights


def _scaled(sum_: int, ratio: np.float32) -> set[float]:
    """Returns the int8 results of a sum: float32 products with halves rounded to either side.

    XNNPACK computes them so.
    """
    product = np.float32(sum_) * ratio
    return {float(np.rint(product)), float(np.trunc(product + np.copysign(0.5, product)))}


# With a power of two, half an output step is a whole number of the sum's steps; with 100, a step of
# the sum is more than an output step.
_RATIOS = [*(2.0**-n for n in range(25)), 1 / 3, 0.3, 1 / 254, 100.0]


@pytest.mark.parametrize("bias", [None, 0.25])
@pytest.mark.parametrize("ratio", _RATIOS)
def test_sums_below_zero_are_below_zero(ratio, bias):
    rng = np.random.default_rng(0)
    data = Quantization((float(np.float32(0.3)),), (3,))
    output = Quantization((float(np.float32(0.17)),), (-7,))
    largest = ratio * output.scale[0] / data.scale[0] * 127
    weights = (rng.uniform(-1, 1, (64, 9)) * largest).astype(np.float32)
    # The largest weight of a channel gives its scale, which is the same or differs in the last
    # bits.
    weights[:, 0] = largest * (1 + rng.integers(-4, 5, 64) * 2.0**-24)
    given = None if bias is None else np.full(64, bias, np.float32)
    found = quantize_weights(weights, 0, given, data, output, rounds_down=True)
    assert found.bias is not None
    without = 0 if given is None else np.round(given / found.bias_scale.astype(np.float64))
    half = without - found.bias
    ratios = np.float32(data.scale[0]) * found.scale / np.float32(output.scale[0])
    for sums in (-1000, -2, -1, 0, 1, 2, 1000):
        for step, scaled in zip(half, ratios, strict=True):
            for q in _scaled(sums - step, scaled):
                assert (q < 0) == (sums < 0)
    # The shift is half an output step, up to one step of the sum.
    off = np.abs(half * ratios.astype(np.float64) - 0.5)
    assert (off <= np.maximum(ratios, 0.5 * (half == 0)) * 1.01).all()
