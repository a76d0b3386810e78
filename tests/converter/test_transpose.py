"""Transposes are removed from models with channels first, such as exports of PyTorch."""

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import schema
from tests.converter.graphs import Net, Value, convert_and_compare, edges, signs, steps
from tests.model_builder import ACTIVATION

_TO_NHWC, _TO_NCHW = (0, 2, 3, 1), (0, 3, 1, 2)


def _conv(net: Net, rng, x: Value, channels: int, **options) -> Value:
    """Adds a convolution of an NCHW image."""
    filters = signs(rng, channels, 3, 3, x.shape[1])
    return net.transpose(net.conv(net.transpose(x, *_TO_NHWC), filters, **options), *_TO_NCHW)


def _norm(net: Net, rng, x: Value) -> Value:
    """Adds a batch norm of an NCHW image."""
    channels = x.shape[1]
    scale = rng.choice(np.array([0.5, -0.25, 2.0], np.float32), (1, channels, 1, 1))
    return net.op("ADD", net.op("MUL", x, scale), steps(rng, 1, channels, 1, 1))


def _sign(net: Net, x: Value) -> Value:
    condition = net.op("GREATER_EQUAL", x, 0.0, dtype=np.bool_)
    return net.op("SELECT_V2", condition, 1.0, -1.0)


def _prelu(net: Net, rng, x: Value) -> Value:
    slope = rng.choice(np.array([0.5, 0.25, 2.0], np.float32), (1, x.shape[1], 1, 1))
    below = net.op("MUL", slope, net.op("RELU", net.op("NEG", x)))
    return net.op("SUB", net.op("RELU", x), below)


@pytest.mark.parametrize("activation", [None, "prelu"])
def test_chain(net, activation, rng):
    """All operators between two convolutions become thresholds of the first."""
    x = net.input(1, 32, 8, 8)
    y = _conv(net, rng, _sign(net, x), 64)
    y = _norm(net, rng, y)
    if activation:
        y = _prelu(net, rng, y)
    y = _conv(net, rng, _sign(net, y), 32)
    converted = convert_and_compare(net, y, inputs=[edges(rng, 1, 32, 8, 8)])
    assert converted.kinds == ["TRANSPOSE", "LceQuantize", "LceBconv2d", "LceBconv2d", "TRANSPOSE"]


@pytest.mark.parametrize("first", ["convolution", "sign"])
def test_residual_blocks(net, first, rng):
    """A sign and a sum read each value between two blocks."""
    x = net.input(1, 32, 6, 6)
    y = _conv(net, rng, x, 32) if first == "convolution" else x
    for _ in range(3):
        branch = _norm(net, rng, _conv(net, rng, _sign(net, y), 32, padding="SAME"))
        y = _prelu(net, rng, net.op("ADD", branch, y))
    y = net.op("MEAN", y, np.array([2, 3], np.int32), shape=(1, 32), keepDims=False)
    converted = convert_and_compare(net, y, inputs=[steps(rng, 1, 32, 6, 6)])
    assert converted.kinds.count("TRANSPOSE") == 1  # the one of the model's input
    assert converted.kinds.count("PRELU") == 3
    assert converted.kinds.count("LceBconv2d") == 3


# Functions between two transposes that these sink below.
_BETWEEN = {
    "nothing": lambda net, x: x,
    "RELU": lambda net, x: net.op("RELU", x),
    "number": lambda net, x: net.op("MUL", x, 2.0),
    "channels": lambda net, x: net.op("SUB", steps(np.random.default_rng(1), 4, 1, 1), x),
    "lines": lambda net, x: net.op("MUL", x, steps(np.random.default_rng(1), 5, 1)),
    "columns": lambda net, x: net.op("MUL", x, steps(np.random.default_rng(1), 6)),
    "fused relu": lambda net, x: net.op("ADD", x, 0.5, fusedActivationFunction=ACTIVATION["RELU"]),
    "itself": lambda net, x: net.op("ADD", x, x),
    "diamond": lambda net, x: net.op("ADD", net.op("NEG", x), net.op("ABS", x)),
    "pad": lambda net, x: net.pad(x, [(0, 0), (1, 0), (2, 3), (0, 1)]),
    "padv2": lambda net, x: net.pad(x, [(0, 0), (0, 2), (1, 0), (0, 1)], 0.5),
    "concatenation": lambda net, x: net.concatenate([x, net.op("NEG", x)], 1),
    "mirror": lambda net, x: net.op(
        "MIRROR_PAD",
        x,
        np.array([(0, 0), (1, 0), (2, 3), (0, 1)], np.int32),
        shape=(2, 5, 10, 7),
        mode=0,
    ),
    "sign": lambda net, x: net.op("SIGN", x),
    "step": lambda net, x: _step(net, x),
    "clamp": lambda net, x: _where(net, net.op("GREATER", x, 1.0, dtype=np.bool_), 1.0, x),
    "leaky": lambda net, x: _where(
        net, net.op("LESS", x, steps(np.random.default_rng(1), 4, 1, 1), dtype=np.bool_), x, 0.5
    ),
    "halves": lambda net, x: net.op("SUB", *net.split(x, 2, 1)),
    "lines apart": lambda net, x: net.op("MUL", *net.split(x, 3, 3)[:2]),
    "slice": lambda net, x: net.op(
        "SLICE", x, _integers(0, 1, 2, 3), _integers(2, 2, 2, -1), shape=(2, 2, 2, 3)
    ),
    "strided slice": lambda net, x: net.op(
        "STRIDED_SLICE",
        x,
        _integers(0, 3, 1, 9),
        _integers(9, 0, 3, 1),
        _integers(1, -2, 1, -1),
        shape=(2, 2, 2, 5),
        beginMask=0b1001,
        endMask=0b1001,
    ),
    "mean of the channels": lambda net, x: net.op(
        "MEAN", x, _integers(1), shape=(2, 1, 5, 6), keepDims=True
    ),
    "sum of the image": lambda net, x: net.op(
        "MUL", net.op("SUM", x, _integers(2, -1), shape=(2, 4, 1, 1), keepDims=True), x
    ),
    "largest": lambda net, x: net.op(
        "REDUCE_MAX", x, _integers(3), shape=(2, 4, 5, 1), keepDims=True
    ),
}


def _integers(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def _where(net: Net, condition: Value, *values: object) -> Value:
    return net.op("SELECT_V2", condition, *values)


def _step(net: Net, x: Value) -> Value:
    """Adds (x >= 0) - not (x >= 0), as numbers."""
    condition = net.op("GREATER_EQUAL", x, 0.0, dtype=np.bool_)
    no = net.op("LOGICAL_NOT", condition, dtype=np.bool_)
    cast = [net.op("CAST", truth, inDataType=6, outDataType=0) for truth in (condition, no)]
    return net.op("SUB", *cast)


@pytest.mark.parametrize("between", _BETWEEN)
def test_sinks(net, between, rng):
    x = net.input(2, 5, 6, 4)
    y = net.transpose(_BETWEEN[between](net, net.transpose(x, *_TO_NCHW)), *_TO_NHWC)
    converted = convert_and_compare(net, net.op("ABS", y), inputs=[edges(rng, *x.shape)])
    assert "TRANSPOSE" not in converted.kinds


# Functions that transposes stay above, and how many transposes are left.
_STAYS = {
    "output": (lambda net, x: (net.op("RELU", x), x), 2),
    "another value": (lambda net, x: (net.op("ADD", x, net.input(2, 4, 5, 6)),), 2),
    "another reader": (
        lambda net, x: (net.op("RELU", x), net.op("SOFTMAX", x, beta=1.0)),
        2,
    ),
    "another order": (
        lambda net, x: (net.op("ADD", x, net.transpose(net.input(2, 5, 4, 6), 0, 2, 1, 3)),),
        3,
    ),
    "more dimensions": (lambda net, x: (net.op("ADD", x, np.ones((1, 2, 4, 5, 6))),), 2),
}


@pytest.mark.parametrize("between", _STAYS)
def test_stays(net, between, rng):
    build, count = _STAYS[between]
    x = net.transpose(net.input(2, 5, 6, 4), *_TO_NCHW)
    y, *others = build(net, x)
    order = (*range(len(y.shape) - 4), *(axis + len(y.shape) - 4 for axis in _TO_NHWC))
    outputs = [net.op("ABS", net.transpose(y, *order)), *others]
    inputs = [edges(rng, *value) for value in _shapes(net)]
    converted = convert_and_compare(net, *outputs, inputs=inputs)
    assert converted.kinds.count("TRANSPOSE") == count


def _shapes(net: Net) -> list[tuple[int, ...]]:
    return [tuple(net.builder.graph.tensors[number].shape) for number in net._inputs]


def test_scales_along_a_dimension(net, rng):
    """Scales would have to be transposed as well."""
    x = net.transpose(net.input(1, 2, 3, 4), *_TO_NCHW)
    q = net.op("QUANTIZE", x, dtype=np.int8, scale=[0.5, 0.25, 1.0, 2.0], zero_point=[0] * 4)
    net.builder.graph.tensors[q.number].quantization.quantizedDimension = 1
    y = net.op("RELU", net.op("DEQUANTIZE", q))
    converted = convert_and_compare(net, y, inputs=[steps(rng, 1, 2, 3, 4)])
    assert converted.kinds == ["TRANSPOSE", "QUANTIZE", "DEQUANTIZE", "RELU"]


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axes", [(2, 3), (3,), (1,)])
def test_means(net, axes, keep, rng):
    """A TRANSPOSE stays if dimensions larger than 1 change their order, or a channel its place."""
    x = net.input(2, 4, 8, 4)
    shape = [1 if axis in axes else size for axis, size in enumerate((2, 4, 4, 8))]
    if not keep:
        shape = [size for axis, size in enumerate((2, 4, 4, 8)) if axis not in axes]
    y = net.transpose(x, *_TO_NCHW)
    y = net.op("MEAN", y, np.array(axes, np.int32), shape=shape, keepDims=keep)
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    gone = axes == (2, 3) or (axes == (1,) and not keep)
    assert ("TRANSPOSE" in converted.kinds) == (not gone)


@pytest.mark.parametrize("order", [(0, 2, 3, 1), (0, 3, 1, 2)])
def test_the_only_channel_of_an_image(net, order, rng):
    """It stays transposed: a RESHAPE would hold the image's size."""
    x = net.input(*((2, 1, 5, 4) if order[-1] == 1 else (2, 5, 4, 1)))
    converted = convert_and_compare(net, net.transpose(x, *order), inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["TRANSPOSE"]


@pytest.mark.parametrize("orders", [((0, 2, 1, 3), (0, 3, 1, 2)), ((3, 2, 1, 0), (1, 0, 2, 3))])
def test_two_become_one(net, orders, rng):
    x = net.input(2, 3, 4, 5)
    y = net.transpose(net.transpose(x, *orders[0]), *orders[1])
    converted = convert_and_compare(net, y, inputs=[edges(rng, 2, 3, 4, 5)])
    assert converted.kinds == ["TRANSPOSE"]


def test_back_to_the_input_at_an_output(net, rng):
    x = net.input(2, 3, 4, 5)
    y = net.transpose(net.transpose(x, *_TO_NCHW), *_TO_NHWC)
    convert_and_compare(net, y, inputs=[edges(rng, 2, 3, 4, 5)])


def test_back_at_an_output(net, rng):
    """A value transposed there and back becomes the output itself, and others read that."""
    parts = net.split(net.input(2, 3, 4, 6), 2, 3)
    there = net.transpose(parts[1], *_TO_NCHW)
    outputs = [
        net.transpose(there, *_TO_NHWC),
        net.op("SOFTMAX", there, beta=1.0),
        net.op("SOFTMAX", parts[1], beta=1.0),
        net.op("NEG", parts[0]),
    ]
    content = net.finish(*outputs)
    data = [edges(rng, 2, 3, 4, 6)]
    converted = convert_and_compare(net, *outputs, inputs=data)
    assert converted.kinds.count("TRANSPOSE") == 1
    names = [tensor.name for tensor in schema.read(content).graphs[0].outputs]
    assert [tensor.name for tensor in converted.graph.outputs] == names


def test_conditions_move_as_truth_values(net, rng):
    """The condition compares two values, and takes no way by bits and floats."""
    x, limit = net.input(1, 32, 8, 8), net.input(1, 32, 1, 1)
    for number in range(2):
        condition = net.op("GREATER_EQUAL", x, limit, dtype=np.bool_)
        y = _conv(net, rng, net.op("SELECT_V2", condition, 1.0, -1.0), 32, padding="SAME")
        x = _norm(net, rng, y) if not number else y
    converted = convert_and_compare(
        net, x, inputs=[edges(rng, 1, 32, 8, 8), edges(rng, 1, 32, 1, 1)]
    )
    assert converted.kinds.count("LceBconv2d") == converted.kinds.count("LceQuantize") == 2
    assert "LceDequantize" not in converted.kinds


def test_sum_in_either_order(net, rng):
    """Two values exist in both orders, and others need one of each."""
    x, y = net.input(1, 2, 3, 4), net.input(1, 4, 2, 3)
    t, r = net.transpose(x, *_TO_NCHW), net.transpose(y, *_TO_NHWC)
    sums = [
        net.op("ADD", t, y),
        net.op("ADD", t, net.input(*y.shape)),
        net.op("ADD", r, net.input(*x.shape)),
    ]
    inputs = [edges(rng, *shape) for shape in _shapes(net)]
    converted = convert_and_compare(net, *sums, inputs=inputs)
    assert converted.kinds.count("TRANSPOSE") == 2


@pytest.mark.parametrize("sign", [True, False])
def test_dense_layer_of_a_flattened_image(net, sign, rng):
    """The weights are put in the image's order."""
    x = net.transpose(net.input(2, 5, 6, 32), *_TO_NCHW)
    x = _sign(net, x) if sign else net.op("RELU", x)
    weights = signs(rng, 16, 960) if sign else steps(rng, 16, 960)
    y = net.dense(net.reshape(x, 2, 960), weights, steps(rng, 16))
    converted = convert_and_compare(net, y, inputs=[edges(rng, 2, 5, 6, 32)])
    assert "TRANSPOSE" not in converted.kinds
    assert converted.kinds.count("LceBconv2d") == sign


def test_dense_layer_whose_rows_are_not_images(rng):
    """One flattening joins samples, and one model moves its batch."""
    for order, rows in (((0, 3, 1, 2), 120), ((3, 0, 1, 2), 80)):
        net = Net()
        x = net.transpose(net.input(2, 5, 6, 8), *order)
        y = net.dense(net.reshape(x, 480 // rows, rows), steps(rng, 4, rows))
        converted = convert_and_compare(net, y, inputs=[steps(rng, 2, 5, 6, 8)])
        assert converted.kinds.count("TRANSPOSE") == 1


def test_sequences(net, rng):
    """Convolutions of sequences are of images of one line, with reshapes on both sides."""
    x = net.input(1, 32, 16)
    for _ in range(2):
        image = net.transpose(net.reshape(_sign(net, x), 1, 32, 1, 16), *_TO_NHWC)
        image = net.pad(image, ((0, 0), (1, 1)))
        y = net.transpose(net.conv(image, signs(rng, 32, 1, 3, 32)), *_TO_NCHW)
        scale = rng.choice(np.array([0.5, 0.25, 2.0], np.float32), (1, 32, 1))
        x = net.op("ADD", net.op("MUL", net.reshape(y, 1, 32, 16), scale), steps(rng, 1, 32, 1))
    converted = convert_and_compare(net, x, inputs=[edges(rng, 1, 32, 16)])
    kinds = [kind for kind in converted.kinds if kind != "RESHAPE"]
    assert kinds == ["TRANSPOSE", "LceQuantize", "LceBconv2d", "LceBconv2d", "TRANSPOSE"]
    larq_engine.convert_tflite(net.finish(x))


@pytest.mark.parametrize("kind", ["RESHAPE", "SQUEEZE", "EXPAND_DIMS"])
def test_dimensions_of_one(net, kind, rng):
    """Dimensions of one are inserted and removed between transposes."""
    x = net.input(2, 1, 6, 4)
    if kind == "EXPAND_DIMS":
        x = net.reshape(x, 2, 6, 4)
        y = net.transpose(x, 0, 2, 1)
        y = net.op(kind, y, np.array(2, np.int32), shape=(2, 4, 1, 6))
        y = net.transpose(y, *_TO_NHWC)
    else:
        y = net.transpose(x, *_TO_NCHW)
        if kind == "SQUEEZE":
            y = net.op(kind, y, shape=(2, 4, 6), squeezeDims=[2])
        else:
            y = net.reshape(y, 2, 4, 6)
        y = net.transpose(net.op("ADD", y, steps(rng, 4, 1)), 0, 2, 1)
    converted = convert_and_compare(net, net.op("ABS", y), inputs=[edges(rng, 2, 1, 6, 4)])
    assert "TRANSPOSE" not in converted.kinds


@pytest.mark.parametrize("shape", [(4, 2, 1, 6), (2, 24), (2, 2, 2, 6), (1, 2, 4, 6), (48,)])
def test_reshapes_that_move_more(net, shape, rng):
    y = net.reshape(net.transpose(net.input(2, 1, 6, 4), *_TO_NCHW), *shape)
    converted = convert_and_compare(net, net.op("ABS", y), inputs=[edges(rng, 2, 1, 6, 4)])
    if shape != (1, 2, 4, 6):
        assert converted.kinds.count("TRANSPOSE") == 1


def _reduced(net: Net, x: Value, axis: int, *, keep: bool) -> Value:
    if len(x.shape) < 3:
        keep = True
    shape = [1 if at == axis else size for at, size in enumerate(x.shape) if keep or at != axis]
    return net.op("REDUCE_MAX", x, _integers(axis), shape=shape, keepDims=keep)


def _half(net: Net, x: Value, axis: int) -> Value:
    """Returns the first part along a dimension, if it has several."""
    if x.shape[axis] % 2:
        return net.op("SIGN", x)
    return net.split(x, 2, axis)[int(x.shape[0] % 2)]


def _random_value(rng: np.random.Generator, net: Net, values: list[Value]) -> Value:
    x = values[rng.integers(len(values))]
    alike = [value for value in values if value.shape == x.shape]
    along = [1 if rng.random() < 0.5 else size for size in x.shape]
    makers = [
        lambda: net.op("RELU", x),
        lambda: net.op("MUL", x, steps(rng, *along)),
        lambda: net.op("MAXIMUM", steps(rng, *along[1:]), x),
        lambda: net.op("ADD", x, alike[rng.integers(len(alike))]),
        lambda: net.pad(x, [tuple(map(int, rng.integers(0, 2, 2))) for _ in x.shape], 2.0),
        lambda: net.concatenate([x, alike[-1]], int(rng.integers(len(x.shape)))),
        lambda: _step(net, x),
        lambda: _where(net, net.op("LESS", x, steps(rng, *along), dtype=np.bool_), x, 0.5),
        lambda: _reduced(net, x, int(rng.integers(len(x.shape))), keep=bool(rng.integers(2))),
        lambda: net.reshape(x, *x.shape[:1], 1, *x.shape[1:]),
        lambda: _half(net, x, int(rng.integers(len(x.shape)))),
        lambda: net.op(
            "SUB", net.op("RELU", x), net.op("MUL", net.op("RELU", net.op("NEG", x)), 2.0)
        ),
    ]
    if rng.random() < 0.4 or len(x.shape) > 4:
        return net.transpose(x, *map(int, rng.permutation(len(x.shape))))
    return makers[rng.integers(len(makers))]()


@pytest.mark.parametrize("seed", range(128))
def test_random_graphs(net, seed):
    rng = np.random.default_rng(seed)
    shape = tuple(map(int, rng.integers(2, 4, rng.integers(3, 5))))
    values = [net.input(*shape)]
    for _ in range(rng.integers(3, 12)):
        values.append(_random_value(rng, net, values))
    outputs = [value for value in values[1:-1] if rng.random() < 0.2]
    convert_and_compare(net, *outputs, values[-1], inputs=[steps(rng, *shape)])
