"""A sign of a binary layer's result becomes the layer's thresholds, and the layer writes bits.

Biases are such that many dot products meet a threshold exactly, where the slightest difference in
the treatment of equality would show.
"""

from collections.abc import Callable

import numpy as np
import pytest

from tests.converter.graphs import Net, Value, convert_and_compare, edges, signs, steps
from tests.model_builder import ACTIVATION

_CHANNELS = 40
_BITS = ["LceQuantize", "LceBconv2d", "LceBconv2d"]

# Multipliers of a batch norm, negative and zero among them, and shifts that dot products meet.
_SCALES = np.resize(np.array([1, -1, 0.5, -2, 0, 4, -0.25, 8], np.float32), _CHANNELS)
_SHIFTS = np.resize(
    np.array([0, 2, -2, -0.0, 5, -7, 0.5, -0.5, 100, -100, 3], np.float32), _CHANNELS
)

_Function = Callable[[Net, Value], Value]


def _batch_norm(net: Net, y: Value) -> Value:
    return net.op("ADD", net.op("MUL", y, _SCALES), _SHIFTS)


def _relu_and_batch_norm(kind: str) -> _Function:
    return lambda net, y: _batch_norm(net, net.op(kind, y))


def _batch_norm_and_relu(net: Net, y: Value) -> Value:
    return net.op("SUB", net.op("RELU", _batch_norm(net, y)), 2.0)


def _fused(kind: str) -> _Function:
    return lambda net, y: net.op(
        "SUB",
        net.op("MUL", y, _SCALES, fusedActivationFunction=ACTIVATION[kind]),
        0.5,
        fusedActivationFunction=ACTIVATION["RELU_N1_TO_1"],
    )


def _prelu(net: Net, y: Value) -> Value:
    slopes = np.resize(np.array([0.25, 0, 2, 1], np.float32), _CHANNELS).reshape(1, 1, -1)
    return net.op("ADD", net.op("PRELU", y, slopes), _SHIFTS)


def _leaky_relu(net: Net, y: Value) -> Value:
    return net.op("ADD", net.op("LEAKY_RELU", y, alpha=0.25), _SHIFTS)


def _several(net: Net, y: Value) -> Value:
    y = net.op("SUB", 3.0, net.op("DIV", y, -2.0))
    return net.op("MINIMUM", net.op("MAXIMUM", net.op("NEG", y), -4.0), _SHIFTS)


# Functions between the layer and the sign.
_MONOTONE: dict[str, _Function] = {
    "nothing": lambda net, y: y,
    "batch norm": _batch_norm,
    "relu, batch norm": _relu_and_batch_norm("RELU"),
    "relu6, batch norm": _relu_and_batch_norm("RELU6"),
    "relu_n1_to_1, batch norm": _relu_and_batch_norm("RELU_N1_TO_1"),
    "batch norm, relu": _batch_norm_and_relu,
    "fused relu": _fused("RELU"),
    "fused relu6": _fused("RELU6"),
    "prelu": _prelu,
    "leaky relu": _leaky_relu,
    "several": _several,
    "zero multiplier": lambda net, y: net.op("MUL", y, 0.0),
    "constant first": lambda net, y: net.op("SUB", _SHIFTS, net.op("MUL", _SCALES, y)),
}


def _two_layers(
    net: Net, x: Value, between: _Function, rng: np.random.Generator, **options: object
) -> Value:
    filters = signs(rng, _CHANNELS, 3, 3, x.shape[3])
    bias = options.pop("bias", None)
    y = net.conv(net.sign(x), filters, bias, **options)
    return net.conv(net.sign(between(net, y)), signs(rng, 5, 1, 1, _CHANNELS))


@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("function", _MONOTONE)
def test_layer_writes_bits(net, function, with_bias, rng):
    x = net.input(1, 9, 9, 3)
    bias = steps(rng, _CHANNELS, step=1.0) if with_bias else None
    y = _two_layers(net, x, _MONOTONE[function], rng, bias=bias)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == _BITS


@pytest.mark.parametrize("form", ["x > 0", "x < 0.5", "step"])
@pytest.mark.parametrize("function", ["batch norm", "relu, batch norm", "several"])
def test_other_signs(net, form, function, rng):
    """Forms of signs differ in their result for a value that equals the bound."""
    x = net.input(1, 9, 9, 3)
    y = net.conv(net.sign(x), signs(rng, _CHANNELS, 3, 3, 3))
    y = _MONOTONE[function](net, y)
    if form == "step":
        y = net.op("SIGN", net.op("RELU", y))
    else:
        comparison, bound = {"x > 0": ("GREATER", 0.0), "x < 0.5": ("LESS", 0.5)}[form]
        y = net.op("SELECT_V2", net.op(comparison, y, bound, dtype=np.bool_), 1.0, -1.0)
    y = net.conv(y, signs(rng, 5, 1, 1, _CHANNELS))
    assert convert_and_compare(net, y, inputs=[edges(rng, *x.shape)]).kinds == _BITS


@pytest.mark.parametrize("channels", [1, 3, 32, 33, 70])
@pytest.mark.parametrize("options", [{}, {"stride": (2, 2)}, {"dilation": (2, 3)}])
def test_depths(net, channels, options, rng):
    """Some depths are odd, so that dot products are odd as well."""
    x = net.input(1, 9, 9, channels)
    y = _two_layers(net, x, _batch_norm, rng, **options)
    assert convert_and_compare(net, y, inputs=[edges(rng, *x.shape)]).kinds == _BITS


@pytest.mark.parametrize("groups", [1, 2])
def test_thresholds_of_groups(net, groups, rng):
    x = net.input(1, 9, 9, 64)
    y = net.conv(net.sign(x), signs(rng, _CHANNELS, 3, 3, 64 // groups))
    y = net.conv(net.sign(_batch_norm(net, y)), signs(rng, 5, 1, 1, _CHANNELS))
    assert convert_and_compare(net, y, inputs=[edges(rng, *x.shape)]).kinds == _BITS


@pytest.mark.parametrize("scale", [1.0, 0.0])
def test_scaled_filters(net, scale, rng):
    """Weights of one channel are all zero, so that its bias decides by itself."""
    x = net.input(1, 9, 9, 3)
    sizes = np.resize(np.array([0.5, 2, scale], np.float32), _CHANNELS)
    filters = signs(rng, _CHANNELS, 3, 3, 3) * sizes[:, None, None, None]
    y = net.conv(net.sign(x), filters, _SHIFTS)
    y = net.conv(net.sign(y), signs(rng, 5, 1, 1, _CHANNELS))
    assert convert_and_compare(net, y, inputs=[edges(rng, *x.shape)]).kinds == _BITS


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_padding_with_ones(net, value, rng):
    x = net.input(1, 6, 6, 5)
    padded = net.pad(net.sign(x), ((1, 1), (1, 1)), value)
    y = net.conv(padded, signs(rng, _CHANNELS, 3, 3, 5))
    y = net.conv(net.sign(_batch_norm(net, y)), signs(rng, 5, 1, 1, _CHANNELS))
    assert convert_and_compare(net, y, inputs=[edges(rng, *x.shape)]).kinds == _BITS


@pytest.mark.parametrize("compatibility", ["larq_engine", "lce"])
@pytest.mark.parametrize("channels", [1, 2, 3, 32, 33, 64])
def test_zero_padding(net, channels, compatibility, rng):
    """If the number of channels is even, zeros leave a dot product as even or odd as the depth."""
    x = net.input(1, 6, 6, channels)
    y = _two_layers(net, x, _batch_norm, rng, padding="SAME")
    converted = convert_and_compare(
        net, y, inputs=[edges(rng, *x.shape)], compatibility=compatibility
    )
    if channels % 2 == 0 and compatibility == "larq_engine":
        assert converted.kinds == _BITS
    else:
        assert converted.kinds == ["LceQuantize", "LceBconv2d", "LceQuantize", "LceBconv2d"]


def test_dense_layers_write_bits(net, rng):
    y = x = net.input(3, 45)
    for units in (33, 64, 7):
        y = net.dense(net.sign(y), signs(rng, units, y.shape[1]))
        y = net.op("ADD", net.op("MUL", y, _SCALES[:1]), steps(rng, units))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds.count("LceQuantize") == 1
    outputs = [op.output.dtype for op in converted.ops("LceBconv2d")]
    assert outputs == ["INT32", "INT32", "FLOAT32"]


def test_image_and_dense_layers_write_bits(rng):
    """A Flatten is between them, of whole words and of others."""
    for channels in (32, 40):
        net = Net()
        x = net.input(2, 4, 4, 3)
        y = net.conv(net.sign(x), signs(rng, channels, 3, 3, 3))
        y = net.op("ADD", y, steps(rng, channels))
        y = net.dense(net.sign(net.reshape(y, 2, 4 * channels)), signs(rng, 7, 4 * channels))
        converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
        outputs = [op.output.dtype for op in converted.ops("LceBconv2d")]
        assert outputs == ["INT32" if channels == 32 else "FLOAT32", "FLOAT32"]


def _increasing(net: Net, y: Value) -> Value:
    return net.op("ADD", net.op("MUL", y, np.abs(_SCALES)), _SHIFTS)


# Functions before and after the pooling, and True if the pooling can be done on bits.
_POOLED: dict[str, tuple[_Function, _Function, bool]] = {
    "batch norm after": (lambda net, y: y, _increasing, True),
    "batch norm before": (_batch_norm, lambda net, y: y, True),
    "both": (_batch_norm, _increasing, True),
    "relu before": (lambda net, y: net.op("RELU", y), _increasing, True),
    "order turned after": (lambda net, y: y, _batch_norm, False),
    "order turned twice after": (
        lambda net, y: y,
        lambda net, y: net.op("MUL", net.op("SUB", 3.0, y), -2.0),
        True,
    ),
}


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("activation", ["NONE", "RELU", "RELU_N1_TO_1"])
@pytest.mark.parametrize("case", _POOLED)
def test_max_pool_in_between(net, case, activation, padding, rng):
    before, after, on_bits = _POOLED[case]
    x = net.input(1, 9, 9, 3)

    def between(net: Net, y: Value) -> Value:
        y = net.max_pool(before(net, y), (3, 2), (2, 2), padding, activation)
        return after(net, y)

    y = _two_layers(net, x, between, rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    if on_bits:
        assert converted.kinds == ["LceQuantize", "LceBconv2d", "LceBMaxPool2d", "LceBconv2d"]
    else:
        assert "LceBMaxPool2d" not in converted.kinds
        assert "MAX_POOL_2D" in converted.kinds


def test_two_max_pools_in_between(net, rng):
    x = net.input(1, 12, 12, 3)
    y = _two_layers(net, x, lambda net, y: net.max_pool(net.max_pool(y)), rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == [*_BITS[:2], "LceQuantize", *["LceBMaxPool2d"] * 2, "LceBconv2d"]


def test_max_pool_of_another_layer(net, rng):
    """Only the sign is needed, so the pooling can be of bits whatever layer makes them."""
    x = net.input(1, 8, 8, 5)
    y = net.conv(net.sign(net.max_pool(x)), signs(rng, 7, 2, 2, 5))
    data = [edges(rng, *x.shape)]
    converted = convert_and_compare(net, y, inputs=data)
    assert converted.kinds == ["LceQuantize", "LceBMaxPool2d", "LceBconv2d"]
    for_xcore = convert_and_compare(net, y, inputs=data, target="xcore")
    assert for_xcore.kinds == ["MAX_POOL_2D", "LceQuantize", "LceBconv2d"]


def test_max_pool_with_activation_before_a_sign(net, rng):
    """A relu makes all signs +1; the pooling cannot be moved across it."""
    x = net.input(1, 8, 8, 5)
    pooled = net.max_pool(x, activation="RELU")
    y = net.conv(net.sign(pooled), signs(rng, 7, 2, 2, 5))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["MAX_POOL_2D", "LceQuantize", "LceBconv2d"]


def test_max_pool_whose_values_others_read(net, rng):
    x = net.input(1, 8, 8, 5)
    pooled = net.max_pool(x)
    y = net.conv(net.sign(pooled), signs(rng, 7, 2, 2, 5))
    converted = convert_and_compare(net, y, pooled, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["MAX_POOL_2D", "LceQuantize", "LceBconv2d"]


def test_layer_writes_bits_for_xcore(net, rng):
    x = net.input(1, 9, 9, 3)
    y = _two_layers(net, x, _batch_norm, rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)], target="xcore")
    assert converted.kinds == _BITS


def test_max_pool_in_between_for_xcore(net, rng):
    x = net.input(1, 9, 9, 3)
    y = _two_layers(net, x, lambda net, y: net.max_pool(y), rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)], target="xcore")
    assert "LceBMaxPool2d" not in converted.kinds
    assert "MAX_POOL_2D" in converted.kinds


# Readers of the value between layer and sign.
_READERS: dict[str, Callable[[Net, Value], Value]] = {
    "an operator": lambda net, y: net.op("ABS", y),
    "the caller": lambda net, y: y,
}


@pytest.mark.parametrize("reader", _READERS)
@pytest.mark.parametrize("which", ["first", "last"])
def test_float_result_that_others_read_stays_float(net, which, reader, rng):
    x = net.input(1, 9, 9, 3)
    first = net.conv(net.sign(x), signs(rng, _CHANNELS, 3, 3, 3))
    last = _batch_norm(net, first)
    y = net.conv(net.sign(last), signs(rng, 5, 1, 1, _CHANNELS))
    other = _READERS[reader](net, first if which == "first" else last)
    converted = convert_and_compare(net, y, other, inputs=[edges(rng, *x.shape)])
    outputs = [op.output.dtype for op in converted.ops("LceBconv2d")]
    assert outputs == ["FLOAT32", "FLOAT32"]
    assert converted.kinds.count("LceQuantize") == 2


def test_bits_that_two_layers_read(net, rng):
    x = net.input(1, 9, 9, 3)
    s = net.sign(_batch_norm(net, net.conv(net.sign(x), signs(rng, _CHANNELS, 3, 3, 3))))
    outputs = [net.conv(s, signs(rng, 5, taps, taps, _CHANNELS)) for taps in (1, 3)]
    converted = convert_and_compare(net, *outputs, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize"] + ["LceBconv2d"] * 3


def _channel_constant(shape: tuple[int, ...]) -> np.ndarray:
    return np.resize(np.array([1, -2, 4], np.float32), shape)


_SLOPES_OF_PIXELS = np.resize([0.5, 1, 2], (7, 7, _CHANNELS)).astype(np.float32)

# Functions between the layer and the sign that keep the layer from writing bits.
_NOT_MONOTONE: dict[str, _Function] = {
    "values of pixels": lambda net, y: net.op("MUL", y, _channel_constant((7, 7, _CHANNELS))),
    "negative slope": lambda net, y: net.op("LEAKY_RELU", y, alpha=-0.5),
    "negative slopes": lambda net, y: net.op("PRELU", y, -np.ones((1, 1, _CHANNELS), np.float32)),
    "slopes of pixels": lambda net, y: net.op("PRELU", y, _SLOPES_OF_PIXELS),
    "square": lambda net, y: net.op("SUB", net.op("MUL", y, y), 4.0),
    "divisor": lambda net, y: net.op("SUB", net.op("DIV", 8.0, net.op("ADD", y, 0.5)), 1.0),
    "absolute value": lambda net, y: net.op("SUB", net.op("ABS", y), 3.0),
    "overflow": lambda net, y: net.op("MUL", net.op("MUL", y, 2.0**100), 2.0**100),
}


@pytest.mark.parametrize("function", _NOT_MONOTONE)
def test_layer_does_not_write_bits(net, function, rng):
    x = net.input(1, 9, 9, 3)
    y = _two_layers(net, x, _NOT_MONOTONE[function], rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert [op.output.dtype for op in converted.ops("LceBconv2d")] == ["FLOAT32", "FLOAT32"]


@pytest.mark.parametrize("kind", ["MUL", "ADD", "MAXIMUM"])
def test_constant_that_makes_more_of_one_channel(net, kind, rng):
    x = net.input(1, 9, 9, 3)
    y = net.op(kind, net.conv(net.sign(x), signs(rng, 1, 3, 3, 3)), _SCALES)
    y = net.conv(net.sign(y), signs(rng, 5, 1, 1, _CHANNELS))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert [op.output.dtype for op in converted.ops("LceBconv2d")] == ["FLOAT32", "FLOAT32"]


def test_constant_of_more_dimensions(net, rng):
    """[N, H, W, C] plus [1, 1, 1, 1, C] has five dimensions, which a layer cannot write."""
    x = net.input(1, 9, 9, 3)
    y = net.conv(net.sign(x), signs(rng, _CHANNELS, 3, 3, 3))
    y = net.op("ADD", y, _SHIFTS.reshape(1, 1, 1, 1, -1))
    y = net.dense(net.sign(y), signs(rng, 5, _CHANNELS))
    convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])


def test_thresholds_of_turned_filters(net, rng):
    """A negative multiplier negates a channel's filter, but not the unused bits."""
    x = net.input(1, 3, 3, 5)
    filters = signs(rng, 2, 3, 3, 5)
    y = net.op("MUL", net.conv(net.sign(x), filters), np.array([1, -1], np.float32))
    y = net.conv(net.sign(y), signs(rng, 5, 1, 1, 2))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    first = converted.ops("LceBconv2d")[0]
    words = first.inputs[1].data
    np.testing.assert_array_equal(words[0] & 1 == 1, filters[0, :, :, :1] < 0)
    np.testing.assert_array_equal(words[1] & 1 == 1, filters[1, :, :, :1] > 0)
    assert not (words >> 5).any()
    # With a depth of 45, a dot product below 0 has more than 22 differing bits; negated, -dot < 0
    # is the same.
    np.testing.assert_array_equal(first.inputs[4].data, [22, 22])


def test_thresholds_of_signs_that_never_change(net, rng):
    x = net.input(1, 3, 3, 5)
    shifted = net.op(
        "ADD", net.conv(net.sign(x), signs(rng, 3, 3, 3, 5)), np.array([100, -100, 45], np.float32)
    )
    y = net.conv(net.sign(shifted), signs(rng, 5, 1, 1, 3))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    limits = np.iinfo(np.int32)
    thresholds = converted.ops("LceBconv2d")[0].inputs[4].data
    np.testing.assert_array_equal(thresholds, [limits.max, limits.min, limits.max])
