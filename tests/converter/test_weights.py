"""Binary weights are recognised, in binary layers and in those that stay in float."""

import numpy as np
import pytest

from larq_engine.converter.signs import NotBinary
from larq_engine.converter.weights import (
    OddWeights,
    find_centred_weights,
    find_odd_weights,
)
from tests import oracle
from tests.converter.graphs import Net, Value, convert_and_compare, edges, signs, steps

_SCALES = np.array([0.5, 2.0, 0.25, 0.0, 1.0, 4.0, 3e-39], np.float32)


def test_scales_and_signs(rng):
    v = signs(rng, 7, 3, 3, 5)
    found = find_odd_weights(v * _SCALES[:, None, None, None])
    assert isinstance(found, OddWeights)
    np.testing.assert_array_equal(found.scale, _SCALES)
    np.testing.assert_array_equal(found.odd, v)
    assert found.bits == 1


@pytest.mark.parametrize("levels", [3, 4, 7, 15, 31, 100, 256])
def test_numbers_at_equal_distances(levels, rng):
    """Each channel has a lowest number and a distance, rounded to float32."""
    q = rng.integers(0, levels, (6, 3, 3, 40))
    q[0] %= 2
    q[:, 0, 0, :2] = 0, 1
    q[1:, 0, 0, 2] = levels - 1
    distance, lowest = rng.uniform(0.01, 2, 6), rng.uniform(-3, 3, 6)
    distance[2] = 0
    weights = (lowest.reshape(-1, 1, 1, 1) + q * distance.reshape(-1, 1, 1, 1)).astype(np.float32)
    found = find_centred_weights(weights)
    assert found is not None
    assert found.odd.bits == (levels - 1).bit_length()
    np.testing.assert_array_equal(found.odd.odd % 2, 1)
    got = found.odd.odd * found.odd.scale[:, None, None, None]
    got += found.centre[:, None, None, None]
    largest = np.abs(weights).max(axis=(1, 2, 3), keepdims=True)
    assert (np.abs(got - weights) <= 2.0**-20 * largest).all()


def test_numbers_at_other_distances(rng):
    weights = rng.standard_normal((6, 3, 3, 40)).astype(np.float32)
    assert find_centred_weights(weights) is None
    ternary = rng.integers(-1, 2, weights.shape).astype(np.float32)
    assert find_centred_weights(ternary) is not None
    ternary[3, 1, 1, 7] = 0.001
    assert find_centred_weights(ternary) is None


def test_weights_of_many_rows_at_a_time(rng, monkeypatch):
    """The rows are examined in pieces: the worst of all of them is reported."""
    monkeypatch.setattr("larq_engine.converter.weights._CHUNK", 10)
    weights = signs(rng, 9, 4)
    assert isinstance(find_odd_weights(weights), OddWeights)
    weights[7, 2] *= np.float32(1.5)
    weights[3, 1] *= np.float32(1.25)
    found = find_odd_weights(weights)
    assert isinstance(found, NotBinary)
    assert "output channel 7" in found.reason


def _almost(weights: np.ndarray) -> np.ndarray:
    weights[2, 0, 1, 1] *= np.float32(1.001)
    return weights


def _by_a_last_bit(weights: np.ndarray) -> np.ndarray:
    weights[2, 0, 1, 1] = np.nextafter(weights[2, 0, 1, 1], np.float32(9))
    return weights


def _scales_of_inputs(weights: np.ndarray) -> np.ndarray:
    return weights * np.array([1, 2.71828, 1, 1, 1], np.float32)


def _not_finite(weights: np.ndarray) -> np.ndarray:
    weights[2] *= np.float32(np.inf)
    return weights


def _nan_within(weights: np.ndarray) -> np.ndarray:
    weights[2, 0, 1, 1] = np.nan
    return weights


# Changes of +-1 weights, and a phrase of the reason.
_NOT_BINARY = {
    "almost": (_almost, "almost binary: sizes within output channel 2 differ by up to 0.0005"),
    "by a last bit": (_by_a_last_bit, "almost binary: sizes within output channel 2"),
    "scales of inputs": (_scales_of_inputs, "not binary"),
    "not finite": (_not_finite, "not finite"),
    "nan within": (_nan_within, "not finite"),
}


@pytest.mark.parametrize("case", _NOT_BINARY)
def test_weights_that_are_not_binary(net, case, rng):
    """Weights are never rounded, while LCE rounds those that are off by up to half a percent."""
    change, reason = _NOT_BINARY[case]
    x = net.input(1, 5, 5, 5)
    y = net.conv(net.sign(x), change(signs(rng, 7, 3, 3, 5)))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert "CONV_2D" in converted.kinds
    assert not any(kind.startswith("Lce") for kind in converted.kinds)
    assert reason in converted.reason


def _conv(net: Net, x: Value, weights: np.ndarray) -> Value:
    return net.conv(x, weights, padding="SAME")


def _depthwise(net: Net, x: Value, weights: np.ndarray) -> Value:
    n, h, w, _ = x.shape
    channels = weights.shape[3]
    return net.op(
        "DEPTHWISE_CONV_2D", x, weights, np.zeros(channels, np.float32), shape=(n, h, w, channels),
        padding=0, strideH=1, strideW=1, depthMultiplier=channels // x.shape[3],
    )  # fmt: skip


def _transposed(net: Net, x: Value, weights: np.ndarray) -> Value:
    shape = (x.shape[0], 2 * x.shape[1], 2 * x.shape[2], len(weights))
    return net.op(
        "TRANSPOSE_CONV", np.array(shape, np.int32), weights, x, shape=shape,
        padding=0, strideH=2, strideW=2,
    )  # fmt: skip


def _dense(net: Net, x: Value, weights: np.ndarray) -> Value:
    return net.dense(x, weights)


def _product(net: Net, x: Value, weights: np.ndarray) -> Value:
    return net.op("BATCH_MATMUL", x, weights, shape=(*x.shape[:-1], weights.shape[1]))


def _product_turned(net: Net, x: Value, weights: np.ndarray) -> Value:
    shape = (*x.shape[:-1], weights.shape[0])
    return net.op("BATCH_MATMUL", x, weights, shape=shape, adjY=True)


# The layer, the shapes of weights and input, and the dimension of the weights that is their output
# channels.
_LAYERS = {
    "CONV_2D": (_conv, (9, 3, 3, 5), (1, 4, 4, 5), 0),
    "DEPTHWISE_CONV_2D": (_depthwise, (1, 5, 5, 22), (1, 6, 6, 11), 3),
    "TRANSPOSE_CONV": (_transposed, (8, 3, 3, 5), (1, 4, 4, 5), 0),
    "FULLY_CONNECTED": (_dense, (7, 40), (3, 40), 0),
    "BATCH_MATMUL": (_product, (40, 7), (2, 3, 40), 1),
    "BATCH_MATMUL turned": (_product_turned, (7, 40), (2, 3, 40), 0),
}


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("layer", _LAYERS)
def test_binary_weights_of_float_layers_are_stored_as_bits(net, layer, scaled, rng):
    build, shape, image, axis = _LAYERS[layer]
    scale = rng.choice(np.array([0.5, 2.0, 0.25, 1.0], np.float32), shape[axis])
    scale[:2] = 0.5, 2.0
    if not scaled:
        scale = np.full(1, 0.5, np.float32)
    sizes = scale.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    values = signs(rng, *shape)
    x = net.input(*image)
    y = build(net, x, values * sizes)
    converted = convert_and_compare(net, y, inputs=[steps(rng, *image)])
    kind = layer.removesuffix(" turned")
    assert converted.kinds == ["LceUnpackWeights", kind]
    unpack = converted.op("LceUnpackWeights")
    assert unpack.options == {"axis": axis}
    np.testing.assert_array_equal(unpack.inputs[0].data, oracle.pack_bits(values.ravel()))
    np.testing.assert_array_equal(unpack.inputs[1].data, scale)
    assert unpack.output.shape == shape
    (layer_report,) = converted.layers
    assert (layer_report.became, layer_report.kind) == ("weights only", kind)
    assert layer_report.weight_bits == 1
    assert layer_report.bytes_before == 4 * values.size
    assert layer_report.bytes_after == 4 * -(-values.size // 32) + scale.nbytes
    assert layer_report.reason


def test_negative_zeros_in_weights_keep_their_sign(net, rng):
    """-0.0 and +0.0 are binary weights of the size 0."""
    weights = np.copysign(np.float32(0), signs(rng, 9, 3, 3, 5))
    x = net.input(1, 4, 4, 5)
    y = _conv(net, x, weights)
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["LceUnpackWeights", "CONV_2D"]


@pytest.mark.parametrize("compatibility", ["lce", "larq_engine"])
def test_few_weights_and_those_for_lce_stay_floats(net, compatibility, rng):
    shape = (9, 3, 3, 5) if compatibility == "lce" else (9, 28)
    x = net.input(1, 4, 4, 5) if compatibility == "lce" else net.input(1, 28)
    y = (_conv if compatibility == "lce" else _dense)(net, x, signs(rng, *shape))
    converted = convert_and_compare(
        net, y, inputs=[steps(rng, *x.shape)], compatibility=compatibility
    )
    assert len(converted.kinds) == 1
    assert [layer.became for layer in converted.layers] == ["float"]


def test_weights_per_input_channel_of_a_float_layer_stay(net, rng):
    x = net.input(1, 4, 4, 5)
    y = _conv(net, x, _scales_of_inputs(signs(rng, 9, 3, 3, 5)))
    assert convert_and_compare(net, y, inputs=[steps(rng, *x.shape)]).kinds == ["CONV_2D"]


def test_a_batch_norm_before_a_dense_layer_scales_its_inputs(net, rng):
    values, scale = signs(rng, 7, 40), rng.choice(np.array([0.5, 2.0], np.float32), 40)
    x = net.input(3, 40)
    y = _dense(net, x, values * scale)
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["LceUnpackWeights", "FULLY_CONNECTED"]
    unpack = converted.op("LceUnpackWeights")
    assert unpack.options == {"axis": 1}
    np.testing.assert_array_equal(unpack.inputs[0].data, oracle.pack_bits(values.ravel()))
    np.testing.assert_array_equal(unpack.inputs[1].data, scale)


def test_weights_that_two_layers_share_are_stored_once(net, rng):
    x = net.input(1, 4, 4, 6)
    weights, bias = net.constant(signs(rng, 6, 3, 3, 6)), np.zeros(6, np.float32)
    y = x
    for _ in range(2):
        y = net.op(
            "CONV_2D", y, weights, bias, shape=x.shape, padding=0, strideH=1, strideW=1,
            dilationHFactor=1, dilationWFactor=1,
        )  # fmt: skip
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["LceUnpackWeights", "CONV_2D", "CONV_2D"]
    assert [layer.became for layer in converted.layers] == ["weights only"] * 2
