"""Placements may name only nodes that exist; tests/cuda tests what they do with a GPU."""

from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import schema
from tests.hosts import HOSTS
from tests.model_builder import ModelBuilder


def branch_model(*, with_a_sum: bool = False) -> bytes:
    """Builds nodes of the engine: 1 of the main graph, 0 and 1 of graph 1, none of graph 2.

    The first value is the signs of x if `c` is true, else x + x. With a sum, the main graph ends
    with an operator of the host, and both values are outputs.
    """
    builder = ModelBuilder()
    shape, packed = (1, 4, 4, 32), (1, 4, 4, 1)
    c, x, y = builder.tensor((1,), np.bool_), builder.tensor(shape), builder.tensor(shape)
    bits = builder.tensor(packed, np.int32, name="main")
    builder.builtin("IF", [c, x], [y], thenSubgraphIndex=1, elseSubgraphIndex=2)
    builder.custom("LceQuantize", [y], [bits])
    signs, double = builder.subgraph(), builder.subgraph()
    for branch in (signs, double):
        branch.interface([branch.tensor(shape)], [branch.tensor(shape, name="signs")])
    inner = signs.tensor(packed, np.int32, name="inner")
    signs.custom("LceQuantize", [0], [inner])
    signs.custom("LceDequantize", [inner], [1])
    double.builtin("ADD", [0, 0], [1])
    if not with_a_sum:
        return builder.finish([c, x], [bits])
    twice = builder.tensor(packed, np.int32)
    builder.builtin("ADD", [bits, bits], [twice])
    return builder.finish([c, x], [y, twice])


_CANNOT_BE = {
    "999:cpu": "expected nodes that the engine takes over, of graph 0 these: 1; got 999",
    "1:cpu,0:cpu": "expected nodes that the engine takes over, of graph 0 these: 1; got 0",
    "1/2:cpu": "expected nodes that the engine takes over, of graph 1 these: 0-1; got 1/2",
    "2/1:cpu": "expected nodes that the engine takes over, of graph 2 these: none; got 2/1",
    "3/0:cpu": "expected a graph of the model, got 3/0, and there is no graph 3",
}


@pytest.mark.parametrize("device", ["cpu", "auto"])
@pytest.mark.parametrize("placement", _CANNOT_BE)
@pytest.mark.parametrize("host", HOSTS)
def test_nodes_that_cannot_be_placed(host, placement, device):
    with pytest.raises(ValueError) as error:
        larq_engine.Interpreter(branch_model(), host=host, device=device, placement=placement)
    assert f"placement: {_CANNOT_BE[placement]}" in str(error.value)


@pytest.mark.parametrize("taken", [True, False])
@pytest.mark.parametrize("host", HOSTS)
def test_nodes_of_every_graph(host, taken):
    x = np.random.default_rng(3).standard_normal((1, 4, 4, 32)).astype(np.float32)
    inputs = [np.array([taken]), x]
    expected = larq_engine.Interpreter(branch_model(), host=host).predict(inputs)
    placed = larq_engine.Interpreter(branch_model(), host=host, placement="1:cpu,1/0:cpu,2/0:cpu")
    np.testing.assert_array_equal(placed.predict(inputs), expected)


def test_float_operators_without_a_gpu():
    """Float operators may be placed on the CPU, where they stay with the host."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4)), builder.tensor((1, 4))
    bits = builder.tensor((1, 1), np.int32)
    builder.builtin("LOGISTIC", [x], [y])
    builder.custom("LceQuantize", [y], [bits])
    model = builder.finish([x], [bits])
    placed = larq_engine.Interpreter(model, placement="0:cpu")
    assert placed.predict(np.ones((1, 4), np.float32)).tolist() == [[0]]


_MODEL = Path(__file__).parents[1] / "interop" / "data" / "residual_relu_bn_add.float.tflite"


def _rows(model: bytes | Path, **options) -> list:
    with larq_engine.Interpreter(model, **options) as interpreter:
        return list(interpreter.profile(runs=1))


def _sums(rows: list) -> list[int]:
    """Returns the numbers of the sums, which convolutions' rows have absorbed."""
    return [node for row in rows for node in row.absorbed]


def _with_metadata(text: str) -> bytes:
    model = schema.read(_MODEL.read_bytes())
    model.extra.metadata = [("larq_engine.placement", np.frombuffer(text.encode(), np.uint8))]
    return schema.write(model)


def _convolutions() -> list[int]:
    return [row.node for row in _rows(_MODEL) if row.op == "LceBconv2d"]


def _kernels(model: bytes | Path, **options) -> list[str]:
    return [row.kernel for row in _rows(model, **options) if row.op == "LceBconv2d"]


@pytest.mark.parametrize("host", HOSTS)
def test_kernels_of_single_operators(host):
    first, *others = _convolutions()
    auto = _kernels(_MODEL, host=host)
    placed = _kernels(_MODEL, host=host, placement=f"{first}:cpu:reference")
    assert placed == ["reference", *auto[1:]]
    assert len(others) == 2


@pytest.mark.parametrize("host", HOSTS)
def test_operators_left_to_the_host(host):
    first, *others = _sums(_rows(_MODEL))
    rows = _rows(_MODEL, host=host, placement=f"{first}:host")
    assert _sums(rows) == others
    assert "1 ADD" in rows[-1].name.split(", ")


def test_what_only_the_engine_computes_is_not_left_to_the_host():
    with pytest.raises(ValueError, match="placement: expected nodes that the host has operators"):
        larq_engine.Interpreter(_MODEL, placement=f"{_convolutions()[0]}:host")


@pytest.mark.parametrize("host", HOSTS)
def test_the_file_says_it(host):
    first = _convolutions()[0]
    model = _with_metadata(f"{first}:cpu:reference")
    auto = _kernels(_MODEL, host=host)
    assert _kernels(model, host=host) == ["reference", *auto[1:]]
    assert _kernels(model, host=host, placement="none") == auto
    again = f"{_convolutions()[1]}:cpu:reference"
    assert _kernels(model, host=host, placement=again) == [auto[0], "reference", auto[2]]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("text", ["0:gpu", "0:cpu:no_such_kernel", "0:cuda"])
def test_what_the_file_says_cannot_be(host, text):
    with pytest.raises(ValueError, match="the model's placement: "):
        larq_engine.Interpreter(_with_metadata(text), host=host)


@pytest.mark.parametrize("text", ["0:cpu:no_such_kernel", "0:cuda"])
def test_the_file_falls_back(text):
    assert _kernels(_with_metadata(f"fallback,{text}")) == _kernels(_MODEL)


@pytest.mark.parametrize("host", HOSTS)
def test_layers_cut_in_two(rng, host):
    first = _convolutions()[0]
    with larq_engine.Interpreter(_MODEL, host=host) as whole:
        x = rng.standard_normal(whole.input_shapes[0], np.float32)
        expected = whole.predict(x)
    with larq_engine.Interpreter(
        _MODEL, host=host, placement=f"{first}:cpu@8+cpu:reference"
    ) as cut:
        np.testing.assert_array_equal(cut.predict(x), expected)
        rows = [row for row in cut.profile(runs=1) if row.node == first]
    assert [row.op for row in rows] == ["LceBconv2d", "LceBconv2d", "CONCATENATION"]
    assert rows[1].kernel == "reference"


def test_layers_that_cannot_be_cut():
    with pytest.raises(ValueError, match="only binarized convolutions of one group"):
        node = _sums(_rows(_MODEL))[0]
        larq_engine.Interpreter(_MODEL, placement=f"{node}:cpu@8+cpu")
    with pytest.raises(ValueError, match=r"expected fewer than the layer's [0-9]+ output channels"):
        larq_engine.Interpreter(_MODEL, placement=f"{_convolutions()[0]}:cpu@100000+cpu")
