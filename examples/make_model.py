"""Makes data/binary_resnet.tflite, the model of demo.py: `python examples/make_model.py`.

A residual network in the shape of those that binarize well: a float convolution, then blocks of
x + norm(relu(binary convolution of sign(x))), in three sections that halve the image and double
the channels. The weights are random. Multipliers and biases are whole multiples of 1/1024, so
that every sum up to the last layer is exact in float32: on any machine, in any order of adding,
each sign comes out the same, and a wrong bit cannot hide behind a tolerance.
"""

from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

MODEL = Path(__file__).parent / "data" / "binary_resnet.tflite"

_IMAGE = (1, 128, 128, 3)
_CLASSES = 10
# Channels and residual blocks of each section.
_SECTIONS = [(64, 3), (128, 3), (256, 2)]
_GRID = 1024

_SAME, _RELU = 0, 1
_TYPES = {
    np.dtype(np.float32): schema.TensorType.FLOAT32,
    np.dtype(np.int32): schema.TensorType.INT32,
}


class _Network:
    """Adds one layer after the other; a layer takes and gives (tensor number, shape)."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(7)
        self._model = schema.ModelT()
        self._model.version = 3
        self._model.description = "random weights, for examples/demo.py"
        self._model.operatorCodes = []
        self._model.buffers = [schema.BufferT()]
        self._graph = schema.SubGraphT()
        self._graph.tensors = []
        self._graph.operators = []
        self._model.subgraphs = [self._graph]

    def tensor(self, name: str, shape: tuple[int, ...], data: np.ndarray | None = None) -> int:
        tensor = schema.TensorT()
        tensor.name = name
        tensor.shape = np.array(shape, np.int32)
        is_bits = name.endswith("/sign") if data is None else data.dtype == np.int32
        tensor.type = _TYPES[np.dtype(np.int32 if is_bits else np.float32)]
        tensor.buffer = 0
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(data.tobytes(), np.uint8)
            tensor.buffer = len(self._model.buffers)
            self._model.buffers.append(buffer)
        self._graph.tensors.append(tensor)
        return len(self._graph.tensors) - 1

    def constant(self, name: str, data: np.ndarray) -> int:
        return self.tensor(name, data.shape, data)

    def operator(self, code: str, inputs: list[int], output: int, options: Any = None) -> None:
        """Adds a builtin operator with an options object, or a custom one with a dictionary."""
        operator_code = schema.OperatorCodeT()
        builtin = getattr(schema.BuiltinOperator, code, schema.BuiltinOperator.CUSTOM)
        operator_code.builtinCode = operator_code.deprecatedBuiltinCode = builtin
        operator_code.version = 1
        operator = schema.OperatorT()
        operator.opcodeIndex = len(self._model.operatorCodes)
        operator.inputs = np.array(inputs, np.int32)
        operator.outputs = np.array([output], np.int32)
        if builtin == schema.BuiltinOperator.CUSTOM:
            operator_code.customCode = code
            if options:
                builder = flexbuffers.Builder()
                builder.MapFromElements(options)
                operator.customOptions = np.frombuffer(builder.Finish(), np.uint8)
        elif options is not None:
            kind = type(options).__name__.removesuffix("T")
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, kind)
            operator.builtinOptions = options
        self._model.operatorCodes.append(operator_code)
        self._graph.operators.append(operator)

    def on_grid(self, values: np.ndarray) -> np.ndarray:
        return (np.round(values * _GRID) / _GRID).astype(np.float32)

    def stem(self, x: int) -> tuple[int, tuple[int, ...]]:
        """A float convolution and a pooling, from the image to a quarter of its size."""
        channels = _SECTIONS[0][0]
        weights = self.on_grid(self._rng.normal(0, 1 / 512, (channels, 3, 3, 3)))
        bias = self.on_grid(self._rng.uniform(-0.5, 0.5, channels))
        half = (1, _IMAGE[1] // 2, _IMAGE[2] // 2, channels)
        y = self.tensor("stem/conv", half)
        options = schema.Conv2DOptionsT()
        options.padding = _SAME
        options.strideH = options.strideW = 2
        constants = [self.constant("stem/filter", weights), self.constant("stem/bias", bias)]
        self.operator("CONV_2D", [x, *constants], y, options)
        quarter = (1, half[1] // 2, half[2] // 2, channels)
        pooled = self.tensor("stem/pool", quarter)
        pool = schema.Pool2DOptionsT()
        pool.padding = _SAME
        pool.strideH = pool.strideW = pool.filterHeight = pool.filterWidth = 2
        self.operator("MAX_POOL_2D", [y], pooled, pool)
        return pooled, quarter

    def binary_conv(
        self, name: str, x: int, shape: tuple[int, ...], channels: int, stride: int
    ) -> tuple[int, tuple[int, ...]]:
        """norm(relu(3x3 convolution of sign(x))), padded with +1."""
        _, height, width, channels_in = shape
        bits = self.tensor(f"{name}/sign", (*shape[:3], channels_in // 32))
        self.operator("LceQuantize", [x], bits)
        words = self._rng.integers(-(2**31), 2**31, (channels, 3, 3, channels_in // 32))
        spread = 1 / np.sqrt(9 * channels_in)
        multiplier = self.on_grid(self._rng.uniform(0.5, 1.5, channels) * spread)
        multiplier *= self._rng.choice([-1, 1], channels).astype(np.float32)
        bias = self.on_grid(self._rng.uniform(-0.5, 0.5, channels))
        output_shape = (1, height // stride, width // stride, channels)
        y = self.tensor(f"{name}/conv", output_shape)
        inputs = [
            bits,
            self.constant(f"{name}/filter", words.astype(np.int32)),
            self.constant(f"{name}/multiplier", multiplier),
            self.constant(f"{name}/bias", bias),
            -1,  # A threshold is for bit outputs.
        ]
        options = {
            "channels_in": channels_in,
            "dilation_height_factor": 1,
            "dilation_width_factor": 1,
            "fused_activation_function": _RELU,
            "pad_values": 1,
            "padding": _SAME,
            "stride_height": stride,
            "stride_width": stride,
        }
        self.operator("LceBconv2d", inputs, y, options)
        return y, output_shape

    def residual(self, name: str, x: int, shape: tuple[int, ...]) -> int:
        y, _ = self.binary_conv(name, x, shape, shape[3], 1)
        total = self.tensor(f"{name}/add", shape)
        self.operator("ADD", [x, y], total, schema.AddOptionsT())
        return total

    def classify(self, x: int, channels: int) -> int:
        mean = self.tensor("mean", (1, channels))
        options = schema.ReducerOptionsT()
        axes = self.constant("mean/axes", np.array([1, 2], np.int32))
        self.operator("MEAN", [x, axes], mean, options)
        weights = self._rng.normal(0, 1 / np.sqrt(channels), (_CLASSES, channels))
        scores = self.tensor("scores", (1, _CLASSES))
        inputs = [
            mean,
            self.constant("scores/weights", weights.astype(np.float32)),
            self.constant("scores/bias", np.zeros(_CLASSES, np.float32)),
        ]
        self.operator("FULLY_CONNECTED", inputs, scores, schema.FullyConnectedOptionsT())
        return scores

    def finish(self, x: int, y: int) -> bytes:
        self._graph.inputs = np.array([x], np.int32)
        self._graph.outputs = np.array([y], np.int32)
        builder = flatbuffers.Builder(1 << 19)
        builder.Finish(self._model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def make_model() -> bytes:
    """Returns the file."""
    network = _Network()
    image = network.tensor("image", _IMAGE)
    x, shape = network.stem(image)
    for section, (channels, blocks) in enumerate(_SECTIONS):
        if section > 0:
            x, shape = network.binary_conv(f"section{section}/down", x, shape, channels, 2)
        for block in range(blocks):
            x = network.residual(f"section{section}/block{block}", x, shape)
    return network.finish(image, network.classify(x, shape[3]))


if __name__ == "__main__":
    MODEL.write_bytes(make_model())
    print(f"{MODEL}: {MODEL.stat().st_size} bytes")
