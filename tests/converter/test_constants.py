"""Folded operators on constants give LiteRT's results, to the bit."""

from typing import Any

import numpy as np
import pytest
from ai_edge_litert.interpreter import OpResolverType

from larq_engine.converter import schema
from larq_engine.converter.constants import fold_constants
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

_FLOATS = np.array([[-2.5, -0.0, 0.0, 1.0], [3.75, -7.0, 0.5, 100.0]], np.float32)
_OTHER_FLOATS = np.array([[0.5, -3.0, 0.0, 1.0], [3.75, 2.0, -0.25, 8.0]], np.float32)
_ROW = np.array([2.0, -4.0, 0.5, 1.0], np.float32)
_HALVES = np.array([1e-7, -0.0, 65504.0, -0.1], np.float16)
_INTEGERS = np.array([[7, -7, 0, 2], [-1, 5, 100, -2]], np.int32)
_DIVISORS = np.array([[2, 2, 3, -1], [4, -3, 7, -5]], np.int32)
_TRUTHS = np.array([[True, False, False, True], [False, True, True, True]])
_IMAGE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def _i(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


# The operator, its inputs, its options, and the shape and type of its output where they are not
# those of the first input.
_Case = tuple[str, list[Any], dict[str, Any], tuple[int, ...] | None, Any]


def _case(
    kind: str, *inputs: Any, shape: tuple[int, ...] | None = None, dtype: Any = None, **options: Any
) -> _Case:
    return kind, list(inputs), options, shape, dtype


_CASES = {
    "ABS": _case("ABS", _FLOATS),
    "ADD": _case("ADD", _FLOATS, _OTHER_FLOATS),
    "ADD of a row": _case("ADD", _FLOATS, _ROW),
    "ADD of integers": _case("ADD", _INTEGERS, _DIVISORS),
    **{
        f"ADD with {name}": _case("ADD", _FLOATS, _ROW, fusedActivationFunction=number)
        for name, number in ACTIVATION.items()
    },
    "BROADCAST_TO": _case("BROADCAST_TO", _ROW, _i(2, 3, 4), shape=(2, 3, 4)),
    "CAST to integers": _case("CAST", _FLOATS, dtype=np.int32, inDataType=0, outDataType=2),
    "CAST to floats": _case("CAST", _INTEGERS, dtype=np.float32, inDataType=2, outDataType=0),
    "CAST of truths": _case("CAST", _TRUTHS, dtype=np.float32, inDataType=6, outDataType=0),
    "CAST to truths": _case("CAST", _FLOATS, dtype=np.bool_, inDataType=0, outDataType=6),
    "CONCATENATION": _case("CONCATENATION", _FLOATS, _OTHER_FLOATS, shape=(2, 8), axis=1),
    "CONCATENATION from the end": _case(
        "CONCATENATION", _FLOATS, _OTHER_FLOATS, shape=(4, 4), axis=-2
    ),
    "DEQUANTIZE of float16": _case("DEQUANTIZE", _HALVES, dtype=np.float32),
    "DIV": _case("DIV", _FLOATS, _ROW),
    "DIV of integers": _case("DIV", _INTEGERS, _DIVISORS),
    "EXPAND_DIMS": _case("EXPAND_DIMS", _FLOATS, np.array(1, np.int32), shape=(2, 1, 4)),
    "FILL": _case("FILL", _i(2, 3), np.array(2.5, np.float32), shape=(2, 3), dtype=np.float32),
    "EQUAL": _case("EQUAL", _FLOATS, _OTHER_FLOATS, dtype=np.bool_),
    "GREATER": _case("GREATER", _FLOATS, _OTHER_FLOATS, dtype=np.bool_),
    "GREATER_EQUAL": _case("GREATER_EQUAL", _FLOATS, _OTHER_FLOATS, dtype=np.bool_),
    "LESS": _case("LESS", _FLOATS, _OTHER_FLOATS, dtype=np.bool_),
    "LESS_EQUAL": _case("LESS_EQUAL", _FLOATS, _OTHER_FLOATS, dtype=np.bool_),
    "LOGICAL_AND": _case("LOGICAL_AND", _TRUTHS, _TRUTHS[0]),
    "LOGICAL_OR": _case("LOGICAL_OR", _TRUTHS, _TRUTHS[0]),
    "LOGICAL_NOT": _case("LOGICAL_NOT", _TRUTHS),
    "MAXIMUM": _case("MAXIMUM", _FLOATS, _OTHER_FLOATS),
    "MEAN": _case("MEAN", _IMAGE, _i(0, -1), shape=(3,)),
    "MEAN with kept dimensions": _case(
        "MEAN", _IMAGE, np.array(1, np.int32), shape=(2, 1, 4), keepDims=True
    ),
    "MINIMUM": _case("MINIMUM", _FLOATS, _OTHER_FLOATS),
    "MUL": _case("MUL", _FLOATS, _ROW),
    "NEG": _case("NEG", _FLOATS),
    "NOT_EQUAL": _case("NOT_EQUAL", _FLOATS, _OTHER_FLOATS, dtype=np.bool_),
    "PAD": _case("PAD", _FLOATS, np.array([(1, 0), (2, 1)], np.int32), shape=(3, 7)),
    "PADV2": _case(
        "PADV2",
        _INTEGERS,
        np.array([(0, 1), (0, 0)], np.int32),
        np.array(-3, np.int32),
        shape=(3, 4),
    ),
    "PACK": _case("PACK", _ROW, _ROW * 2, shape=(4, 2), valuesCount=2, axis=1),
    "PACK of numbers": _case(
        "PACK", np.array(3, np.int32), np.array(5, np.int32), shape=(2,), valuesCount=2
    ),
    "REDUCE_PROD": _case("REDUCE_PROD", _INTEGERS, _i(1), shape=(2,)),
    "REDUCE_PROD with kept dimensions": _case(
        "REDUCE_PROD", _DIVISORS, _i(0), shape=(1, 4), keepDims=True
    ),
    "RELU": _case("RELU", _FLOATS),
    "RELU6": _case("RELU6", _FLOATS * 9),
    "RELU_0_TO_1": _case("RELU_0_TO_1", _FLOATS),
    "RELU_N1_TO_1": _case("RELU_N1_TO_1", _FLOATS),
    "RESHAPE": _case("RESHAPE", _FLOATS, _i(4, 2), shape=(4, 2)),
    "SELECT": _case("SELECT", _TRUTHS, _FLOATS, _OTHER_FLOATS, dtype=np.float32),
    "SELECT of rows": _case(
        "SELECT", np.array([False, True]), _FLOATS, _OTHER_FLOATS, shape=(2, 4), dtype=np.float32
    ),
    "SELECT of square rows": _case(
        "SELECT",
        _TRUTHS[0],
        np.eye(4, dtype=np.float32),
        -np.eye(4, dtype=np.float32),
        shape=(4, 4),
        dtype=np.float32,
    ),
    "SELECT_V2": _case("SELECT_V2", _TRUTHS, _FLOATS, np.array(9, np.float32), dtype=np.float32),
    "SIGN": _case("SIGN", _FLOATS),
    "SQUEEZE": _case("SQUEEZE", _IMAGE[:1], shape=(3, 4), squeezeDims=[0]),
    "STRIDED_SLICE": _case(
        "STRIDED_SLICE", _IMAGE, _i(0, 1, 0), _i(2, 3, 4), _i(1, 1, 2), shape=(2, 2, 2)
    ),
    "STRIDED_SLICE with masks": _case(
        "STRIDED_SLICE",
        _IMAGE,
        _i(1, 1, 1),
        _i(1, 2, 2),
        _i(1, 1, 1),
        shape=(2, 2, 1),
        beginMask=1,
        endMask=3,
    ),
    "STRIDED_SLICE of one": _case(
        "STRIDED_SLICE", _i(5, 6, 7), _i(-1), _i(0), _i(1), shape=(), shrinkAxisMask=1
    ),
    "STRIDED_SLICE of the first dimension": _case(
        "STRIDED_SLICE", _IMAGE, _i(1), _i(2), _i(1), shape=(3, 4), shrinkAxisMask=1
    ),
    "STRIDED_SLICE backwards": _case(
        "STRIDED_SLICE", _IMAGE, _i(1, 2, 3), _i(-9, 0, -9), _i(-1, -1, -3), shape=(2, 2, 2)
    ),
    "SUB": _case("SUB", _FLOATS, _OTHER_FLOATS),
    "SUB with RELU6": _case("SUB", _FLOATS, _OTHER_FLOATS, fusedActivationFunction=3),
    "SUM": _case("SUM", _IMAGE, _i(2, 0), shape=(3,)),
    "TRANSPOSE": _case("TRANSPOSE", _IMAGE, _i(2, 0, 1), shape=(4, 2, 3)),
}


def _file(case: _Case) -> bytes:
    kind, inputs, options, shape, dtype = case
    net = Net()
    constants = [net.constant(value) for value in inputs]
    y = net.op(
        kind,
        *constants,
        shape=inputs[0].shape if shape is None else shape,
        dtype=inputs[0].dtype if dtype is None else dtype,
        **options,
    )
    return net.finish(y)


def test_there_is_a_case_for_every_operator():
    from larq_engine.converter.constants import _FORMULAS

    assert {*_FORMULAS} == {kind for kind, *_ in _CASES.values()}


@pytest.mark.parametrize("case", _CASES)
def test_folded_value_is_that_of_the_runtime(case):
    content = _file(_CASES[case])
    (graph,) = schema.read(content).graphs
    assert fold_constants(graph) == 1
    assert not graph.ops
    (output,) = graph.outputs
    # XNNPACK cannot run a DEQUANTIZE of float16 whose result is an output.
    (expected,) = run_stock(content, [], resolver=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    assert output.data.dtype == expected.dtype
    assert output.data.shape == expected.shape
    np.testing.assert_array_equal(output.data, expected)


def _half(net: Net, array: np.ndarray) -> Value:
    """Adds a float32 constant that the file stores in float16."""
    return net.op("DEQUANTIZE", array.astype(np.float16), shape=array.shape)


def test_binary_weights_of_float16(net, rng):
    """Opposite values stay opposite in float16, so such weights become bits."""
    x = net.sign(net.input(1, 6, 6, 32))
    scale = rng.uniform(0.1, 0.2, (64, 1, 1, 1)).astype(np.float32)
    filters = _half(net, scale * signs(rng, 64, 3, 3, 32))
    y = net.op("ADD", net.conv(x, filters), _half(net, steps(rng, 64)))
    content = net.finish(y)
    converted = convert(content)
    assert converted.kinds == ["LceQuantize", "LceBconv2d"]
    data = [edges(rng, 1, 6, 6, 32)]
    np.testing.assert_allclose(
        run_engine(converted.content, data)[0], run_stock(content, data)[0], rtol=1e-5, atol=1e-5
    )
    (layer,) = converted.layers
    assert (layer.bytes_before, layer.bytes_after) == (2 * 64 * 9 * 32, 64 * 9 * 4)


def test_float_weights_of_float16_stay_so(net, rng):
    x = net.input(1, 6, 6, 32)
    filters, bias = _half(net, steps(rng, 8, 3, 3, 32)), _half(net, steps(rng, 8))
    y = net.conv(x, filters, bias)
    z = net.conv(net.sign(y), _half(net, steps(rng, 8, 1, 1, 8)))
    converted = convert_and_compare(net, z, inputs=[edges(rng, 1, 6, 6, 32)])
    assert converted.kinds.count("DEQUANTIZE") == 3
    assert len(converted.content) <= len(net.finish(z))
    first, second = converted.layers
    assert (first.weight_bits, first.bytes_before, first.bytes_after) == (16, 4608, 4608)
    assert "weights are not binary" in second.reason


def test_binary_weights_of_float16_in_a_float_layer(net, rng):
    y = net.conv(net.input(1, 6, 6, 32), _half(net, 0.5 * signs(rng, 8, 3, 3, 32)))
    converted = convert_and_compare(net, y, inputs=[steps(rng, 1, 6, 6, 32)])
    assert converted.kinds == ["LceUnpackWeights", "CONV_2D"]
    (layer,) = converted.layers
    assert (layer.bytes_before, layer.bytes_after) == (4608, 8 * 9 * 4 + 4)


@pytest.mark.parametrize("kind", ["BROADCAST_TO", "FILL"])
def test_arrays_of_one_number(net, kind, rng):
    """Bounds, factors and branches of a sign become numbers; elsewhere the operator stays."""
    shape = (1, 32, 32, 32)
    x = net.input(*shape)

    def full(number: float) -> Value:
        operands = [_i(*shape), np.array(number, np.float32)]
        if kind == "BROADCAST_TO":
            operands.reverse()
        return net.op(kind, *operands, shape=shape)

    condition = net.op("GREATER_EQUAL", x, full(0.0), dtype=np.bool_)
    s = net.op("SELECT_V2", condition, full(1.0), full(-1.0))
    y = net.conv(s, signs(rng, 4, 1, 1, 32))
    above = net.op("GREATER", net.op("MUL", x, full(2.5)), 1.0, dtype=np.bool_)
    z = net.op("SELECT_V2", above, x, full(2.5))
    converted = convert_and_compare(net, y, z, inputs=[edges(rng, *shape)])
    others = ["GREATER", "SELECT_V2", "MUL", "LceQuantize", "LceBconv2d"]
    assert sorted(converted.kinds) == sorted([kind, *others])
    assert converted.op("MUL").inputs[1].elements == 1
    assert len(converted.content) < 4 * 32**3


# Operators on constants that are not folded.
_NOT_FOLDED = {
    "an unknown operator": _case("TANH", _FLOATS),
    "another activation": _case("ADD", _FLOATS, _ROW, fusedActivationFunction=4),
    "a sum of integers": _case("SUM", _INTEGERS, _i(0), shape=(4,)),
    "an ellipsis": _case(
        "STRIDED_SLICE", _IMAGE, _i(0, 1), _i(0, 3), _i(1, 1), shape=(2, 3, 2), ellipsisMask=1
    ),
}


@pytest.mark.parametrize("case", _NOT_FOLDED)
def test_not_folded(case):
    (graph,) = schema.read(_file(_NOT_FOLDED[case])).graphs
    assert fold_constants(graph) == 0
    assert len(graph.ops) == 1


def test_operator_of_an_input_is_not_folded(net):
    y = net.op("ADD", net.input(2, 4), _FLOATS)
    (graph,) = schema.read(net.finish(y)).graphs
    assert fold_constants(graph) == 0


def test_quantized_values_are_not_folded(net):
    """An addition of quantized integers also rescales them."""
    data = np.array([[1, 2]], np.int8)
    x = [net.builder.constant(data, scale=0.5) for _ in range(2)]
    y = net.builder.tensor((1, 2), np.int8, scale=0.25)
    net.builder.builtin("ADD", x, [y])
    (graph,) = schema.read(net.builder.finish([], [y])).graphs
    assert fold_constants(graph) == 0


def test_flatten_of_a_fixed_batch(net, rng):
    """TensorFlow writes SHAPE, STRIDED_SLICE and PACK before the RESHAPE of a flattening."""
    x = net.input(2, 3, 4, 32)
    shape = net.op("SHAPE", x, shape=(4,), dtype=np.int32, outType=2)
    batch = net.op(
        "STRIDED_SLICE", shape, _i(0), _i(1), _i(1), shape=(), dtype=np.int32, shrinkAxisMask=1
    )
    target = net.op(
        "PACK", batch, np.array(384, np.int32), shape=(2,), dtype=np.int32, valuesCount=2
    )
    flat = net.op("RESHAPE", net.sign(x), target, shape=(2, 384))
    y = net.dense(flat, signs(rng, 7, 384))
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "RESHAPE"]


def test_weights_that_are_still_to_be_computed(net, rng):
    """TensorFlow leaves signs of a large kernel and their product with scales to the runtime."""
    x = net.input(1, 5, 5, 6)
    latent = net.constant(rng.normal(size=(3, 3, 6, 8)).astype(np.float32))
    scale = np.resize(np.array([0.5, 2.0, 1.0], np.float32), 8)
    kernel = net.op("MUL", net.sign(latent), scale)
    turned = net.transpose(kernel, 3, 0, 1, 2)
    y = net.op(
        "CONV_2D", net.sign(x), turned, np.zeros(8, np.float32), shape=(1, 3, 3, 8),
        padding=1, strideH=1, strideW=1, dilationHFactor=1, dilationWFactor=1,
    )  # fmt: skip
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d"]


def test_folding_makes_no_warning_of_what_overflows(net):
    """The runtime computes infinities without a warning, too."""
    y = net.op("DIV", net.op("MUL", np.full(4, 1e38, np.float32), 1e38), np.float32(0))
    content = net.finish(y)
    (graph,) = schema.read(content).graphs
    with np.errstate(all="raise"):
        assert fold_constants(graph) == 2
    np.testing.assert_array_equal(graph.outputs[0].data, run_stock(content, [])[0])


def test_output_that_is_a_constant(net):
    content = net.finish(net.op("ADD", _FLOATS, _ROW), net.op("ABS", net.input(3)))
    converted = convert(content)
    assert converted.kinds == ["ABS"]
    data = [np.array([-1.0, 2.0, -3.0], np.float32)]
    wanted, got = run_stock(content, data), run_stock(converted.content, data)
    for want, have in zip(wanted, got, strict=True):
        np.testing.assert_array_equal(have, want)
