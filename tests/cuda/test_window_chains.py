"""Tests of windows that slide over the results of other windows.

If a kernel computes both, there is one launch, with the same bytes as two launches.
"""

from collections.abc import Callable

import numpy as np
import pytest

import larq_engine
from tests.cuda.expected_times import expected_us
from tests.numpy_net import Array, Model, Net, Value


def _conv(
    net: Net,
    x: Value,
    channels: int,
    taps: int = 3,
    stride: int = 1,
    *,
    multiplier: int = 0,
    activation: str = "NONE",
) -> Value:
    """Adds a convolution, or a depthwise one if there is a multiplier."""
    depth = x.array.shape[3]
    channels = depth * multiplier or channels
    shape = (1, taps, taps, channels) if multiplier else (channels, taps, taps, depth)
    return net.float_conv(
        x,
        net.rng.standard_normal(shape).astype(np.float32),
        net.rng.standard_normal(channels).astype(np.float32),
        stride=(stride, stride),
        activation=activation,
        depthwise=multiplier > 0,
    )


def _blur(net: Net, x: Value, stride: int = 2, **options: object) -> Value:
    return _conv(net, x, 0, stride=stride, multiplier=1, **options)


def _max_pool(net: Net, x: Value, size: int, *options: object) -> Value:
    return net.pool(x, (size, size), (1, 1), *(options or ("VALID",)))


def _launches(interpreter: larq_engine.Interpreter) -> list[list[str]]:
    """Returns the operators of each launch."""
    steps = interpreter._session._model.engine.read_profile()
    groups: dict[int, list[str]] = {}
    for step in steps:
        if step["op"] != "TRANSFER":
            groups.setdefault(step["group"], []).append(step["op"])
    return list(groups.values())


def _model(rng: np.random.Generator, make: Callable[[Net, Value], Value], channels: int) -> Model:
    """Returns a model whose output is quantized, so that the plug-in has a layer of its own."""
    net = Net(rng)
    x = net.input(rng.standard_normal((2, 11, 9, channels)).astype(np.float32))
    return net.finish(net.conv(make(net, x), 32, taps=1))


def _predicted(model: Model, **options: object) -> Array:
    with model.open(device="cuda", **options) as interpreter:
        result = interpreter.predict(model.inputs)
    assert isinstance(result, np.ndarray)
    return result


_POOL_AND_BLUR = ["MAX_POOL_2D", "DEPTHWISE_CONV_2D"]
_BLUR_AND_PIXELS = ["DEPTHWISE_CONV_2D", "CONV_2D"]
_TOGETHER: dict[str, tuple[Callable[[Net, Value], Value], int]] = {
    "2x2": (lambda n, x: _blur(n, _max_pool(n, x, 2)), 8),
    "3x3 beyond the edges": (lambda n, x: _blur(n, _max_pool(n, x, 3, "SAME")), 36),
    "with an activation": (lambda n, x: _blur(n, _max_pool(n, x, 2), activation="RELU6"), 64),
    "every pixel": (lambda n, x: _blur(n, _max_pool(n, x, 2), 1), 4),
}
_APART: dict[str, tuple[Callable[[Net, Value], Value], int]] = {
    "channels that are no fours": (lambda n, x: _blur(n, _max_pool(n, x, 2)), 6),
    "a pool with an activation": (lambda n, x: _blur(n, _max_pool(n, x, 2, "SAME", "RELU6")), 8),
    "a pool with a stride": (lambda n, x: _blur(n, n.pool(x, (2, 2), (2, 2), "VALID")), 8),
    "a large pool": (lambda n, x: _blur(n, _max_pool(n, x, 4)), 8),
    "a large filter": (lambda n, x: _conv(n, _max_pool(n, x, 2), 0, 5, multiplier=1), 8),
    "several outputs of a channel": (lambda n, x: _conv(n, _max_pool(n, x, 2), 0, multiplier=2), 8),
}  # fmt: skip


def _pool_that_others_read(net: Net, x: Value) -> Value:
    pooled = _max_pool(net, x, 2)
    return net.add(_blur(net, pooled, 1), pooled)


_IN_TILES: dict[str, tuple[Callable[[Net, Value], Value], int]] = {
    "the stem of QuickNet": (lambda n, x: _conv(n, _blur(n, x), 64, 1), 16),
    "two activations": (
        lambda n, x: _conv(n, _blur(n, x, activation="RELU"), 32, 1, activation="RELU6"),
        32,
    ),
    "few outputs, many channels": (lambda n, x: _conv(n, _blur(n, x, 1), 7, 1), 148),
}
_NOT_IN_TILES: dict[str, tuple[Callable[[Net, Value], Value], int]] = {
    "channels that are no fours": (lambda n, x: _conv(n, _blur(n, x), 16, 1), 18),
    "more outputs than a tile has": (lambda n, x: _conv(n, _blur(n, x), 65, 1), 16),
    "larger windows": (lambda n, x: _conv(n, _blur(n, x), 16, 3), 16),
    "a stride": (lambda n, x: _conv(n, _blur(n, x), 16, 1, 2), 16),
    "two convolutions of channels": (lambda n, x: _blur(n, _blur(n, x)), 16),
}


def _check(model: Model, windows: list[str], *, together: bool) -> None:
    """Checks whether the first two operators, which are `windows`, share a launch."""
    with model.open(device="cuda") as interpreter:
        interpreter.resize([model.inputs[0].shape])
        first, second, *_ = _launches(interpreter)
        rows = interpreter.profile(inputs=model.inputs, runs=2)
    if together:
        assert first[:2] == windows
    else:
        assert [first, second[:1]] == [windows[:1], windows[1:]]
    assert [row.op for row in rows if row.op != "TRANSFER"][:2] == windows
    assert len({row.kernel for row in rows if row.op in windows}) == (1 if together else 2)
    np.testing.assert_array_equal(_predicted(model), _predicted(model, fuse=False))


@pytest.mark.parametrize("name", _TOGETHER)
def test_a_pool_and_a_convolution_are_one_launch(name, rng):
    _check(_model(rng, *_TOGETHER[name]), _POOL_AND_BLUR, together=True)


@pytest.mark.parametrize("name", [*_APART, "a pool that others read"])
def test_a_pool_and_a_convolution_are_two_launches(name, rng):
    make, channels = _APART.get(name, (_pool_that_others_read, 8))
    _check(_model(rng, make, channels), _POOL_AND_BLUR, together=False)


@pytest.mark.parametrize("name", _IN_TILES)
def test_a_convolution_of_channels_and_one_of_pixels_are_one_launch(name, rng):
    _check(_model(rng, *_IN_TILES[name]), _BLUR_AND_PIXELS, together=True)


@pytest.mark.parametrize("name", _NOT_IN_TILES)
def test_convolutions_are_two_launches(name, rng):
    model = _model(rng, *_NOT_IN_TILES[name])
    with model.open(device="cuda") as interpreter:
        interpreter.resize([model.inputs[0].shape])
        launches = _launches(interpreter)
    # The second launch makes the bits that the last layer reads.
    assert [len(ops) for ops in launches] == [1, 2, 1]
    assert launches[0] == ["DEPTHWISE_CONV_2D"]
    np.testing.assert_array_equal(_predicted(model), _predicted(model, fuse=False))


def _expected(
    rng: np.random.Generator, make: Callable[[Net, Value], Value], channels: int
) -> dict[str, float]:
    model = _model(rng, make, channels)
    with model.open(device="auto") as interpreter:
        interpreter.resize([model.inputs[0].shape])
        return expected_us(interpreter)


@pytest.mark.parametrize(
    ("second", "pair", "two"),
    [
        ("DEPTHWISE_CONV_2D", _TOGETHER["2x2"], _APART["a pool with a stride"]),
        ("CONV_2D", _IN_TILES["the stem of QuickNet"], _NOT_IN_TILES["larger windows"]),
    ],
)
def test_two_windows_are_expected_to_take_one_launch(second, pair, two, rng):
    """A launch takes 4 us; at these sizes its work takes almost nothing."""
    assert _expected(rng, *pair)[second] < 1
    assert _expected(rng, *two)[second] >= 4


def _quicknet(net: Net, x: Value) -> Value:
    """Adds the operators of larq_zoo's QuickNet, with fewer channels."""
    x = _conv(net, x, 8, stride=2, activation="RELU")
    x = _conv(net, _blur(net, x), 32, 1)
    for section in range(4):
        if section > 0:
            x = _blur(net, _max_pool(net, net.relu(x, "RELU"), 2))
            x = _conv(net, x, 32 * (section + 1), 1)
        for _ in range(4):
            y = net.conv(x, x.array.shape[3], activation="RELU")
            y = net.add(net.mul(y, net.per_channel(y.array.shape[3])), x)
            x = net.add(y, net.per_channel(y.array.shape[3]))
    x = net.mean(net.relu(x, "RELU"), (1, 2), keep=False)
    logits = net.dense(x, net.rng.standard_normal((10, 128)).astype(np.float32), None)
    return net.softmax(logits)


def test_launches_of_quicknet(rng):
    """A stem of 2 and 3 transitions of 2, 16 binary layers, a mean, a dense layer, a softmax."""
    net = Net(rng)
    x = net.input(rng.standard_normal((1, 64, 64, 3)).astype(np.float32))
    model = net.finish(_quicknet(net, x))
    with model.open(device="cuda") as interpreter:
        interpreter.resize([(1, 64, 64, 3)])
        assert len(_launches(interpreter)) == 2 + 16 + 3 * 2 + 3
