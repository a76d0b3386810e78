"""target="microcontroller": all that can be int8 is, also where floats would be faster."""

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import schema
from larq_engine.converter.api import convert_tflite
from tests.converter.graphs import Net, signs

_SIZE, _CHANNELS = 12, 32


def _weights(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return (rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


def _network(rng: np.random.Generator, *, residual: bool) -> bytes:
    """Returns a stem, a binary layer, a sum with the stem or none, and an end that classifies."""
    net = Net()
    x = net.input(1, _SIZE, _SIZE, 3)
    stem = net.conv(x, _weights(rng, _CHANNELS, 3, 3, 3), _weights(rng, _CHANNELS))
    y = net.conv(net.sign(stem), signs(rng, _CHANNELS, 3, 3, _CHANNELS), padding="SAME")
    y = net.op("MUL", y, 0.05)
    if residual:
        y = net.op("ADD", y, stem)
    z = net.conv(net.sign(y), signs(rng, _CHANNELS, 3, 3, _CHANNELS), padding="SAME")
    axes = np.array([1, 2], np.int32)
    pooled = net.op("MEAN", z, axes, shape=(1, _CHANNELS), keepDims=False)
    return net.finish(net.dense(pooled, _weights(rng, 10, _CHANNELS)))


def _convert(content: bytes, samples: list[np.ndarray], target: str) -> larq_engine.ConvertedModel:
    return convert_tflite(
        content,
        target=target,
        representative_dataset=samples,
        inference_input_type="int8",
        inference_output_type="int8",
    )


@pytest.fixture
def samples(rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.uniform(-1, 1, (1, _SIZE, _SIZE, 3)).astype(np.float32) for _ in range(20)]


@pytest.mark.parametrize("residual", [False, True])
def test_no_float_is_left(rng, samples, residual):
    content = _network(rng, residual=residual)
    by_target = {
        target: schema.read(_convert(content, samples, target)).graphs[0]
        for target in ("arm", "microcontroller")
    }
    types = {
        target: {tensor.dtype for op in graph.ops for tensor in [*op.outputs, op.inputs[0]]}
        for target, graph in by_target.items()
    }
    assert types["microcontroller"] == {"INT8", "INT32"}
    assert "FLOAT32" in types["arm"]


def test_results_are_those_of_floats_but_for_rounding(rng, samples):
    content = _network(rng, residual=True)
    converted = _convert(content, samples, "microcontroller")
    assert converted.report.int8 is not None
    (error,) = converted.report.int8.outputs
    assert error.relative < 0.25
    scale, zero = _scale(converted, "inputs")
    given = [np.rint(x / scale + zero).clip(-128, 127).astype(np.int8) for x in samples]
    got = larq_engine.Interpreter(converted).predict(np.concatenate(given))
    out_scale, out_zero = _scale(converted, "outputs")
    expected = larq_engine.Interpreter(content).predict(np.concatenate(samples))
    found = (got.astype(np.float32) - out_zero) * out_scale
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.95


def _scale(content: bytes, ends: str) -> tuple[float, int]:
    (tensor,) = getattr(schema.read(content).graphs[0], ends)
    return tensor.quantization.scale[0], tensor.quantization.zero_point[0]


@pytest.mark.parametrize("residual", [False, True])
def test_signs_stay_where_nothing_else_reads_their_values(rng, samples, residual):
    """The stem rounds down before a sign; if a sum reads it too, it rounds to the nearest."""
    converted = _convert(_network(rng, residual=residual), samples, "microcontroller")
    assert converted.report.int8 is not None
    changes = converted.report.int8.signs[0]
    # The weights and the input are rounded as well, which changes a few.
    share = changes.changed / changes.signs
    graph = schema.read(converted).graphs[0]
    stem = next(op for op in graph.ops if op.kind == "CONV_2D")
    sign = next(op for op in graph.ops if op.kind == "LceQuantize")
    assert sign.inputs[0] is stem.output
    assert share < (0.05 if residual else 0.02)


def test_bits_that_are_moved_stay_bits(rng, samples):
    """A binary dense layer reads all bits of an image as one row."""
    net = Net()
    x = net.input(1, _SIZE, _SIZE, 3)
    stem = net.conv(x, _weights(rng, _CHANNELS, 3, 3, 3), _weights(rng, _CHANNELS))
    y = net.conv(net.sign(stem), signs(rng, _CHANNELS, 3, 3, _CHANNELS))
    z = net.conv(net.sign(y), signs(rng, _CHANNELS, 3, 3, _CHANNELS))
    depth = int(np.prod(z.shape))
    row = net.sign(net.reshape(z, 1, depth))
    content = net.finish(net.dense(row, signs(rng, 10, depth)))
    graph = schema.read(_convert(content, samples, "microcontroller")).graphs[0]
    assert {op.output.dtype for op in graph.ops if op.kind == "RESHAPE"} <= {"INT32", "INT8"}
    assert len([op for op in graph.ops if op.kind == "LceBconv2d"]) == 3


def test_without_samples_the_report_says_why_floats_stay(rng, samples):
    words = "without `representative_dataset` all but the binary layers stays in floats"
    content = _network(rng, residual=False)
    assert words in str(convert_tflite(content, target="microcontroller").report)
    assert words not in str(convert_tflite(content).report)
    assert words not in str(_convert(content, samples, "microcontroller").report)


def test_without_samples_a_model_that_is_int8_already_has_no_remark(rng, samples):
    content = _convert(_network(rng, residual=False), samples, "microcontroller")
    report = str(convert_tflite(content, target="microcontroller").report)
    assert "int8" in report and "representative_dataset" not in report


def test_without_samples_a_model_of_bits_alone_has_no_remark(rng):
    net = Net()
    x = net.sign(net.input(1, _SIZE, _SIZE, _CHANNELS))
    content = net.finish(net.conv(x, signs(rng, _CHANNELS, 3, 3, _CHANNELS), padding="SAME"))
    report = convert_tflite(content, target="microcontroller").report
    assert "representative_dataset" not in str(report)
