"""Random networks in the forms that exports of PyTorch, ONNX and Keras 3 have.

Signs are written in many ways, images have their channels first or last, and operators of their own
pad before layers. Binary results stay equal to the bit, and the self-check passes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from larq_engine.converter.api import convert_tflite
from tests.converter.graphs import Net, Value, convert_and_compare, signs, steps
from tests.model_builder import ACTIVATION

_TO_NHWC, _TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)

_Form = Callable[[Net, Value], Value]


def _truth(net: Net, kind: str, x: Value) -> Value:
    return net.op(kind, x, 0.0, dtype=np.bool_)


def _number(net: Net, truth: Value) -> Value:
    return net.op("CAST", truth, inDataType=6, outDataType=0)


def _where(kind: str, *values: float) -> _Form:
    return lambda net, x: net.op("SELECT_V2", _truth(net, kind, x), *values)


def _cast(net: Net, x: Value) -> Value:
    number = _number(net, _truth(net, "GREATER_EQUAL", x))
    return net.op("SUB", net.op("MUL", number, 2.0), 1.0)


def _with_zero(net: Net, x: Value) -> Value:
    return net.op("ADD", net.op("SIGN", x), _number(net, _truth(net, "EQUAL", x)))


def _but_for_zero(net: Net, x: Value) -> Value:
    return net.op("SELECT_V2", _truth(net, "EQUAL", x), 1.0, net.op("SIGN", x))


_SIGNS: dict[str, _Form] = {
    "larq": Net.sign,
    "x >= 0": _where("GREATER_EQUAL", 1.0, -1.0),
    "x < 0": _where("LESS", -1.0, 1.0),
    "x > 0": _where("GREATER", 1.0, -1.0),
    "0 or 1": _where("GREATER_EQUAL", 1.0, 0.0),
    "cast": _cast,
    "sign and zero": _with_zero,
    "sign but for zero": _but_for_zero,
    "two comparisons": lambda net, x: net.op(
        "SUB", *[_number(net, _truth(net, kind, x)) for kind in ("GREATER_EQUAL", "LESS")]
    ),
}


def _clamp(net: Net, x: Value) -> Value:
    for kind, bound in (("GREATER", 1.0), ("LESS", -1.0)):
        x = net.op("SELECT_V2", net.op(kind, x, bound, dtype=np.bool_), bound, x)
    return x


def _prelu(net: Net, x: Value) -> Value:
    negative = net.op("MUL", x, -1.0, fusedActivationFunction=ACTIVATION["RELU"])
    return net.op("SUB", net.op("RELU", x), net.op("MUL", 0.25, negative))


_BEFORE_SIGNS: dict[str, _Form] = {
    "nothing": lambda net, x: x,
    "clamp": _clamp,
    "hard tanh": lambda net, x: net.op("RELU_N1_TO_1", x),
    "scale": lambda net, x: net.op("MUL", x, 4.0),
    "prelu": _prelu,
}


@dataclass
class _Image:
    """A value, and the place of its channels."""

    value: Value
    channels_first: bool

    @property
    def channels(self) -> int:
        return self.value.shape[1 if self.channels_first else -1]


class _Network:
    """Layers in random forms, one after the other."""

    def __init__(self, rng: np.random.Generator, net: Net) -> None:
        self._rng, self._net = rng, net

    def _pick(self, forms: dict[str, _Form]) -> _Form:
        return forms[str(self._rng.choice([*forms]))]

    def _layout(self, image: _Image, *, first: bool) -> _Image:
        if image.channels_first == first:
            return image
        order = _TO_NCHW if first else _TO_NHWC
        return _Image(self._net.transpose(image.value, *order), first)

    def _anyhow(self, image: _Image) -> _Image:
        """Returns the image in either layout."""
        return self._layout(image, first=bool(self._rng.integers(2)))

    def _per_channel(self, image: _Image, values: np.ndarray) -> np.ndarray:
        return values.reshape((1, -1, 1, 1) if image.channels_first else (-1,))

    def layer(self, image: _Image) -> _Image:
        image = self._anyhow(image)
        x = self._pick(_BEFORE_SIGNS)(self._net, image.value)
        form = self._pick(_SIGNS)
        y = self._anyhow(_Image(form(self._net, x), image.channels_first))
        outputs = int(self._rng.choice([16, 32]))
        pads = [tuple(map(int, self._rng.integers(0, 3, 2))) for _ in range(2)]
        if self._rng.random() < 0.7:
            table = [(0, 0), (0, 0), *pads] if y.channels_first else [(0, 0), *pads, (0, 0)]
            y = _Image(self._net.pad(y.value, table), y.channels_first)
        data = self._layout(y, first=False).value
        filters = signs(self._rng, outputs, 3, 3, data.shape[3])
        stride = int(self._rng.integers(1, 3))
        padding = "VALID" if min(data.shape[1:3]) >= 3 else "SAME"
        result = self._net.conv(data, filters, padding=padding, stride=(stride, stride))
        return self._norm(self._anyhow(_Image(result, False)))

    def _norm(self, image: _Image) -> _Image:
        channels = image.channels
        scale = self._rng.choice(np.array([0.5, -0.25, 2.0, 1.0], np.float32), channels)
        y = self._net.op("MUL", image.value, self._per_channel(image, scale))
        shift = steps(self._rng, channels)
        y = self._net.op("ADD", y, self._per_channel(image, shift))
        return _Image(y, image.channels_first)

    def shortcut(self, image: _Image) -> _Image:
        """Adds a layer, and joins its result with its input by a sum or a concatenation."""
        image = self._anyhow(image)
        y = self._pick(_BEFORE_SIGNS)(self._net, image.value)
        form = self._pick(_SIGNS)
        data = self._layout(_Image(form(self._net, y), image.channels_first), first=False).value
        filters = signs(self._rng, image.channels, 3, 3, image.channels)
        branch = _Image(self._net.conv(data, filters, padding="SAME"), False)
        branch = self._layout(branch, first=image.channels_first)
        if self._rng.integers(2):
            axis = 1 if image.channels_first else 3
            joined = self._net.concatenate([branch.value, image.value], axis)
            return _Image(joined, image.channels_first)
        return _Image(self._net.op("ADD", branch.value, image.value), image.channels_first)

    def end(self, image: _Image) -> Value:
        image = self._anyhow(image)
        n, channels = image.value.shape[0], image.channels
        end = self._rng.choice(["image", "mean", "sum", "flatten"])
        if end == "image":
            return image.value
        if end == "flatten":
            size = int(np.prod(image.value.shape[1:]))
            flat = self._net.reshape(image.value, n, size)
            return self._net.dense(flat, steps(self._rng, 8, size))
        axes = np.array((2, 3) if image.channels_first else (1, 2), np.int32)
        kind = {"mean": "REDUCE_MAX", "sum": "SUM"}[str(end)]
        return self._net.op(kind, image.value, axes, shape=(n, channels), keepDims=False)


@pytest.mark.parametrize("seed", range(60))
def test_random_network(net, seed):
    rng = np.random.default_rng(seed)
    channels_first = bool(rng.integers(2))
    shape = (1, 32, 7, 6) if channels_first else (1, 7, 6, 32)
    image = _Image(net.input(*shape), channels_first)
    network = _Network(rng, net)
    # The first layer needs none: its shortcut would be the input, which has the model's own layout.
    image = network.layer(image)
    for _ in range(rng.integers(0, 4)):
        image = network.layer(image) if rng.random() < 0.6 else network.shortcut(image)
    y = network.end(image)
    converted = convert_and_compare(net, y, inputs=[steps(rng, *shape)])
    convert_tflite(net.finish(y))  # with its self-check
    reasons = [layer.reason for layer in converted.layers if layer.became != "binary"]
    # A zero around steps of 0 and 1 is one of their values; a zero around signs is a layer's own
    # pad.
    assert all("neither" in reason for reason in reasons), reasons
    assert converted.kinds.count("TRANSPOSE") <= 2  # those of the model's input and output
