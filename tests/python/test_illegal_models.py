"""Files that crash a host, or make it write over their bytes, are refused, whatever is in between.

Each is loaded in a process of its own, so that a crash is a failed test here. tests/model_file
tests the list of what is illegal.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

from tests.crash_box import load_and_run, load_in_plain_host
from tests.hosts import HOSTS
from tests.model_builder import ABSENT, ModelBuilder, one_op_model

_ROW = {"shape": (1, 4)}
_IMAGE = {"shape": (1, 4, 4, 2)}
_DIAGONALS = {"shape": (1 << 20, 2, 2)}


def _sevens(*shape: int) -> dict[str, Any]:
    return {"shape": shape, "data": np.full(shape, 7, np.float32)}


def _bytes(scale: float | list[float], *shape: int, **more: Any) -> dict[str, Any]:
    return {"shape": shape or (1, 4), "dtype": np.int8, "scale": scale, **more}


def _sum(x: Mapping[str, Any] = _ROW, y: Mapping[str, Any] = _ROW) -> bytes:
    return one_op_model("ADD", x, y, ("x", "x"))


def absent_output() -> bytes:
    """Builds a file on which hosts crash when they prepare it, as after a delegate that fails."""
    builder = ModelBuilder()
    x, axes = builder.tensor((1, 4), name="x"), builder.constant(np.array([1, 0], np.int32))
    y = builder.tensor((1, 4), name="y")
    builder.builtin("TRANSPOSE", [x, axes], [ABSENT])
    builder.builtin("RELU", [x], [y])
    return builder.finish([x], [y])


def written_twice() -> bytes:
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4), name="x"), builder.tensor((1, 4), name="y")
    builder.builtin("ADD", [x, x], [y])
    builder.builtin("RELU", [x], [y])
    return builder.finish([x], [y])


def own_condition() -> bytes:
    builder = ModelBuilder()
    x, y = builder.tensor((1,), np.bool_, name="x"), builder.tensor((1,), np.bool_, name="y")
    builder.builtin("WHILE", [x], [y], condSubgraphIndex=0, bodySubgraphIndex=1)
    other = builder.subgraph()
    z = other.tensor((1,), np.bool_)
    other.interface([z], [z])
    return builder.finish([x], [y])


def state_of_two_shapes() -> bytes:
    """Builds a state of one sample, of which XNNPACK would read 1000."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 64), name="x"), builder.tensor((1000, 64), name="y")
    handle, old = builder.tensor((1,), object), builder.tensor((1000, 64), name="old")
    builder.builtin("VAR_HANDLE", [], [handle], container="c", sharedName="sum")
    builder.builtin("ASSIGN_VARIABLE", [handle, x], [])
    builder.builtin("READ_VARIABLE", [handle], [old])
    builder.builtin("ADD", [old, old], [y])
    return builder.finish([x], [y])


def reversed_sequences(*lengths: int) -> bytes:
    """Builds a REVERSE_SEQUENCE of rows of 8 values, of which these many are reversed."""
    builder = ModelBuilder()
    x, y = builder.tensor((2, 8), name="x"), builder.tensor((2, 8), name="y")
    builder.builtin("REVERSE_SEQUENCE", [x, builder.constant(np.array(lengths, np.int32))], [y])
    operator = builder.graph.operators[-1]
    operator.builtinOptionsType = schema.BuiltinOptions.ReverseSequenceOptions
    operator.builtinOptions = schema.ReverseSequenceOptionsT()
    operator.builtinOptions.seqDim = 1
    return builder.finish([x], [y])


def sparse(last_index: int = 1) -> bytes:
    """Builds a fully connected layer of sparse weights, two of whose eight blocks have values."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4), name="x"), builder.tensor((1, 2), name="y")
    weights = builder.constant(np.ones((1, 4), np.float32), name="weights")
    builder.graph.tensors[weights].shape = np.array([2, 4], np.int32)
    dimensions = []
    for size in (2, None):
        dimension = schema.DimensionMetadataT()
        if size is not None:
            dimension.denseSize = size
        else:
            dimension.format = schema.DimensionType.SPARSE_CSR
            for name, values in (("Segments", [0, 2, 4]), ("Indices", [0, 1, 0, last_index])):
                vector = schema.Uint8VectorT()
                vector.values = np.array(values, np.uint8)
                setattr(dimension, f"array{name}Type", schema.SparseIndexVector.Uint8Vector)
                setattr(dimension, f"array{name}", vector)
        dimensions.append(dimension)
    sparsity = schema.SparsityParametersT()
    sparsity.traversalOrder = np.array([0, 1], np.int32)
    sparsity.blockMap = np.array([], np.int32)
    sparsity.dimMetadata = dimensions
    builder.graph.tensors[weights].sparsity = sparsity
    builder.builtin("FULLY_CONNECTED", [x, weights, ABSENT], [y])
    return builder.finish([x], [y])


# Builders of files, a phrase of the error, and True if a delegate sees the file in a graph that a
# host has read.
_ILLEGAL: dict[str, tuple[Callable[[], bytes], str, bool]] = {
    "an output that is a constant": (
        # XNNPACK would write the sum over the file's bytes, and behind the constant if it is small.
        lambda: _sum({"shape": (1, 64)}, _sevens(1, 64)),
        "expected outputs without data of their own, got the constant tensor 'y' (#1)",
        True,
    ),
    "an input that is a constant": (
        lambda: _sum(_sevens(1, 4)),
        "graph #0: expected inputs without data of their own, got the constant tensor 'x' (#0); "
        "what is set would be written over the file's bytes: take it out of the inputs",
        False,
    ),
    "an absent factor": (
        lambda: one_op_model("MUL", _ROW, _ROW, ("x", ABSENT)),
        "expected a tensor for input #1, got none",
        True,
    ),
    "an absent output": (
        absent_output,
        "operator #0: expected a tensor for each output, got one that is absent",
        True,
    ),
    "an endless scale": (
        # Hosts crash on it when they prepare it, as after a delegate that fails.
        lambda: _sum(_bytes(np.inf), _bytes(0.5)),
        "tensor 'x' (#0): expected scales of at least 0, got inf",
        True,
    ),
    "an output written twice": (
        written_twice,
        "expected outputs that nobody else writes, got tensor 'y' (#1), an output of operator #0",
        True,
    ),
    "a condition that is its own graph": (
        own_condition,
        "graph #0: expected graphs that do not call themselves, got a cycle of calls",
        False,
    ),
    "a pool of no pixels": (
        lambda: one_op_model(
            "AVERAGE_POOL_2D",
            _IMAGE,
            _IMAGE,
            strideW=1,
            strideH=1,
            filterWidth=2,
            filterHeight=-(2**31),
        ),
        "operator #0, to 'y': expected a filter of at least 0 pixels a side, got 2 x -2147483648",
        False,
    ),
    "a state of two shapes": (
        state_of_two_shapes,
        "operator #1: expected the shape in which the state is read, [1000, 64], "
        "got tensor 'x' (#0) of [1, 64]",
        False,
    ),
    "a depthwise convolution without a bias": (
        lambda: one_op_model(
            "DEPTHWISE_CONV_2D",
            _IMAGE,
            _IMAGE,
            ("x", np.ones((1, 1, 1, 2), np.float32)),
            strideW=1,
            strideH=1,
            depthMultiplier=1,
            dilationWFactor=1,
            dilationHFactor=1,
        ),
        "operator #0, to 'y': expected a bias, as it is not of int16, got none",
        False,
    ),
    "a scale far above the others": (
        # The input's scales disappear beside it in the host's numbers.
        lambda: _sum(_bytes(0.5), _bytes(3.4e38)),
        "expected a scale of tensor 'y' (#1) of at most 3.24519e+32, got 3.4e+38",
        False,
    ),
    "a diagonal of bool": (
        lambda: one_op_model(
            "MATRIX_DIAG",
            {"shape": (1, 64), "dtype": np.bool_},
            {"shape": (1, 64, 64), "dtype": np.bool_},
        ),
        "expected values of int8, uint8, int16 or at least 32 bits, got tensor 'x' (#0)",
        False,
    ),
    "a diagonal that is too short": (
        lambda: one_op_model(
            "MATRIX_SET_DIAG", _DIAGONALS, _DIAGONALS, ("x", np.ones((1, 2), np.float32))
        ),
        "expected 2097152 values for the diagonals of [1048576, 2, 2], got 2",
        False,
    ),
    "a length beyond the sequence": (
        lambda: reversed_sequences(8, 200000000),
        "expected lengths of at most 8, as its sequences are, got 200000000",
        False,
    ),
    "a scale without a zero point": (
        lambda: _sum(
            {"shape": (1, 4), "dtype": np.int32, "scale": 0.5, "zero_point": []},
            {"shape": (1, 4), "dtype": np.int32},
        ),
        "tensor 'x' (#0): expected 1 zero points, one for each scale, got 0",
        False,
    ),
    "a sparse index beyond the weights": (
        lambda: sparse(9),
        "tensor 'weights' (#2): expected sparse indices below 4, got 9",
        False,
    ),
}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("fault", _ILLEGAL)
def test_the_interpreter_refuses(fault, host, box):
    build, words, _ = _ILLEGAL[fault]
    model = build()
    kind, message = box.call(load_and_run, model, host)
    assert kind == "ValueError"
    assert message.startswith(f"model ({len(model)} bytes): ")
    assert words in message


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("fault", [fault for fault in _ILLEGAL if _ILLEGAL[fault][2]])
def test_the_delegate_alone_refuses(fault, host, box):
    build, words, _ = _ILLEGAL[fault]
    assert words in box.call(load_in_plain_host, build(), host)


@pytest.mark.parametrize("host", HOSTS)
def test_whole_sequences_are_reversed(host, box):
    assert box.call(load_and_run, reversed_sequences(8, 3), host) == ("", "")


@pytest.mark.parametrize("host", HOSTS)
def test_whole_sparse_weights_run(host, box):
    assert box.call(load_and_run, sparse(), host) == ("", "")
