"""Binary weights of int8 layers take one bit each in the file, with the same results as bytes."""

from typing import Any

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import schema
from larq_engine.converter.api import convert_tflite
from larq_engine.converter.rules_lce import unpacked
from tests.converter.graphs import Net, Value, run_engine, run_stock, signs

_SHAPE = (1, 9, 9, 32)


def _content(kind: str, rng: np.random.Generator) -> bytes:
    net = Net()
    x = net.input(*_SHAPE)
    scale = rng.uniform(0.1, 1, 48).astype(np.float32)
    bias = rng.normal(size=48).astype(np.float32)
    if kind == "dense":
        weights = signs(rng, 48, 9 * 9 * 32) * scale[:, None]
        return net.finish(net.dense(net.reshape(x, 1, 9 * 9 * 32), weights, bias))
    weights = signs(rng, 48, 3, 3, 32) * scale[:, None, None, None]
    return net.finish(net.conv(x, weights, bias, padding="SAME"))


def _with_bytes(content: bytes) -> bytes:
    """Returns the file with LceUnpackWeights replaced by constants."""
    model = schema.read(content)
    (graph,) = model.graphs
    (op,) = [op for op in graph.ops if op.kind == "LceUnpackWeights"]
    weights = unpacked(op, graph)
    assert weights is not None and set(np.unique(np.abs(weights.data))) == {127}
    graph.replace(op, weights)
    return schema.write(model)


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("kind", ["conv", "dense"])
def test_binary_weights(kind, again, rng):
    content = _content(kind, rng)
    samples = [rng.normal(size=_SHAPE).astype(np.float32) for _ in range(4)]
    source = convert_tflite(content) if again else content
    converted = convert_tflite(source, representative_dataset=samples)
    (layer,) = converted.report.layers
    assert (layer.became, layer.input_bits, layer.weight_bits) == ("weights only", 8, 1)
    assert layer.bytes_after < layer.bytes_before / (0.9 if again else 25)
    assert converted.report.int8.outputs[0].relative < 0.02
    with_bytes = _with_bytes(converted)
    for sample in samples:
        (expected,) = run_stock(with_bytes, [sample])
        np.testing.assert_array_equal(larq_engine.Interpreter(converted).predict(sample), expected)


def test_xnnpack_takes_the_layer(rng):
    samples = [rng.normal(size=_SHAPE).astype(np.float32)]
    converted = convert_tflite(_content("conv", rng), representative_dataset=samples)
    for content, parts in ((converted, 2), (_with_bytes(converted), 1)):
        host: Any = larq_engine.Interpreter(content)._session._interpreter
        nodes = host._get_ops_details()
        assert sum(node["op_name"] == "DELEGATE" for node in nodes) == parts


def test_for_lce_they_are_bytes(rng):
    samples = [rng.normal(size=_SHAPE).astype(np.float32)]
    converted = convert_tflite(
        _content("conv", rng), representative_dataset=samples, compatibility="lce"
    )
    kinds = [op.kind for op in schema.read(converted).graphs[0].ops]
    assert kinds == ["QUANTIZE", "CONV_2D", "DEQUANTIZE"]


@pytest.mark.parametrize("smallest", [-128, -127])
def test_no_number_is_minus_128_with_a_sign_of_its_own(net, smallest, rng):
    """Weights of one number a row are stored as bits unless one is -128, which has no opposite.

    The file is int8 already.
    """
    x = net.input(4, 1, dtype=np.int8, scale=0.5)
    numbers = rng.integers(-127, 128, size=(256, 1)).astype(np.int8)
    numbers[3] = smallest
    weights = Value(net.builder.constant(numbers, scale=0.01, zero_point=0), numbers.shape)
    scale = {"scale": 0.5, "zero_point": 0}
    y = net.op("FULLY_CONNECTED", x, weights, None, shape=(4, 256), dtype=np.int8, **scale)
    content = net.finish(y)
    converted = convert_tflite(content)
    kinds = [op.kind for op in schema.read(converted).graphs[0].ops]
    assert ("LceUnpackWeights" in kinds) == (smallest == -127)
    inputs = [rng.integers(-128, 128, size=(4, 1)).astype(np.int8)]
    np.testing.assert_array_equal(run_engine(converted, inputs), run_stock(content, inputs))
