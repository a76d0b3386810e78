"""Random graphs of binary and other layers in int8 run, are legal, and are close to float."""

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import schema
from larq_engine.converter.api import convert_tflite
from larq_engine.converter.graph import Graph
from tests.converter.graphs import Net, Value, signs

_CHANNELS = 32


class _Random:
    """Adds operators to a graph of images of one size; all values stay about 1."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._net = Net()
        self._values = [self._net.input(1, 8, 8, _CHANNELS)]

    def build(self, operators: int) -> bytes:
        builders = [self._layer, self._binary, self._sum, self._affine, self._relu, self._pool]
        builders += [self._layer, self._binary, self._joined, self._average]
        for _ in range(operators):
            self._values.append(builders[self._rng.integers(len(builders))]())
        unread = self._values[-1]
        return self._net.finish(unread, self._pick())

    def _pick(self) -> Value:
        """Picks a value, mostly one of the last, so that the graph is deep."""
        back = min(len(self._values), 1 + int(self._rng.geometric(0.5)))
        return self._values[-self._rng.integers(1, back + 1)]

    def _weights(self, channels: int) -> np.ndarray:
        weights = self._rng.normal(size=(_CHANNELS, 3, 3, channels)) / (3 * channels**0.5)
        weights[self._rng.integers(_CHANNELS)] *= self._rng.choice([0, 1e-7, 1])
        return weights.astype(np.float32)

    def _layer(self) -> Value:
        bias = (self._rng.normal(size=_CHANNELS) / 4).astype(np.float32)
        activation = self._rng.choice(["NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1"])
        weights = self._weights(_CHANNELS)
        return self._net.conv(self._pick(), weights, bias, padding="SAME", activation=activation)

    def _binary(self) -> Value:
        filters = signs(self._rng, _CHANNELS, 3, 3, _CHANNELS)
        x = self._net.conv(self._net.sign(self._pick()), filters, padding="SAME")
        scale = (self._rng.uniform(0.5, 1, _CHANNELS) / 17).astype(np.float32)
        y = self._net.op("MUL", x, scale)
        return self._net.op("ADD", y, self._pick()) if self._rng.integers(2) else y

    def _sum(self) -> Value:
        return self._net.op("MUL", self._net.op("ADD", self._pick(), self._pick()), 0.7)

    def _affine(self) -> Value:
        scale = self._rng.uniform(0.5, 1.5, _CHANNELS).astype(np.float32)
        bias = (self._rng.normal(size=_CHANNELS) / 4).astype(np.float32)
        return self._net.op("ADD", self._net.op("MUL", self._pick(), scale), bias)

    def _relu(self) -> Value:
        return self._net.op("LEAKY_RELU", self._pick(), alpha=0.25)

    def _pool(self) -> Value:
        return self._net.max_pool(self._pick(), stride=(1, 1), padding="SAME")

    def _average(self) -> Value:
        x = self._pick()
        window = {"padding": 0, "filterHeight": 2, "filterWidth": 2, "strideH": 1, "strideW": 1}
        return self._net.op("AVERAGE_POOL_2D", x, shape=x.shape, **window)

    def _joined(self) -> Value:
        both = self._net.concatenate([self._pick(), self._pick()], 3)
        return self._net.conv(both, self._weights(2 * _CHANNELS), padding="SAME")


def _is_legal(graph: Graph) -> None:
    for op in graph.ops:
        if op.kind in ("MAX_POOL_2D", "CONCATENATION", "AVERAGE_POOL_2D"):
            tensors = [*op.inputs, *op.outputs]
            assert len({tensor.dtype for tensor in tensors}) == 1
            assert len({tensor.quantization for tensor in tensors}) == 1
        if op.kind == "LceQuantize" and op.inputs[0].dtype == "INT8":
            producer = op.inputs[0].producer
            while producer is not None and producer.kind in ("MAX_POOL_2D", "CONCATENATION"):
                producer = producer.inputs[0].producer
            # If no operator made the int8 value, it is an input that the caller rounded.
            assert producer is None or producer.kind in ("CONV_2D", "LceBconv2d", "LceDequantize")


@pytest.mark.parametrize("seed", range(40))
def test_random_graphs(seed):
    rng = np.random.default_rng(seed)
    content = _Random(rng).build(int(rng.integers(3, 16)))
    samples = [rng.normal(size=(1, 8, 8, _CHANNELS)).astype(np.float32) for _ in range(8)]
    ends = {}
    if seed % 4 == 0:
        ends = {"inference_input_type": "int8", "inference_output_type": "int8"}
    converted = convert_tflite(content, representative_dataset=samples, **ends)
    _is_legal(schema.read(converted).graphs[0])
    report = converted.report.int8
    assert report.samples == len(samples)
    # No sign that another binary layer changed reaches the inputs of the first one.
    for change in report.signs[:1]:
        assert change.changed <= 0.1 * change.signs
    for output in report.outputs:
        assert np.isfinite(output.largest)
        assert output.relative < (0.05 if not report.signs else 1.5)
    interpreter = larq_engine.Interpreter(converted)
    assert {str(kind) for kind in interpreter.input_types} == {"int8" if ends else "float32"}
