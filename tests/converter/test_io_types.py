"""Types of inputs and outputs: the changed model computes the same, and nothing else changes."""

import re

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import schema
from larq_engine.converter.graph import Model
from larq_engine.converter.io_types import (
    modify_integer_quantized_model_io_type,
    strip_lcedequantize_ops,
)
from tests.model_builder import ModelBuilder, add_quantize, packed_shape
from tests.oracle import pack_bits

_SHAPE = (1, 2, 2, 40)
_SCALE, _ZERO_POINT = 0.25, 3


def _quantized(builder: ModelBuilder, name: str) -> int:
    return builder.tensor(_SHAPE, np.int8, name=name, scale=_SCALE, zero_point=_ZERO_POINT)


def _add_int8_graph(builder: ModelBuilder) -> tuple[int, int]:
    """Adds x -> QUANTIZE -> ABS -> DEQUANTIZE -> y; returns the numbers of x and y."""
    x, y = builder.tensor(_SHAPE, name="x"), builder.tensor(_SHAPE, name="y")
    q, r = _quantized(builder, "x_int8"), _quantized(builder, "y_int8")
    builder.builtin("QUANTIZE", [x], [q])
    builder.builtin("ABS", [q], [r])
    builder.builtin("DEQUANTIZE", [r], [y])
    return x, y


@pytest.fixture
def int8_model() -> bytes:
    builder = ModelBuilder()
    x, y = _add_int8_graph(builder)
    builder.signature({"image": x}, {"score": y})
    return builder.finish([x], [y])


def _ends(model: Model, graph: int = 0) -> tuple[list[str], list[str]]:
    inputs, outputs = model.graphs[graph].inputs, model.graphs[graph].outputs
    return [tensor.name for tensor in inputs], [tensor.name for tensor in outputs]


def _kinds(model: Model, graph: int = 0) -> list[str]:
    return [op.kind for op in model.graphs[graph].ops]


def _to_int8(x: np.ndarray) -> np.ndarray:
    return np.clip(np.round(x / _SCALE) + _ZERO_POINT, -128, 127).astype(np.int8)


@pytest.mark.parametrize("output_type", ["float32", "int8"])
@pytest.mark.parametrize("input_type", ["float32", "int8"])
def test_int8_ends_compute_the_same(int8_model, input_type, output_type, rng):
    x = rng.standard_normal(_SHAPE).astype(np.float32)
    y = larq_engine.Interpreter(int8_model).predict(x)
    changed = modify_integer_quantized_model_io_type(int8_model, input_type, output_type)
    interpreter = larq_engine.Interpreter(changed)
    assert interpreter.input_types == [np.dtype(input_type)]
    assert interpreter.output_types == [np.dtype(output_type)]
    # The signature is updated as well, so names stay.
    assert interpreter.input_names == ["image"]
    assert interpreter.output_names == ["score"]
    if input_type == "int8":
        assert interpreter.input_scales == [_SCALE]
        assert interpreter.input_zero_points == [_ZERO_POINT]
        x = _to_int8(x)
    got = interpreter.predict(x)
    if output_type == "int8":
        assert interpreter.output_scales == [_SCALE]
        got = _SCALE * (got.astype(np.float32) - _ZERO_POINT)
    np.testing.assert_array_equal(got, y)
    expected = [
        *(["QUANTIZE"] if input_type == "float32" else []),
        "ABS",
        *(["DEQUANTIZE"] if output_type == "float32" else []),
    ]
    assert _kinds(schema.read(changed)) == expected


def test_float32_changes_nothing(int8_model):
    assert modify_integer_quantized_model_io_type(int8_model) == int8_model


def test_a_second_time_changes_nothing(int8_model):
    once = modify_integer_quantized_model_io_type(int8_model, "int8", "int8")
    twice = modify_integer_quantized_model_io_type(once, "int8", "int8")
    assert _kinds(schema.read(twice)) == ["ABS"]
    assert _ends(schema.read(twice)) == _ends(schema.read(once)) == (["x_int8"], ["y_int8"])


@pytest.mark.parametrize("spelling", ["int8", np.int8, np.dtype(np.int8)])
def test_types_have_several_spellings(int8_model, spelling):
    changed = modify_integer_quantized_model_io_type(int8_model, spelling, spelling)
    assert _ends(schema.read(changed)) == (["x_int8"], ["y_int8"])


@pytest.mark.parametrize("position", [0, 1])
@pytest.mark.parametrize("wrong", ["uint8", np.int16, None])
def test_other_types_are_refused(int8_model, wrong, position):
    types = ["float32", "float32"]
    types[position] = wrong
    argument = ("inference_input_type", "inference_output_type")[position]
    with pytest.raises(ValueError, match=f"`{argument}` to be float32 or int8"):
        modify_integer_quantized_model_io_type(int8_model, *types)


def test_what_only_quantizes_and_dequantizes_becomes_empty(builder):
    x, q, y = builder.tensor(_SHAPE), _quantized(builder, "q"), builder.tensor(_SHAPE)
    builder.builtin("QUANTIZE", [x], [q])
    builder.builtin("DEQUANTIZE", [q], [y])
    changed = modify_integer_quantized_model_io_type(builder.finish([x], [y]), "int8", "int8")
    assert _ends(schema.read(changed)) == (["q"], ["q"])
    assert _kinds(schema.read(changed)) == []


def test_an_output_that_is_read_inside_too_keeps_its_dequantize(builder, rng):
    x, y = _add_int8_graph(builder)
    twice = builder.tensor(_SHAPE)
    ids = builder.tensor(_SHAPE, np.int32, name="ids")
    builder.builtin("ADD", [y, y], [twice])
    builder.builtin("CAST", [twice], [ids])
    before = builder.finish([x], [y, ids, y])
    changed = modify_integer_quantized_model_io_type(before, inference_output_type="int8")
    assert _ends(schema.read(changed))[1] == ["y_int8", "ids", "y_int8"]
    assert _kinds(schema.read(changed)) == _kinds(schema.read(before))
    x = rng.standard_normal(_SHAPE).astype(np.float32)
    [score, ids, _] = larq_engine.Interpreter(before).predict(x)
    [score_int8, ids_after, _] = larq_engine.Interpreter(changed).predict(x)
    np.testing.assert_array_equal(ids_after, ids)
    np.testing.assert_array_equal(_SCALE * (score_int8.astype(np.float32) - _ZERO_POINT), score)


def test_an_input_that_others_read_too_is_refused(builder):
    x, q = builder.tensor(_SHAPE, name="x"), _quantized(builder, "q")
    builder.builtin("QUANTIZE", [x], [q])
    bits = add_quantize(builder, x, _SHAPE)
    message = (
        "input 'x' (#0): expected one QUANTIZE to int8 to be all that reads it, got "
        "QUANTIZE 'q' (#0, int8), LceQuantize 't2' (#1, int32); ask for float32, or give a "
        "representative_dataset"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        modify_integer_quantized_model_io_type(builder.finish([x], [q, bits]), "int8")


def test_an_input_that_is_an_output_too_is_refused(builder):
    x, q = builder.tensor(_SHAPE, name="x"), _quantized(builder, "q")
    builder.builtin("QUANTIZE", [x], [q])
    with pytest.raises(ValueError, match="got a tensor that is both; ask for float32"):
        modify_integer_quantized_model_io_type(builder.finish([x], [q, x]), "int8")


def test_an_input_that_nobody_reads_is_refused(builder):
    x, y = _add_int8_graph(builder)
    unused = builder.tensor(_SHAPE, name="unused")
    with pytest.raises(ValueError, match=r"input 'unused' \(#1\): .* got none; ask for float32"):
        modify_integer_quantized_model_io_type(builder.finish([x, unused], [y]), "int8")


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (("int8", "float32"), "input 'x' (#0): expected one QUANTIZE to int8 to be all that reads"),
        (
            ("float32", "int8"),
            "output 'y' (#0): expected a DEQUANTIZE from int8 to make it, got AB",
        ),
    ],
)
def test_a_float_model_is_refused(builder, types, message):
    x, y = builder.tensor(_SHAPE, name="x"), builder.tensor(_SHAPE, name="y")
    builder.builtin("ABS", [x], [y])
    with pytest.raises(ValueError, match=re.escape(message)):
        modify_integer_quantized_model_io_type(builder.finish([x], [y]), *types)


def test_a_uint8_model_is_refused(builder):
    x, y = builder.tensor(_SHAPE, name="x"), builder.tensor(_SHAPE, name="y")
    q = builder.tensor(_SHAPE, np.uint8, name="q", scale=_SCALE)
    builder.builtin("QUANTIZE", [x], [q])
    builder.builtin("DEQUANTIZE", [q], [y])
    floats = builder.finish([x], [y])
    for types, words in ((("int8",), "to int8.*uint8"), (("float32", "int8"), "from int8")):
        with pytest.raises(ValueError, match=words):
            modify_integer_quantized_model_io_type(floats, *types)
    with pytest.raises(ValueError, match=r"output 'q' \(#0\): expected float32 or int8, got uint8"):
        modify_integer_quantized_model_io_type(builder.finish([x], [q, y]), "float32", "int8")
    del builder.graph.operators[0]
    with pytest.raises(ValueError, match="expected an input of float32 or int8, got uint8; ask"):
        modify_integer_quantized_model_io_type(builder.finish([q], [y]), "int8")


def test_indices_stay_what_they_are(builder):
    x, y = _add_int8_graph(builder)
    ids = builder.tensor((2,), np.int32, name="ids")
    more = builder.tensor((2,), np.int32, name="more")
    builder.builtin("ABS", [ids], [more])
    changed = modify_integer_quantized_model_io_type(
        builder.finish([ids, x], [y, more]), "int8", "int8"
    )
    assert _ends(schema.read(changed)) == (["ids", "x_int8"], ["y_int8", "more"])
    del builder.graph.operators[:-1]
    with pytest.raises(ValueError, match="expected an input of float32 or int8, got int32; ask"):
        modify_integer_quantized_model_io_type(builder.finish([ids], [more]), "int8")


def test_every_signature_follows_and_branches_keep_their_types(builder):
    main, branch, other = builder, builder.subgraph(), builder.subgraph()
    ends = []
    for graph in (main, branch, other):
        ends.append(_add_int8_graph(graph))
        graph.interface(*([end] for end in ends[-1]))
    for number in (0, 2):
        x, y = ends[number]
        builder.signature({"image": x}, {"score": y})
        builder.model.signatureDefs[-1].subgraphIndex = number
    before = builder.finish([ends[0][0]], [ends[0][1]])
    changed = schema.read(modify_integer_quantized_model_io_type(before, "int8", "int8"))
    for number in (0, 2):
        assert _ends(changed, number) == (["x_int8"], ["y_int8"])
        assert _kinds(changed, number) == ["ABS"]
    assert _ends(changed, 1) == (["x"], ["y"])
    assert _kinds(changed, 1) == ["QUANTIZE", "ABS", "DEQUANTIZE"]
    for _, number, inputs, outputs in changed.extra.signatures:
        assert inputs == [(b"image", changed.graphs[number].inputs[0])]
        assert outputs == [(b"score", changed.graphs[number].outputs[0])]


# ---- strip_lcedequantize_ops ---------------------------------------------------------------------


def _add_signs(builder: ModelBuilder, x: int, dtype: type = np.float32) -> int:
    """Adds x -> LceQuantize -> LceDequantize; returns the number of the result."""
    signs = builder.tensor(_SHAPE, dtype, name="signs", scale=_SCALE if dtype == np.int8 else None)
    builder.custom("LceDequantize", [add_quantize(builder, x, _SHAPE)], [signs])
    return signs


def _signs_model(kind: str) -> bytes:
    builder = ModelBuilder()
    x = builder.tensor(_SHAPE, name="x")
    y = _add_signs(builder, x, np.int8 if kind.startswith("int8") else np.float32)
    if kind == "int8, dequantized":
        source, y = y, builder.tensor(_SHAPE, name="y")
        builder.builtin("DEQUANTIZE", [source], [y])
    builder.signature({"image": x}, {"signs": y})
    return builder.finish([x], [y])


@pytest.mark.parametrize("kind", ["float32", "int8", "int8, dequantized"])
def test_stripping_leaves_the_bits(kind, rng):
    stripped = strip_lcedequantize_ops(_signs_model(kind))
    interpreter = larq_engine.Interpreter(stripped)
    assert interpreter.output_types == [np.dtype(np.int32)]
    assert interpreter.output_shapes == [packed_shape(_SHAPE)]
    assert interpreter.output_names == ["signs"]
    x = rng.standard_normal(_SHAPE).astype(np.float32)
    np.testing.assert_array_equal(interpreter.predict(x), pack_bits(np.where(x < 0, -1, 1)))
    assert _kinds(schema.read(stripped)) == ["LceQuantize"]


def test_stripping_leaves_other_outputs_and_readers_alone(builder):
    x, y = _add_int8_graph(builder)
    signs = _add_signs(builder, x)
    sizes = builder.tensor(_SHAPE, name="sizes")
    builder.builtin("ABS", [signs], [sizes])
    stripped = schema.read(strip_lcedequantize_ops(builder.finish([x], [y, signs, sizes])))
    assert [tensor.dtype for tensor in stripped.graphs[0].outputs] == [
        "FLOAT32",
        "INT32",
        "FLOAT32",
    ]
    assert sorted(_kinds(stripped)) == sorted(
        ["QUANTIZE", "ABS", "DEQUANTIZE", "LceQuantize", "LceDequantize", "ABS"]
    )


def test_stripping_needs_an_output_of_lcedequantize(int8_model):
    message = (
        "model: expected an output that LceDequantize makes, got output 'y' (#0): "
        "DEQUANTIZE 'y' (#2, float32); let the model end in"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        strip_lcedequantize_ops(int8_model)
    with pytest.raises(ValueError, match=r"got output 't2' \(#0\): LceQuantize"):
        strip_lcedequantize_ops(strip_lcedequantize_ops(_signs_model("float32")))


def test_stripping_leaves_branches_alone(builder):
    for graph in (builder, builder.subgraph()):
        x = graph.tensor(_SHAPE, name="x")
        signs = _add_signs(graph, x)
        graph.interface([x], [signs])
    stripped = schema.read(strip_lcedequantize_ops(builder.finish([0], [1])))
    assert _kinds(stripped, 0) == ["LceQuantize"]
    assert _kinds(stripped, 1) == ["LceQuantize", "LceDequantize"]


@pytest.mark.parametrize(
    "change", [strip_lcedequantize_ops, lambda x: modify_integer_quantized_model_io_type(x, "int8")]
)
def test_bytes_that_are_no_model_are_refused(change):
    with pytest.raises(ValueError, match="expected a TensorFlow Lite flatbuffer"):
        change(b"no model at all")
