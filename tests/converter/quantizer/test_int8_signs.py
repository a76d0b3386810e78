"""int8 layers round their results down where a sign reads them, so that each sign stays."""

import numpy as np
import pytest

from larq_engine.converter import schema
from larq_engine.converter.api import convert_tflite
from larq_engine.converter.graph import Graph, Op, Tensor
from tests.converter.graphs import Net, signs
from tests.converter.quantizer.running import read_values

_PIXELS, _IN, _OUT = 40, 96, 96


def _layer(graph: Graph) -> Op:
    (op,) = [op for op in graph.ops if op.kind == "CONV_2D"]
    assert op.output.dtype == "INT8"
    return op


def _sums(op: Op, data: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Returns the sums of a 1x1 convolution, in steps of its bias."""
    x, weights, steps = op.inputs
    assert isinstance(x, Tensor) and isinstance(weights, Tensor) and isinstance(steps, Tensor)
    values = data.astype(np.int64) - x.quantization.zero_point[0]
    product = values @ weights.data.astype(np.int64).reshape(len(bias), -1).T
    return product + np.round(bias / np.array(steps.quantization.scale)).astype(np.int64)


def _net(
    rng: np.random.Generator, sizes: np.ndarray, *, residual: bool
) -> tuple[bytes, np.ndarray]:
    net = Net()
    x = net.input(1, _PIXELS, _PIXELS, _IN)
    # The first weight is the largest, so that the others are small integers; its pixels are 0.
    steps = rng.integers(-2, 3, (_OUT, 1, 1, _IN))
    steps[..., 0] = 127
    weights = steps * sizes[:, None, None, None]
    bias = (rng.normal(size=_OUT) * sizes * rng.integers(0, 2, _OUT)).astype(np.float32)
    y = net.conv(x, weights.astype(np.float32), bias)
    z = net.conv(net.sign(y), signs(rng, _OUT, 3, 3, _OUT), padding="SAME")
    content = net.finish(net.op("ADD", y, z) if residual else z)
    return content, bias


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("spread", [0, 1, 3, 6])
@pytest.mark.parametrize("seed", range(5))
def test_signs_are_those_of_the_sums(seed, spread, residual):
    rng = np.random.default_rng([seed, spread])
    sizes = 10.0 ** rng.uniform(-spread, 0, _OUT)
    content, bias = _net(rng, sizes, residual=residual)
    samples = [rng.integers(-2, 3, (1, _PIXELS, _PIXELS, _IN)).astype(np.float32) for _ in range(3)]
    for sample in samples:
        sample[..., 0] = 0
    converted = convert_tflite(content, representative_dataset=samples, check=False)
    graph = schema.read(converted).graphs[0]
    op = _layer(graph)
    quantize = next(op for op in graph.ops if op.kind == "LceQuantize")
    assert quantize.inputs[0] is op.output
    data, made, bits = read_values(
        converted, [op.inputs[0], op.output, quantize.output], samples[0]
    )
    sums = _sums(op, data, bias)
    below = np.unpackbits(bits.view(np.uint8), axis=-1, bitorder="little", count=_OUT)
    np.testing.assert_array_equal(below, sums < 0)
    np.testing.assert_array_equal(below, made < op.output.quantization.zero_point[0])
    for near in (-1, 0, 1):
        assert (sums == near).any()


def test_values_of_several_bits_are_read_as_floats(net, rng):
    """A quantizer of several bits reads floats, though a sign reads the same layer as int8."""
    x = net.input(1, _PIXELS, _PIXELS, _IN)
    y = net.conv(x, rng.normal(size=(_OUT, 3, 3, _IN)).astype(np.float32) / 32)
    clipped = net.op("RELU", net.op("MINIMUM", y, 1.0))
    two_bits = net.op("ROUND", net.op("MUL", clipped, 3.0))
    layers = [net.conv(z, signs(rng, _OUT, 3, 3, _OUT)) for z in (two_bits, net.sign(y))]
    content = net.finish(*layers)
    samples = [rng.uniform(-2, 2, (1, _PIXELS, _PIXELS, _IN)).astype(np.float32) for _ in range(3)]
    graphs = [
        schema.read(convert_tflite(content, **options)).graphs[0]
        for options in ({}, {"representative_dataset": samples})
    ]
    assert _layer(graphs[1])
    before, after = ([op for op in g.ops if op.kind == "LceQuantize"] for g in graphs)
    planes = [next(op for op in ops if op.options) for ops in (before, after)]
    assert planes[1].inputs[0].dtype == "FLOAT32"
    np.testing.assert_array_equal(planes[1].inputs[1].data, planes[0].inputs[1].data)
    assert sorted(op.inputs[0].dtype for op in after) == ["FLOAT32", "INT8"]
