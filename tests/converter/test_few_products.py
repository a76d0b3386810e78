"""Layers of few products stay in float, because hosts compute them faster."""

import numpy as np
import pytest

from tests.converter.graphs import Net, Value, convert, convert_and_compare, edges, signs, steps

_QUANTIZED = ["LceQuantize", "LceBconv2d"]


@pytest.fixture(scope="module", autouse=True)
def few_products_are_binary() -> None:
    """Turns the fixture of conftest.py off, so that the rule holds here."""


def _layer(rng, size, taps, channels, outputs, pads="VALID", stride=1) -> tuple[Net, Value, Value]:
    net = Net()
    x = net.input(1, *size, channels)
    y = net.sign(x)
    if pads == "ones":
        before = [((count - 1) // 2, count // 2) for count in taps]
        y = net.pad(y, before, 1.0)
    filters = signs(rng, outputs, *taps, channels)
    padding = "SAME" if pads == "SAME" else "VALID"
    y = net.conv(y, filters, steps(rng, outputs), padding=padding, stride=(stride, stride))
    return net, x, y


# Taps, input and output channels of layers.
_FEW_PRODUCTS = [
    ((1, 1), 1, 300),
    ((1, 1), 16, 300),
    ((1, 3), 5, 64),
    ((1, 9), 1, 64),
    ((2, 2), 1, 64),
    ((3, 3), 1, 1),
    ((3, 3), 1, 64),
    ((3, 3), 2, 64),
    ((3, 3), 3, 32),
    ((3, 3), 4, 4),
    ((3, 3), 6, 16),
    ((3, 3), 8, 8),
    ((5, 5), 3, 16),
]
_MORE_PRODUCTS = [
    ((1, 1), 17, 1),
    ((1, 1), 64, 5),
    ((1, 9), 2, 64),
    ((2, 2), 7, 64),
    ((3, 3), 3, 64),
    ((3, 3), 5, 32),
    ((3, 3), 7, 16),
    ((3, 3), 16, 1),
    ((5, 5), 2, 64),
    ((7, 7), 3, 64),
]


@pytest.mark.parametrize("pads", ["VALID", "SAME", "ones"])
@pytest.mark.parametrize(("taps", "channels", "outputs"), _FEW_PRODUCTS)
def test_few_products_stay_with_the_host(taps, channels, outputs, pads, rng):
    net, x, y = _layer(rng, (8, 9), taps, channels, outputs, pads)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert not {"LceQuantize", "LceBconv2d"} & set(converted.kinds)
    (layer,) = converted.layers
    products = taps[0] * taps[1] * channels
    said = f"{products} product{'s' * (products > 1)} for each of {outputs} output"
    assert layer.reason == "faster in float: " + said + "s" * (outputs > 1)
    assert "more input channels or outputs" in layer.remedy


@pytest.mark.parametrize(("taps", "channels", "outputs"), _FEW_PRODUCTS)
def test_few_products_are_binary_for_hardware(taps, channels, outputs, rng):
    net, x, y = _layer(rng, (8, 9), taps, channels, outputs, "ones")
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)], target="fpga")
    assert {"LceQuantize", "LceBconv2d"} <= set(converted.kinds)


@pytest.mark.parametrize("pads", ["VALID", "SAME", "ones"])
@pytest.mark.parametrize(("taps", "channels", "outputs"), _MORE_PRODUCTS)
def test_more_products_are_binary(taps, channels, outputs, pads, rng):
    net, x, y = _layer(rng, (8, 9), taps, channels, outputs, pads)
    assert convert_and_compare(net, y, inputs=[edges(rng, *x.shape)]).kinds == _QUANTIZED


@pytest.mark.parametrize(
    ("taps", "channels", "pads", "is_few"),
    [
        ((1, 1), 8, "VALID", True),
        ((1, 1), 9, "VALID", False),
        ((3, 3), 3, "SAME", True),
        ((3, 3), 2, "ones", True),
        ((3, 3), 3, "ones", False),
    ],
)
def test_signs_that_a_stride_leaves_cost_the_host(taps, channels, pads, is_few, rng):
    net, x, y = _layer(rng, (8, 9), taps, channels, 32, pads, stride=2)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert ("LceBconv2d" not in converted.kinds) == is_few


@pytest.mark.parametrize(("size", "channels", "is_few"), [(4, 1, True), (6, 1, False)])
def test_few_products_of_a_flattened_image(net, size, channels, is_few, rng):
    """Filters are as large as a flattened image, and their lines are put together only once."""
    x = net.input(1, size, size, channels)
    depth = size * size * channels
    y = net.dense(net.reshape(net.sign(x), 1, depth), signs(rng, 10, depth))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert ("LceBconv2d" not in converted.kinds) == is_few


def test_few_products_of_many_weights_are_stored_as_bits(rng):
    net, _, y = _layer(rng, (8, 9), (3, 3), 1, 64)
    (layer,) = convert(net.finish(y)).layers
    assert layer.became == "weights only"


def test_few_products_of_few_weights(net, rng):
    """Weights too few to be stored as bits are reported with the same reason."""
    x = net.input(3, 4)
    y = net.dense(net.sign(x), signs(rng, 2, 4))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    (layer,) = converted.layers
    assert layer.became == "float"
    assert layer.reason == "faster in float: 4 products for each of 2 outputs"


@pytest.mark.parametrize("own_signs", [False, True])
@pytest.mark.parametrize("few_first", [False, True])
def test_few_products_of_bits_that_another_layer_needs(net, few_first, own_signs, rng):
    x = net.input(1, 5, 6, 4)
    first = net.sign(x)
    second = net.sign(x) if own_signs else first
    sizes = (1, 3) if few_first else (3, 1)
    outputs = [
        net.conv(s, signs(rng, 8, taps, taps, 4))
        for s, taps in zip((first, second), sizes, strict=True)
    ]
    converted = convert_and_compare(net, *outputs, inputs=[edges(rng, *x.shape)])
    assert sorted(converted.kinds) == ["LceBconv2d", "LceBconv2d", "LceQuantize"]


@pytest.mark.parametrize("pooled", [False, True])
def test_few_products_of_bits_that_a_layer_writes(net, pooled, rng):
    x = net.input(1, 8, 8, 32)
    y = net.op("ADD", net.conv(net.sign(x), signs(rng, 4, 3, 3, 32)), steps(rng, 4))
    if pooled:
        y = net.max_pool(y)
    y = net.conv(net.sign(y), signs(rng, 8, 1, 1, 4))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == [*_QUANTIZED, *["LceBMaxPool2d"] * pooled, "LceBconv2d"]


@pytest.mark.parametrize("pooling", ["before the sign", "behind the sign"])
def test_few_products_of_pooled_bits(net, pooling, rng):
    x = net.input(1, 8, 8, 4)
    before = pooling == "before the sign"
    y = net.sign(net.max_pool(x)) if before else net.max_pool(net.sign(x))
    y = net.conv(y, signs(rng, 8, 1, 1, 4))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "LceBMaxPool2d", "LceBconv2d"]


def test_few_products_whose_signs_the_next_layer_reads(net, rng):
    """The layer writes bits in place of 32 times as many floats."""
    x = net.input(1, 5, 6, 4)
    y = net.op("ADD", net.conv(net.sign(x), signs(rng, 64, 1, 1, 4)), steps(rng, 64))
    y = net.conv(net.sign(net.max_pool(y)), signs(rng, 8, 1, 1, 64))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == [*_QUANTIZED, "LceBMaxPool2d", "LceBconv2d"]


def test_few_products_of_another_sign_than_the_hosts(net, rng):
    """Hosts take long for signs in forms other than SIGN."""
    x = net.input(1, 5, 6, 4)
    truth = net.op("GREATER_EQUAL", x, 0.0, dtype=np.bool_)
    sign = net.op("SELECT_V2", truth, 1.0, -1.0)
    y = net.conv(sign, signs(rng, 8, 1, 1, 4))
    assert convert_and_compare(net, y, inputs=[edges(rng, *x.shape)]).kinds == _QUANTIZED


def test_few_products_for_lce(net, rng):
    """LCE's converter makes them binary."""
    x = net.input(1, 5, 6, 4)
    y = net.conv(net.sign(x), signs(rng, 8, 1, 1, 4))
    data = [edges(rng, *x.shape)]
    assert convert_and_compare(net, y, inputs=data, compatibility="lce").kinds == _QUANTIZED


def test_few_products_of_two_numbers(net, rng):
    """Weights around a centre cost more than signs, so the layer has too few products."""
    x = net.input(1, 6, 6, 1)
    y = net.conv(net.sign(x), np.where(signs(rng, 8, 3, 3, 1) > 0, 2.0, 0.5).astype(np.float32))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert "LceBconv2d" not in converted.kinds


@pytest.mark.parametrize("is_sequence", [False, True])
@pytest.mark.parametrize(
    ("taps", "channels", "outputs", "is_few"),
    [
        (80, 1, 32, True),
        (80, 1, 64, False),
        (40, 4, 8, True),
        (40, 4, 16, False),
        (20, 2, 40, False),
    ],
)
def test_long_taps_of_few_channels(net, taps, channels, outputs, is_few, is_sequence, rng):
    """Filters of a line and few channels, as a Conv1D has, would bring bits together one by one."""
    x = net.input(1, 400, channels) if is_sequence else net.input(1, 1, 400, channels)
    signed = net.sign(x)
    image = net.reshape(signed, 1, 1, 400, channels) if is_sequence else signed
    y = net.conv(image, signs(rng, outputs, 1, taps, channels), stride=(1, 4))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    (layer,) = converted.layers
    assert layer.became == ("weights only" if is_few else "binary")
    weights = outputs * taps * channels
    # The weights take one bit each and a scale for all, or a word for each tap.
    assert layer.bytes_after == (-(-weights // 32) * 4 + 4 if is_few else outputs * taps * 4)
    if is_few:
        assert f"{taps * channels} products for each of {outputs} outputs" in layer.reason
        assert f"{channels} channel" in layer.reason
