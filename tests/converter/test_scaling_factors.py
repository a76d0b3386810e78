"""XNOR-Net's scaling factors, the mean size of each channel's weights, are kept to the bit.

Weights are multiples of 1/32, and a channel has a power of two of them. So their mean is exact in
any order of the sum, and so are its products with sums of signs.
"""

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import schema
from tests.converter.frameworks import require_keras

require_keras()

import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

keras = tf.keras

_CHANNELS = 32


def _xnor_weight_scale(weights):
    """Quantizes weights, clipped to -1 and 1, as larq_zoo's XNOR-Net does."""
    weights = tf.clip_by_value(weights, -1, 1)
    axes = list(range(len(weights.shape) - 1))
    return tf.reduce_mean(tf.abs(weights), axes, keepdims=True) * larq.math.sign(weights)


_QUANTIZERS = pytest.mark.parametrize(
    ("quantizer", "clip"),
    [("magnitude_aware_sign", np.inf), (_xnor_weight_scale, 1.0)],
    ids=["Bi-Real net", "XNOR-Net"],
)


def _layer(dense, quantizer):
    options = {"input_quantizer": "ste_sign", "kernel_quantizer": quantizer, "use_bias": False}
    if dense:
        return larq.layers.QuantDense(_CHANNELS, **options)
    return larq.layers.QuantConv2D(_CHANNELS, 4, padding="same", **options)


def _draw(rng, layer):
    """Draws weights whose sizes differ from channel to channel; some are larger than 1."""
    shape = layer.kernel.shape
    weights = rng.integers(-8, 9, shape) * rng.integers(1, 6, shape[-1]) / 32
    layer.set_weights([weights.astype(np.float32)])
    return weights


def _mean_sizes(weights, clip):
    return np.minimum(np.abs(weights), clip).mean(axis=tuple(range(weights.ndim - 1)))


@_QUANTIZERS
@pytest.mark.parametrize("dense", [False, True], ids=["convolution", "dense"])
def test_factors_are_the_multipliers(dense, quantizer, clip, rng):
    shape = (256,) if dense else (6, 5, 32)
    layer = _layer(dense, quantizer)
    model = keras.Sequential([keras.Input(shape), layer])
    weights = _draw(rng, layer)
    converted = larq_engine.convert_keras_model(model)
    (graph,) = schema.read(converted).graphs
    (binary,) = [op for op in graph.ops if op.kind == "LceBconv2d"]
    _, _, multipliers, bias, _ = binary.inputs
    np.testing.assert_array_equal(multipliers.data, _mean_sizes(weights, clip).astype(np.float32))
    assert not bias.data.any()
    x = rng.normal(size=(3, *shape)).astype(np.float32)
    got = larq_engine.Interpreter(converted).predict(x)
    np.testing.assert_array_equal(got, model(x, training=False).numpy())


@_QUANTIZERS
def test_factors_are_in_the_thresholds_of_a_layer_that_writes_bits(quantizer, clip, rng):
    """A batch norm subtracts a multiple of the factors, and the next layer takes the sign."""
    layers = [_layer(False, quantizer), keras.layers.BatchNormalization(), _layer(False, quantizer)]
    model = keras.Sequential([keras.Input((6, 5, 32)), *layers])
    factors = _mean_sizes(_draw(rng, layers[0]), clip)
    _draw(rng, layers[2])
    gamma, beta, mean, variance = layers[1].get_weights()
    steps = rng.integers(-20, 21, _CHANNELS)
    mean = (2 * steps + 0.5) * factors  # 512 signs have even sums
    layers[1].set_weights([gamma, beta, mean, variance])
    converted = larq_engine.convert_keras_model(model)
    (graph,) = schema.read(converted).graphs
    first, _ = [op for op in graph.ops if op.kind == "LceBconv2d"]
    # The sign is -1 up to a sum of 2 * steps: where 512 minus the sum is more than twice the
    # threshold.
    np.testing.assert_array_equal(first.inputs[4].data, 255 - steps)
    x = rng.normal(size=(3, 6, 5, 32)).astype(np.float32)
    got = larq_engine.Interpreter(converted).predict(x)
    np.testing.assert_array_equal(got, model(x, training=False).numpy())
