"""Layers that become LceBconv2d, with their geometry, and layers that stay float, and why."""

from dataclasses import replace

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import levels
from larq_engine.converter.api import convert_tflite
from larq_engine.converter.padding import read_pads
from larq_engine.converter.signs import find_binary
from tests.converter.graphs import (
    Net,
    Value,
    convert,
    convert_and_compare,
    edges,
    run_engine,
    run_stock,
    signs,
    steps,
)
from tests.model_builder import ACTIVATION

_QUANTIZED = ["LceQuantize", "LceBconv2d"]


def _options(converted) -> dict:
    return converted.op("LceBconv2d").options


def _run_resized(content: bytes, x: np.ndarray) -> np.ndarray:
    interpreter = larq_engine.Interpreter(content)
    interpreter.resize([x.shape])
    return interpreter.predict(x)


# Sizes of the image, the filter, the stride and the dilation.
_GEOMETRIES = {
    "3x3": ((5, 6), (3, 3), (1, 1), (1, 1)),
    "2x3 stride 2": ((7, 6), (2, 3), (2, 2), (1, 1)),
    "stride 1x3": ((5, 8), (3, 3), (1, 3), (1, 1)),
    "5x5 stride 3x2": ((9, 8), (5, 5), (3, 2), (1, 1)),
    "dilation 2x3": ((9, 9), (3, 3), (1, 1), (2, 3)),
    "1x1": ((3, 4), (1, 1), (1, 1), (1, 1)),
    "1x1 stride 2": ((3, 4), (1, 1), (2, 2), (1, 1)),
}


@pytest.mark.parametrize("channels", [5, 32, 33])
@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("geometry", _GEOMETRIES)
def test_convolution(net, geometry, padding, channels, rng):
    size, taps, stride, dilation = _GEOMETRIES[geometry]
    x = net.input(2, *size, channels)
    filters = signs(rng, 7, *taps, channels)
    y = net.conv(
        net.sign(x), filters, steps(rng, 7), padding=padding, stride=stride, dilation=dilation
    )
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == _QUANTIZED
    assert _options(converted) == {
        "channels_in": channels,
        "dilation_height_factor": dilation[0],
        "dilation_width_factor": dilation[1],
        "fused_activation_function": 0,
        "pad_values": 0,
        "padding": {"SAME": 0, "VALID": 1}[padding],
        "stride_height": stride[0],
        "stride_width": stride[1],
    }


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (1, 3)])
def test_filter_larger_than_the_image(net, size, rng):
    """LCE's converter takes these and its kernel gets them wrong."""
    x = net.input(1, *size, 32)
    y = net.conv(net.sign(x), signs(rng, 8, 5, 5, 32), padding="SAME")
    data = [edges(rng, *x.shape)]
    assert convert_and_compare(net, y, inputs=data).kinds == _QUANTIZED
    for_lce = convert_and_compare(net, y, inputs=data, compatibility="lce")
    assert "LceBconv2d" not in for_lce.kinds
    assert "exceeds the image" in for_lce.reason


@pytest.mark.parametrize("activation", ACTIVATION)
@pytest.mark.parametrize("with_bias", [False, True])
def test_activation(net, activation, with_bias, rng):
    """The dot product is clamped only if there is no bias before the clamp."""
    x = net.input(1, 5, 5, 32)
    bias = steps(rng, 8, step=1.0) if with_bias else None
    y = net.conv(net.sign(x), signs(rng, 8, 3, 3, 32), bias, activation=activation)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    fused = _options(converted)["fused_activation_function"]
    if with_bias and activation != "NONE":
        assert converted.kinds == [*_QUANTIZED, activation]
        assert fused == 0
    else:
        assert converted.kinds == _QUANTIZED
        assert fused == ACTIVATION[activation]


def test_scales_of_channels_and_zero(net, rng):
    scale = np.array([0.5, 2.0, 0.0, 4.0, 0.25, 0.0, 1.0], np.float32)
    x = net.input(1, 5, 5, 9)
    filters = signs(rng, 7, 3, 3, 9) * scale[:, None, None, None]
    y = net.conv(net.sign(x), filters, steps(rng, 7), padding="SAME")
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == _QUANTIZED
    np.testing.assert_array_equal(converted.op("LceBconv2d").inputs[2].data, scale)


def _step(net: Net, x: Value) -> Value:
    """Adds 0 or 1 for each value."""
    return net.op("SIGN", net.op("RELU", x))


# Functions that make the padded value, the pad, and the `pad_values` of an LceBconv2d that does it.
_PADDED = {
    "sign with 1": (Net.sign, 1.0, 1),
    "sign with -1": (Net.sign, -1.0, -1),
    "sign with 0": (Net.sign, 0.0, 0),
    "sign with PAD": (Net.sign, None, 0),
    "step with 0": (_step, 0.0, 1),
    "step with 1": (_step, 1.0, -1),
    "step with 0.5": (_step, 0.5, 0),
}


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("case", _PADDED)
def test_padding_before_the_layer_that_is_same(net, case, stride, rng):
    make, value, pad_sign = _PADDED[case]
    x = net.input(1, 7, 6, 5)
    # SAME pads a height of 7 and a width of 6 like this, for filters of 4 x 3.
    pads = {1: ((1, 2), (1, 1)), 2: ((1, 2), (0, 1)), 3: ((1, 2), (0, 0))}[stride]
    padded = net.pad(make(net, x), pads, value)
    y = net.conv(padded, signs(rng, 8, 4, 3, 5), stride=(stride, stride))
    data = [edges(rng, *x.shape)]
    # A model that was also compared at a second size may be resized.
    converted = convert_and_compare(net, y, inputs=data, check=True)
    assert converted.kinds[-2:] == _QUANTIZED
    assert not {"PAD", "PADV2"} & {*converted.kinds}
    options = _options(converted)
    assert options["pad_values"] == pad_sign
    # With a stride, these pads are SAME at this size only.
    assert read_pads(options) == (None if stride == 1 else pads)
    for_lce = convert_and_compare(net, y, inputs=data, compatibility="lce")
    if pad_sign != -1:
        assert read_pads(_options(for_lce)) is None
    # At other sizes the layer pads as the model does.
    larger = edges(rng, 2, 8, 9, 5)
    expected, got = (
        _run_resized(content, larger) for content in (net.finish(y), converted.content)
    )
    np.testing.assert_array_equal(got, expected)


# Pads of height and width that differ from SAME for 6 x 6 images, 3 x 3 filters and a stride of 2.
_NOT_SAME = {
    "symmetric": ((1, 1), (1, 1)),
    "before": ((1, 0), (1, 0)),
    "more": ((2, 2), (2, 2)),
    "one side": ((0, 1), (1, 1)),
}


@pytest.mark.parametrize("channels", [5, 32])
@pytest.mark.parametrize("value", [1.0, -1.0, 0.0])
@pytest.mark.parametrize("pads", _NOT_SAME)
def test_padding_that_is_not_same(net, pads, value, channels, rng):
    """LCE takes symmetric padding with a stride of 2 for SAME, which is shifted by a pixel."""
    x = net.input(1, 6, 6, channels)
    padded = net.pad(net.sign(x), _NOT_SAME[pads], value)
    y = net.conv(padded, signs(rng, 8, 3, 3, channels), stride=(2, 2))
    data = [edges(rng, *x.shape)]
    converted = convert_and_compare(net, y, inputs=data)
    assert converted.kinds == _QUANTIZED
    assert read_pads(_options(converted)) == _NOT_SAME[pads]
    assert _options(converted)["pad_values"] == value
    for_lce = convert_and_compare(net, y, inputs=data, compatibility="lce")
    if value == 0:
        assert "LceBconv2d" not in for_lce.kinds
        assert "LCE pads as 'same' or not at all" in for_lce.reason
    else:
        # Bits pad with zeros, which are +1; words of ones would set the unused bits of a last word.
        pad = ["LceQuantize", "PAD"] if value == 1 else ["LceQuantize", "PADV2"]
        if value == -1 and channels % 32:
            pad = ["PADV2", "LceQuantize"]
        assert for_lce.kinds == [*pad, "LceBconv2d"]


@pytest.mark.parametrize("value", [0.0, 0.5, -0.25])
@pytest.mark.parametrize("pads", _NOT_SAME)
def test_padding_before_the_sign(net, pads, value, rng):
    """The sign of 0 is +1, so this pads with +1 or -1, never with 0."""
    x = net.input(1, 6, 6, 5)
    filters = signs(rng, 8, 3, 3, 5)
    y = net.conv(net.sign(net.pad(x, _NOT_SAME[pads], value)), filters, stride=(2, 2))
    data = [edges(rng, *x.shape)]
    converted = convert_and_compare(net, y, inputs=data)
    assert converted.kinds == _QUANTIZED
    assert read_pads(_options(converted)) == _NOT_SAME[pads]
    assert _options(converted)["pad_values"] == (1 if value >= 0 else -1)
    convert_tflite(net.finish(y))  # with its self-check
    for_lce = convert_and_compare(net, y, inputs=data, compatibility="lce")
    assert for_lce.kinds == ["PADV2" if value else "PAD", *_QUANTIZED]


def test_padding_before_a_sign_of_which_0_is_negative(net, rng, monkeypatch):
    """A sign with -1 for 0 is usually part of another one; by itself, it keeps its pads."""

    def find_strict(tensor):
        found = find_binary(tensor)
        return replace(found, source=replace(found.source, strict=True))

    monkeypatch.setattr(levels, "find_binary", find_strict)
    y = net.sign(net.pad(net.input(1, 6, 6, 5), ((1, 1), (1, 1))))
    converted = convert(net.finish(net.conv(y, signs(rng, 8, 3, 3, 5))))
    assert converted.kinds[0] == "PAD"


def test_padding_before_the_sign_is_no_obstacle_to_thresholds(net, rng):
    """A ResNet's downsampling is a layer, a batch norm, pads, a sign, and a layer with a stride."""
    x = net.input(1, 6, 6, 32)
    y = net.conv(net.sign(x), signs(rng, 32, 3, 3, 32))
    y = net.op("ADD", net.op("MUL", y, steps(rng, 32)), steps(rng, 32))
    y = net.conv(net.sign(net.pad(y, ((1, 1), (1, 1)))), signs(rng, 8, 3, 3, 32), stride=(2, 2))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "LceBconv2d"]
    convert_tflite(net.finish(y))


def test_padding_before_and_after_the_sign(rng):
    """Both pads become the layer's if they have the same sign; otherwise the first one stays."""
    for values, kinds in {
        (0.0, 1.0): _QUANTIZED,
        (0.0, 0.0): ["PAD", *_QUANTIZED],
        (-2.0, 1.0): ["PADV2", *_QUANTIZED],
    }.items():
        net = Net()
        x = net.input(1, 5, 5, 5)
        y = net.sign(net.pad(x, ((1, 0), (2, 1)), values[0]))
        y = net.conv(net.pad(y, ((0, 1), (1, 1)), values[1]), signs(rng, 8, 3, 3, 5))
        converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
        assert converted.kinds == kinds


def test_several_pads(rng):
    """Pads with the same value become one."""
    for values, kinds in {
        (0.0, 0.0): _QUANTIZED,
        (-1.0, -1.0): _QUANTIZED,
        (1.0, 0.0): ["LceQuantize", "PAD", "LceBconv2d"],
    }.items():
        net = Net()
        x = net.input(1, 5, 5, 5)
        y = net.pad(net.sign(x), ((1, 0), (2, 1)), values[0])
        y = net.conv(net.pad(y, ((0, 3), (1, 1)), values[1]), signs(rng, 8, 3, 3, 5))
        converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
        assert converted.kinds == kinds
        outer = ((0, 3), (1, 1))
        assert read_pads(_options(converted)) == (
            ((1, 3), (3, 2)) if kinds is _QUANTIZED else outer
        )


@pytest.mark.parametrize("row", ["EXPAND_DIMS", "RESHAPE"])
@pytest.mark.parametrize("pads", [(2, 0), (1, 3)])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_padding_of_a_sequence(net, value, pads, row, rng):
    """A causal layer pads the sequence before a new dimension makes an image of it."""
    x = net.input(2, 9, 5)
    padded = net.pad(net.sign(x), ((0, 0), pads, (0, 0)), value)
    shape = (2, 1, 9 + sum(pads), 5)
    if row == "RESHAPE":
        image = net.reshape(padded, *shape)
    else:
        image = net.op("EXPAND_DIMS", padded, np.array(1, np.int32), shape=shape)
    y = net.conv(image, signs(rng, 8, 1, 3, 5), dilation=(1, 2))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "RESHAPE", "LceBconv2d"]
    assert read_pads(_options(converted)) == ((0, 0), pads)
    assert _options(converted)["pad_values"] == value


def test_padding_of_more_than_the_image(rng):
    """Pads of the batch or the channels stay an operator."""
    for table in (((0, 1), (1, 1), (1, 1), (0, 0)), ((0, 0), (1, 1), (1, 1), (0, 2))):
        net = Net()
        x = net.input(1, 5, 5, 5)
        padded = net.pad(net.sign(x), table, 1.0)
        y = net.conv(padded, signs(rng, 8, 3, 3, padded.shape[3]))
        converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
        assert {"PAD", "PADV2"} & {*converted.kinds}
        assert converted.kinds[-1] == "LceBconv2d"
        assert read_pads(_options(converted)) == ((0, 0), (0, 0))


def test_padding_that_is_known_only_when_the_model_runs(net, rng):
    """The pad's value or its size may be known only then."""
    x, value, size = net.input(1, 6, 6, 5), net.input(), net.input(4, 2, dtype=np.int32)
    pads = np.array([(0, 0), (1, 1), (1, 1), (0, 0)], np.int32)
    padded = [
        net.op("PADV2", net.sign(x), pads, value, shape=(1, 8, 8, 5)),
        net.op("PADV2", net.sign(x), size, 1.0, shape=(1, 8, 8, 5)),
    ]
    content = net.finish(*[net.conv(y, signs(rng, 8, 3, 3, 5)) for y in padded])
    converted = convert(content)
    assert converted.kinds.count("CONV_2D") == 2
    assert not any(kind.startswith("LceB") for kind in converted.kinds)


def test_same_padding_of_the_layer_after_a_pad(net, rng):
    """The layer pads an image that is padded already."""
    x = net.input(1, 6, 6, 32)
    padded = net.pad(net.sign(x), ((1, 1), (1, 1)), 1.0)
    y = net.conv(padded, signs(rng, 8, 3, 3, 32), padding="SAME")
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "PAD", "LceBconv2d"]


def test_float_layers_keep_their_padding(net, rng):
    """The symmetric padding of a float layer stays as well."""
    x = net.input(1, 6, 6, 3)
    y = net.conv(net.pad(x, ((1, 1), (1, 1))), steps(rng, 8, 3, 3, 3), stride=(2, 2))
    assert convert_and_compare(net, y, inputs=[steps(rng, *x.shape)]).kinds == ["PAD", "CONV_2D"]


def _dilate(
    net: Net,
    x: Value,
    filters: np.ndarray,
    block: tuple[int, int],
    pads: tuple[tuple[int, int], tuple[int, int]],
    crops: tuple[tuple[int, int], tuple[int, int]],
    **options,
) -> Value:
    """Adds a dilated convolution as TensorFlow writes it."""
    n, h, w, c = x.shape
    sizes = [s + sum(p) for s, p in zip((h, w), pads, strict=True)]
    small = [size // b for size, b in zip(sizes, block, strict=True)]
    blocks, table = np.array(block, np.int32), np.array(pads, np.int32)
    batches = n * block[0] * block[1]
    spread = net.op("SPACE_TO_BATCH_ND", x, blocks, table, shape=(batches, *small, c))
    y = net.conv(spread, filters, **options)
    result = [
        size * b - sum(crop) for size, b, crop in zip(y.shape[1:3], block, crops, strict=True)
    ]
    return net.op(
        "BATCH_TO_SPACE_ND", y, blocks, np.array(crops, np.int32), shape=(n, *result, y.shape[3])
    )


# Blocks, pads and crops for an image of 8 x 9 and 3 x 3 filters, and True if the whole is SAME.
_DILATED = {
    "same": ((2, 3), ((2, 2), (3, 3)), ((0, 0), (0, 0)), True),
    "same with crops": ((3, 2), ((3, 4), (2, 3)), ((0, 1), (0, 1)), True),
    "valid": ((2, 3), ((0, 0), (0, 0)), ((0, 0), (0, 0)), False),
    "valid with crops": ((2, 2), ((0, 0), (0, 1)), ((0, 0), (0, 1)), False),
    "crops on both sides": ((2, 3), ((4, 4), (6, 6)), ((2, 2), (3, 3)), True),
    "before": ((2, 3), ((4, 0), (6, 0)), ((0, 0), (0, 0)), False),
    "uneven with crops": ((2, 3), ((4, 2), (3, 6)), ((1, 0), (0, 2)), False),
}


@pytest.mark.parametrize("case", _DILATED)
def test_dilated_convolution_in_three_operators(net, case, rng):
    block, pads, crops, same = _DILATED[case]
    x = net.input(1, 8, 9, 5)
    y = _dilate(net, net.sign(x), signs(rng, 8, 3, 3, 5), block, pads, crops)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == _QUANTIZED
    options = _options(converted)
    assert (read_pads(options) is None) == same
    assert (options["dilation_height_factor"], options["dilation_width_factor"]) == block


def test_dilated_convolution_padded_with_one(net, rng):
    x = net.input(1, 8, 8, 5)
    padded = net.pad(net.sign(x), ((2, 2), (2, 2)), 1.0)
    none = ((0, 0), (0, 0))
    y = _dilate(net, padded, signs(rng, 8, 3, 3, 5), (2, 2), none, none, activation="RELU")
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == _QUANTIZED
    assert (_options(converted)["padding"], _options(converted)["pad_values"]) == (0, 1)


_ZEROS = ((0, 0), (0, 0))

# Forms that are almost a dilated convolution: blocks, pads, crops, options of the convolution.
_NOT_DILATED = {
    "cropped": ((2, 2), _ZEROS, ((1, 1), (0, 0)), {}),
    "strided": ((2, 2), _ZEROS, _ZEROS, {"stride": (2, 2)}),
    "padded twice": ((2, 2), _ZEROS, _ZEROS, {"padding": "SAME"}),
    "dilated twice": ((2, 2), _ZEROS, _ZEROS, {"dilation": (2, 1)}),
}


@pytest.mark.parametrize("case", _NOT_DILATED)
def test_what_is_no_dilated_convolution(net, case, rng):
    block, pads, crops, options = _NOT_DILATED[case]
    x = net.input(1, 12, 12, 5)
    y = _dilate(net, net.sign(x), signs(rng, 8, 3, 3, 5), block, pads, crops, **options)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert "LceBconv2d" not in converted.kinds
    assert "dilat" in converted.reason


@pytest.mark.parametrize("kind", ["ABS", None])
def test_blocks_of_what_is_no_convolution(net, kind, rng):
    x = net.input(4, 4, 4, 5)
    y = x if kind is None else net.op(kind, x)
    blocks, crops = np.array([2, 2], np.int32), np.zeros((2, 2), np.int32)
    y = net.op("BATCH_TO_SPACE_ND", y, blocks, crops, shape=(1, 8, 8, 5))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ([] if kind is None else [kind]) + ["BATCH_TO_SPACE_ND"]


def test_dilated_convolution_with_computed_crops(net, rng):
    x, crops = net.input(1, 8, 8, 5), net.input(2, 2, dtype=np.int32)
    blocks, none = np.array([2, 2], np.int32), np.zeros((2, 2), np.int32)
    spread = net.op("SPACE_TO_BATCH_ND", net.sign(x), blocks, none, shape=(4, 4, 4, 5))
    y = net.conv(spread, signs(rng, 8, 3, 3, 5))
    y = net.op("BATCH_TO_SPACE_ND", y, blocks, crops, shape=(1, 4, 4, 8))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape), none])
    assert "CONV_2D" in converted.kinds


def test_dilated_convolution_with_computed_weights(net, rng):
    x, w = net.input(1, 8, 8, 5), net.input(8, 3, 3, 5)
    y = _dilate(net, net.sign(x), net.sign(w), (2, 2), _ZEROS, _ZEROS)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape), edges(rng, *w.shape)])
    assert "CONV_2D" in converted.kinds
    assert "computed when the model runs" in converted.reason


def test_dilated_convolution_of_other_blocks(net, rng):
    """The image is spread over 2 x 2 blocks and collected from 4 x 1."""
    x = net.input(1, 8, 8, 5)
    blocks = [np.array(pair, np.int32) for pair in ((2, 2), (4, 1))]
    none = np.zeros((2, 2), np.int32)
    spread = net.op("SPACE_TO_BATCH_ND", net.sign(x), blocks[0], none, shape=(4, 4, 4, 5))
    y = net.conv(spread, signs(rng, 8, 3, 3, 5))
    y = net.op("BATCH_TO_SPACE_ND", y, blocks[1], none, shape=(1, 8, 2, 8))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert "CONV_2D" in converted.kinds


def test_dilated_convolution_whose_middle_is_read(net, rng):
    x = net.input(1, 8, 8, 5)
    y = _dilate(net, net.sign(x), signs(rng, 8, 3, 3, 5), (2, 2), _ZEROS, _ZEROS)
    inner = Value(y.number - 3, (4, 2, 2, 8))
    converted = convert_and_compare(net, y, net.op("ABS", inner), inputs=[edges(rng, *x.shape)])
    assert "CONV_2D" in converted.kinds


@pytest.mark.parametrize(("channels", "groups"), [(64, 2), (96, 3), (32, 1)])
@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_groups(net, channels, groups, padding, rng):
    x = net.input(1, 5, 5, channels)
    y = net.conv(net.sign(x), signs(rng, 6, 3, 3, channels // groups), padding=padding)
    data = [edges(rng, *x.shape)]
    assert convert_and_compare(net, y, inputs=data).kinds == _QUANTIZED
    for_lce = convert_and_compare(net, y, inputs=data, compatibility="lce")
    if groups > 1:
        assert "CONV_2D" in for_lce.kinds
        assert "LCE's default kernel refuses groups" in for_lce.reason
    else:
        assert for_lce.kinds == _QUANTIZED


@pytest.mark.parametrize(("channels", "groups"), [(6, 2), (48, 3), (80, 2)])
def test_groups_that_are_not_whole_words(net, channels, groups, rng):
    x = net.input(1, 5, 5, channels)
    y = net.conv(net.sign(x), signs(rng, 6, 3, 3, channels // groups))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert "LceBconv2d" not in converted.kinds
    assert f"groups of {channels // groups} channels" in converted.reason


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("depth", [5, 9, 32, 70])
@pytest.mark.parametrize("activation", ["NONE", "RELU"])
@pytest.mark.parametrize("with_bias", [False, True])
def test_dense(net, rows, depth, activation, with_bias, rng):
    x = net.input(rows, depth)
    weights, bias = signs(rng, 9, depth), steps(rng, 9) if with_bias else None
    y = net.dense(net.sign(x), weights, bias, fusedActivationFunction=ACTIVATION[activation])
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    kinds = [kind for kind in converted.kinds if kind != "RESHAPE"]
    assert kinds == _QUANTIZED + ["RELU"] * (with_bias and activation == "RELU")


@pytest.mark.parametrize("channels", [32, 64])
def test_dense_of_an_image(net, channels, rng):
    """After Flatten a filter is as large as the image, so the bits need no rearranging."""
    x = net.input(2, 3, 4, channels)
    flat = net.reshape(net.sign(x), 2, 12 * channels)
    y = net.dense(flat, signs(rng, 9, 12 * channels))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == [*_QUANTIZED, "RESHAPE"]
    assert converted.op("LceBconv2d").inputs[1].shape == (9, 3, 4, channels // 32)


@pytest.mark.parametrize(
    "image", [(1, 3, 4, 5), (2, 3, 4, 24), (1, 256, 1, 1), (1, 1, 256, 1), (1, 7, 1, 33)]
)
@pytest.mark.parametrize("least", [-1, 0])
def test_dense_of_an_image_whose_pixels_end_within_words(net, image, least, rng):
    """A unit's weights take the words of their row.

    If each pixel began a word, they would take more: 32 times as many for 256 pixels of one
    channel.
    """
    x = net.input(*image)
    depth = int(np.prod(image[1:]))
    y = net.dense(
        net.reshape(net.sign(x), image[0], depth), np.maximum(signs(rng, 64, depth), least)
    )
    converted = convert_and_compare(net, y, inputs=[edges(rng, *image)])
    (layer,) = converted.layers
    assert (layer.became, layer.bytes_after) == ("binary", 64 * -(-depth // 32) * 4)


def test_dense_of_an_image_flattened_before_the_sign(net, rng):
    x = net.input(2, 3, 4, 5)
    y = net.dense(net.sign(net.reshape(x, 2, 60)), signs(rng, 9, 60))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert "LceBconv2d" in converted.kinds


def test_dense_of_a_flattening_that_joins_rows(net, rng):
    """[2, 2, 3, 8] as [3, 32]: a filter as large as an image would take the wrong values."""
    x = net.input(2, 2, 3, 8)
    y = net.dense(net.reshape(net.sign(x), 3, 32), signs(rng, 9, 32))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert "LceBconv2d" in converted.kinds
    assert converted.op("LceBconv2d").inputs[1].shape == (9, 1, 1, 1)


@pytest.mark.parametrize("shape", [(2, 3, 32), (1, 3, 5), (2, 3, 4, 6), (6,)])
@pytest.mark.parametrize("keeps", [False, True])
def test_dense_of_other_ranks(net, shape, keeps, rng):
    x = net.input(*shape)
    y = net.dense(net.sign(x), signs(rng, 9, shape[-1]), keepNumDims=keeps)
    assert "LceBconv2d" in convert_and_compare(net, y, inputs=[edges(rng, *shape)]).kinds


@pytest.mark.parametrize(("shape", "depth"), [((2, 3, 4), 12), ((2, 9), 6), ((4, 3, 5), 10)])
def test_dense_whose_rows_are_not_its_inputs_last_dimension(net, shape, depth, rng):
    x = net.input(*shape)
    y = net.dense(net.sign(x), signs(rng, 9, depth))
    assert "LceBconv2d" in convert_and_compare(net, y, inputs=[edges(rng, *shape)]).kinds


@pytest.mark.parametrize("shape", [(3, 32), (2, 3, 5), (2, 3, 4, 32)])
@pytest.mark.parametrize("turned", [False, True])
def test_matrix_product(net, shape, turned, rng):
    x = net.input(*shape)
    weights = signs(rng, 9, shape[-1]) if turned else signs(rng, shape[-1], 9)
    result = (*shape[:-1], 9)
    y = net.op("BATCH_MATMUL", net.sign(x), weights, shape=result, adjY=turned)
    assert "LceBconv2d" in convert_and_compare(net, y, inputs=[edges(rng, *shape)]).kinds


def test_matrix_products_that_stay(net, rng):
    """Products with several matrices, a transposed input, or no constant stay."""
    x = net.input(2, 4, 4)
    s = net.sign(x)
    outputs = [
        net.op("BATCH_MATMUL", s, signs(rng, 2, 4, 9), shape=(2, 4, 9)),
        net.op("BATCH_MATMUL", s, signs(rng, 4, 9), shape=(2, 4, 9), adjX=True),
        net.op("BATCH_MATMUL", signs(rng, 2, 9, 4), s, shape=(2, 9, 4)),
    ]
    converted = convert_and_compare(net, *outputs, inputs=[edges(rng, *x.shape)])
    assert converted.kinds.count("BATCH_MATMUL") == 3
    reasons = [layer.reason for layer in converted.layers]
    assert sum("more than one matrix" in reason for reason in reasons) == 2
    assert sum("computed when the model runs" in reason for reason in reasons) == 1


def test_layer_of_one_dimension(net, rng):
    """Keras's Conv1D is EXPAND_DIMS, CONV_2D and SQUEEZE; here the sign comes before the first."""
    x = net.input(2, 9, 32)
    image = net.reshape(net.sign(x), 2, 1, 9, 32)
    y = net.conv(image, signs(rng, 8, 1, 3, 32))
    y = net.op("SQUEEZE", y, shape=(2, 7, 8), squeezeDims=[1])
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert sorted(converted.kinds) == ["LceBconv2d", "LceQuantize", "RESHAPE", "SQUEEZE"]


def test_pointwise_half_of_a_separable_layer(net, rng):
    x = net.input(1, 6, 6, 32)
    depthwise = net.op(
        "DEPTHWISE_CONV_2D", net.sign(x), signs(rng, 1, 3, 3, 32), np.zeros(32, np.float32),
        shape=(1, 4, 4, 32), padding=1, strideH=1, strideW=1, depthMultiplier=1,
    )  # fmt: skip
    y = net.conv(net.sign(depthwise), signs(rng, 8, 1, 1, 32))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert [layer.became for layer in converted.layers] == ["weights only", "binary"]


# Options for XMOS's tools and for LCE, the padding, and a phrase of the reason.
_LIMITS = {
    "xcore zero": ({"target": "xcore"}, None, "'xcore' has no zero padding"),
    "xcore one": ({"target": "xcore"}, 1.0, None),
    "xcore minus one": ({"target": "xcore"}, -1.0, "LCE cannot pad with -1"),
    "lce zero": ({"compatibility": "lce"}, None, None),
    "lce minus one": ({"compatibility": "lce"}, -1.0, "LCE cannot pad with -1"),
}


@pytest.mark.parametrize("case", _LIMITS)
def test_limits_of_other_runtimes(net, case, rng):
    options, pad, reason = _LIMITS[case]
    x = net.input(1, 6, 6, 5)
    s = net.sign(x)
    if pad is not None:
        s = net.pad(s, ((1, 1), (1, 1)), pad)
    y = net.conv(s, signs(rng, 8, 3, 3, 5), padding="SAME" if pad is None else "VALID")
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)], **options)
    if reason is None:
        assert converted.kinds == _QUANTIZED
    elif pad == -1.0:
        # A pad operator before a binary layer is the next best.
        assert converted.kinds[-1] == "LceBconv2d"
        assert "PADV2" in converted.kinds
    else:
        assert "LceBconv2d" not in converted.kinds
        assert reason in converted.reason


def test_open_batch_stays_open(net, rng):
    x = net.input(1, 4, 4, 32, signature=(-1, 4, 4, 32))
    convolved = net.sign(net.conv(net.sign(x), signs(rng, 32, 3, 3, 32)))
    flat = net.op("RESHAPE", convolved, np.array([-1, 128], np.int32), shape=(1, 128))
    content = net.finish(net.dense(flat, signs(rng, 5, 128)))
    converted = convert(content)
    assert converted.graph.inputs[0].signature == (-1, 4, 4, 32)
    assert len(converted.ops("LceBconv2d")) == 2
    for op in converted.graph.ops:
        assert op.output.signature in (None, (-1, *op.output.shape[1:]))
    data = edges(rng, 3, 4, 4, 32)
    wanted = [run_stock(content, [sample[np.newaxis]])[0] for sample in data]
    (have,) = run_engine(converted.content, [data])
    np.testing.assert_array_equal(have, np.concatenate(wanted))


def test_weights_that_are_no_float_constants(net, rng):
    x, w = net.input(1, 4, 4, 8), net.input(8, 3, 3, 8)
    y = net.op(
        "CONV_2D", net.sign(x), net.sign(w), np.zeros(8, np.float32),
        shape=(1, 2, 2, 8), padding=1, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1,
    )  # fmt: skip
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape), edges(rng, *w.shape)])
    assert "LceBconv2d" not in converted.kinds
    assert "computed when the model runs" in converted.reason


def test_bias_that_is_no_constant(net, rng):
    x, bias = net.input(1, 4, 4, 8), net.input(8)
    y = net.conv(net.sign(x), signs(rng, 8, 3, 3, 8), bias)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape), steps(rng, 8)])
    assert "CONV_2D" in converted.kinds
    assert "bias" in converted.reason
