"""The self-check finds every kind of fault that a rule could make, and none where there is none."""

from collections.abc import Callable

import numpy as np
import pytest

from larq_engine.converter import schema
from larq_engine.converter.convert import finish, rewrite
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Graph, Model, Op
from larq_engine.converter.options import Options
from larq_engine.converter.self_check import check_conversion
from tests.converter.graphs import Net, signs


def _network(rng: np.random.Generator) -> bytes:
    """Every kind of fusion, with numbers that round: nothing here is a power of two."""
    net = Net()
    x = net.input(1, 9, 9, 3)
    y = net.conv(x, rng.normal(size=(32, 3, 3, 3)).astype(np.float32))
    scaled = signs(rng, 40, 3, 3, 32) * rng.uniform(0.5, 1.5, (40, 1, 1, 1)).astype(np.float32)
    y = net.conv(net.sign(y), scaled, padding="SAME")
    y = net.op("MUL", y, rng.uniform(-1.3, 1.3, 40).astype(np.float32))
    y = net.op("ADD", y, rng.normal(size=40).astype(np.float32) * 5)
    y = net.conv(net.sign(y), signs(rng, 24, 3, 3, 40), activation="RELU")
    y = net.max_pool(net.op("MUL", y, rng.uniform(0.3, 1.3, 24).astype(np.float32)))
    y = net.op("ADD", y, rng.normal(size=24).astype(np.float32) * 3 - 8)
    y = net.conv(net.sign(y), signs(rng, 16, 3, 3, 24), padding="SAME", activation="RELU")
    y = net.op("MUL", y, rng.uniform(0.3, 1.3, 16).astype(np.float32))
    y = net.dense(net.reshape(net.sign(net.op("ADD", y, -4.7)), 1, 64), signs(rng, 10, 64))
    weights_only = signs(rng, 30, 10) * np.float32(0.37)
    return net.finish(net.dense(y, weights_only))


def _convert(content: bytes) -> Model:
    model = schema.read(content)
    for graph in model.graphs:
        rewrite(graph, Options())
        finish(graph, Options())
    return model


def _ops(graph: Graph, kind: str) -> list[Op]:
    return [op for op in graph.ops if op.kind == kind]


def _change(op: Op, index: int, change: Callable[[np.ndarray], np.ndarray]) -> None:
    tensor = op.inputs[index]
    assert tensor is not None and tensor.data is not None
    tensor.data = change(tensor.data.copy())


def _flip_bits(words: np.ndarray) -> np.ndarray:
    """The first of each word: a single one may be of a unit that relu silences."""
    return words ^ 1


def _raise_first(values: np.ndarray) -> np.ndarray:
    values[0] += 1
    return values


def _scale(values: np.ndarray) -> np.ndarray:
    return values * np.float32(1.001)


def _wrong_filter(graph: Graph) -> Op:
    op = next(op for op in _ops(graph, "LceBconv2d") if op.inputs[2] is not None)
    _change(op, 1, _flip_bits)
    return op


def _wrong_threshold(graph: Graph) -> Op:
    op = next(op for op in _ops(graph, "LceBconv2d") if op.inputs[4] is not None)
    _change(op, 4, lambda thresholds: thresholds + np.int32(3))
    return op


def _wrong_multiplier(graph: Graph) -> Op:
    op = next(op for op in _ops(graph, "LceBconv2d") if op.inputs[2] is not None)
    _change(op, 2, _scale)
    return op


def _wrong_bias(graph: Graph) -> Op:
    op = next(op for op in _ops(graph, "LceBconv2d") if op.inputs[3] is not None)
    _change(op, 3, _raise_first)
    return op


def _wrong_padding(graph: Graph) -> Op:
    op = next(op for op in _ops(graph, "LceBconv2d") if op.options["padding"] == 0)
    op.options["pad_values"] = 1
    return op


def _lost_activation(graph: Graph) -> Op:
    op = next(
        op
        for op in _ops(graph, "LceBconv2d")
        if op.inputs[4] is None and op.output.dtype != "INT32"
    )
    op.options["fused_activation_function"] = 2
    return op


def _wrong_pool(graph: Graph) -> Op:
    (op,) = _ops(graph, "LceBMaxPool2d")
    op.options["filter_height"] = op.options["filter_width"] = 3
    return op


def _wrong_weights(graph: Graph) -> Op:
    (unpack,) = _ops(graph, "LceUnpackWeights")
    _change(unpack, 0, _flip_bits)
    return unpack.output.consumers[0]


def _wrong_wire(graph: Graph) -> Op:
    """The second half of the network reads channels in another order."""
    op = _ops(graph, "LceBconv2d")[1]
    _change(op, 1, lambda words: np.ascontiguousarray(words[::-1]))
    return op


_FAULTS = [
    _wrong_filter,
    _wrong_threshold,
    _wrong_multiplier,
    _wrong_bias,
    _wrong_padding,
    _lost_activation,
    _wrong_pool,
    _wrong_weights,
    _wrong_wire,
]


def test_right_conversion_passes(rng):
    for _ in range(5):
        content = _network(rng)
        check_conversion(_convert(content), content)


@pytest.mark.parametrize("fault", _FAULTS)
def test_fault_is_found_and_named(rng, fault):
    content = _network(rng)
    model = _convert(content)
    op = fault(model.graphs[0])
    with pytest.raises(ConversionError) as raised:
        check_conversion(model, content)
    message = str(raised.value)
    assert "self-check" in message and "check=False" in message
    # Between a convolution and the pooling that it was joined with the float model has no value.
    named = [op.name, *(reader.name for reader in op.output.consumers)]
    assert any(f"'{name}'" in message for name in named)


def test_model_without_binary_layers_needs_no_run(rng):
    net = Net()
    x = net.input(1, 4)
    content = net.finish(net.dense(x, rng.normal(size=(3, 4)).astype(np.float32)))
    model = _convert(content)
    # A graph that cannot run: the check would say so.
    model.graphs[0].ops[0].kind = "CONV_2D"
    check_conversion(model, content)


def test_signs_of_what_rounding_reaches_may_differ(rng):
    """Weights that sum to nearly nothing: the float model's sign is a matter of rounding there."""
    net = Net()
    x = net.input(1, 6, 6, 32)
    scale = np.float32(0.1)
    y = net.conv(net.sign(x), signs(rng, 64, 3, 3, 32) * scale)
    y = net.conv(net.sign(y), signs(rng, 8, 3, 3, 64))
    content = net.finish(y)
    check_conversion(_convert(content), content)


def test_model_that_computes_nan_is_named(rng):
    net = Net()
    y = net.conv(net.sign(net.input(1, 5, 5, 8)), signs(rng, 4, 3, 3, 8))
    content = net.finish(net.op("MUL", y, np.array([1, 1, np.nan, 1], np.float32)))
    with pytest.raises(ConversionError, match=r"MUL '.*' of the float model computes NaN"):
        check_conversion(_convert(content), content)


def _check(content: bytes) -> Model:
    model = _convert(content)
    check_conversion(model, content)
    return model


def test_sign_that_is_read_directly_and_through_a_move(rng):
    net = Net()
    s = net.sign(net.input(1, 6, 6, 32))
    filters = [signs(rng, 8, 3, 3, 32) for _ in range(2)]
    model = _check(net.finish(net.conv(s, filters[0]), net.conv(net.max_pool(s), filters[1])))
    assert len(_ops(model.graphs[0], "LceQuantize")) == 1


def test_two_signs_with_the_same_bits(rng):
    """Both must be given to the float model: its own signs of rounded sums may differ from them."""
    net = Net()
    y = net.conv(net.sign(net.input(1, 6, 6, 32)), signs(rng, 64, 3, 3, 32) * np.float32(0.1))
    condition = net.op("GREATER_EQUAL", y, 0.0, dtype=np.bool_)
    other = net.op("SELECT_V2", condition, 1.0, -1.0)
    outputs = [net.conv(s, signs(rng, 8, 1, 1, 64)) for s in (net.sign(y), other)]
    model = _check(net.finish(*outputs))
    assert len(_ops(model.graphs[0], "LceQuantize")) == 1


def test_model_of_positive_inputs(rng):
    net = Net()
    y = net.op("ADD", net.op("SQRT", net.input(1, 5, 5, 8)), -0.5)
    model = _check(net.finish(net.conv(net.sign(y), signs(rng, 4, 3, 3, 8))))
    assert len(_ops(model.graphs[0], "LceBconv2d")) == 1
