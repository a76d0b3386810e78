"""Squeeze-and-excitation gates beside binary layers are one plan with the layers.

A gate has averages, small dense layers, logistic functions and the product with an image.
"""

import numpy as np
import pytest

from tests.numpy_net import Model, Net, Value, claimed, random_images

_CHANNELS = 37
_MANY_WEIGHTS = 1 << 16  # a dense layer of as many is left to the host


def _weights(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32) / 4


def _gate(net: Net, pooled: Value, channels: int) -> Value:
    """Adds two dense layers and a logistic function of rows."""
    rng, depth = net.rng, pooled.array.shape[-1]
    reduced = net.dense(pooled, _weights(rng, 8, depth), _weights(rng, 8), activation="RELU")
    return net.logistic(net.dense(reduced, _weights(rng, channels, 8), _weights(rng, channels)))


def _gated_layer(rng: np.random.Generator, pool: str) -> Model:
    """Builds a layer of RealToBinaryNet, whose input is computed, too, and read three times."""
    net = Net(rng)
    x = net.add(net.input(random_images(rng, 1, 9, 9, _CHANNELS)), net.per_channel(_CHANNELS))
    pooled = net.average(x, 9, 1, "VALID") if pool == "pool" else net.mean(x, (1, 2), keep=False)
    y = net.conv(x, _CHANNELS)
    y = net.mul(y, _gate(net, pooled, _CHANNELS))
    y = net.prelu(y, net.per_channel(_CHANNELS))
    return net.finish(net.add(y, x))


@pytest.mark.parametrize("pool", ["pool", "mean"])
def test_a_gated_layer_is_one_plan(pool, rng):
    model = _gated_layer(rng, pool)
    with model.open() as interpreter:
        np.testing.assert_allclose(
            interpreter.predict(model.inputs), model.expected[0], rtol=1e-5, atol=1e-5
        )
        steps, _, _ = interpreter._session.measure(model.inputs, 1)
        assert [step["op"] for step in steps] == [
            "ADD",
            "AVERAGE_POOL_2D" if pool == "pool" else "MEAN",
            "LceQuantize",
            "LceBconv2d",
            "FULLY_CONNECTED",
            "FULLY_CONNECTED",
            "LOGISTIC",
        ]
        # The gate runs before the layer, which computes the operators between itself and the sum.
        layer = steps[3]
        assert layer["absorbed"] == [node + layer["node"] for node in (4, 5, 6)]


@pytest.mark.parametrize("pool", ["pool", "mean"])
def test_results_do_not_depend_on_kernel_threads_and_fusing(pool, rng):
    model = _gated_layer(rng, pool)
    expected = model.open(num_threads=1).predict(model.inputs)
    for options in ({"num_threads": 2}, {"kernel": "reference"}):
        assert model.open(**options).predict(model.inputs).tobytes() == expected.tobytes()
    hosts = model.open(fuse=False).predict(model.inputs)
    np.testing.assert_allclose(hosts, expected, rtol=1e-5, atol=1e-5)


def _check_claimed(net: Net, y: Value, op: str) -> None:
    """Checks that the engine computes `y`, which is next to a quantization."""
    model = net.finish(net.bits(y), y)
    with model.open() as interpreter:
        got = interpreter.predict(model.inputs)[1]
        assert op in claimed(interpreter)
    np.testing.assert_allclose(got, model.expected[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("activation", ["NONE", "RELU6"])
def test_averages(padding, activation, rng):
    """Windows are at borders, of more than 16 taps and with strides; some cover the whole image."""
    of_windows = ((1, 1), (2, 2), (3, 1), (3, 2), (5, 3), (7, 2))
    of_images = [(7, 7, 7), (3, 7, 7)] if padding == "SAME" else [(7, 7, 1)]
    for height, taps, stride in [*((10, *window) for window in of_windows), *of_images]:
        net = Net(rng)
        x = net.input(10 * random_images(rng, 3, height, 7, 19))
        _check_claimed(net, net.average(x, taps, stride, padding, activation), "AVERAGE_POOL_2D")


@pytest.mark.parametrize("axes", [(1, 2), (2, 1), (1,), (-2,)])
@pytest.mark.parametrize("keep", [True, False])
def test_means(axes, keep, rng):
    net = Net(rng)
    x = net.input(random_images(rng, 3, 6, 7, 19))
    _check_claimed(net, net.mean(x, axes, keep=keep), "MEAN")


@pytest.mark.parametrize("units", [1, 7, 8, 33, 100])
@pytest.mark.parametrize("keep", [True, False])
def test_small_dense_layers(units, keep, rng):
    net = Net(rng)
    x = net.input(random_images(rng, 3, 2, 5, 21))
    y = net.dense(x, _weights(rng, units, 21), keep=keep, activation="RELU")
    _check_claimed(net, y, "FULLY_CONNECTED")


def test_what_the_host_computes_as_well_stays_with_it(rng):
    """The host keeps dense layers of many weights, and logistic functions of images."""
    net = Net(rng)
    x = net.input(random_images(rng, 1, 1, 1, 512))
    large = net.dense(x, _weights(rng, _MANY_WEIGHTS // 512 + 1, 512), keep=True)
    model = net.finish(net.bits(large), net.bits(net.logistic(x)))
    with model.open() as interpreter:
        assert claimed(interpreter) == ["LceQuantize"] * 2


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("batch", [1, 5])
def test_samples_of_a_large_batch_are_apart(batch, threads, rng):
    """The plan takes some samples after the others if a batch is more than a cache holds."""
    net = Net(rng)
    x = net.input(random_images(rng, batch, 64, 64, 64))
    y = net.dense(net.average(x, 64, 1, "VALID"), _weights(rng, 32, 64))
    model = net.finish(net.conv(x, 8, stride=8), net.bits(y), y)
    got = model.open(num_threads=threads).predict(model.inputs)
    np.testing.assert_array_equal(got[0], model.expected[0])
    np.testing.assert_allclose(got[2], model.expected[2], rtol=1e-4, atol=1e-5)


def test_a_models_last_layers_are_the_hosts(rng):
    net = Net(rng)
    x = net.conv(net.input(random_images(rng, 1, 6, 6, 32)), 32)
    y = net.dense(net.mean(x, (1, 2), keep=False), _weights(rng, 10, 32))
    model = net.finish(net.logistic(y))
    with model.open() as interpreter:
        assert claimed(interpreter) == ["LceQuantize", "LceBconv2d"]
