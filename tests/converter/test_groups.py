"""Groups of channels are merged into fewer layers if int8 gains by that."""

from collections.abc import Sequence

import numpy as np
import pytest

from larq_engine.converter import schema
from larq_engine.converter.api import convert_tflite
from larq_engine.converter.converted_model import ConvertedModel
from tests.converter.graphs import Net, Value, convert, convert_and_compare, run_stock

_SIZE = 14


def _groups(
    net: Net,
    x: Value,
    count: int,
    outputs: int,
    rng: np.random.Generator,
    order: Sequence[int] | None = None,
) -> Value:
    parts = net.split(x, count, 3)
    made = []
    for number in order or range(count):
        weights = rng.normal(size=(outputs, 3, 3, x.shape[3] // count)).astype(np.float32)
        bias = rng.normal(size=outputs).astype(np.float32)
        made.append(net.conv(parts[number], weights, bias, padding="SAME"))
    return net.concatenate(made, 3)


def _convolutions(content: bytes) -> list[tuple[int, ...]]:
    """Returns the shapes of the layers' weights."""
    (graph,) = schema.read(content).graphs
    return [op.inputs[1].shape for op in graph.ops if op.kind == "CONV_2D"]


def _convert(content: bytes, sample: np.ndarray) -> ConvertedModel:
    return convert_tflite(content, representative_dataset=[sample, -sample])


@pytest.mark.parametrize(
    ("channels", "count", "outputs", "merged"),
    [
        (32, 4, 8, [(32, 3, 3, 32)]),  # the first numbers of channels at which merging gains
        (32, 8, 8, [(32, 3, 3, 16)] * 2),
        (32, 4, 16, [(32, 3, 3, 16)] * 2),
        (48, 3, 8, [(24, 3, 3, 48)]),
        (64, 2, 16, [(16, 3, 3, 32)] * 2),  # these groups gain by themselves
        (16, 4, 4, []),  # these never gain
        (80, 5, 4, []),  # these have no number of neighbours that would gain
    ],
)
def test_neighbours_become_one_layer(net, channels, count, outputs, merged, rng):
    x = net.input(1, _SIZE, _SIZE, channels)
    made = _groups(net, x, count, outputs, rng)
    scale = rng.uniform(-2, 2, made.shape[3]).astype(np.float32)
    scaled = net.op("SUB", scale, net.op("MUL", made, scale), fusedActivationFunction=1)
    content = net.finish(scaled)
    sample = rng.normal(size=x.shape).astype(np.float32)
    converted = _convert(content, sample)
    kept = [(outputs, 3, 3, channels // count)] * count
    assert _convolutions(converted) == (merged or kept)
    (output,) = converted.report.int8.outputs
    assert output.relative < 0.02
    if merged:
        # The layers have taken in what was behind them, and only several layers need a split.
        kinds = [op.kind for op in schema.read(converted).graphs[0].ops]
        more = ["SPLIT", "CONCATENATION"] if len(merged) > 1 else []
        rest = sorted(kind for kind in kinds if kind not in ("QUANTIZE", "DEQUANTIZE", "CONV_2D"))
        assert rest == sorted(more)
        (expected,) = run_stock(content, [sample])
        (found,) = run_stock(converted, [sample])
        assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


def test_in_float_they_stay(net, rng):
    x = net.input(1, _SIZE, _SIZE, 32)
    content = net.finish(_groups(net, x, 4, 8, rng))
    assert len(_convolutions(convert(content).content)) == 4


def test_in_another_order_they_stay(net, rng):
    x = net.input(1, _SIZE, _SIZE, 32)
    content = net.finish(_groups(net, x, 4, 8, rng, order=(0, 2, 1, 3)))
    sample = rng.normal(size=x.shape).astype(np.float32)
    assert len(_convolutions(_convert(content, sample))) == 4


def test_a_part_that_others_read_is_there_for_them(net, rng):
    x = net.input(1, _SIZE, _SIZE, 32)
    parts = net.split(x, 4, 3)
    weights = rng.normal(size=(8, 3, 3, 8)).astype(np.float32)
    made = net.concatenate([net.conv(part, weights, padding="SAME") for part in parts], 3)
    content = net.finish(made, net.op("RELU", parts[1]))
    sample = rng.normal(size=x.shape).astype(np.float32)
    converted = _convert(content, sample)
    assert len(_convolutions(converted)) == 1
    for found, expected in zip(
        run_stock(converted, [sample]), run_stock(content, [sample]), strict=True
    ):
        assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


def test_a_batch_norm_goes_into_layers_of_groups(net, rng):
    x = net.input(1, _SIZE, _SIZE, 32)
    scale = rng.uniform(-2, 2, 32).astype(np.float32)
    scaled = net.op("MUL", _groups(net, x, 4, 8, rng), scale, fusedActivationFunction=1)
    content = net.finish(scaled)
    converted = convert(content)
    assert converted.kinds == ["SPLIT", *["CONV_2D"] * 4, "CONCATENATION"]
    sample = rng.normal(size=x.shape).astype(np.float32)
    (found,), (expected,) = run_stock(converted.content, [sample]), run_stock(content, [sample])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_sums_of_scalars_stay(net, rng):
    x, y = net.input(), net.input()
    inputs = [np.float32(value) for value in rng.normal(size=2)]
    result = net.op("MUL", net.op("ADD", x, y), np.array(2, np.float32))
    converted = convert_and_compare(net, result, inputs=[np.array(value) for value in inputs])
    assert converted.kinds == ["ADD", "MUL"]
