"""Quantizers of several bits as BMXNet and Riptide define them, written in TensorFlow.

Neither framework exports to TensorFlow Lite, so these are their published formulas. Each layer must
become binary, and its sums must be TensorFlow's: divided by the distance of the levels, they are
whole numbers.
"""

from collections.abc import Callable

import numpy as np
import pytest

import larq_engine
from tests.converter.frameworks import require_keras

require_keras()

import tensorflow as tf  # noqa: E402

_CHANNELS, _FILTERS = 24, 12

# (padding, stride, height and width of image and kernel)
_GEOMETRIES = [
    ("SAME", 1, (7, 6), (3, 3)),
    ("VALID", 2, (9, 8), (3, 2)),
    ("SAME", 2, (5, 5), (1, 1)),
]


def _bmxnet_values(x, bits: int):
    steps = float(2**bits - 1)
    return tf.round(steps * tf.clip_by_value(x, 0.0, 1.0)) / steps


def _bmxnet_weights(w, bits: int):
    """Quantizes weights as DoReFa-Net does."""
    if bits == 1:
        return tf.where(w >= 0, 1.0, -1.0)
    small = tf.tanh(w)
    return 2 * _bmxnet_values(small / (2 * tf.reduce_max(tf.abs(small))) + 0.5, bits) - 1


def _riptide_values(x, bits: int):
    """Quantizes values as Riptide does; 1e-5 moves halves away from ties, which round to even."""
    steps = 2.0**bits - 1
    return 1 / steps * tf.round(steps * tf.clip_by_value(x, 0, 1) + 1e-5)


def _power_of_two(x):
    return 2 ** tf.round(tf.math.log(tf.abs(x)) / tf.math.log(2.0))


def _riptide_weights(w, bits: int):
    """Makes signs times a power of two for each output channel; more bits are as in DoReFa-Net."""
    if bits == 1:
        size = _power_of_two(tf.reduce_mean(tf.abs(w), axis=(0, 1, 2), keepdims=True))
        return size * (2 * tf.cast(w >= 0, tf.float32) - 1)
    small = tf.tanh(w)
    return 2 * _riptide_values(small / (2 * tf.reduce_max(tf.abs(small))) + 0.5, bits) - 1


_FORMULAS: dict[str, tuple[Callable, Callable]] = {
    "bmxnet": (_bmxnet_values, _bmxnet_weights),
    "riptide": (_riptide_values, _riptide_weights),
}


@pytest.fixture(autouse=True)
def _any_number_of_products(monkeypatch):
    """Makes layers binary even if hosts are faster."""
    for limit in ("_MOST_PLANE_PRODUCTS", "_MOST_PLANE_PRODUCTS_BESIDE_INT8"):
        monkeypatch.setattr(f"larq_engine.converter.rules_binary.{limit}", 64)


def _convert(function, shape, folder):
    module = tf.Module()
    module.f = tf.function(function, input_signature=[tf.TensorSpec(shape, tf.float32)])
    tf.saved_model.save(module, str(folder), signatures=module.f)
    return larq_engine.convert_saved_model(str(folder))


@pytest.mark.parametrize("bits", [(1, 2), (2, 1), (2, 2), (3, 1), (4, 3), (5, 5), (8, 1), (7, 5)])
@pytest.mark.parametrize("name", _FORMULAS)
def test_sums_are_those_of_tensorflow(name, bits, rng, tmp_path):
    values, weights = _FORMULAS[name]
    padding, stride, size, kernel = _GEOMETRIES[sum(bits) % len(_GEOMETRIES)]
    w = tf.constant(rng.standard_normal((*kernel, _CHANNELS, _FILTERS)), tf.float32)

    def layer(x):
        return tf.nn.conv2d(values(x, bits[0]), weights(w, bits[1]), stride, padding)

    shape = (2, *size, _CHANNELS)
    # Multiplied by a number of steps (up to 255), none of these values is so near a half that an
    # error of 1 ULP changes how it is rounded.
    x = (rng.integers(-300, 700, shape) / np.float32(400.3)).astype(np.float32)
    converted = _convert(layer, shape, tmp_path)
    (found,) = converted.report.layers
    assert (found.became, found.input_bits, found.weight_bits) == ("binary", *bits)
    _check_sums(
        larq_engine.Interpreter(converted).predict(x), layer(x).numpy(), bits, weights(w, bits[1])
    )


def _check_sums(got, expected, bits, weights):
    """Asserts that both are equal sums of products, each a whole number of steps.

    A float sum of up to 2^17 steps is rounded to a 128th of a step, and a few such errors add up.
    """
    sizes = np.abs(weights).max(axis=(0, 1, 2)) if bits[1] == 1 else 1
    step = sizes / ((2 ** bits[0] - 1) * (2 ** bits[1] - 1))
    whole = np.rint(expected / step)
    np.testing.assert_allclose(expected / step, whole, rtol=0, atol=0.25)
    np.testing.assert_allclose(got / step, whole, rtol=0, atol=0.25)


def test_a_network_as_riptides(rng, tmp_path):
    """Riptide has shifts instead of batch norms: a power of two for each channel."""
    shapes = [(3, 3, _CHANNELS, 32), (3, 3, 32, 32), (1, 1, 32, 10)]
    weights = [tf.constant(rng.standard_normal(shape), tf.float32) for shape in shapes]
    means = [tf.constant(rng.integers(-4, 5, shape[3]) / 8, tf.float32) for shape in shapes]
    spreads = [tf.constant(rng.uniform(0.5, 9, shape[3]), tf.float32) for shape in shapes]

    def net(x):
        for w, mean, spread in zip(weights, means, spreads, strict=True):
            y = tf.nn.conv2d(_riptide_values(x, 2), _riptide_weights(w, 1), 1, "SAME")
            x = _power_of_two(1 / spread) * (y - mean)
        return x

    x = (rng.integers(-300, 700, (1, 8, 8, _CHANNELS)) / np.float32(400.3)).astype(np.float32)
    converted = _convert(net, x.shape, tmp_path)
    found = [(la.became, la.input_bits, la.weight_bits) for la in converted.report.layers]
    assert found == [("binary", 2, 1)] * 3
    got = larq_engine.Interpreter(converted).predict(x)
    np.testing.assert_allclose(got, net(x).numpy(), rtol=0, atol=1e-4)
