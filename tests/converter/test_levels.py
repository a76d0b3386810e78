"""Layers whose inputs and weights have a few bits, as k-bit quantizers make them.

Inputs are at and next to the numbers where a quantizer goes from one level to the next, which the
test finds for itself by trying. Weights are powers of two times odd numbers, so sums are exact.
"""

from collections.abc import Callable

import numpy as np
import pytest

from larq_engine.converter.api import convert_tflite
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.signs import NotBinary
from larq_engine.converter.weights import find_odd_weights
from tests import oracle
from tests.converter.graphs import (
    Net,
    Value,
    convert,
    convert_and_compare,
    run_engine,
    run_stock,
    signs,
    steps,
)
from tests.model_builder import ACTIVATION

_CHANNELS = 32
_SHAPE = (1, 12, 11, _CHANNELS)

_Form = Callable[[Net, Value, int], Value]


def _dorefa(net: Net, x: Value, n: int) -> Value:
    """Adds larq's DoReFa quantizer in the form that TensorFlow exports."""
    y = net.op("RELU", net.op("MINIMUM", x, 1.0))
    return net.op("ROUND", net.op("MUL", y, float(n)))


def _dorefa_divided(net: Net, x: Value, n: int) -> Value:
    return net.op("MUL", _dorefa(net, x, n), np.float32(1 / n))


def _clip(net: Net, x: Value, n: int) -> Value:
    y = net.op("ROUND", net.op("MUL", net.op("RELU_0_TO_1", x), float(n)))
    return net.op("DIV", y, float(n))


def _relu_first(net: Net, x: Value, n: int) -> Value:
    y = net.op("MINIMUM", net.op("RELU", x), 1.0)
    return net.op("ROUND", net.op("MUL", y, float(n)))


def _fused_relu(net: Net, x: Value, n: int) -> Value:
    y = net.op("ADD", x, 0.25, fusedActivationFunction=ACTIVATION["RELU"])
    y = net.op("MINIMUM", y, 1.0)
    return net.op("ROUND", net.op("MUL", y, float(n)))


def _clamp_after_rounding(net: Net, x: Value, n: int) -> Value:
    y = net.op("ROUND", net.op("MUL", x, 4.0))
    return net.op("MINIMUM", net.op("MAXIMUM", y, 0.0), float(n))


def _floor(net: Net, x: Value, n: int) -> Value:
    y = net.op("FLOOR", net.op("ADD", net.op("MUL", x, 2.0), 0.5))
    return net.op("MAXIMUM", net.op("MINIMUM", y, float(n)), 0.0)


def _around_zero(net: Net, x: Value, n: int) -> Value:
    """Makes numbers from -n to n in steps of 2, as weights are quantized: 0 is half-way."""
    y = net.op("ROUND", net.op("MUL", net.op("ADD", net.op("RELU_N1_TO_1", x), 1.0), n / 2))
    return net.op("SUB", net.op("MUL", y, 2.0), float(n))


def _falling(net: Net, x: Value, n: int) -> Value:
    return net.op("SUB", float(n), _dorefa(net, x, n))


def _scaled(net: Net, x: Value, n: int) -> Value:
    """Adds a scale for each channel, and shifts of both signs."""
    scale = np.linspace(0.1, 7, x.shape[-1]).astype(np.float32)
    return _dorefa(net, net.op("ADD", net.op("MUL", x, scale), -scale / 3), n)


def _clamped_channels(net: Net, x: Value, n: int) -> Value:
    """Adds a scale after the clamp, so that the limits differ between the channels."""
    scale = np.linspace(2, 4, x.shape[-1]).astype(np.float32)
    y = net.op("MUL", net.op("MAXIMUM", net.op("MINIMUM", x, 9.0), -9.0), scale)
    y = net.op("ROUND", y)
    return net.op("MAXIMUM", net.op("MINIMUM", y, float(n)), 0.0)


_FORMS: dict[str, _Form] = {
    "dorefa": _dorefa,
    "dorefa divided": _dorefa_divided,
    "clip": _clip,
    "relu first": _relu_first,
    "fused relu": _fused_relu,
    "clamp after rounding": _clamp_after_rounding,
    "floor": _floor,
    "around zero": _around_zero,
    "falling": _falling,
    "scaled": _scaled,
    "clamped channels": _clamped_channels,
}

# Forms whose levels are 1 / n apart, so that they are rounded.
_ROUNDED = ("dorefa divided", "clip")


def _quantizer(form: _Form, n: int, shape: tuple[int, ...] = _SHAPE) -> bytes:
    net = Net()
    x = net.input(*shape)
    return net.finish(form(net, x, n))


def _inputs(form: _Form, n: int, rng: np.random.Generator) -> np.ndarray:
    """Finds values at, below and above each number where the stock runtime changes the level."""
    low = np.full((n, _CHANNELS), -20, np.float32)
    high = np.full((n, _CHANNELS), 20, np.float32)
    content = _quantizer(form, n, (1, 1, n, _CHANNELS))
    first, last = (run_stock(content, [end.reshape(1, 1, n, -1)])[0][0, 0] for end in (low, high))
    aims = first + (last - first) * ((np.arange(n) + 0.5) / n)[:, None]
    for _ in range(60):
        middle = ((low.astype(np.float64) + high) / 2).astype(np.float32)
        got = run_stock(content, [middle.reshape(1, 1, n, -1)])[0][0, 0]
        below = (got < aims) == (first < last)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    near = np.concatenate([low, high, np.nextafter(low, -99), np.nextafter(high, 99)])
    special = np.array([0.0, -0.0, -20, 20, np.inf, -np.inf, 1e-30, 0.5], np.float32)
    near = np.concatenate([near, np.repeat(special[:, None], _CHANNELS, axis=1)])
    pixels = int(np.prod(_SHAPE[:-1]))
    near = near.astype(np.float32)
    rows = rng.integers(0, len(near), (pixels, _CHANNELS))
    return np.take_along_axis(near, rows, axis=0).reshape(_SHAPE)


def _odd_weights(rng: np.random.Generator, bits: int, *shape: int) -> np.ndarray:
    """Draws odd numbers times a scale for each output channel; some channels have small ones."""
    odd = oracle.odd_numbers(rng, bits, shape)
    odd[0] = np.sign(odd[0])
    odd[1].flat[0] = 2**bits - 1
    size = rng.choice(np.array([0.5, 2.0, 0.25, 1.0], np.float32), shape[0])
    return odd * size.reshape(-1, *[1] * (len(shape) - 1))


@pytest.mark.parametrize("bits", [2, 3, 4, 6, 8])
@pytest.mark.parametrize("form", _FORMS)
def test_forms_of_quantizers(net, form, bits, rng):
    build, n = _FORMS[form], 2**bits - 1
    x = net.input(*_SHAPE)
    y = net.conv(build(net, x, n), signs(rng, 24, 3, 3, _CHANNELS))
    content, values = net.finish(y), [_inputs(build, n, rng)]
    converted = convert(content)
    (expected,), (got,) = run_stock(content, values), run_engine(converted.content, values)
    # Sums have up to n times as many units as there are products, and float32 rounds them.
    tolerance = 1e-4 if form in _ROUNDED or bits > 4 else 0
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)
    assert "CONV_2D" not in converted.kinds
    assert "ROUND" not in converted.kinds
    assert converted.op("LceQuantize").options == {"bits": bits}
    (layer,) = converted.layers
    assert (layer.became, layer.input_bits, layer.weight_bits) == ("binary", bits, 1)


@pytest.fixture
def any_number_of_products(monkeypatch):
    """Makes layers binary even if hosts are faster."""
    monkeypatch.setattr("larq_engine.converter.rules_binary._MOST_PLANE_PRODUCTS", 64)


@pytest.mark.parametrize("bits_weights", [1, 2, 4, 7, 8])
@pytest.mark.parametrize("bits", [1, 2, 3, 5, 8])
@pytest.mark.usefixtures("any_number_of_products")
def test_bits_of_inputs_and_weights(net, bits, bits_weights, rng):
    x = net.input(*_SHAPE)
    data = net.sign(x) if bits == 1 else _dorefa(net, x, 2**bits - 1)
    y = net.conv(
        data, _odd_weights(rng, bits_weights, 40, 3, 3, _CHANNELS), rng.integers(-8, 8, 40) / 4,
        padding="VALID" if bits == 1 else "SAME", stride=(2, 1),
    )  # fmt: skip
    values = rng.uniform(-0.5, 1.5, _SHAPE).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[values])
    assert converted.kinds == ["LceQuantize", "LceBconv2d"]
    options = converted.op("LceBconv2d").options
    expected = (bits, bits_weights)
    assert (options.get("bits_in", 1), options.get("bits_weights", 1)) == expected
    assert ("bits_in" in options) == (expected != (1, 1))
    (layer,) = converted.layers
    assert (layer.input_bits, layer.weight_bits) == expected
    assert layer.bytes_after == bits_weights * 40 * 9 * 4


def test_dense_layers_after_a_flattened_quantizer(net, rng):
    x = net.input(3, 4, 5, 24)
    flat = net.reshape(_dorefa(net, x, 3), 3, 480)
    y = net.dense(flat, signs(rng, 10, 480))
    values = rng.uniform(-0.5, 1.5, (3, 4, 5, 24)).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[values])
    assert [kind for kind in converted.kinds if kind != "RESHAPE"] == ["LceQuantize", "LceBconv2d"]


@pytest.mark.parametrize("image", [(1, 4, 4, 6), (1, 1, 8, 12), (2, 96)])
@pytest.mark.parametrize("n", [1, 3])
def test_a_quantizer_that_is_flattened_within(net, n, image, rng):
    """A quantizer of a flattened image may be split by the reshape.

    litert_torch rounds the image, and clamps the row after the reshape.
    """
    x = net.input(*image)
    rounded = net.op("ROUND", net.op("MUL", x, 2.0))
    row = net.reshape(rounded, image[0], 96)
    values = net.op("MAXIMUM", net.op("MINIMUM", row, float(n)), 0.0)
    y = net.dense(values, signs(rng, 16, 96))
    x_values = (rng.integers(-4, 12, image) / 4).astype(np.float32)
    (layer,) = convert_and_compare(net, y, inputs=[x_values]).layers
    bits = {1: 1, 3: 2}[n]
    assert (layer.became, layer.input_bits, layer.bytes_after) == ("binary", bits, 16 * 3 * 4)


@pytest.mark.parametrize("form", [_dorefa, _clip, _scaled, _falling])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_max_pooling_between_quantizer_and_layer(net, padding, form, rng):
    """The pooling moves before the quantizer, unless that falls, so that its order is reversed."""
    x = net.input(*_SHAPE)
    pooled = net.max_pool(form(net, x, 3), (3, 2), (2, 1), padding)
    pooled = net.max_pool(pooled, (2, 2), (1, 1))
    y = net.conv(pooled, signs(rng, 24, 3, 3, _CHANNELS))
    content, values = net.finish(y), [_inputs(form, 3, rng)]
    converted = convert(content)
    (expected,), (got,) = run_stock(content, values), run_engine(converted.content, values)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-4 if form in (_clip,) else 0)
    (layer,) = converted.layers
    assert layer.became == ("weights only" if form is _falling else "binary")
    if form is not _falling:
        wanted = ["MAX_POOL_2D", "MAX_POOL_2D", "LceQuantize", "LceBconv2d"]
        # Operators that scale the values then run on fewer of them, too.
        kinds = [kind for kind in converted.kinds if kind not in ("MUL", "ADD")]
        assert kinds[-4:] == wanted and "ROUND" not in converted.kinds
        assert converted.kinds.index("MAX_POOL_2D") == 0 or form is not _scaled
        convert_tflite(content)  # with its self-check


def test_a_pooled_and_flattened_quantizer_of_two_layers(net, rng):
    x = net.input(2, 6, 4, 40)
    flat = net.reshape(net.max_pool(_dorefa(net, x, 3)), 2, 240)
    outputs = [net.dense(flat, signs(rng, 10, 240)) for _ in range(2)]
    values = rng.uniform(-0.5, 1.5, x.shape).astype(np.float32)
    converted = convert_and_compare(net, *outputs, inputs=[values])
    assert [layer.became for layer in converted.layers] == ["binary"] * 2
    assert converted.kinds.count("MAX_POOL_2D") == converted.kinds.count("LceQuantize") == 1


def test_a_quantizer_of_two_layers_is_computed_once(net, rng):
    x = net.input(*_SHAPE)
    data = _dorefa(net, x, 3)
    one = net.conv(data, signs(rng, 16, 1, 1, _CHANNELS))
    other = net.conv(data, signs(rng, 16, 3, 3, _CHANNELS), padding="SAME")
    y = net.op("ADD", one, other)
    values = rng.uniform(-0.5, 1.5, _SHAPE).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[values])
    assert converted.kinds.count("LceQuantize") == 1
    assert converted.kinds.count("LceBconv2d") == 2


@pytest.mark.parametrize("bits_weights", [1, 2])
def test_a_sign_after_a_layer_of_several_bits_becomes_thresholds(net, bits_weights, rng):
    x = net.input(*_SHAPE)
    y = net.conv(_dorefa(net, x, 3), _odd_weights(rng, bits_weights, 32, 3, 3, _CHANNELS))
    factors = rng.choice(np.array([-2, 0.5, 1, 4], np.float32), 32)
    y = net.op("ADD", net.op("MUL", y, factors), rng.integers(-99, 99, 32).astype(np.float32))
    y = net.conv(net.sign(y), signs(rng, 8, 3, 3, 32))
    values = rng.uniform(-0.5, 1.5, _SHAPE).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[values])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "LceBconv2d"]


@pytest.mark.parametrize("n", [2, 4, 6, 14])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_levels_that_are_no_power_of_two(net, n, padding, rng):
    """The other levels of the bits stay unused; zeros around the image are then no level."""
    x = net.input(*_SHAPE)
    y = net.conv(_dorefa(net, x, n), signs(rng, 24, 3, 3, _CHANNELS), padding=padding)
    values = rng.uniform(-0.5, 1.5, _SHAPE).astype(np.float32)
    values[0, 0, :4, 0] = np.inf, -np.inf, 0, -0.0
    converted = convert_and_compare(net, y, inputs=[values])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", *["ADD"] * (padding == "SAME")]
    assert converted.op("LceQuantize").options == {"bits": n.bit_length()}


@pytest.mark.parametrize("form", [_dorefa, _dorefa_divided, _falling, _scaled])
def test_two_levels_are_a_sign(net, form, rng):
    x = net.input(*_SHAPE)
    y = net.conv(form(net, x, 1), signs(rng, 24, 3, 3, _CHANNELS))
    converted = convert_and_compare(net, y, inputs=[_inputs(form, 1, rng)])
    assert converted.kinds == ["SUB", "LceQuantize", "LceBconv2d"]
    assert [(layer.became, layer.input_bits) for layer in converted.layers] == [("binary", 1)]


def _too_many_levels(net: Net, x: Value) -> Value:
    return _dorefa(net, x, 256)


def _unbounded(net: Net, x: Value) -> Value:
    return net.op("ROUND", net.op("MUL", net.op("RELU", x), 3.0))


def _uneven(net: Net, x: Value) -> Value:
    return net.op("MINIMUM", _dorefa(net, x, 3), 2.5)


def _of_another_size(net: Net, x: Value) -> Value:
    """Makes levels of its own for each channel."""
    return net.op("MUL", _dorefa(net, x, 3), np.linspace(1, 2, _CHANNELS).astype(np.float32))


@pytest.mark.parametrize("form", [_too_many_levels, _unbounded, _uneven, _of_another_size])
def test_other_quantizers_stay_in_float(net, form, rng):
    x = net.input(*_SHAPE)
    y = net.conv(form(net, x), signs(rng, 24, 3, 3, _CHANNELS))
    converted = convert(net.finish(y))
    assert "LceBconv2d" not in converted.kinds
    assert [layer.became for layer in converted.layers] == ["weights only"]


@pytest.mark.parametrize("fill", [0.0, 0.5])
def test_padding_with_no_level(net, fill, rng):
    """Zeros become an image that is added at the border; other pads stay in float."""
    x = net.input(*_SHAPE)
    shifted = net.op("ADD", _dorefa(net, x, 3), 1.0)
    padded = net.pad(shifted, ((1, 1), (1, 1)), fill)
    y = net.conv(padded, signs(rng, 24, 3, 3, 32))
    values = rng.uniform(-0.5, 1.5, _SHAPE).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[values])
    if fill:
        assert "it pads with 0.5 what is one of 4 numbers from 1 to 4" in converted.reason
    else:
        assert converted.kinds == ["LceQuantize", "LceBconv2d", "ADD"]


def test_many_bits_stay_in_float(net, rng):
    x = net.input(*_SHAPE)
    weights = _odd_weights(rng, 3, 24, 3, 3, _CHANNELS)
    converted = convert(net.finish(net.conv(_dorefa(net, x, 7), weights)))
    assert "faster in float: 9 products of planes for 3 x 3 bits" in converted.reason


@pytest.mark.parametrize("bits_weights", [1, 2])
def test_layers_that_can_be_int8_are_of_fewer_bits(net, bits_weights, rng):
    x = net.input(*_SHAPE)
    weights = _odd_weights(rng, bits_weights, 24, 3, 3, _CHANNELS)
    content = net.finish(net.conv(_dorefa(net, x, 7), weights))
    samples = [rng.uniform(-0.5, 1.5, _SHAPE).astype(np.float32)]
    (layer,) = convert_tflite(content, representative_dataset=samples).report.layers
    assert layer.became == ("int8" if bits_weights == 2 else "binary")
    assert convert(content).layers[0].became == "binary"


def test_files_for_lce_have_one_bit(net, rng):
    x = net.input(*_SHAPE)
    content = net.finish(net.conv(_dorefa(net, x, 3), signs(rng, 24, 3, 3, _CHANNELS)))
    converted = convert(content, compatibility="lce")
    assert "LceBconv2d" not in converted.kinds
    assert "LCE has one bit a value" in converted.reason
    with pytest.raises(ConversionError, match="LCE has one bit a value"):
        convert(convert_tflite(content), compatibility="lce")


def test_a_converted_file_is_converted_again_unchanged(net, rng):
    x = net.input(*_SHAPE)
    weights = _odd_weights(rng, 2, 24, 3, 3, _CHANNELS)
    once = convert_tflite(net.finish(net.conv(_dorefa(net, x, 3), weights)))
    again = convert(once)
    assert again.kinds == ["LceQuantize", "LceBconv2d"]
    assert (again.layers[0].input_bits, again.layers[0].weight_bits) == (2, 2)


@pytest.mark.parametrize("bits", range(2, 9))
def test_weights_as_dorefa_quantizes_them(bits, rng):
    """The division and the shift of the weights round, and a folded batch norm rounds once more."""
    n = np.float32(2**bits - 1)
    q = rng.integers(0, 2**bits, (9, 3, 3, 5)).astype(np.float32)
    weights = np.float32(2) * (q / n) - np.float32(1)
    weights *= rng.uniform(0.01, 3, (9, 1, 1, 1)).astype(np.float32)
    found = find_odd_weights(weights)
    assert not isinstance(found, NotBinary)
    assert found.bits == bits
    np.testing.assert_array_equal(found.odd, 2 * q - n)


@pytest.mark.parametrize(("off", "are"), [(0.9, True), (1.5, False)])
def test_weights_that_are_almost_of_few_bits(off, are, rng):
    """Differences up to 2^-20 of a channel's largest weight count as rounding."""
    weights = _odd_weights(rng, 2, 9, 3, 3, 5)
    largest = np.abs(weights[2]).max()
    weights[2, 0, 1, 1] = np.copysign(largest, 1) * np.float32(1 / 3 + off * 2.0**-20)
    weights[2, 0, 0, 0] = largest
    assert isinstance(find_odd_weights(weights), NotBinary) is not are


def test_channels_of_zeros_are_of_size_zero(net, rng):
    weights = _odd_weights(rng, 2, 9, 3, 3, 5)
    weights[[0, 4]] = 0
    found = find_odd_weights(weights)
    assert not isinstance(found, NotBinary)
    np.testing.assert_array_equal(found.odd % 2, 1)
    np.testing.assert_allclose(found.odd * found.scale[:, None, None, None], weights, rtol=1e-6)
    x = net.input(1, 6, 6, 5)
    y = net.conv(_dorefa(net, x, 3), weights)
    converted = convert_and_compare(net, y, inputs=[rng.random((1, 6, 6, 5), np.float32)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d"]


def test_two_levels_that_are_transposed_are_a_sign(net, rng):
    """PyTorch exports such a transpose, as its channels are not the last."""
    x = net.input(1, _CHANNELS, 6, 5)
    turned = net.transpose(_dorefa(net, x, 1), 0, 2, 3, 1)
    y = net.conv(turned, signs(rng, 24, 3, 3, _CHANNELS))
    values = rng.uniform(-0.5, 1.5, x.shape).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[values])
    assert [layer.became for layer in converted.layers] == ["binary"]


@pytest.mark.parametrize("scale", [1.0, -1.0, 0.25])
def test_ties_of_two_levels_after_a_float_layer(net, scale, rng):
    """ROUND takes half to even, so 0.5 itself is below: the layer's bias must not lose that."""
    filters = rng.integers(-2, 3, (32, 3, 3, 8)).astype(np.float32)
    x = net.conv(net.input(1, 6, 6, 8), filters, steps(rng, 32) * 4)
    x = net.op("ADD", net.op("MUL", x, scale), 2.0)
    x = net.op("MINIMUM", net.op("MAXIMUM", x, 0.0), 1.0)
    y = net.conv(net.op("ROUND", x), signs(rng, 16, 2, 2, 32))
    image = (rng.integers(-4, 5, (1, 6, 6, 8)) * 0.5).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[image])
    assert [layer.became for layer in converted.layers] == ["float", "binary"]
