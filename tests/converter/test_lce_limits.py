"""Files converted again for LCE lose extensions of its format, or an error says why they cannot."""

import numpy as np
import pytest

from larq_engine.converter.api import convert_tflite
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.padding import read_pads
from tests.converter.graphs import convert, edges, run_engine, signs, steps


def _again(content: bytes, data: list[np.ndarray], **options: str):
    """Converts a file once more, for LCE, and asserts that results are the same."""
    again = convert(content, **options)
    for want, have in zip(run_engine(content, data), run_engine(again.content, data), strict=True):
        np.testing.assert_array_equal(have, want)
    convert_tflite(content, **options)  # with its self-check
    return again


@pytest.mark.parametrize("one_scale", [True, False])
@pytest.mark.parametrize("kind", ["CONV_2D", "FULLY_CONNECTED"])
def test_weights_of_a_bit_become_floats(net, kind, one_scale, rng):
    x = net.input(1, 5, 5, 9) if kind == "CONV_2D" else net.input(3, 64)
    weights = signs(rng, 8, 3, 3, 9) if kind == "CONV_2D" else signs(rng, 8, 64)
    if not one_scale:
        weights *= np.array([1, 2, 4, 0.5] * 2, np.float32).reshape(-1, *[1] * (weights.ndim - 1))
    y = net.conv(x, weights) if kind == "CONV_2D" else net.dense(x, weights)
    ours = convert(net.finish(y))
    assert ours.kinds == ["LceUnpackWeights", kind]
    again = _again(ours.content, [steps(rng, *x.shape)], compatibility="lce")
    assert again.kinds == [kind]
    np.testing.assert_array_equal(again.op(kind).inputs[1].data, weights)


def test_pads_that_are_same_become_same(net, rng):
    x = net.input(1, 6, 6, 5)
    padded = net.pad(net.sign(x), ((0, 1), (0, 1)), 1.0)
    ours = convert(net.finish(net.conv(padded, signs(rng, 8, 3, 3, 5), stride=(2, 2))))
    assert read_pads(ours.op("LceBconv2d").options) == ((0, 1), (0, 1))
    again = _again(ours.content, [edges(rng, *x.shape)], compatibility="lce")
    assert read_pads(again.op("LceBconv2d").options) is None


def _symmetric(net, x, rng):
    return net.conv(net.pad(x, ((1, 1), (1, 1))), signs(rng, 8, 3, 3, 64), stride=(2, 2))


def _minus_one(net, x, rng):
    return net.conv(net.pad(x, ((1, 1), (1, 1)), -1.0), signs(rng, 8, 3, 3, 64))


def _groups(net, x, rng):
    return net.conv(x, signs(rng, 8, 3, 3, 32))


def _thresholds(net, x, rng):
    y = net.conv(x, signs(rng, 64, 3, 3, 64), padding="SAME")
    return net.conv(net.sign(y), signs(rng, 8, 1, 1, 64))


def _relu(net, x, rng):
    return net.op("RELU", net.conv(x, signs(rng, 8, 3, 3, 64), padding="SAME"))


def _large_filter(net, x, rng):
    return net.conv(x, signs(rng, 8, 7, 7, 64), padding="SAME")


_REFUSED = {
    "pads": (_symmetric, "not 1 \\+ 1 rows and 1 \\+ 1 columns"),
    "minus one": (_minus_one, "cannot pad with -1"),
    "groups": (_groups, "refuses groups"),
    "thresholds": (_thresholds, "for float output without activation only"),
    "activation": (_relu, "for float output without activation only"),
    "large filter": (_large_filter, "exceeds the image"),
}


@pytest.mark.parametrize("case", _REFUSED)
def test_what_lce_cannot_run_is_refused(net, case, rng):
    make, reason = _REFUSED[case]
    ours = convert(net.finish(make(net, net.sign(net.input(1, 6, 6, 64)), rng)))
    assert "LceBconv2d" in ours.kinds
    with pytest.raises(ConversionError, match=f"LceBconv2d '.*{reason}.*convert the float model"):
        convert(ours.content, compatibility="lce")


def test_xcore_pools_no_bits(net, rng):
    x = net.input(1, 6, 6, 32)
    pooled = net.max_pool(net.sign(x))
    ours = convert(net.finish(net.conv(pooled, signs(rng, 8, 3, 3, 32))))
    assert "LceBMaxPool2d" in ours.kinds
    with pytest.raises(ConversionError, match="'xcore' has no such operator"):
        convert(ours.content, target="xcore")
