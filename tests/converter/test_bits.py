"""Operators between a sign and a layer are moved across the sign if that is exact.

They work on words after the sign if words stay whole, else on floats before it; results are equal.
"""

from collections.abc import Callable

import numpy as np
import pytest

from larq_engine import Interpreter
from larq_engine.converter import lce_ops
from larq_engine.converter.api import convert_tflite
from tests import oracle
from tests.converter.graphs import Converted, Net, Value, convert_and_compare, edges, signs, steps

# Adds an operator that moves the value's elements about, so that the result is an image.
_Move = Callable[[Net, Value], Value]


def _integers(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def _to_space(net: Net, x: Value) -> Value:
    n, h, w, c = x.shape
    return net.op("DEPTH_TO_SPACE", x, shape=(n, 2 * h, 2 * w, c // 4), blockSize=2)


def _to_depth(net: Net, x: Value) -> Value:
    n, h, w, c = x.shape
    return net.op("SPACE_TO_DEPTH", x, shape=(n, h // 2, w // 2, 4 * c), blockSize=2)


def _slice(begin: tuple[int, ...], size: tuple[int, ...]) -> _Move:
    return lambda net, x: net.op("SLICE", x, _integers(*begin), _integers(*size), shape=size)


def _every_second(net: Net, x: Value) -> Value:
    n, h, w, c = x.shape
    ends = _integers(n, h, w, c)
    shape = (n, h // 2, w // 2, c)
    return net.op(
        "STRIDED_SLICE", x, _integers(0, 1, 1, 0), ends, _integers(1, 2, 2, 1), shape=shape
    )


def _gather(net: Net, x: Value) -> Value:
    shape = (*x.shape[:3], 3)
    return net.op("GATHER", x, _integers(2, 0, 1), shape=shape, axis=3)


def _tile(net: Net, x: Value) -> Value:
    n, h, w, c = x.shape
    return net.op("TILE", x, _integers(1, 2, 1, 1), shape=(n, 2 * h, w, c))


def _broadcast(net: Net, x: Value) -> Value:
    shape = (2, *x.shape[1:])
    return net.op("BROADCAST_TO", x, _integers(*shape), shape=shape)


def _enlarge(net: Net, x: Value) -> Value:
    n, h, w, c = x.shape
    return net.op("RESIZE_NEAREST_NEIGHBOR", x, _integers(2 * h, 2 * w), shape=(n, 2 * h, 2 * w, c))


def _mirror(net: Net, x: Value) -> Value:
    n, h, w, c = x.shape
    pads = np.array([(0, 0), (1, 2), (2, 1), (0, 0)], np.int32)
    return net.op("MIRROR_PAD", x, pads, shape=(n, h + 3, w + 3, c), mode=0)


def _split(axis: int) -> _Move:
    return lambda net, x: net.split(x, 2, axis)[1]


def _split_unevenly(net: Net, x: Value) -> Value:
    n, h, w, c = x.shape
    parts = [Value(net.builder.tensor(s), s) for s in ((n, h, 1, c), (n, h, w - 1, c))]
    operands = [x, net.constant(_integers(1, w - 1)), net.constant(_integers(2)[0])]
    net.builder.builtin(
        "SPLIT_V", [o.number for o in operands], [part.number for part in parts], numSplits=2
    )
    return parts[1]


def _unpack_and_pack(net: Net, x: Value) -> Value:
    n, h, w, c = x.shape
    rows = [Value(net.builder.tensor((n, w, c)), (n, w, c)) for _ in range(h)]
    net.builder.builtin("UNPACK", [x.number], [row.number for row in rows], num=h, axis=1)
    return net.op("PACK", *reversed(rows), shape=x.shape, valuesCount=h, axis=1)


def _squeeze_and_expand(net: Net, x: Value) -> Value:
    flat = net.op("SQUEEZE", x, shape=x.shape[1:], squeezeDims=[0])
    return net.op("EXPAND_DIMS", flat, _integers(0)[0], shape=x.shape)


def _halves(net: Net, x: Value) -> Value:
    """Exchanges the two halves of the channels."""
    return net.concatenate(net.split(x, 2, 3)[::-1], 3)


# Each entry of _ON_WORDS and _ON_FLOATS has the move, the channels of the value, and the operators
# that move it: words after the sign, or floats before it.
def _pad_all(value: float) -> _Move:
    """Pads the batch, too, as a layer would take over pads of height and width only."""
    return lambda net, x: net.pad(x, ((0, 1), (2, 0), (0, 3), (0, 0)), value)


_ON_WORDS: dict[str, tuple[_Move, int, list[str]]] = {
    "RESHAPE of the image": (lambda net, x: net.reshape(x, 1, 4, 6, 5), 5, ["RESHAPE"]),
    "SQUEEZE and EXPAND_DIMS": (_squeeze_and_expand, 5, []),
    "RESHAPE of words": (lambda net, x: net.reshape(x, 1, 6, 2, 64), 32, ["RESHAPE"]),
    "PAD with 1": (_pad_all(1.0), 5, ["PAD"]),
    "PAD with -1": (_pad_all(-1.0), 32, ["PADV2"]),
    "MAX_POOL_2D": (Net.max_pool, 5, ["LceBMaxPool2d"]),
    "MAX_POOL_2D with padding": (
        lambda net, x: net.max_pool(x, (3, 2), (1, 2), "SAME"),
        33,
        ["LceBMaxPool2d"],
    ),
    "several": (
        lambda net, x: net.max_pool(net.pad(net.reshape(x, 1, 6, 2, 64), ((1, 1), (1, 1)), 1.0)),
        32,
        ["RESHAPE", "PAD", "LceBMaxPool2d"],
    ),
}
_ON_FLOATS: dict[str, tuple[_Move, int, list[str]]] = {
    "RESHAPE that splits words": (lambda net, x: net.reshape(x, 1, 4, 3, 10), 5, ["RESHAPE"]),
    "RESHAPE to less than words": (lambda net, x: net.reshape(x, 1, 6, 8, 16), 32, ["RESHAPE"]),
    "TRANSPOSE of the image": (lambda net, x: net.transpose(x, 0, 2, 1, 3), 5, ["TRANSPOSE"]),
    "TRANSPOSE of channels": (lambda net, x: net.transpose(x, 0, 3, 1, 2), 32, ["TRANSPOSE"]),
    "PAD of channels": (
        lambda net, x: net.pad(x, ((0, 0), (0, 0), (0, 0), (1, 2)), 1.0),
        5,
        ["PADV2"],
    ),
    "PAD with -1 of part of a word": (_pad_all(-1.0), 5, ["PADV2"]),
    "DEPTH_TO_SPACE": (_to_space, 8, ["DEPTH_TO_SPACE"]),
    "SPACE_TO_DEPTH": (_to_depth, 5, ["SPACE_TO_DEPTH"]),
    "SLICE": (_slice((0, 1, 1, 2), (1, 3, 3, 3)), 5, ["SLICE"]),
    "STRIDED_SLICE": (_every_second, 5, ["STRIDED_SLICE"]),
    "GATHER": (_gather, 5, ["GATHER"]),
    "TILE": (_tile, 5, ["TILE"]),
    "BROADCAST_TO": (_broadcast, 5, ["BROADCAST_TO"]),
    "RESIZE_NEAREST_NEIGHBOR": (_enlarge, 5, ["RESIZE_NEAREST_NEIGHBOR"]),
    "MIRROR_PAD": (_mirror, 5, ["MIRROR_PAD"]),
    "SPLIT": (_split(1), 5, ["SPLIT"]),
    "SPLIT of channels": (_split(3), 64, ["SPLIT"]),
    "SPLIT_V": (_split_unevenly, 5, ["SPLIT_V"]),
    "UNPACK and PACK": (_unpack_and_pack, 5, ["UNPACK", "PACK"]),
    "SPLIT and CONCATENATION": (_halves, 6, ["SPLIT", "CONCATENATION"]),
}


def _layer_of(net: Net, x: Value, rng: np.random.Generator) -> Value:
    return net.conv(x, signs(rng, 7, 2, 2, x.shape[3]))


@pytest.mark.parametrize("move", _ON_WORDS)
def test_moves_words(net, move, rng):
    build, channels, moved = _ON_WORDS[move]
    x = net.input(1, 6, 4, channels)
    y = _layer_of(net, build(net, net.sign(x)), rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", *moved, "LceBconv2d"]


@pytest.mark.parametrize("move", _ON_FLOATS)
def test_moves_floats(net, move, rng):
    build, channels, moved = _ON_FLOATS[move]
    x = net.input(1, 6, 4, channels)
    y = _layer_of(net, build(net, net.sign(x)), rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert sorted({*converted.kinds}) == sorted({*moved, "LceQuantize", "LceBconv2d"})
    assert converted.kinds[-2:] == ["LceQuantize", "LceBconv2d"]


def _where(comparison: str, bound: float | np.ndarray, high: float, low: float) -> _Move:
    def make(net: Net, x: Value) -> Value:
        return net.op("SELECT_V2", net.op(comparison, x, bound, dtype=np.bool_), high, low)

    return make


_CHANNEL_BOUNDS = np.array([0.25, -0.25, 0.0, 1.0, -1.0] * 13, np.float32)

# Makers of a binary value, and its two values.
_FORMS: dict[str, tuple[_Move, set[float]]] = {
    "step": (lambda net, x: net.op("SIGN", net.op("RELU", x)), {0.0, 1.0}),
    "condition": (_where("NOT_EQUAL", 0.25, 1.0, -1.0), {1.0, -1.0}),
    "condition turned round": (_where("NOT_EQUAL", 0.25, -1.0, 1.0), {1.0, -1.0}),
    "bound": (
        lambda net, x: _where("GREATER", _CHANNEL_BOUNDS[: x.shape[3]], 1.0, -1.0)(net, x),
        {1.0, -1.0},
    ),
    "0 or 3": (_where("LESS", 0.25, 3.0, 0.0), {0.0, 3.0}),
    "3 or -1": (_where("GREATER_EQUAL", 0.25, 3.0, -1.0), {3.0, -1.0}),
}


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("move", [*_ON_WORDS, *_ON_FLOATS])
def test_moves_other_forms_of_binary_values(net, move, form, rng):
    """A pad is moved across the sign only if its number is one of the two values."""
    build, channels, _ = (_ON_WORDS | _ON_FLOATS)[move]
    make, pair = _FORMS[form]
    x = net.input(1, 6, 4, channels)
    y = _layer_of(net, build(net, make(net, x)), rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    pads_with = -1.0 if "with -1" in move else 1.0
    pads = move.startswith("PAD") or move == "several"
    assert ("LceBconv2d" in converted.kinds) == (not pads or pads_with in pair)


_TWO_QUANTIZED = ["LceQuantize", "LceQuantize", "CONCATENATION", "LceBconv2d"]


def _join(
    rng: np.random.Generator, channels: tuple[int, int], axis: int, second: _Move = Net.sign
) -> Converted:
    """Converts a layer of a sign and what `second` makes, which are concatenated."""
    net = Net()
    a, b = (net.input(1, 4, 4, count) for count in channels)
    joined = net.concatenate([net.sign(a), second(net, b)], axis)
    data = [edges(rng, *a.shape), edges(rng, *b.shape)]
    return convert_and_compare(net, _layer_of(net, joined, rng), inputs=data)


@pytest.mark.parametrize(
    ("channels", "axis", "kinds"),
    [
        ((64, 5), 3, _TWO_QUANTIZED),
        # The first one ends within a word.
        ((5, 64), 3, ["CONCATENATION", "LceQuantize", "LceBconv2d"]),
        ((5, 5), 1, _TWO_QUANTIZED),
        ((5, 5), 2, _TWO_QUANTIZED),
        ((5, 5), -2, _TWO_QUANTIZED),
    ],
)
def test_concatenation(channels, axis, kinds, rng):
    assert _join(rng, channels, axis).kinds == kinds


@pytest.mark.parametrize("channels", [5, 64])
def test_concatenation_of_differently_written_signs(net, channels, rng):
    """A sign, a comparison with a bound and a condition are concatenated."""
    inputs = [net.input(1, 4, 4, channels) for _ in range(3)]
    bounded = net.op("GREATER", inputs[1], 0.25, dtype=np.bool_)
    condition = net.op("EQUAL", inputs[2], 0.25, dtype=np.bool_)
    parts = [
        net.sign(inputs[0]),
        net.op("SELECT_V2", bounded, -1.0, 1.0),
        net.op("SELECT_V2", condition, 1.0, -1.0),
    ]
    y = _layer_of(net, net.concatenate(parts, 3), rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape) for x in inputs])
    assert "LceBconv2d" in converted.kinds


@pytest.mark.parametrize("channels", [5, 64])
@pytest.mark.parametrize("name", ["step", "condition", "bound", "0 or 3", "3 or -1", "sign"])
def test_concatenation_with_the_opposite(net, name, channels, rng):
    """In concat(s(a), -s(b)) the values are the same, but the second is larger where s is -1."""
    make = (_FORMS | {"sign": (lambda net, x: net.sign(x), {1.0, -1.0})})[name][0]
    a, b = (net.input(1, 4, 4, channels) for _ in range(2))
    low, high = {"step": (0, 1), "0 or 3": (0, 3), "3 or -1": (-1, 3)}.get(name, (-1, 1))
    opposite = net.op("SUB", float(low + high), make(net, b))
    for order in ([make(net, a), opposite], [opposite, net.pad(make(net, a), ((0, 0), (0, 0)))]):
        y = _layer_of(net, net.concatenate(order, 3), rng)
        data = [edges(rng, *a.shape), edges(rng, *b.shape)]
        converted = convert_and_compare(net, y, inputs=data, check=True)
        assert "LceBconv2d" in converted.kinds
        assert convert_tflite(net.finish(y)) == converted.content  # the self-check agrees


def test_concatenation_of_different_sizes(rng):
    converted = _join(rng, (32, 32), 3, lambda net, x: net.op("MUL", net.sign(x), 2.0))
    assert "LceBconv2d" not in converted.kinds
    assert "different sizes" in converted.reason


def test_concatenation_with_floats(rng):
    assert "LceBconv2d" not in _join(rng, (32, 32), 3, lambda net, x: x).kinds


def _turned_sign(net: Net, x: Value) -> Value:
    return net.op("NEG", net.sign(x))


def _above(net: Net, x: Value) -> Value:
    """Adds +1 where x > 0: the negated sign of -x, which is larger where x is larger."""
    condition = net.op("GREATER", x, 0.0, dtype=np.bool_)
    return net.op("SELECT_V2", condition, 1.0, -1.0)


@pytest.mark.parametrize("make", [_turned_sign, _above])
def test_max_pool_of_signs_turned_round(net, make, rng):
    x = net.input(1, 6, 6, 32)
    y = _layer_of(net, net.max_pool(make(net, x)), rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds[-3:] == ["LceQuantize", "LceBMaxPool2d", "LceBconv2d"]


def _joined_layers(net, rng, outputs):
    """Joins layers of bits, and returns a layer of the joined values' signs."""
    x = net.input(1, 6, 6, 32)
    layers = [net.conv(net.sign(x), signs(rng, number, 2, 2, 32)) for number in outputs]
    return x, layers, _layer_of(net, net.sign(net.concatenate(layers, 3)), rng)


def test_layers_side_by_side_write_bits_if_only_a_sign_reads_them(net, rng):
    x, _, y = _joined_layers(net, rng, (64, 20))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", *["LceBconv2d"] * 2, "CONCATENATION", "LceBconv2d"]
    rows = Interpreter(converted.content, host="litert").profile(runs=1)
    assert "CONCATENATION" in [row.op for row in rows], "the host computes it"


def test_layers_side_by_side_before_a_batch_norm_write_bits(net, rng):
    """This is the order of Keras: the numbers of each channel go with the layer that has it."""
    x = net.input(1, 6, 6, 32)
    layers = [net.conv(net.sign(x), signs(rng, number, 2, 2, 32)) for number in (64, 20)]
    joined = net.op("PRELU", net.concatenate(layers, 3), steps(rng, 1, 1, 84) ** 2)
    normal = net.op("ADD", net.op("MUL", joined, steps(rng, 84)), steps(rng, 84))
    y = _layer_of(net, net.sign(net.op("MUL", normal, 0.5)), rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", *["LceBconv2d"] * 2, "CONCATENATION", "LceBconv2d"]


def test_nothing_moves_if_a_layer_could_not_write_the_bits(net, rng):
    """A factor below 0 behind a pool turns its order, so that layer has no thresholds."""
    x = net.input(1, 6, 6, 32)
    layers = [net.conv(net.sign(x), signs(rng, number, 2, 2, 32)) for number in (64, 20)]
    joined = net.concatenate([net.max_pool(layer) for layer in layers], 3)
    factors = np.where(np.arange(84) == 3, -1, 1).astype(np.float32)
    y = _layer_of(net, net.sign(net.op("MUL", joined, factors)), rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    kinds = converted.kinds
    assert kinds[kinds.index("CONCATENATION") :][:3] == ["CONCATENATION", "MUL", "LceQuantize"]


@pytest.mark.parametrize(
    ("outputs", "reads_other", "target"),
    [((20, 64), False, "arm"), ((64, 20), True, "arm"), ((64, 20), False, "xcore")],
)
def test_layers_side_by_side_write_floats_otherwise(outputs, reads_other, target, net, rng):
    """This is so for parts of words, where others read them too, and for xcore."""
    x, layers, y = _joined_layers(net, rng, outputs)
    ends = [y, net.op("ABS", layers[0])] if reads_other else [y]
    converted = convert_and_compare(net, *ends, inputs=[edges(rng, *x.shape)], target=target)
    assert converted.kinds.count("LceQuantize") == 2


def test_max_pool_with_activation(net, rng):
    x = net.input(1, 6, 6, 32)
    y = _layer_of(net, net.max_pool(net.sign(x), activation="RELU"), rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert not any(kind.startswith("LceB") for kind in converted.kinds)


def test_max_pool_for_xcore_is_of_floats(net, rng):
    x = net.input(1, 6, 6, 32)
    y = _layer_of(net, net.max_pool(net.sign(x)), rng)
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)], target="xcore")
    assert converted.kinds == ["MAX_POOL_2D", "LceQuantize", "LceBconv2d"]


def test_position_that_is_no_constant(net, rng):
    x, begin = net.input(1, 6, 4, 5), net.input(4, dtype=np.int32)
    part = net.op("SLICE", net.sign(x), begin, _integers(1, 3, 3, 5), shape=(1, 3, 3, 5))
    converted = convert_and_compare(
        net, _layer_of(net, part, rng), inputs=[edges(rng, *x.shape), _integers(0, 1, 1, 0)]
    )
    assert "LceBconv2d" not in converted.kinds
    assert "moves values to is computed when the model runs" in converted.reason


def test_value_moved_for_two_layers_is_moved_once(net, rng):
    """This includes an operator of several results, of which two layers read one each."""
    x = net.input(1, 6, 4, 6)
    moved = net.transpose(net.sign(x), 0, 3, 1, 2)
    halves = net.split(net.sign(x), 2, 3)
    outputs = [_layer_of(net, value, rng) for value in (moved, moved, *halves)]
    converted = convert_and_compare(net, *outputs, inputs=[edges(rng, *x.shape)])
    counts = {kind: converted.kinds.count(kind) for kind in converted.kinds}
    assert counts == {"TRANSPOSE": 1, "SPLIT": 1, "LceQuantize": 3, "LceBconv2d": 4}


def test_different_poolings_of_one_sign(net, rng):
    s = net.sign(net.input(1, 6, 6, 32))
    pooled = [net.max_pool(s, window) for window in ((2, 2), (3, 3), (2, 2))]
    outputs = [_layer_of(net, value, rng) for value in pooled]
    converted = convert_and_compare(net, *outputs, inputs=[edges(rng, 1, 6, 6, 32)])
    assert converted.kinds.count("LceBMaxPool2d") == 2


def test_the_same_bound_is_subtracted_once(net, rng):
    x = net.input(1, 6, 6, 32)
    values = []
    for bound in (0.25, 0.25, 1.0):
        condition = net.op("GREATER_EQUAL", x, bound, dtype=np.bool_)
        values.append(net.op("SELECT_V2", condition, 1.0, -1.0))
    outputs = [_layer_of(net, value, rng) for value in values]
    converted = convert_and_compare(net, *outputs, inputs=[edges(rng, *x.shape)])
    counts = {kind: converted.kinds.count(kind) for kind in converted.kinds}
    assert counts == {"SUB": 2, "LceQuantize": 2, "LceBconv2d": 3}


@pytest.mark.parametrize("channels", [1, 5, 31, 32, 33, 64, 70])
def test_packing_agrees_with_the_oracle(channels, rng):
    values = signs(rng, 3, 2, channels)
    packed = lce_ops.pack_bits(np.signbit(values))
    np.testing.assert_array_equal(packed, oracle.pack_bits(values))
    assert packed.shape == lce_ops.packed_shape(values.shape)
