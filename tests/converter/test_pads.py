"""Binary layers take in the PADs that PyTorch's exports have before layers with a stride.

The image may be NCHW: then TRANSPOSEs stand before or after the PAD.
"""

from collections.abc import Callable

import numpy as np
import pytest

from larq_engine.converter.api import convert_tflite
from larq_engine.converter.padding import read_pads
from tests.converter.graphs import (
    Converted,
    Net,
    Value,
    convert,
    convert_and_compare,
    edges,
    signs,
    steps,
)

_TO_NHWC, _TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)
_PADS = {"symmetric": ((1, 1), (1, 1)), "unequal": ((0, 1), (2, 0)), "behind": ((0, 1), (0, 1))}

_Form = Callable[[Net, Value], Value]


def _where(net: Net, x: Value) -> Value:
    condition = net.op("GREATER_EQUAL", x, 0.0, dtype=np.bool_)
    return net.op("SELECT_V2", condition, 1.0, -1.0)


def _where_turned(net: Net, x: Value) -> Value:
    """Compares the image with its channels last, and chooses with its channels first."""
    condition = net.op("GREATER_EQUAL", net.transpose(x, *_TO_NHWC), 0.0, dtype=np.bool_)
    shape = x.shape
    turned = net.op(
        "TRANSPOSE", condition, np.array(_TO_NCHW, np.int32), shape=shape, dtype=np.bool_
    )
    return net.op("SELECT_V2", turned, 1.0, -1.0)


def _cast(net: Net, x: Value) -> Value:
    condition = net.op("GREATER_EQUAL", x, 0.0, dtype=np.bool_)
    number = net.op("CAST", condition, inDataType=6, outDataType=0)
    return net.op("SUB", net.op("MUL", number, 2.0), 1.0)


_SIGNS: dict[str, _Form] = {
    "where": _where,
    "where, turned": _where_turned,
    "cast": _cast,
    "sign of sign": Net.sign,
}


def _pad_nchw(
    net: Net, x: Value, pads: tuple[tuple[int, int], ...], value: float | None = None
) -> Value:
    return net.pad(x, ((0, 0), (0, 0), *pads), value)


def _conv(net: Net, rng: np.random.Generator, x: Value, channels: int, **options: object) -> Value:
    """Adds a convolution of an NCHW image, with a stride of 2."""
    filters = signs(rng, channels, 3, 3, x.shape[1])
    y = net.conv(net.transpose(x, *_TO_NHWC), filters, **{"stride": (2, 2)} | options)
    return net.transpose(y, *_TO_NCHW)


def _convert(net: Net, *outputs: Value, rng: np.random.Generator) -> Converted:
    """Converts and compares; the self-check has to find the transposed and padded values."""
    shapes = [tuple(net.builder.graph.tensors[number].shape) for number in net._inputs]
    convert_tflite(net.finish(*outputs))
    return convert_and_compare(net, *outputs, inputs=[edges(rng, *shape) for shape in shapes])


def _pads_of(converted: Converted) -> list[object]:
    return [read_pads(op.options) for op in converted.ops("LceBconv2d")]


@pytest.mark.parametrize("value", [None, 0.0, 1.0, -1.0])
@pytest.mark.parametrize("pads", _PADS)
@pytest.mark.parametrize("sign", _SIGNS)
def test_pads_of_an_nchw_image(net, sign, pads, value, rng):
    """No TRANSPOSE and no PAD is left between two layers."""
    x = net.input(1, 32, 9, 8)
    for _ in range(2):
        x = _conv(net, rng, _pad_nchw(net, _SIGNS[sign](net, x), _PADS[pads], value), 32)
        x = net.op("ADD", net.op("MUL", x, 0.5), steps(rng, 1, 32, 1, 1))
    converted = _convert(net, x, rng=rng)
    assert converted.kinds == ["TRANSPOSE", "LceQuantize", "LceBconv2d", "LceBconv2d", "TRANSPOSE"]
    assert _pads_of(converted) == [_PADS[pads]] * 2


def test_pads_before_an_nchw_sign(net, rng):
    """sign(0) is +1, so the second layer takes in the pads of the first one's result."""
    x = _conv(net, rng, _where(net, net.input(1, 32, 9, 8)), 32)
    y = _conv(net, rng, _where(net, _pad_nchw(net, x, _PADS["unequal"])), 32)
    converted = _convert(net, y, rng=rng)
    assert converted.kinds == ["TRANSPOSE", "LceQuantize", "LceBconv2d", "LceBconv2d", "TRANSPOSE"]
    assert _pads_of(converted) == [((0, 0), (0, 0)), _PADS["unequal"]]


def test_pads_that_two_layers_share(net, rng):
    """A block and its shortcut share them, with a stride each."""
    padded = _pad_nchw(net, _where(net, net.input(1, 32, 8, 8)), _PADS["symmetric"])
    outputs = [_conv(net, rng, padded, 32), _conv(net, rng, padded, 64)]
    converted = _convert(net, *outputs, rng=rng)
    assert sorted(converted.kinds) == [*["LceBconv2d"] * 2, "LceQuantize", *["TRANSPOSE"] * 3]


def test_pads_that_others_read_too(net, rng):
    padded = _pad_nchw(net, _where(net, net.input(1, 32, 8, 8)), _PADS["symmetric"])
    converted = _convert(net, _conv(net, rng, padded, 32), net.op("ABS", padded), rng=rng)
    assert converted.kinds.count("PAD") == converted.kinds.count("LceBconv2d") == 1


def test_pads_of_groups_and_dilations(rng):
    for options in ({"dilation": (2, 2), "stride": (1, 1)}, {"stride": (2, 1)}):
        net = Net()
        padded = _pad_nchw(net, _where(net, net.input(1, 64, 8, 8)), ((2, 2), (2, 2)))
        filters = signs(rng, 64, 3, 3, 32)
        y = net.conv(net.transpose(padded, *_TO_NHWC), filters, **options)
        converted = _convert(net, y, rng=rng)
        assert converted.kinds == ["TRANSPOSE", "LceQuantize", "LceBconv2d"]


def test_pads_of_weights(rng):
    """The pads of constants are folded."""
    for value in (1.0, -1.0):
        net = Net()
        filters = net.pad(net.constant(signs(rng, 32, 3, 3, 32)), ((1, 0), (0, 2)), value)
        y = net.conv(_where(net, net.input(1, 9, 9, 32)), filters)
        assert _convert(net, y, rng=rng).kinds == ["LceQuantize", "LceBconv2d"]


# Pads that no layer can take in, and a phrase of the reason.
_NOT_TAKEN_IN: dict[str, tuple[_Form, str]] = {
    "channels": (lambda net, x: net.pad(x, ((0, 0), (0, 32), (1, 1), (1, 1))), "pads with 0.0"),
    "another number": (lambda net, x: _pad_nchw(net, x, _PADS["symmetric"], 2.0), "pads with 2.0"),
}


@pytest.mark.parametrize("form", _NOT_TAKEN_IN)
def test_pads_that_stay(net, form, rng):
    make, reason = _NOT_TAKEN_IN[form]
    y = _conv(net, rng, make(net, _where(net, net.input(1, 32, 8, 8))), 32)
    converted = convert(net.finish(y))
    assert reason in converted.reason
    _convert(net, y, rng=rng)


def test_pads_of_a_depthwise_layer_stay(net, rng):
    padded = _pad_nchw(net, _where(net, net.input(1, 32, 8, 8)), _PADS["symmetric"])
    y = net.op(
        "DEPTHWISE_CONV_2D",
        net.transpose(padded, *_TO_NHWC),
        signs(rng, 1, 3, 3, 32),
        np.zeros(32),
        shape=(1, 4, 4, 32),
        padding=1,
        strideH=2,
        strideW=2,
        depthMultiplier=1,
        dilationHFactor=1,
        dilationWFactor=1,
    )
    converted = _convert(net, y, rng=rng)
    assert "there is no binary DEPTHWISE_CONV_2D" in converted.reason


@pytest.mark.parametrize("factor", [-1.0, -2.0, 0.5])
@pytest.mark.parametrize("value", [1.0, -1.0, 2.0])
def test_signs_that_are_scaled_behind_their_pads(net, rng, factor, value):
    """The pads stay signs of the same size when both are scaled."""
    x = net.input(1, 5, 5, 32)
    s = net.op("MUL", net.sign(x), abs(value))
    parts = [net.op("MUL", net.pad(s, ((1, 0), (0, 1)), value), factor)]
    parts.append(net.op("NEG", parts[0]))
    y = net.conv(net.concatenate(parts, 3), signs(rng, 8, 3, 3, 64))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds[-1] == "LceBconv2d"
