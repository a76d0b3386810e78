"""Every operator that becomes int8, in LiteRT, against its float form: off by a few steps."""

from collections.abc import Callable

import numpy as np
import pytest

from larq_engine.converter import schema
from larq_engine.converter.api import convert_tflite
from larq_engine.converter.quantizer import table
from tests.converter.graphs import Net, Value, run_stock
from tests.model_builder import PADDING

_SHAPE = (1, 6, 6, 32)
_WINDOW = {"padding": PADDING["VALID"], "filterHeight": 2, "filterWidth": 2}
_WINDOW |= {"strideH": 2, "strideW": 2}
_POOLED = (1, 3, 3, 32)

_Rng = np.random.Generator


def _weights(rng: _Rng, *shape: int) -> np.ndarray:
    return (rng.normal(size=shape) * rng.uniform(0.1, 1, shape[:1] + (1,) * 3)).astype(np.float32)


def _depthwise(net: Net, x: Value, rng: _Rng) -> Value:
    options = {"padding": PADDING["SAME"], "strideW": 1, "strideH": 1, "depthMultiplier": 1}
    weights = rng.normal(size=(1, 3, 3, 32)).astype(np.float32)
    bias = rng.normal(size=32).astype(np.float32)
    return net.op("DEPTHWISE_CONV_2D", x, weights, bias, shape=_SHAPE, **options)


def _transposed(net: Net, x: Value, rng: _Rng) -> Value:
    shape = np.array((1, 12, 12, 16), np.int32)
    options = {"padding": PADDING["SAME"], "strideW": 2, "strideH": 2}
    return net.op(
        "TRANSPOSE_CONV", shape, _weights(rng, 16, 2, 2, 32), x, shape=tuple(shape), **options
    )


def _dense(net: Net, x: Value, rng: _Rng) -> Value:
    rows = net.reshape(x, 1, 6 * 6 * 32)
    return net.dense(rows, (rng.normal(size=(20, 6 * 6 * 32)) / 32).astype(np.float32))


def _moved(kind: str, shape: tuple[int, ...], *more: np.ndarray, **options: int) -> Callable:
    return lambda net, x, rng: net.op(kind, x, *more, shape=shape, **options)


def _constant(rng: _Rng) -> np.ndarray:
    return rng.normal(size=32).astype(np.float32)


def _split(net: Net, x: Value, rng: _Rng) -> Value:
    left, right = net.split(x, 2, 3)
    return net.op("ADD", left, right)


# A function that applies each operator, and its error in steps of its output: half a step for its
# own rounding, and the rest for the rounding of its inputs.
_CASES: dict[str, tuple[Callable[[Net, Value, _Rng], Value], float]] = {
    "CONV_2D": (lambda net, x, rng: net.conv(x, _weights(rng, 48, 3, 3, 32)), 4),
    "DEPTHWISE_CONV_2D": (_depthwise, 4),
    "FULLY_CONNECTED": (_dense, 4),
    "TRANSPOSE_CONV": (_transposed, 4),
    "ADD": (lambda net, x, rng: net.op("ADD", x, _constant(rng)), 2.5),
    "SUB": (lambda net, x, rng: net.op("SUB", x, _constant(rng)), 2.5),
    "MUL": (lambda net, x, rng: net.op("MUL", x, _constant(rng)), 2.5),
    "HARD_SWISH": (lambda net, x, rng: net.op("HARD_SWISH", x), 3),
    "LEAKY_RELU": (lambda net, x, rng: net.op("LEAKY_RELU", x, alpha=0.25), 2.5),
    "RELU": (lambda net, x, rng: net.op("RELU", x), 2.5),
    "RELU6": (lambda net, x, rng: net.op("RELU6", net.op("MUL", x, 3.0)), 5),
    "RELU_N1_TO_1": (lambda net, x, rng: net.op("RELU_N1_TO_1", x), 4),
    "LOGISTIC": (lambda net, x, rng: net.op("LOGISTIC", x), 3),
    "TANH": (lambda net, x, rng: net.op("TANH", x), 6),
    "SOFTMAX": (lambda net, x, rng: net.op("SOFTMAX", x, beta=1.0), 3),
    "MEAN": (_moved("MEAN", (1, 32), np.array([1, 2], np.int32)), 2.5),
    "AVERAGE_POOL_2D": (_moved("AVERAGE_POOL_2D", _POOLED, **_WINDOW), 1.5),
    "MAX_POOL_2D": (_moved("MAX_POOL_2D", _POOLED, **_WINDOW), 1),
    "RESIZE_BILINEAR": (
        _moved("RESIZE_BILINEAR", (1, 12, 12, 32), np.array([12, 12], np.int32)),
        1.5,
    ),
    "RESIZE_NEAREST_NEIGHBOR": (
        _moved("RESIZE_NEAREST_NEIGHBOR", (1, 12, 12, 32), np.array([12, 12], np.int32)),
        1,
    ),
    "PAD": (lambda net, x, rng: net.pad(x, [(1, 2), (0, 3)]), 1),
    "CONCATENATION": (
        lambda net, x, rng: net.concatenate([x, net.op("RELU", x), net.constant(_ramp())], 3),
        1.5,
    ),
    "DEPTH_TO_SPACE": (_moved("DEPTH_TO_SPACE", (1, 12, 12, 8), blockSize=2), 1),
    "SPACE_TO_DEPTH": (_moved("SPACE_TO_DEPTH", (1, 3, 3, 128), blockSize=2), 1),
    "EXPAND_DIMS": (_moved("EXPAND_DIMS", (1, 1, 6, 6, 32), np.array(1, np.int32)), 1),
    "RESHAPE": (lambda net, x, rng: net.reshape(x, 1, 36, 32), 1),
    "SLICE": (
        _moved(
            "SLICE",
            (1, 2, 6, 8),
            np.array([0, 1, 0, 8], np.int32),
            np.array([1, 2, 6, 8], np.int32),
        ),
        1,
    ),
    "SPLIT": (_split, 2.5),
    "SQUEEZE": (_moved("SQUEEZE", (6, 6, 32), squeezeDims=np.array([0], np.int32)), 1),
    "STRIDED_SLICE": (
        _moved(
            "STRIDED_SLICE",
            (1, 3, 6, 32),
            np.zeros(4, np.int32),
            np.array([1, 6, 6, 32], np.int32),
            np.array([1, 2, 1, 1], np.int32),
        ),
        1,
    ),
    "TRANSPOSE": (lambda net, x, rng: net.transpose(x, 0, 2, 1, 3), 1),
}


def _ramp() -> np.ndarray:
    return np.linspace(-1, 1, 36 * 4, dtype=np.float32).reshape(1, 6, 6, 4)


def test_every_operator_has_a_case():
    assert set(_CASES) == {row.kind for row in table._ROWS}


@pytest.mark.parametrize("kind", _CASES)
def test_int8_is_close_to_float(net, kind, rng):
    apply, steps = _CASES[kind]
    x = net.input(*_SHAPE)
    content = net.finish(apply(net, x, rng))
    samples = [rng.normal(size=_SHAPE).astype(np.float32) for _ in range(8)]
    converted = convert_tflite(
        content,
        representative_dataset=samples,
        inference_input_type="int8",
        inference_output_type="int8",
        check=False,
    )
    graph = schema.read(converted).graphs[0]
    kinds = [op.kind for op in graph.ops]
    assert kind in kinds and "DEQUANTIZE" not in kinds
    ends = [*graph.inputs, *graph.outputs]
    (given, made) = (tensor.quantization for tensor in ends)
    for sample in samples:
        q = np.clip(np.rint(sample / given.scale[0]) + given.zero_point[0], -128, 127)
        # The float model gets the values that int8 stands for, so that the rounding of the input is
        # left out.
        real = ((q - given.zero_point[0]) * given.scale[0]).astype(np.float32)
        (expected,) = run_stock(content, [real])
        (got,) = run_stock(converted, [q.astype(np.int8)])
        off = (got.astype(np.float64) - made.zero_point[0]) * made.scale[0] - expected
        assert np.abs(off).max() <= steps * made.scale[0]


def test_the_same_scale_in_and_out(net, rng):
    x = net.input(*_SHAPE)
    y = net.conv(x, _weights(rng, 32, 3, 3, 32), padding="SAME")
    y = net.concatenate([net.max_pool(y), net.max_pool(net.op("RELU", y))], 3)
    y = net.conv(y, _weights(rng, 32, 3, 3, 64))
    samples = [rng.normal(size=_SHAPE).astype(np.float32)]
    graph = schema.read(
        convert_tflite(net.finish(y), representative_dataset=samples, check=False)
    ).graphs[0]
    (joined,) = [op for op in graph.ops if op.kind == "CONCATENATION"]
    assert len({tensor.quantization for tensor in [*joined.inputs, joined.output]}) == 1
    for op in graph.ops:
        if op.kind == "MAX_POOL_2D":
            assert op.inputs[0].quantization == op.output.quantization


def test_a_fixed_scale_beside_another(net, rng):
    """LOGISTIC always writes with a scale of 1/256, but a concatenation needs equal scales."""
    x = net.input(*_SHAPE)
    y = net.conv(x, _weights(rng, 32, 3, 3, 32), padding="SAME")
    y = net.concatenate([net.op("LOGISTIC", y), y], 3)
    content = net.finish(net.conv(y, _weights(rng, 32, 3, 3, 64)))
    samples = [rng.normal(size=_SHAPE).astype(np.float32) for _ in range(4)]
    converted = convert_tflite(content, representative_dataset=samples)
    graph = schema.read(converted).graphs[0]
    (logistic,) = [op for op in graph.ops if op.kind == "LOGISTIC"]
    assert logistic.output.quantization.scale == (1 / 256,)
    assert [op.kind for op in logistic.output.consumers] == ["QUANTIZE"]
    assert converted.report.int8.outputs[0].relative < 0.03


@pytest.mark.parametrize("kind", ["ADD", "SUB"])
def test_large_values_that_cancel_out(net, kind, rng):
    """Hosts abort where a sum's scale is 2**-19 of its inputs' or less."""
    x = net.input(*_SHAPE)
    weights = _weights(rng, 32, 3, 3, 32)
    alike = weights * np.float32(1 + 1e-6)
    left = net.conv(x, weights, padding="SAME")
    right = net.conv(x, alike if kind == "SUB" else -alike, padding="SAME")
    y = net.conv(net.op(kind, left, right), weights, padding="SAME")
    samples = [rng.normal(size=_SHAPE).astype(np.float32) for _ in range(4)]
    content = net.finish(y)
    converted = convert_tflite(content, representative_dataset=samples)
    (op,) = [op for op in schema.read(converted).graphs[0].ops if op.kind == kind]
    scales = [tensor.quantization.scale[0] for tensor in (*op.inputs, op.output)]
    assert max(scales[:2]) / 256 < scales[2] < max(scales[:2])
    for sample in samples:
        (expected,) = run_stock(content, [sample])
        off = run_stock(converted, [sample])[0] - expected
        # The inputs of the ADD or SUB and its output are off by half a step each, and the last
        # layer adds these errors times its weights.
        most = sum(scales) / 2 * np.abs(weights).reshape(32, -1).sum(axis=1).max()
        assert np.abs(off).max() <= most
