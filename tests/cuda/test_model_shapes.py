"""Tests of small networks in the shape of larq_zoo's.

On the GPU every byte equals NumPy's, and only inputs and outputs are copied.
"""

import re
from collections.abc import Callable

import numpy as np
import pytest

from tests.numpy_net import Model, Net, Value, claimed, random_images

_SIZE = 16


def _batch_norm(net: Net, x: Value) -> Value:
    channels = x.array.shape[3]
    return net.add(net.mul(x, net.per_channel(channels)), net.per_channel(channels))


def _quicknet(net: Net, x: Value) -> Value:
    """Adds blocks with shortcuts, in sections that end in a pool and widen."""
    for channels in (32, 64):
        for _ in range(2):
            x = net.add(_batch_norm(net, net.conv(x, channels, activation="RELU")), x)
        x = net.pool(net.relu(x, "RELU"), (3, 3), (2, 2), "SAME")
        x = net.concatenate([x, net.conv(x, channels, taps=1)])
    return x


def _birealnet(net: Net, x: Value) -> Value:
    """Adds layers with shortcuts, which have a pool and a pointwise layer where sizes halve."""
    for channels in (32, 64):
        stride = 1 if channels == 32 else 2
        shortcut = x
        if stride == 2:
            shortcut = net.pool(x, (2, 2), (2, 2), "SAME")
            shortcut = _batch_norm(net, net.conv(shortcut, channels, taps=1))
        x = net.add(_batch_norm(net, net.conv(x, channels, stride=stride)), shortcut)
        x = net.add(_batch_norm(net, net.conv(x, channels)), x)
    return x


def _densenet(net: Net, x: Value) -> Value:
    """Adds layers whose output is concatenated with all that came before."""
    for layer in range(5):
        if layer == 3:
            x = net.pool(net.conv(_batch_norm(net, x), 40, taps=1), (2, 2), (2, 2), "VALID")
        x = net.concatenate([x, net.conv(_batch_norm(net, x), 16)])
    return x


def _meliusnet(net: Net, x: Value) -> Value:
    """Adds pairs of a dense layer and a layer that improves what the dense one added."""
    for _ in range(2):
        x = net.concatenate([x, net.conv(_batch_norm(net, x), 32)])
        better = net.conv(_batch_norm(net, x), x.array.shape[3])
        x = net.add(x, net.prelu(better, net.per_channel(x.array.shape[3], dims=3)))
    return x


def _improving(net: Net, x: Value) -> Value:
    """Improves the last channels as MeliusNet does: cuts them off and puts them back."""
    x = net.concatenate([x, net.conv(_batch_norm(net, x), 32)])
    rest = (slice(None),) * 3
    new = net.strided_slice(x, *rest, slice(-32, None))
    new = net.add(new, net.conv(_batch_norm(net, x), 32))
    return net.concatenate([net.strided_slice(x, *rest, slice(None, -32)), new])


def _shufflenet(net: Net, x: Value) -> Value:
    """Adds layers on one half of the channels, which then changes sides with the other half."""
    x = net.concatenate([x, net.conv(x, 32)])
    for _ in range(2):
        left, right = net.split(x, 2)
        x = net.concatenate([net.add(_batch_norm(net, net.conv(right, 32)), right), left])
    return x


def _few_bits(net: Net, x: Value) -> Value:
    """Adds layers like _birealnet, with values and weights of several bits."""
    for bits_in, bits_weights in ((2, 1), (3, 2), (1, 4)):
        y = net.conv(x, 32, bits_in=bits_in, bits_weights=bits_weights, activation="RELU")
        x = net.add(_batch_norm(net, y), x)
    return net.conv(net.pool(x, (2, 2), (2, 2), "SAME"), 40, taps=1, bits_in=2, bits_weights=2)


_SHAPES = [_quicknet, _birealnet, _densenet, _meliusnet, _improving, _shufflenet, _few_bits]


def _make(shape: Callable[[Net, Value], Value], rng: np.random.Generator, samples: int) -> Model:
    net = Net(rng)
    return net.finish(shape(net, net.input(random_images(rng, samples, _SIZE, _SIZE, 32))))


@pytest.mark.parametrize("shape", _SHAPES, ids=lambda shape: shape.__name__[1:])
def test_every_byte_is_the_cpus(shape, rng, assert_no_leaks):
    model = _make(shape, rng, 2)
    model.check(device="cpu")
    steps = model.check_both(device="cuda")
    with model.open(device="cuda") as interpreter:
        rows = list(interpreter.profile(runs=1))
    assert [row.op for row in rows if row.op == "TRANSFER"] == ["TRANSFER"] * 2
    assert {row.device for row in rows if row.op in steps} == {"cuda"}
    assert_no_leaks()


@pytest.mark.parametrize("samples", [1, 64])
def test_a_plan_has_a_reason_for_each_operator(samples, rng):
    model = _make(_quicknet, rng, 1)
    with model.open(device="auto") as interpreter:
        interpreter.resize([(samples, _SIZE, _SIZE, 32)])
        steps = interpreter._session._model.engine.read_profile()
    operators = [step for step in steps if step["op"] != "TRANSFER"]
    assert len(operators) == len(claimed(model.open(device="cuda")))
    for step in operators:
        assert re.fullmatch(
            r"\S+ us here, \S+ us on (cpu|cuda); there alone it would take \S+ us more",
            step["reason"],
        )
