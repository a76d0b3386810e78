"""Binary layers between int8 operators take and give int8 themselves."""

import numpy as np
import pytest

from tests.converter.graphs import Net, Value, convert, convert_and_compare, run_engine, signs
from tests.model_builder import add_quantize

_SHAPE = (1, 9, 9, 3)
_CHANNELS = 40

# Dot products of 27 terms are odd, so those divided by 4 are never halfway between two integers,
# which hosts round differently.
_SCALE = 4.0


def _to_int8(net: Net, x: Value, scale: float, zero_point: int = 0) -> Value:
    return net.op("QUANTIZE", x, dtype=np.int8, scale=scale, zero_point=zero_point)


def _to_float(net: Net, q: Value) -> Value:
    return net.op("DEQUANTIZE", q)


def _data(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.choice(np.array([-3.0, -0.26, -0.24, -0.0, 0.0, 0.24, 0.26, 3.0], np.float32), shape)


def _layer(net: Net, x: Value, rng: np.random.Generator, **options: str) -> Value:
    return net.conv(x, signs(rng, _CHANNELS, 3, 3, x.shape[3]), **options)


@pytest.mark.parametrize("zero_point", [0, -128, 127, 3])
def test_sign_of_int8(net, zero_point, rng):
    x = net.input(*_SHAPE)
    q = _to_int8(net, x, 0.5, zero_point)
    y = _layer(net, net.sign(_to_float(net, q)), rng)
    converted = convert_and_compare(net, y, inputs=[_data(rng, *_SHAPE)])
    assert converted.kinds == ["QUANTIZE", "LceQuantize", "LceBconv2d"]
    assert converted.op("LceQuantize").inputs[0].dtype == "INT8"


@pytest.mark.parametrize("readers", [1, 2])
def test_sign_of_pooled_int8(net, rng, readers):
    x = net.input(*_SHAPE)
    q = _to_int8(net, x, 0.5, 3)
    sizes = {"filterHeight": 2, "filterWidth": 3, "strideH": 2, "strideW": 1, "padding": 0}
    pooled = net.op(
        "MAX_POOL_2D", q, shape=(1, 5, 9, 3), dtype=np.int8, scale=0.5, zero_point=3, **sizes
    )
    outputs = [_layer(net, net.sign(_to_float(net, pooled)), rng)]
    if readers == 2:
        outputs.append(_to_float(net, pooled))
    converted = convert_and_compare(net, *outputs, inputs=[_data(rng, *_SHAPE)])
    pool = {1: "LceBMaxPool2d", 2: "MAX_POOL_2D"}[readers]
    assert [kind for kind in converted.kinds if "ool" in kind.lower()] == [pool]


def test_sign_of_int8_that_others_read(net, rng):
    x = net.input(*_SHAPE)
    q = _to_int8(net, x, 0.5)
    floats = _to_float(net, q)
    outputs = [_layer(net, net.sign(floats), rng), net.op("ABS", floats), _to_float(net, q)]
    converted = convert_and_compare(net, *outputs, inputs=[_data(rng, *_SHAPE)])
    assert converted.op("LceQuantize").inputs[0].dtype == "INT8"
    assert converted.kinds.count("DEQUANTIZE") == 2


# Comparisons of int8 with zero, and the type that LceQuantize reads.
_COMPARISONS = {
    "GREATER_EQUAL": ((1.0, -1.0), "INT8"),
    "LESS": ((-1.0, 1.0), "INT8"),
    "GREATER": ((1.0, -1.0), "BOOL"),
    "LESS_EQUAL": ((-1.0, 1.0), "BOOL"),
}


def _compare(
    net: Net, q: Value, comparison: str, values: tuple[float, float], constant: np.ndarray
) -> Value:
    number = net.builder.constant(constant, scale=0.5, zero_point=0)
    condition = net.op(comparison, q, Value(number, constant.shape), dtype=np.bool_)
    return net.op("SELECT_V2", condition, *values)


@pytest.mark.parametrize("comparison", _COMPARISONS)
def test_comparison_of_int8_with_zero(net, comparison, rng):
    values, dtype = _COMPARISONS[comparison]
    x = net.input(*_SHAPE)
    q = _to_int8(net, x, 0.5, 3)
    s = _compare(net, q, comparison, values, np.zeros((), np.int8))
    converted = convert_and_compare(net, _layer(net, s, rng), inputs=[_data(rng, *_SHAPE)])
    assert converted.op("LceQuantize").inputs[0].dtype == dtype


def test_comparison_of_int8_with_another_number(net, rng):
    x = net.input(*_SHAPE)
    q = _to_int8(net, x, 0.5, 3)
    s = _compare(net, q, "GREATER_EQUAL", (1.0, -1.0), np.array(1, np.int8))
    converted = convert_and_compare(net, _layer(net, s, rng), inputs=[_data(rng, *_SHAPE)])
    assert converted.op("LceQuantize").inputs[0].dtype == "BOOL"


def test_moved_sign_of_int8(net, rng):
    """A pad by part of a word moves before the sign, where int8 cannot be padded with -1."""
    x = net.input(*_SHAPE)
    q = _to_int8(net, x, 0.5, 3)
    s = _compare(net, q, "GREATER_EQUAL", (1.0, -1.0), np.zeros((), np.int8))
    padded = net.pad(s, ((1, 2), (0, 3)), -1.0)
    converted = convert_and_compare(net, _layer(net, padded, rng), inputs=[_data(rng, *_SHAPE)])
    assert converted.kinds[-1] == "LceBconv2d"


@pytest.mark.parametrize("zero_point", [0, -20, 90])
@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_layer_writes_int8(net, padding, zero_point, rng):
    x = net.input(*_SHAPE)
    # Results are integers, which rounding leaves as they are.
    y = _to_int8(net, _layer(net, net.sign(x), rng, padding=padding), 1.0, zero_point)
    data = [_data(rng, *_SHAPE)]
    converted = convert_and_compare(net, y, inputs=data)
    assert converted.kinds == ["LceQuantize", "LceBconv2d"]
    for_lce = convert_and_compare(net, y, inputs=data, compatibility="lce")
    left = ["QUANTIZE"] if padding == "SAME" else []
    assert for_lce.kinds == ["LceQuantize", "LceBconv2d", *left]


def test_layer_with_float_readers_does_not_write_int8(net, rng):
    y = _layer(net, net.sign(net.input(*_SHAPE)), rng)
    outputs = [_to_int8(net, y, 1.0), net.op("ABS", y)]
    converted = convert_and_compare(net, *outputs, inputs=[_data(rng, *_SHAPE)])
    assert "QUANTIZE" in converted.kinds


def test_layer_does_not_write_other_types(net, rng):
    y = _layer(net, net.sign(net.input(*_SHAPE)), rng)
    y = net.op("QUANTIZE", y, dtype=np.uint8, scale=1.0, zero_point=128)
    converted = convert_and_compare(net, y, inputs=[_data(rng, *_SHAPE)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "QUANTIZE"]


@pytest.mark.parametrize("zero_point", [0, 5])
def test_thresholds_of_rounded_values(net, zero_point, rng):
    """A value that rounds to zero has the sign +1."""
    x = net.input(*_SHAPE)
    y = net.op("MUL", _layer(net, net.sign(x), rng), np.resize(np.float32([1, -1]), _CHANNELS))
    q = _to_int8(net, y, _SCALE, zero_point)
    y = net.conv(net.sign(_to_float(net, q)), signs(rng, 5, 1, 1, _CHANNELS))
    converted = convert_and_compare(net, y, inputs=[_data(rng, *_SHAPE)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "LceBconv2d"]


def test_rounded_values_that_others_read(net, rng):
    x = net.input(*_SHAPE)
    q = _to_int8(net, _layer(net, net.sign(x), rng), _SCALE)
    y = net.conv(net.sign(_to_float(net, q)), signs(rng, 5, 1, 1, _CHANNELS))
    converted = convert_and_compare(net, y, q, inputs=[_data(rng, *_SHAPE)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "LceQuantize", "LceBconv2d"]
    first, second = converted.ops("LceBconv2d")
    assert (first.output.dtype, second.output.dtype) == ("INT8", "FLOAT32")


def test_signs_of_bits_written_as_int8(net, rng):
    """LceDequantize and QUANTIZE in a file become one operator."""
    x = net.input(*_SHAPE)
    bits = add_quantize(net.builder, x.number, _SHAPE)
    floats = Value(net.builder.tensor(_SHAPE), _SHAPE)
    net.builder.custom("LceDequantize", [bits], [floats.number])
    content = net.finish(_to_int8(net, floats, 0.25, 7))
    converted = convert(content)
    assert converted.kinds == ["LceQuantize", "LceDequantize"]
    data = _data(rng, *_SHAPE)
    (got,) = run_engine(converted.content, [data])
    np.testing.assert_array_equal(got, np.where(data < 0, 7 - 4, 7 + 4).astype(np.int8))


@pytest.mark.parametrize("zero_point", [-128, -127, 0])
def test_thresholds_through_values_that_saturate(net, zero_point, rng):
    """With a zero point of -128 nothing is less than it: what was negative is +1 after QUANTIZE."""
    x = net.input(*_SHAPE)
    y = _layer(net, net.sign(x), rng)
    y = net.sign(_to_float(net, _to_int8(net, y, _SCALE, zero_point)))
    y = net.conv(y, signs(rng, 8, 3, 3, _CHANNELS))
    converted = convert_and_compare(net, y, inputs=[_data(rng, *_SHAPE)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "LceBconv2d"]


def test_second_quantization_of_a_sign_that_is_int8_already(net, rng):
    """The first saturates at its zero point; the second must still see that."""
    x = net.input(*_SHAPE)
    first = _to_int8(net, net.sign(x), 1 / 64, -128)
    net_output = _to_float(net, _to_int8(net, first, 1 / 32))
    convert_and_compare(net, net_output, inputs=[_data(rng, *_SHAPE)])


@pytest.mark.parametrize(("number", "kind"), [(3, "PAD"), (0, "PADV2")])
def test_pad_of_int8(net, number, kind, rng):
    """The pad is the zero point, which is 0 in the float model, or another number."""
    q = _to_int8(net, net.input(*_SHAPE), 0.5, 3)
    value = Value(net.builder.constant(np.array(number, np.int8), scale=0.5, zero_point=3), ())
    pads = np.array([[0, 0], [1, 2], [0, 1], [0, 0]], np.int32)
    shape = (1, 12, 10, 3)
    y = net.op("PADV2", q, pads, value, shape=shape, dtype=np.int8, scale=0.5, zero_point=3)
    y = _to_float(net, y)
    converted = convert_and_compare(net, y, inputs=[_data(rng, *_SHAPE)])
    assert converted.kinds == ["QUANTIZE", kind, "DEQUANTIZE"]


def test_pad_of_int8_to_another_scale(net):
    """PAD would write its output's zero point; hosts accept neither operator with two scales."""
    q = _to_int8(net, net.input(*_SHAPE), 0.5, 3)
    value = Value(net.builder.constant(np.array(3, np.int8), scale=0.5, zero_point=3), ())
    pads = np.zeros((4, 2), np.int32)
    y = net.op("PADV2", q, pads, value, shape=_SHAPE, dtype=np.int8, scale=0.25, zero_point=1)
    assert convert(net.finish(_to_float(net, y))).kinds[1] == "PADV2"
