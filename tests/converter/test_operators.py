"""The converter, the report and the readers agree about each operator, in each of its spellings."""

from collections.abc import Callable

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as tflite

import larq_engine
from larq_engine.command_line.model_facts import collect_facts
from larq_engine.converter import schema
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Graph, Op
from larq_engine.converter.options import Options
from larq_engine.converter.report import report_layers
from larq_engine.converter.verify import verify
from larq_engine.python.operators import KNOWN_OPS
from larq_engine.python.samplewise import is_samplewise
from tests.converter.graphs import convert_and_compare, steps
from tests.model_builder import ModelBuilder, add_quantize, add_weights, bconv_options
from tests.oracle import Conv, pack_bits

_OURS = [op for op in KNOWN_OPS if op.is_ours]
_SPELLINGS = [(name, op.name) for op in _OURS for name in (op.name, *op.spellings)]


def _all_ours(spelling: str = "", name: str = "") -> bytes:
    """Builds a file of all our operators, one spelt as given, and of binary weights in float."""
    builder = ModelBuilder()
    conv = Conv((1, 6, 6, 32), (3, 3), 64, padding="VALID")
    x = builder.tensor(conv.input_shape, name="x")
    bits = add_quantize(builder, x, conv.input_shape)
    filters = builder.constant(pack_bits(np.ones(conv.filter_shape, np.float32)))
    thresholds = builder.constant(np.full(64, 144, np.int32))
    made, pooled = (builder.tensor(shape, np.int32) for shape in [(1, 4, 4, 2), (1, 2, 2, 2)])
    builder.custom("LceBconv2d", [bits, filters, -1, -1, thresholds], [made], bconv_options(conv))
    window = {"filter_height": 2, "filter_width": 2, "stride_height": 2, "stride_width": 2}
    builder.custom("LceBMaxPool2d", [made], [pooled], {"padding": 1, **window})
    product = builder.tensor((1, 2, 2, 2), name="product")
    values = builder.constant(np.array([[1, -1], [1, -1]], np.float32))
    builder.custom("LceBmatmul", [pooled, pooled, values], [product], {"depth": 64})
    numbers = builder.tensor((1, 2, 2, 64), name="numbers")
    builder.custom("LceDequantize", [pooled], [numbers])
    weights = add_weights(builder, np.ones((8, 256), np.float32), np.ones(8, np.float32), 0)
    y = builder.tensor((1, 8), name="y")
    builder.builtin("FULLY_CONNECTED", [numbers, weights, -1], [y])
    for code in builder.model.operatorCodes:
        if code.customCode == name:
            code.customCode = spelling
    return builder.finish([x], [y, product])


@pytest.mark.parametrize(("spelling", "name"), _SPELLINGS)
def test_each_spelling_is_known_everywhere(spelling, name):
    content, usual = _all_ours(spelling, name), _all_ours()
    assert (content == usual) == (spelling == name)

    facts = collect_facts(content)
    assert facts.count_kinds("plug-in") == {op.name: 1 for op in _OURS}
    assert facts.operators == collect_facts(usual).operators

    converted, as_usual = larq_engine.convert_tflite(content), larq_engine.convert_tflite(usual)
    assert converted == as_usual
    assert converted.report == as_usual.report
    became = [layer.became for layer in converted.report.layers]
    assert became == ["binary", "binary", "weights only"]
    assert converted.report.operators[name] == 1
    assert "agree with the float model" in converted.report.self_check

    interpreter = larq_engine.Interpreter(content)
    assert is_samplewise(interpreter._session)
    table = interpreter.profile(runs=1)
    steps = [op.name for op in _OURS if op.name != "LceUnpackWeights"]  # it has no step
    assert sorted(row.op for row in table.rows[:-1]) == sorted(steps)
    assert table.rows[-1].name == "1 FULLY_CONNECTED"


def _turn(op: Op) -> None:
    op.outputs[0].shape = (7, *op.output.shape[1:])


_BREAKS: dict[str, Callable[[Op], None]] = {
    "LceUnpackWeights": lambda op: op.options.update(axis=7),
    "LceBMaxPool2d": lambda op: setattr(op.output, "dtype", "FLOAT32"),
}


@pytest.mark.parametrize(("spelling", "name"), _SPELLINGS)
def test_an_illegal_one_is_seen(spelling, name):
    graph = schema.read(_all_ours(spelling, name)).graphs[0]
    verify(graph, "nothing")
    [op] = [op for op in graph.ops if op.kind == name]
    _BREAKS.get(name, _turn)(op)
    with pytest.raises(AssertionError, match=f"after a change: {name} '.*': wrong"):
        verify(graph, "a change")


def test_operators_of_others_may_have_any_name():
    """A custom operator called ADD need not add."""
    other = Op("ADD", [], [], b"options", custom=True)
    assert other.known.default_options == "" != Op("ADD", [], []).known.default_options
    assert not Op("LceQuantize", [], []).known.is_ours


def test_no_name_is_known_twice():
    names = [name for op in KNOWN_OPS for name in (op.name, *op.spellings)]
    assert len(set(names)) == len(names)


def test_host_operators_are_called_as_in_the_schema():
    for op in KNOWN_OPS:
        assert op.is_ours or hasattr(tflite.BuiltinOperator, op.name), op.name
        if op.default_options:
            schema.make_options(op.default_options)


def _transposed(kind: str, rank: int, weights: tuple[int, ...]) -> Graph:
    """Builds a transposed convolution of int8, whose first input is a shape."""
    builder = ModelBuilder()
    size = builder.constant(np.ones(rank, np.int32))
    image = (1, *[4] * (rank - 2), 2)
    scale = {"scale": 0.5, "zero_point": 0}
    x = builder.tensor(image, np.int8, name="x", **scale)
    y = builder.tensor((1, *[8] * (rank - 2), 5), np.int8, name="y", **scale)
    filters = builder.constant(np.ones(weights, np.int8), **scale)
    builder.builtin(kind, [size, filters, x], [y])
    return schema.read(builder.finish([x], [y])).graphs[0]


@pytest.mark.parametrize(
    ("kind", "weights"), [("TRANSPOSE_CONV", (5, 3, 3, 2)), ("CONV_3D_TRANSPOSE", (3, 3, 3, 5, 2))]
)
def test_transposed_convolutions_read_data_behind_their_weights(kind, weights):
    graph = _transposed(kind, len(weights), weights)
    [layer] = report_layers([graph], Options())
    assert (layer.input_bits, layer.weight_bits) == (8, 8)


def test_relu_0_to_1_is_a_relu_like_the_others(net, rng):
    """Thresholds are found through it, and constants are folded through it."""
    x = net.input(1, 5, 5, 32)
    filters = np.where(rng.random((32, 3, 3, 32)) < 0.5, -1.0, 1.0).astype(np.float32)
    clamped = net.op("RELU_0_TO_1", net.conv(net.sign(x), filters))
    signs = net.sign(net.op("SUB", clamped, 0.5))
    converted = convert_and_compare(net, net.conv(signs, filters), inputs=[steps(rng, 1, 5, 5, 32)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d", "LceBconv2d"]


def test_an_illegal_file_is_refused(builder):
    bits, y = builder.tensor((1, 2), np.int32, name="bits"), builder.tensor((1, 96), name="y")
    builder.custom("LceDequantize", [bits], [y])
    with pytest.raises(ConversionError, match="LceDequantize 'y': wrong output; the file is corr"):
        larq_engine.convert_tflite(builder.finish([bits], [y]), check=False)
