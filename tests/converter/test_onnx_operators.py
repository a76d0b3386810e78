"""Each operator of ONNX by itself, in the forms that random models do not draw."""

import numpy as np
import pytest
from onnx import numpy_helper

import larq_engine
from larq_engine.converter import schema
from larq_engine.converter.onnx_reader import table
from tests.converter.graphs import run_engine, run_stock, signs, steps
from tests.converter.onnx_models import OPSET, OnnxNet, compare, float_model, reference


@pytest.fixture
def net():
    return OnnxNet()


def _image(net):
    return net.input(1, 4, 6, 6)


def _rows(net):
    return net.input(2, 8)


def _each(kind, *more, **attributes):
    return lambda net, rng: net.op(kind, _image(net), *more, **attributes)


def _truth(kind):
    def make(net, rng):
        truth = net.op(kind, _image(net), np.float32(0.5))
        return net.op("Cast", truth, to=1)

    return make


def _two(kind):
    return lambda net, rng: net.op(kind, _image(net), net.input(1, 4, 1, 6))


def _sizes(*numbers):
    return np.array(numbers, np.int64)


def _flatten_by_sizes(net, rng):
    """Adds x.view(x.size(0), -1), as PyTorch writes it for open batches."""
    x = net.input("batch", 4, 3, 3)
    batch = net.op("Gather", net.op("Shape", x), np.array(0, np.int64))
    batch = net.op("Unsqueeze", batch, _sizes(0))
    return net.op("Reshape", x, net.op("Concat", batch, _sizes(-1), axis=0))


def _expanded_by_sizes(net, rng):
    """Adds x + bias.expand(x.size(0), -1) as PyTorch's older exporter does for open batches."""
    x = net.input("batch", 4)
    batch = net.op("Gather", net.op("Shape", x), np.array(0, np.int64))
    sizes = net.op("Concat", net.op("Unsqueeze", batch, _sizes(0)), _sizes(-1), axis=0)
    one = numpy_helper.from_array(_sizes(1))
    ones = net.op("ConstantOfShape", net.op("Shape", sizes), value=one)
    is_kept = net.op("Equal", sizes, net.op("Mul", ones, _sizes(-1)))
    sizes = net.op("Where", is_kept, ones, sizes)
    return net.op("Add", x, net.op("Expand", steps(rng, 1, 4), sizes))


def _ones_like(net, rng):
    x = net.input("batch", 4, 3, 3)
    ones = net.op("ConstantOfShape", net.op("Shape", x), value=_tensor(1.0))
    minus = net.op("Expand", np.float32(-1), net.op("Shape", x))
    return net.op("Where", net.op("Greater", x, np.float32(0)), ones, minus)


def _tensor(number):
    return numpy_helper.from_array(np.array([number], np.float32))


def _computed_weights(net, rng):
    return net.conv(_image(net), net.input(3, 4, 3, 3), pads=[1, 0, 2, 1])


def _constants(net, rng):
    x = net.op("Add", _rows(net), net.op("Constant", value_float=2.0))
    x = net.op("Mul", x, net.op("Constant", value_floats=[0.5] * 8))
    return net.op("Reshape", x, net.op("Constant", value_ints=[4, 4]))


def _gemm(net, rng):
    a, c = net.input(8, 3), net.input(3, 5)
    return net.op("Gemm", a, steps(rng, 8, 5), c, alpha=0.5, beta=2.0, transA=1)


def _quant(net, rng):
    weights = rng.standard_normal((5, 4, 3, 3)).astype(np.float32)
    quantized = net.op(
        "Quant", weights, np.float32(0.25), np.float32(0), np.float32(4), signed=1, narrow=1
    )
    return net.conv(_image(net), quantized)


def _fill(net, data, mask, number):
    """Adds `data[mask] = number`, as PyTorch's newer exporter writes it."""
    places = net.op("Transpose", net.op("NonZero", mask), perm=[1, 0])
    count = net.op("Cast", net.op("Reshape", mask, _sizes(-1)), to=7)
    count = net.op("ReduceSum", count, keepdims=1)
    numbers = net.op("Reshape", net.op("Expand", np.float32(number), count), _sizes(-1))
    return net.op("ScatterND", data, places, numbers)


def _filled(net, rng):
    x = _image(net)
    return _fill(net, x, net.op("Less", x, np.float32(0.5)), 7)


def _positive(kind):
    return lambda net, rng: net.op(kind, net.op("Add", net.op("Abs", _image(net)), np.float32(1)))


def _truths(kind):
    """Returns a maker of two comparisons of a value, joined by the operator."""

    def make(net, rng):
        x = _image(net)
        tests = [net.op(name, x, np.float32(1)) for name in ("Greater", "LessOrEqual")]
        return net.op("Where", net.op(kind, *tests), x, np.float32(0.5))

    return make


def _nan(net, rng):
    x = _image(net)
    return net.op("Where", net.op("IsNaN", net.op("Sqrt", x)), np.float32(-1), x)


def _positions(kind):
    return lambda net, rng: net.op(
        "Cast", net.op(kind, net.input("batch", 4, 6, 6), axis=1, keepdims=0), to=1
    )


def _expanded(net, rng):
    return net.op("Expand", net.input("batch", 4, 1, 6), _sizes(1, 4, 3, 1))


# Makers of each row of the table, in addition to random models.
CASES = {
    "Abs": _each("Abs"),
    "And": _truths("And"),
    "ArgMax": _positions("ArgMax"),
    "ArgMin": _positions("ArgMin"),
    "Ceil": _each("Ceil"),
    "Celu": _each("Celu", alpha=2.0),
    "ConvTranspose": lambda net, rng: net.op(
        "ConvTranspose",
        net.input("batch", 4, 3, 5),
        steps(rng, 4, 6, 3, 4),
        steps(rng, 6),
        **{"strides": [2, 3], "pads": [1, 0, 0, 2], "output_padding": [1, 0]},
    ),
    "Cos": _each("Cos"),
    "CumSum": _each("CumSum", np.int64(-2), exclusive=1, reverse=1),
    "DepthToSpace": _each("DepthToSpace", blocksize=2, mode="CRD"),
    "Einsum": lambda net, rng: net.op(
        "Einsum",
        net.input("batch", 3, 4, 5),
        net.input("batch", 4, 6, 5),
        equation="bqhd,bhkd->bhqk",
    ),
    "Elu": _each("Elu", alpha=0.5),
    "Erf": _each("Erf"),
    "Floor": _each("Floor"),
    "GatherND": _each("GatherND", np.array([[[0, 3]], [[0, -4]]])),
    "Gelu": _each("Gelu", approximate="tanh"),
    "GroupNormalization": lambda net, rng: net.op(
        "GroupNormalization", net.input("batch", 4, 5, 2), *steps(rng, 2, 2), num_groups=2
    ),
    "HardSigmoid": _each("HardSigmoid", alpha=0.125),
    "HardSwish": _each("HardSwish"),
    "InstanceNormalization": lambda net, rng: net.op(
        "InstanceNormalization", net.input("batch", 4, 5, 2), *steps(rng, 2, 4)
    ),
    "IsNaN": _nan,
    "LayerNormalization": lambda net, rng: net.op(
        "LayerNormalization", net.input("batch", 4, 5), *steps(rng, 2, 4, 5), axis=1, epsilon=0.5
    ),
    "Log": _positive("Log"),
    "LpNormalization": lambda net, rng: net.op("LpNormalization", _image(net), axis=1),
    "Mish": _each("Mish"),
    "Or": _truths("Or"),
    "Pow": _each("Pow", np.float32(3)),
    "RMSNormalization": lambda net, rng: net.op(
        "RMSNormalization", net.input("batch", 4, 5), steps(rng, 5)
    ),
    "Reciprocal": _positive("Reciprocal"),
    "ReduceL1": _each("ReduceL1", _sizes(1, 3), keepdims=0),
    "ReduceL2": _each("ReduceL2", _sizes(1)),
    "ReduceLogSumExp": _each("ReduceLogSumExp", _sizes(2), keepdims=0),
    "ReduceMin": _each("ReduceMin", _sizes(-1)),
    "ReduceProd": _each("ReduceProd", _sizes(1), keepdims=0),
    "ReduceSum": _each("ReduceSum", _sizes(2, 3), keepdims=0),
    "ReduceSumSquare": _each("ReduceSumSquare", _sizes(0)),
    "Resize": _each("Resize", None, np.float32([1, 1, 2, 3]), mode="linear"),
    "Round": _each("Round"),
    "Selu": _each("Selu"),
    "Sin": _each("Sin"),
    "Softplus": _each("Softplus"),
    "Softsign": _each("Softsign"),
    "SpaceToDepth": _each("SpaceToDepth", blocksize=3),
    "Swish": _each("Swish", alpha=2.0),
    "ThresholdedRelu": _each("ThresholdedRelu", alpha=1.5),
    "Tile": _each("Tile", _sizes(2, 1, 3, 1)),
    "Upsample": _each("Upsample", np.float32([1, 1, 2, 2])),
    "Xor": _truths("Xor"),
    "Add": _two("Add"),
    "AveragePool": _each("AveragePool", kernel_shape=[4, 2], strides=[2, 2], pads=[0, 1, 2, 0]),
    "BatchNormalization": lambda net, rng: net.batch_norm(
        net.input(2, 4), steps(rng, 4), steps(rng, 4), steps(rng, 4), np.ones(4)
    ),
    "BipolarQuant": lambda net, rng: net.op("BipolarQuant", _image(net), steps(rng, 4, 1, 1)),
    "Cast": lambda net, rng: net.op("Cast", net.input(1, 4, dtype=6), to=1),
    "Clip": _each("Clip", np.float32(-1), np.float32(1)),
    "Concat": lambda net, rng: net.op("Concat", _image(net), steps(rng, 1, 4, 2, 6), axis=2),
    "Constant": _constants,
    "ConstantOfShape": _ones_like,
    "Conv": _computed_weights,
    "Div": lambda net, rng: net.op("Div", _image(net), np.float32(4)),
    "Dropout": _each("Dropout"),
    "Equal": _truth("Equal"),
    "Exp": _each("Exp"),
    "Expand": _expanded,
    "Flatten": _each("Flatten", axis=0),
    "Gather": _flatten_by_sizes,
    "Gemm": _gemm,
    "GlobalAveragePool": lambda net, rng: net.op("GlobalAveragePool", net.input(2, 3, 4)),
    "GlobalMaxPool": _each("GlobalMaxPool"),
    "Greater": _truth("Greater"),
    "GreaterOrEqual": _truth("GreaterOrEqual"),
    "Identity": _each("Identity"),
    "LeakyRelu": _each("LeakyRelu", alpha=0.25),
    "Less": _truth("Less"),
    "LessOrEqual": _truth("LessOrEqual"),
    "LogSoftmax": _each("LogSoftmax", axis=1),
    "MatMul": lambda net, rng: net.op("MatMul", net.input(3, 1, 4, 5), net.input(2, 5, 3)),
    "Max": _two("Max"),
    "MaxPool": _each("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
    "Min": lambda net, rng: net.op("Min", _image(net), np.float32(2), net.input(6)),
    "Mul": _two("Mul"),
    "Neg": _each("Neg"),
    "Not": lambda net, rng: net.op(
        "Cast", net.op("Not", net.op("Less", _image(net), np.float32(0))), to=1
    ),
    "PRelu": _each("PRelu", np.float32([0.25])),
    "Pad": _each("Pad", _sizes(1, 0, 2, 1), np.float32(-2), _sizes(3, -3)),
    "Quant": _quant,
    "ReduceMax": _each("ReduceMax", _sizes(1), keepdims=0),
    "ReduceMean": _each("ReduceMean", _sizes(-3), keepdims=0),
    "Relu": _each("Relu"),
    "Reshape": _flatten_by_sizes,
    "ScatterND": _filled,
    "Shape": _expanded_by_sizes,
    "Sigmoid": _each("Sigmoid"),
    "Sign": _each("Sign"),
    "Slice": _each("Slice", _sizes(-4, 1), _sizes(-1, 99), _sizes(2, 3), _sizes(1, 2)),
    "Softmax": _each("Softmax", axis=-2),
    "Split": lambda net, rng: net.op(
        "Sub", *net.op("Split", _image(net), outputs=2, axis=1, num_outputs=2)
    ),
    "Sqrt": lambda net, rng: net.op("Sqrt", net.op("Abs", _image(net))),
    "Squeeze": lambda net, rng: net.op("Squeeze", net.input(3, 1, 4, 1)),
    "Sub": _two("Sub"),
    "Sum": lambda net, rng: net.op("Sum", _image(net), _image(net), net.input(6)),
    "Tanh": _each("Tanh"),
    "Transpose": _each("Transpose"),
    "Unsqueeze": lambda net, rng: net.op("Unsqueeze", net.input(3, 4), _sizes(-1, 0)),
    "Where": lambda net, rng: net.op(
        "Where", net.input(1, 4, dtype=9), net.input(3, 4), steps(rng, 4)
    ),
}

# Operators whose results are equal except for rounding.
_ROUNDING = {
    *("AveragePool", "Celu", "Cos", "Elu", "Erf", "Exp", "Gelu", "GroupNormalization", "HardSwish"),
    *("InstanceNormalization", "LayerNormalization", "Log", "LogSoftmax", "LpNormalization"),
    *("Mish", "RMSNormalization", "Reciprocal", "ReduceL2", "ReduceLogSumExp", "Resize", "Selu"),
    *("Sigmoid", "Sin", "Softmax", "Softplus", "Softsign", "Sqrt", "Swish", "Tanh"),
}

# Operators that are newer or older than the opset of other tests.
_OPSETS = {"RMSNormalization": 23, "Swish": 24, "Upsample": 9}


def test_every_operator_has_a_case():
    assert sorted(CASES) == table.known_kinds()


@pytest.mark.parametrize("kind", CASES)
def test_operator(rng, kind):
    net = OnnxNet(_OPSETS.get(kind, OPSET))
    content = net.finish(CASES[kind](net, rng))
    inputs = []
    for shape, dtype in net.declared:
        values = steps(rng, *[2 if isinstance(size, str) else size for size in shape])
        inputs.append((values > 0 if dtype == np.bool_ else values).astype(dtype))
    batch = 2 if any(isinstance(shape[0], str) for shape, _ in net.declared) else None
    compare(content, inputs, 1e-6 if kind in _ROUNDING else 0.0, batch=batch)


def _kinds(content):
    return [op.kind for op in schema.read(content).graphs[0].ops]


@pytest.mark.parametrize("at_zero", ["+1", "-1"])
def test_a_sign_of_zero(net, rng, at_zero):
    x = net.op("Sign", net.input(1, 32, 4, 4), name="/act/Sign")
    content = net.finish(net.conv(x, signs(rng, 8, 32, 3, 3), name="/conv/Conv"))
    words = (
        r"Sign '/act/Sign': .* the layer 'conv' reads; .* sign_of_zero=\"\+1\" \(x >= 0 is \+1\)"
    )
    with pytest.raises(larq_engine.ConversionError, match=words):
        larq_engine.convert_onnx(content)
    image = rng.integers(-1, 2, (1, 32, 4, 4)).astype(np.float32)
    converted = compare(content, [image], sign_of_zero=at_zero)
    assert converted.report.count("binary") == 1


def test_zeros_at_signs_are_counted(net, rng):
    """A channel whose weights are 0 is 0 in each of 16 pixels."""
    weights = signs(rng, 32, 4, 1, 1)
    weights[5] = 0
    x = net.op("Sign", net.conv(net.input(1, 4, 4, 4), weights), name="/act/Sign")
    content = net.finish(net.conv(x, signs(rng, 8, 32, 3, 3), name="/conv/Conv"))
    remarks = larq_engine.convert_onnx(content, sign_of_zero="+1").report.remarks
    remark = "Random inputs met zeros that sign_of_zero is for: 16 of 512 values at 'act'."
    assert remark in remarks
    assert (
        remark
        not in larq_engine.convert_onnx(content, sign_of_zero="+1", check=False).report.remarks
    )


def test_signs_of_zero_by_layer(net, rng):
    """The sign of a value that cannot be negative is 0 or 1, even if the option says otherwise."""
    x = net.input(1, 32, 4, 4)
    layers = [
        net.conv(net.op("Sign", value, name=f"/{name}/Sign"), signs(rng, 8, 32, 3, 3))
        for name, value in [("a", x), ("b", net.op("Neg", x)), ("relu", net.op("Relu", x))]
    ]
    content = net.finish(*layers)
    wanted = {"a": "+1", "*": "-1"}
    converted = larq_engine.convert_onnx(content, sign_of_zero=wanted)
    assert converted.report.count("binary") == 3
    assert converted.report.remarks == (
        "Sign(0) is +1 here and 0 in ONNX, in 'a'.",
        "Sign(0) is -1 here and 0 in ONNX, in 'b'.",
        "Random inputs met no 0 at a sign that sign_of_zero is for.",
    )
    image = rng.integers(-1, 2, (1, 32, 4, 4)).astype(np.float32)
    got = run_engine(converted, [image])
    kept = reference(content, [image])
    for number, option in enumerate(("+1", "-1")):
        np.testing.assert_array_equal(got[number], reference(content, [image], option)[number])
        assert not np.array_equal(got[number], kept[number])
    np.testing.assert_array_equal(got[2], kept[2])
    with pytest.raises(ValueError, match=r"got 'c'; there are 'a', 'b', 'relu'"):
        larq_engine.convert_onnx(content, sign_of_zero={"c": "+1"})


@pytest.mark.parametrize("form", ["moved", "scaled", "straight through"])
def test_a_sign_of_zero_matters_through_what_keeps_it(net, rng, form):
    x = net.input(1, 32, 4, 4)
    y = net.op("Sign", x)
    if form == "moved":
        y = net.op("MaxPool", net.op("Transpose", y, perm=[0, 1, 3, 2]), kernel_shape=[2, 2])
    elif form == "scaled":
        y = net.op("Neg", net.op("Mul", np.float32(0.5), y))
    else:
        y = net.op("Add", x, net.op("Sub", y, x))
    content = net.finish(net.conv(y, signs(rng, 8, 32, 3, 3)))
    with pytest.raises(larq_engine.ConversionError, match="the sign of 0 is 0"):
        larq_engine.convert_onnx(content)


def test_a_sign_of_a_sign_has_no_third_value_whatever_it_is_padded_with(net, rng):
    x = net.op("Sign", net.input(1, 32, 4, 4))
    x = net.op("Sign", net.op("Add", x, np.float32(0.5)))
    x = net.op("Pad", x, _sizes(0, 0, 1, 1, 0, 0, 1, 1), np.float32(0.5))
    image = rng.integers(-1, 2, (1, 32, 4, 4)).astype(np.float32)
    compare(net.finish(net.conv(x, signs(rng, 8, 32, 3, 3))), [image])


def test_a_sign_of_zero_that_no_binary_layer_reads(net, rng):
    """Such a sign gives the three values that ONNX defines."""
    x = net.input(1, 32, 4, 4)
    gate = net.op("Mul", x, net.op("Sign", x))
    shifted = net.op("Sign", net.op("Add", net.op("Sign", x), np.float32(0.5)))
    binary = net.conv(shifted, signs(rng, 8, 32, 3, 3))
    real = net.conv(net.op("Sign", x), steps(rng, 8, 32, 3, 3))
    image = rng.integers(-1, 2, (1, 32, 4, 4)).astype(np.float32)
    converted = compare(net.finish(gate, binary, real), [image])
    assert converted.report.count("binary") == 1


@pytest.mark.parametrize("option", ["+1", "-1"])
def test_forms_of_two_values_keep_their_own_zero(net, rng, option):
    """The option applies only to signs of three values that a layer reads."""
    x = net.input(1, 32, 4, 4)
    is_zero = net.op("Cast", net.op("Equal", x, np.float32(0)), to=1)
    forms = [
        net.op("Add", net.op("Sign", x), is_zero),
        net.op("Sub", net.op("Sign", x), is_zero),
        net.op("Sign", net.op("Sub", net.op("Sign", x), np.float32(0.5))),
        net.op("Relu", net.op("Sign", x)),
    ]
    layers = [net.conv(form, signs(rng, 8, 32, 3, 3)) for form in [*forms, net.op("Sign", x)]]
    content = net.finish(*layers)
    converted = larq_engine.convert_onnx(content, sign_of_zero=option)
    assert converted.report.count("binary") == 5
    image = rng.integers(-1, 2, (1, 32, 4, 4)).astype(np.float32)
    got = run_engine(converted, [image])
    for have, kept in zip(got[:4], reference(content, [image]), strict=False):
        np.testing.assert_array_equal(have, kept)
    np.testing.assert_array_equal(got[4], reference(content, [image], option)[4])


@pytest.mark.parametrize(("option", "number"), [("+1", 1), ("-1", -1)])
def test_weights_of_zero(rng, option, number):
    def build(weights):
        net = OnnxNet()
        x = net.bipolar(net.input(1, 32, 4, 4))
        return net.finish(net.conv(x, net.op("Sign", weights)))

    weights = rng.standard_normal((8, 32, 3, 3)).astype(np.float32)
    whole = larq_engine.convert_onnx(build(weights))
    assert whole.report.count("binary") == 1
    weights[3, 1, 2, 0] = 0
    with pytest.raises(larq_engine.ConversionError, match="got 1 of 2304 constants"):
        larq_engine.convert_onnx(build(weights))
    chosen = larq_engine.convert_onnx(build(weights), sign_of_zero=option)
    weights[3, 1, 2, 0] = number
    assert chosen == larq_engine.convert_onnx(build(weights))


def test_a_straight_through_estimator_leaves_weights_binary(net, rng):
    """In float32, (s - w) + w is off by a rounding."""
    weights = net.constant(rng.standard_normal((8, 32, 3, 3)).astype(np.float32))
    s = net.op("Mul", np.float32(0.3), net.op("Sign", weights))
    x = net.bipolar(net.input(1, 32, 4, 4))
    weights = net.op("Add", weights, net.op("Sub", s, weights))
    converted = compare(net.finish(net.conv(x, weights)), [steps(rng, 1, 32, 4, 4)], 1e-5)
    assert converted.report.count("binary") == 1


@pytest.mark.parametrize("layer", ["Conv", "Gemm", "MatMul"])
@pytest.mark.parametrize(("apart", "became"), [(4e-6, "binary"), (1e-3, "float")])
def test_sizes_of_weights_that_differ_by_rounding(net, rng, layer, apart, became):
    """Exporters compute straight-through estimators of small weights themselves."""
    weights = np.float32(0.05) * signs(rng, 40, 32)
    weights *= rng.uniform(1 - apart, 1 + apart, weights.shape).astype(np.float32)
    if layer == "Conv":
        inputs = steps(rng, 1, 32, 4, 4)
        x = net.conv(net.bipolar(net.input(*inputs.shape)), weights[:, :, None, None])
    else:
        inputs = steps(rng, 2, 32)
        x = net.op(layer, net.bipolar(net.input(*inputs.shape)), weights.T)
    converted = compare(net.finish(x), [inputs], 2e-5)
    assert [layer.became for layer in converted.report.layers] == [became]


@pytest.mark.parametrize("layer", ["Conv", "Gemm", "MatMul"])
@pytest.mark.parametrize(("steps_beyond", "became"), [(0, "binary"), (1, "float")])
def test_the_border_of_what_is_rounding(net, rng, layer, steps_beyond, became):
    """Half the sizes of a channel are 1 + d and half 1 - d: 1 is their mean, without rounding."""
    off = np.float32(2.0**-14 + steps_beyond * 2.0**-23)
    halves = rng.permuted(np.resize(np.float32([1, -1]), (40, 32)), axis=1)
    weights = (1 + off * halves) * signs(rng, 40, 32)
    assert weights.dtype == np.float32
    np.testing.assert_array_equal(np.abs(weights).mean(axis=1, dtype=np.float64), 1)
    if layer == "Conv":
        x = net.conv(net.bipolar(net.input(1, 32, 4, 4)), weights[:, :, None, None], name="last")
    else:
        x = net.op(layer, net.bipolar(net.input(2, 32)), weights.T, name="last")
    converted = larq_engine.convert_onnx(net.finish(x))
    assert [layer.became for layer in converted.report.layers] == [became]
    remark = "Weights of last: sizes that are up to 6e-05 of their mean away from it"
    assert (remark in str(converted.report)) == (became == "binary")


def test_weights_of_one_size_need_no_remark(net, rng):
    weights = np.float32(0.3) * signs(rng, 8, 32, 3, 3)
    y = net.conv(net.bipolar(net.input(1, 32, 4, 4)), weights)
    assert larq_engine.convert_onnx(net.finish(y)).report.remarks == ()


@pytest.mark.parametrize("times", [30, 500])
def test_rounding_of_a_straight_through_estimator_is_in_the_border(net, rng, times):
    """An exporter computes it, here for weights of up to `times` their size."""
    size = np.float32(0.01)
    x = (size * rng.uniform(-times, times, (40, 32))).astype(np.float32)
    x[:, 0] = size * times
    s = np.copysign(size, x)
    weights = (s - x) + x
    assert (np.abs(weights) != size).any()
    y = net.op("MatMul", net.bipolar(net.input(2, 32)), weights.T)
    converted = larq_engine.convert_onnx(net.finish(y))
    assert [layer.became for layer in converted.report.layers] == ["binary"]


# Operators of constants, none of which the converter has a formula of; their results fit (4, 6, 6).
_CONSTANT_OPERATORS = {
    "CumSum": (np.float32([1, 2, 4, 1, 1, 0]), np.int64(0)),
    "Einsum": (np.float32([[1, 2], [0, 1]]), np.ones((2, 6), np.float32)),
    "Log": (np.float32([1, 2, 4, 8, 16, 0.5]),),
    "Pow": (np.float32([1, 2, -4, 0, 3, 5]), np.float32(3)),
    "ReduceL1": (np.float32([[1, -2, 3]] * 6), _sizes(1)),
    "ReduceProd": (np.float32([-2, 0.5, 1]), _sizes(0)),
    "Round": (np.float32([-1.5, -0.5, 0.5, 1.5, 2.5, 3]),),
    "Softmax": (np.float32([1, 2, 4, 1, 1, 0]),),
    "TopK": (np.float32([3, 1, 4, 1, 5, 9, 2, 6]), _sizes(6)),
    "Trilu": (np.ones((6, 6), np.float32),),
}


@pytest.mark.parametrize("kind", _CONSTANT_OPERATORS)
def test_constants_are_computed(net, rng, kind):
    """Their values are in the file, and the operators that compute them are gone."""
    attributes = {"equation": "ij,jk->k"} if kind == "Einsum" else {}
    made = net.op(kind, *_CONSTANT_OPERATORS[kind], outputs=1 + (kind == "TopK"), **attributes)
    content = net.finish(net.op("Mul", _image(net), made[0] if kind == "TopK" else made))
    compare(content, [steps(rng, 1, 4, 6, 6)])
    assert _kinds(float_model(content)) == ["MUL"]


def test_transposed_convolutions_of_groups_and_sequences(rng):
    """ONNX's reference fails with groups, so it computes one convolution for each, side by side."""
    weights, options = steps(rng, 4, 3, 4), {"strides": [3], "pads": [1, 2]}
    models = []
    for is_one in (True, False):
        net = OnnxNet()
        x = net.input("batch", 4, 5)
        if is_one:
            y = net.op("ConvTranspose", x, weights, group=2, **options)
        else:
            halves = zip(
                net.op("Split", x, outputs=2, axis=1, num_outputs=2),
                np.split(weights, 2),
                strict=True,
            )
            parts = [net.op("ConvTranspose", half, own, **options) for half, own in halves]
            y = net.op("Concat", *parts, axis=1)
        models.append(net.finish(y))
    image = steps(rng, 2, 4, 5)
    (have,) = run_stock(float_model(models[0]), [image], batch=2)
    (want,) = reference(models[1], [image])
    np.testing.assert_array_equal(have, want)


@pytest.mark.parametrize("opset", [11, 13, 20])
@pytest.mark.parametrize("way", ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"])
@pytest.mark.parametrize("rounding", ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"])
def test_the_nearest_pixels(rng, way, rounding, opset):
    """Images become larger and smaller, by whole factors and by others."""
    image = steps(rng, 2, 3, 6, 4)
    for sizes in ([12, 12], [3, 7], [4, 1]):
        net = OnnxNet(opset)
        options = {"coordinate_transformation_mode": way, "nearest_mode": rounding}
        roi = np.zeros(0, np.float32) if opset < 13 else None
        none = np.zeros(0, np.float32) if opset < 13 else None
        x = net.input(2, 3, 6, 4)
        compare(
            net.finish(net.op("Resize", x, roi, none, _sizes(2, 3, *sizes), **options)), [image]
        )


@pytest.mark.parametrize("way", ["half_pixel", "asymmetric", "align_corners"])
def test_pixels_in_between(rng, way):
    image = steps(rng, 2, 3, 6, 4)
    for sizes in ([12, 8], [3, 7], [6, 5]):
        net = OnnxNet()
        options = {"coordinate_transformation_mode": way, "mode": "linear"}
        x = net.op(
            "Resize",
            net.input("batch", 3, 6, 4),
            None,
            None,
            _sizes(*sizes),
            axes=[2, 3],
            **options,
        )
        compare(net.finish(x), [image], 1e-6, batch=2)


@pytest.mark.parametrize("exponent", [1, 2, 3, 0.5, -0.5, -1, -2, 1.5])
def test_powers(net, rng, exponent):
    x = net.op("Add", net.op("Abs", net.input(1, 4, 6)), np.float32(0.5))
    content = net.finish(
        net.op("Pow", x, np.array([exponent], np.float64 if exponent == 2 else np.float32))
    )
    compare(content, [steps(rng, 1, 4, 6)], 1e-6)
    assert ("POW" in _kinds(float_model(content))) == (exponent in (-2, 1.5))


@pytest.mark.parametrize(
    "equation",
    ["bij,bkj->bik", "bij,jk->bik", "bij,bij->b", "bij->bji", "bij->j", "bi,bj", "bij,kj->kib"],
)
def test_einsum(rng, equation):
    sizes = {"b": 2, "i": 3, "j": 4, "k": 5}
    given, _, result = equation.partition("->")
    for opens in (False, True) if result.startswith("b") else (False,):
        net = OnnxNet()
        shapes = [[sizes[letter] for letter in letters] for letters in given.split(",")]
        inputs = [
            net.input(*["batch" if opens and n == 2 else n for n in shape])
            if "b" in letters
            else steps(rng, *shape)
            for shape, letters in zip(shapes, given.split(","), strict=True)
        ]
        content = net.finish(net.op("Einsum", *inputs, equation=equation))
        images = [steps(rng, *s) for s, x in zip(shapes, inputs, strict=True) if isinstance(x, str)]
        compare(content, images, batch=2 if opens else None)


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge", "wrap"])
@pytest.mark.parametrize("pads", [(0, 0, 2, 1, 0, 0, 1, 3), (0,) * 8])
def test_pads(net, rng, mode, pads):
    x = net.op("Pad", net.input("batch", 4, 6, 6), _sizes(*pads), None, mode=mode)
    compare(net.finish(x), [steps(rng, 2, 4, 6, 6)], batch=2)


def test_pads_that_cut_off(rng):
    """ONNX's reference does not support negative pads."""
    net, image = OnnxNet(), steps(rng, 2, 4, 6, 6)
    pads = _sizes(0, 1, -2, 1, 0, 0, 1, -3)
    content = net.finish(net.op("Pad", net.input("batch", 4, 6, 6), pads, np.float32(7)))
    (have,) = run_stock(float_model(content), [image], batch=2)
    want = np.pad(image[:, :, 2:, :3], [(0, 0), (1, 0), (0, 1), (1, 0)], constant_values=7)
    np.testing.assert_array_equal(have, want)


@pytest.mark.parametrize("open_batch", [False, True])
def test_steps_that_go_back(net, rng, open_batch):
    x = net.input("batch" if open_batch else 2, 4, 6, 7)
    least = np.iinfo(np.int64).min
    numbers = [_sizes(-1, -2, 99), _sizes(least, 0, -7), _sizes(1, 2, 3), _sizes(-1, -1, -2)]
    compare(net.finish(net.op("Slice", x, *numbers)), [steps(rng, 2, 4, 6, 7)], batch=2)


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [(1, 1 << 40, 1), (0, 1 << 40, 2), (-3, 1 << 40, 1), (1, -1, 1), (-1, -99, -2), (4, 1, -1)],
)
def test_slices_of_images_of_another_size(net, rng, start, end, step):
    """The model counts pixels from the start or from the end, which moves with the size."""
    numbers = [_sizes(start), _sizes(end), _sizes(3), _sizes(step)]
    content = net.finish(net.op("Slice", net.input(1, 2, 5, 6), *numbers))
    interpreter = larq_engine.Interpreter(larq_engine.convert_onnx(content))
    for width in (6, 9):
        image = steps(rng, 1, 2, 5, width)
        interpreter.resize([image.shape])
        np.testing.assert_array_equal(interpreter.predict(image), reference(content, [image])[0])


def test_a_sign_of_each_sample(net, rng):
    """Bits lie along the channels, which this image does not have."""
    mean = net.op("ReduceMean", net.input("batch", 8), np.array([1]), keepdims=0)
    compare(net.finish(net.op("Where", net.op("Less", mean, np.float32(0)), *np.float32([-1, 1]))),
            [steps(rng, 3, 8)], batch=3)  # fmt: skip


def test_memory_that_nothing_was_written_to(net, rng):
    """Numbers of it that nobody reads may be NaN."""
    x = net.input(1, 32, 4, 4)
    memory = np.full((1, 32, 4, 4), np.nan, np.float32)
    memory[0, 3] = 7
    y = net.op("Where", net.op("GreaterOrEqual", x, np.float32(0)), np.float32(1), memory)
    y = net.op("Where", net.op("Less", x, np.float32(0)), np.float32(-1), y)
    content = net.finish(net.conv(y, signs(rng, 8, 32, 3, 3)))
    converted = compare(content, [steps(rng, 1, 32, 4, 4)])
    assert converted.report.count("binary") == 1


def test_signs_that_fill_a_tensor(net, rng):
    """Two masks write the signs of values and of weights; none of these operators is left."""

    def sign(x, shape):
        y, zero = net.constant(np.full(shape, np.nan, np.float32)), np.float32(0)
        y = _fill(net, y, net.op("GreaterOrEqual", x, zero), 1)
        return _fill(net, y, net.op("Less", x, zero), -1)

    image, weights = steps(rng, 1, 32, 4, 4), rng.standard_normal((8, 32, 3, 3))
    x = sign(net.input(*image.shape), image.shape)
    content = net.finish(net.conv(x, sign(net.constant(weights), weights.shape)))
    converted = compare(content, [image])
    assert converted.report.operators == {"TRANSPOSE": 2, "LceQuantize": 1, "LceBconv2d": 1}


def test_constants_at_known_places(net, rng):
    places, numbers = np.array([[0, 3], [1, -2]], np.int64), np.float32([5, 6])
    x = net.op("ScatterND", steps(rng, 2, 4), places, numbers)
    compare(net.finish(net.op("Add", net.input(2, 4), x)), [steps(rng, 2, 4)])


@pytest.mark.parametrize("form", ["places", "numbers", "another mask"])
def test_what_fills_otherwise(net, rng, form):
    x = net.input(4, 4)
    if form == "places":
        x = net.op("ScatterND", x, _sizes(1, 2)[:, None], steps(rng, 2, 4))
    elif form == "numbers":
        places = net.op("Transpose", net.op("NonZero", net.op("Less", x, np.float32(9))))
        x = net.op("ScatterND", x, places, net.op("Reshape", x, _sizes(-1)))
    else:
        x = _fill(net, x, net.op("Less", net.input(2, 4), np.float32(9)), 3)
    with pytest.raises(larq_engine.ConversionError, match=r"at the places of a mask|NonZero"):
        larq_engine.convert_onnx(net.finish(x))


@pytest.mark.parametrize("second", ["Greater", "LessOrEqual"])
def test_values_that_are_seen_of_two_conditions(net, rng, second):
    x = net.input(1, 4, 6, 6)
    other = np.full((1, 4, 6, 6), 7, np.float32)
    y = net.op("Where", net.op(second, x, np.float32(1)), np.float32(1), other)
    compare(
        net.finish(net.op("Where", net.op("Less", x, np.float32(1)), np.float32(-1), y)),
        [steps(rng, 1, 4, 6, 6)],
    )


def test_a_shape_for_which_0_is_a_size(rng):
    net = OnnxNet()
    x = net.op("Reshape", net.input(2, 3, 4), _sizes(2, -1), allowzero=1)
    compare(net.finish(x), [steps(rng, 2, 3, 4)])
    net = OnnxNet()
    content = net.finish(net.op("Reshape", net.input(2, 3, 4), _sizes(0, 12), allowzero=1))
    with pytest.raises(larq_engine.ConversionError, match=r"got \[0, 12\]"):
        larq_engine.convert_onnx(content)


def test_flattened_images_are_not_turned(net, rng):
    x = net.conv(net.input(1, 1, 6, 6), steps(rng, 4, 1, 3, 3))
    x = net.op("Reshape", x, _sizes(1, -1))
    x = net.op("Add", net.op("Relu", x), steps(rng, 64))
    content = net.finish(net.op("MatMul", x, steps(rng, 64, 3)))
    compare(content, [steps(rng, 1, 1, 6, 6)])
    assert _kinds(float_model(content)).count("TRANSPOSE") == 1  # of the input


def test_flattened_images_that_must_be_turned(net, rng):
    x = net.conv(net.input(1, 1, 6, 6), steps(rng, 4, 1, 3, 3))
    x = net.op("Reshape", x, _sizes(1, -1))
    content = net.finish(x, net.op("Reshape", x, _sizes(2, 32)))
    compare(content, [steps(rng, 1, 1, 6, 6)])
    assert _kinds(float_model(content)).count("TRANSPOSE") == 2  # of the input, and of the image


@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "Conv"])
@pytest.mark.parametrize(
    ("mode", "pads"),
    [("SAME_UPPER", [0, 1, 1, 1]), ("SAME_LOWER", [1, 1, 0, 1]), ("VALID", [0] * 4)],
)
def test_pads_that_follow_the_size(rng, kind, mode, pads):
    """ONNX derives the same pads from the sizes 6 and 7."""

    def build(**padding):
        net = OnnxNet()
        x, options = net.input(1, 2, 6, 7), {"strides": [2, 2], **padding}
        if kind == "Conv":
            return net.finish(net.conv(x, weights, **options))
        return net.finish(net.op(kind, x, kernel_shape=[3, 3], **options))

    image, weights = steps(rng, 1, 2, 6, 7), steps(rng, 3, 2, 3, 3)
    (found,) = run_stock(float_model(build(auto_pad=mode)), [image])
    (given,) = run_stock(float_model(build(pads=pads)), [image])
    np.testing.assert_allclose(found, given, rtol=1e-6)


def test_channels_shuffled(net, rng):
    """ShuffleNet takes groups apart and deals their channels out."""
    x = net.conv(net.input("batch", 4, 5, 5), steps(rng, 6, 2, 1, 1), group=2)
    x = net.op("Reshape", x, _sizes(-1, 2, 3, 5, 5))
    x = net.op("Transpose", x, perm=[0, 2, 1, 3, 4])
    x = net.op("Reshape", x, _sizes(-1, 6, 5, 5))
    x = net.conv(x, steps(rng, 6, 1, 3, 3), group=6, strides=[2, 2], pads=[1] * 4)
    compare(net.finish(x), [steps(rng, 3, 4, 5, 5)], batch=3)


def test_layers_have_the_names_of_nodes(net, rng):
    x = net.conv(net.input(1, 3, 8, 8), steps(rng, 32, 3, 3, 3), name="/stem/conv1/Conv")
    x = net.conv(net.bipolar(x), signs(rng, 8, 32, 3, 3), name="/block/block.0/Conv_3")
    x = net.op("Gemm", net.op("Flatten", x), steps(rng, 128, 4), name="head")
    report = larq_engine.convert_onnx(net.finish(x)).report
    assert [layer.name for layer in report.layers] == ["stem/conv1", "block/block.0", "head"]


def test_layers_have_the_names_of_modules(net, rng):
    """PyTorch's newer exporter calls nodes by numbers and notes the modules."""
    x = net.conv(net.input(1, 3, 8, 8), steps(rng, 32, 3, 3, 3), name="node_Conv_12")
    x = net.conv(net.bipolar(x), signs(rng, 8, 32, 3, 3), name="node_Conv_13")
    x = net.op("Gemm", net.op("Flatten", x), steps(rng, 128, 4), name="node_linear")
    model = net.proto(x)
    first, _, second, _, third = model.graph.node
    # The exporter put the batch norm first.1 into the layer first.0.
    first.input[1] = model.graph.initializer[0].name = "first.0.weight"
    notes = [
        "['', 'first', 'first.1', 'batch_norm']",
        "['', 'block', 'block.0', 'conv2d']",
        "a text",
    ]
    for node, note in zip((first, second, third), notes, strict=True):
        node.metadata_props.add(key="pkg.torch.onnx.name_scopes", value=note)
    report = larq_engine.convert_onnx(model.SerializeToString()).report
    assert [layer.name for layer in report.layers] == ["first.0", "block.0", "node_linear"]


def test_names_of_inputs_and_outputs(net, rng):
    x = net.input(2, 3)
    content = net.finish(net.op("Relu", x), net.op("Identity", x), net.op("Transpose", x))
    graph = schema.read(float_model(content)).graphs[0]
    assert [tensor.name for tensor in graph.inputs] == ["input_0"]
    assert [tensor.name for tensor in graph.outputs] == ["value_0_0", "value_1_0", "value_2_0"]
    compare(content, [steps(rng, 2, 3)])
