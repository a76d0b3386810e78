"""The reader before the hosts passes whole files, and raises a ValueError for damaged ones."""

import struct
from typing import Any

import flatbuffers
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from larq_engine.python.model_file import read_model
from tests.model_builder import ModelBuilder


@pytest.fixture(scope="module")
def model() -> bytes:
    """Builds a file with vectors in options, a signature, scales, constants, a custom operator."""
    builder = ModelBuilder()
    x = builder.tensor((1, 4), np.int8, name="x", scale=0.5, zero_point=-3, signature=(-1, 4))
    y = builder.tensor((2, 2), np.int8, name="y", scale=0.5, zero_point=-3)
    z = builder.tensor((2, 1), np.int32, name="z")
    shape = builder.constant(np.array([2, 2], np.int32))
    builder.builtin("RESHAPE", [x, shape], [y], newShape=[2, 2])
    builder.custom("LceQuantize", [y], [z], {"some": 1, "options": -7})
    builder.signature({"x": x}, {"z": z})
    builder.model.description = "a model"
    return builder.finish([x], [z])


def test_a_whole_model_passes_unchanged(model, tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(model)
    assert read_model(model) == read_model(path) == read_model(bytearray(model)) == model


def test_every_truncation_is_found(model):
    for size in range(len(model)):
        with pytest.raises(ValueError, match=rf"^model \({size} bytes\): expected .*; "):
            read_model(model[:size])


@pytest.mark.parametrize("value", [0, 1, 2**31 - 1, 2**31, 2**32 - 4])
def test_every_damaged_word_is_found_or_harmless(model, value):
    """Offsets that lead outside raise; other words may be anything."""
    found = 0
    for position in range(0, len(model) - 3, 4):
        damaged = bytearray(model)
        struct.pack_into("<I", damaged, position, value)
        try:
            assert read_model(damaged) == damaged
        except ValueError as error:
            assert type(error) is ValueError
            assert str(error).startswith(f"model ({len(model)} bytes): ")
            found += 1
    assert found > 20


def _one_op() -> ModelBuilder:
    """Builds a model of one operator with a constant and options."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4), name="x"), builder.tensor((1, 4), name="y")
    builder.custom("Some", [x, builder.constant(np.zeros(4, np.float32))], [y], {"a": 1})
    return builder


@pytest.mark.parametrize("part", ["buffer", "options"])
def test_data_outside_the_flatbuffer_are_in_the_file(part):
    def model(offset: int, size: int) -> bytes:
        builder = _one_op()
        if part == "buffer":
            buffer = schema.BufferT()
            buffer.offset, buffer.size = offset, size
            builder.model.buffers.append(buffer)
        else:
            operator = builder.graph.operators[0]
            operator.customOptions = None
            operator.largeCustomOptionsOffset, operator.largeCustomOptionsSize = offset, size
        return builder.finish([0], [2])

    length = len(model(2, 2))
    for offset, size in ((0, 2**40), (1, 2**40), (2, length - 2), (length - 1, 1)):
        read_model(model(offset, size))
    read_model(model(len(model(2, 0)), 0))
    for offset, size in ((2, length - 1), (length, 1), (length + 1, 0), (2**64 - 4, 8), (9, 2**63)):
        with pytest.raises(ValueError) as caught:
            read_model(model(offset, size))
        assert f"expected data of {size} bytes at byte {offset}, got a file of " in str(
            caught.value
        )


def _split(**options: int) -> ModelBuilder:
    """Builds a model that splits four values into two tensors."""
    builder = ModelBuilder()
    axis = builder.constant(np.array(1, np.int32))
    x, y, z = builder.tensor((1, 4)), builder.tensor((1, 2)), builder.tensor((1, 2))
    builder.builtin("SPLIT", [axis, x], [y, z], **options)
    return builder


def _refusal(builder: ModelBuilder) -> str:
    with pytest.raises(ValueError) as caught:
        read_model(builder.finish([1], [2, 3]))
    return str(caught.value)


@pytest.mark.parametrize("parts", [-1, 0, 1, 3, 2**31 - 1])
def test_a_split_has_an_output_for_each_part(parts):
    """XNNPACK of LiteRT 2.3 would crash on another number of outputs."""
    read_model(_split(numSplits=2).finish([1], [2, 3]))
    message = f"operator #0, to 't2': expected a SPLIT into its 2 outputs, got {parts} parts; the "
    assert message in _refusal(_split(numSplits=parts))


def test_a_split_without_options_of_its_own():
    none, others = _split(numSplits=2), _split(numSplits=2)
    none.graph.operators[0].builtinOptionsType = 0
    none.graph.operators[0].builtinOptions = None
    others.graph.operators[0].builtinOptionsType = schema.BuiltinOptions.SplitVOptions
    for builder in none, others:
        assert "expected a SPLIT into its 2 outputs, got 0 parts; " in _refusal(builder)


def _shared_tensors(subgraphs: int, tensors: int) -> bytes:
    """Builds empty subgraphs that share a vector, whose elements are all one empty tensor."""
    content = bytearray(b"\0\0\0\0TFL3")

    def add(code: str, *values: int) -> int:
        position = len(content)
        content.extend(struct.pack(f"<{code}", *values))
        return position

    def link(at: int, target: int) -> None:
        struct.pack_into("<I", content, at, target - at)

    layout = add("6H", 10, 8, 0, 0, 4, 0)  # layout of a table whose field 2 is at byte 4
    model = add("iI", len(content) - layout, 0)
    link(0, model)
    graphs = add(f"{subgraphs + 1}I", subgraphs, *[0] * subgraphs)
    link(model + 4, graphs)
    layout = add("4H", 6, 8, 4, 0)  # layout of a table whose field 0 is at byte 4
    tables = [add("iI", len(content) - layout, 0) for _ in range(subgraphs)]
    shared = add(f"{tensors + 1}I", tensors, *[0] * tensors)
    layout = add("2H", 4, 4)
    tensor = add("i", len(content) - layout)
    for index, table in enumerate(tables):
        link(graphs + 4 + 4 * index, table)
        link(table + 4, shared)
    for index in range(tensors):
        link(shared + 4 + 4 * index, tensor)
    return bytes(content)


@pytest.mark.parametrize(
    ("subgraphs", "tensors", "passes"),
    [(3, 2000, True), (100, 2000, False), (400, 2000, False), (12, 250000, False)],
)
def test_what_is_shared_takes_no_more_time_or_memory(subgraphs, tensors, passes):
    """A file of 10 KB could otherwise ask for millions of visits, and one of 1 MB for gigabytes."""
    model = _shared_tensors(subgraphs, tensors)
    if passes:
        assert read_model(model) == model
    else:
        with pytest.raises(ValueError, match="expected tables and vectors that are shared a few"):
            read_model(model)


class _Shared:
    """A table that goes to the file once, however many vectors and entries have it."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self._place: int | None = None

    def Pack(self, builder: flatbuffers.Builder) -> int:  # noqa: N802
        if self._place is None:
            self._place = self._table.Pack(builder)
        return self._place


def _repeated(part: str, times: int) -> bytes:
    """Builds a model of 11 KB with a table of 10,000 bytes, which it has so many times."""
    builder = _one_op()
    text, numbers = "x" * 10_000, np.zeros(2500, np.int32)
    if part == "metadata":
        entry = schema.MetadataT()
        entry.name = text
        builder.model.metadata = [_Shared(entry)] * times
    elif part == "signatures":
        signature = schema.SignatureDefT()
        signature.signatureKey = text
        builder.model.signatureDefs = [_Shared(signature)] * times
    elif part == "names":
        name = schema.TensorMapT()
        name.name = text
        signature = schema.SignatureDefT()
        signature.signatureKey = "serve"
        signature.outputs = [_Shared(name)] * times
        builder.model.signatureDefs = [signature]
    else:
        field = {"RESHAPE": "newShape", "SQUEEZE": "squeezeDims"}[part]
        builder.builtin(part, [2], [builder.tensor((1, 4))], **{field: numbers})
        operators = builder.graph.operators
        operators[1:] = [_Shared(operators[1])] * times
    return builder.finish([0], [2])


@pytest.mark.parametrize("part", ["metadata", "signatures", "names", "RESHAPE", "SQUEEZE"])
def test_names_and_options_that_are_shared_take_no_more_memory(part):
    read_model(_repeated(part, 1))
    assert len(_repeated(part, 2_000)) < 40_000
    with pytest.raises(ValueError, match="expected tables and vectors that are shared a few"):
        read_model(_repeated(part, 2_000))
