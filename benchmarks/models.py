"""Builds the .tflite models that the contenders run: one layer, chained so that the layer dominates
over handing arrays in and out. Three forms, all with the same +-1 weights (`Layer.signs`):

  binary   float -> LceQuantize -> LceBconv2d -> float     padding SAME with +1
  float32  float -> CONV_2D -> float                       padding SAME with 0
  int8     int8  -> CONV_2D -> int8                        padding SAME with 0

Each form has the padding that is fastest for whoever runs it, so that the comparison slows nobody
down: LCE corrects zero padding afterwards; XNNPACK would need a PADV2 for any other value.
"""

from __future__ import annotations

from dataclasses import dataclass

import flatbuffers
import numpy as np
import numpy.typing as npt
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

from benchmarks.shapes import ConvShape

# Activations of the int8 model: value = INT8_SCALE * q, range about -2..2.
INT8_SCALE = 1 / 64
INT8_WEIGHT = 127  # what +1 becomes in a per-channel symmetric int8 filter

# Gain of a float or int8 layer: below 1, so that float32 rounding dies out along the chain and the
# check can be tight; the input must still be felt at the end of it.
GAIN = 0.5


@dataclass(frozen=True)
class Layer:
    """The constants of one layer; the same +-1 weights whatever the arithmetic."""

    signs: npt.NDArray[np.float32]  # +-1, [out, kernel, kernel, in]
    multiplier: npt.NDArray[np.float32]  # of the binary form, per output channel
    bias: npt.NDArray[np.float32]  # of the binary form
    scale: npt.NDArray[np.float32]  # of the float and int8 form: weight = scale * sign
    offset: npt.NDArray[np.float32]  # bias of the float and int8 form

    @property
    def int8_weight_scale(self) -> npt.NDArray[np.float32]:
        return self.scale / np.float32(INT8_WEIGHT)

    @property
    def int8_bias(self) -> npt.NDArray[np.int32]:
        return np.rint(self.offset / (INT8_SCALE * self.int8_weight_scale)).astype(np.int32)


def make_layer(shape: ConvShape, seed: int) -> Layer:
    """Draws a layer.

    Multipliers of the binary form are sixteenths and biases odd thirty-seconds: every value on the
    way is exact in float32 and none is 0, so that correct implementations agree bit for bit,
    through the whole chain of signs.
    """
    rng = np.random.default_rng(seed)
    filter_shape = (shape.channels, shape.kernel, shape.kernel, shape.channels)
    multiplier = rng.integers(1, 25, shape.channels) * rng.choice([-1, 1], shape.channels) / 16
    spread = GAIN / np.sqrt(shape.depth)
    return Layer(
        signs=rng.choice([-1, 1], filter_shape).astype(np.float32),
        multiplier=multiplier.astype(np.float32),
        bias=((2 * rng.integers(-64, 64, shape.channels) + 1) / 32).astype(np.float32),
        scale=(spread * rng.uniform(0.5, 1.5, shape.channels)).astype(np.float32),
        offset=rng.uniform(-1, 1, shape.channels).astype(np.float32),
    )


def build_binary(shape: ConvShape, layer: Layer, layers: int) -> bytes:
    """Expresses the layer in LCE's custom ops, float in and float out."""
    graph = _Graph()
    # 32 channels to a word, LSB first, bit 1 for -1.
    bits = np.packbits(layer.signs < 0, axis=-1, bitorder="little").view("<i4")
    filter_ = graph.constant("filter", bits, schema.TensorType.INT32)
    multiplier = graph.constant("multiplier", layer.multiplier, schema.TensorType.FLOAT32)
    bias = graph.constant("bias", layer.bias, schema.TensorType.FLOAT32)
    float_shape = (1, shape.size, shape.size, shape.channels)
    bits_shape = (*float_shape[:3], shape.channels // 32)
    options = flexbuffers.Dumps(
        {
            "channels_in": shape.channels,
            "dilation_height_factor": 1,
            "dilation_width_factor": 1,
            "fused_activation_function": int(schema.ActivationFunctionType.NONE),
            "pad_values": 1,
            "padding": int(schema.Padding.SAME),
            "stride_height": 1,
            "stride_width": 1,
        }
    )
    x = first = graph.tensor("input", float_shape, schema.TensorType.FLOAT32)
    for i in range(layers):
        packed = graph.tensor(f"bits{i}", bits_shape, schema.TensorType.INT32)
        y = graph.tensor(f"conv{i}", float_shape, schema.TensorType.FLOAT32)
        graph.custom("LceQuantize", [x], packed, b"")
        graph.custom("LceBconv2d", [packed, filter_, multiplier, bias, -1], y, bytes(options))
        x = y
    return graph.serialize(first, x)


def build_float32(shape: ConvShape, layer: Layer, layers: int) -> bytes:
    """Expresses the layer as a builtin float convolution."""
    graph = _Graph()
    weights = layer.signs * layer.scale[:, None, None, None]
    filter_ = graph.constant("filter", weights, schema.TensorType.FLOAT32)
    bias = graph.constant("bias", layer.offset, schema.TensorType.FLOAT32)
    return _chain_conv2d(graph, shape, layers, filter_, bias, schema.TensorType.FLOAT32, None)


def build_int8(shape: ConvShape, layer: Layer, layers: int) -> bytes:
    """Expresses the layer as a builtin int8 convolution with a weight scale per output channel."""
    graph = _Graph()
    weight_scale = layer.int8_weight_scale
    filter_ = graph.constant(
        "filter",
        (layer.signs * INT8_WEIGHT).astype(np.int8),
        schema.TensorType.INT8,
        _quantization(weight_scale),
    )
    bias = graph.constant(
        "bias",
        layer.int8_bias,
        schema.TensorType.INT32,
        _quantization(np.float32(INT8_SCALE) * weight_scale),
    )
    activations = _quantization(np.array([INT8_SCALE], np.float32))
    return _chain_conv2d(graph, shape, layers, filter_, bias, schema.TensorType.INT8, activations)


def _chain_conv2d(
    graph: _Graph,
    shape: ConvShape,
    layers: int,
    filter_: int,
    bias: int,
    dtype: int,
    quantization: schema.QuantizationParametersT | None,
) -> bytes:
    dims = (1, shape.size, shape.size, shape.channels)
    x = first = graph.tensor("input", dims, dtype, quantization)
    for i in range(layers):
        y = graph.tensor(f"conv{i}", dims, dtype, quantization)
        options = schema.Conv2DOptionsT()
        options.padding = schema.Padding.SAME
        options.strideH = options.strideW = 1
        graph.builtin(
            schema.BuiltinOperator.CONV_2D,
            [x, filter_, bias],
            y,
            schema.BuiltinOptions.Conv2DOptions,
            options,
        )
        x = y
    return graph.serialize(first, x)


def _quantization(scale: npt.NDArray[np.float32]) -> schema.QuantizationParametersT:
    quantization = schema.QuantizationParametersT()
    quantization.scale = scale
    quantization.zeroPoint = np.zeros(scale.size, np.int64)
    quantization.quantizedDimension = 0
    return quantization


class _Graph:
    """Collects tensors and ops of the one subgraph and serialises them."""

    def __init__(self) -> None:
        self._buffers = [schema.BufferT()]  # buffer 0 is the empty one by convention
        self._tensors: list[schema.TensorT] = []
        self._codes: list[schema.OperatorCodeT] = []
        self._operators: list[schema.OperatorT] = []

    def tensor(
        self,
        name: str,
        dims: tuple[int, ...],
        dtype: int,
        quantization: schema.QuantizationParametersT | None = None,
    ) -> int:
        tensor = schema.TensorT()
        tensor.name = name
        tensor.shape = np.array(dims, np.int32)
        tensor.type = dtype
        tensor.buffer = 0
        tensor.quantization = quantization
        self._tensors.append(tensor)
        return len(self._tensors) - 1

    def constant(
        self,
        name: str,
        values: npt.NDArray[np.generic],
        dtype: int,
        quantization: schema.QuantizationParametersT | None = None,
    ) -> int:
        index = self.tensor(name, values.shape, dtype, quantization)
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(np.ascontiguousarray(values).tobytes(), np.uint8)
        self._tensors[index].buffer = len(self._buffers)
        self._buffers.append(buffer)
        return index

    def custom(self, name: str, inputs: list[int], output: int, options: bytes) -> None:
        operator = self._operator(schema.BuiltinOperator.CUSTOM, name, inputs, output)
        operator.customOptions = np.frombuffer(options, np.uint8) if options else None

    def builtin(
        self, code: int, inputs: list[int], output: int, options_type: int, options: object
    ) -> None:
        operator = self._operator(code, None, inputs, output)
        operator.builtinOptionsType = options_type
        operator.builtinOptions = options

    def serialize(self, first: int, last: int) -> bytes:
        subgraph = schema.SubGraphT()
        subgraph.name = "main"
        subgraph.inputs, subgraph.outputs = [first], [last]
        subgraph.tensors, subgraph.operators = self._tensors, self._operators
        model = schema.ModelT()
        model.version = 3
        model.subgraphs, model.buffers = [subgraph], self._buffers
        model.operatorCodes = self._codes
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
        return bytes(builder.Output())

    def _operator(
        self, code: int, custom_name: str | None, inputs: list[int], output: int
    ) -> schema.OperatorT:
        operator = schema.OperatorT()
        operator.opcodeIndex = self._code_index(code, custom_name)
        operator.inputs, operator.outputs = inputs, [output]
        self._operators.append(operator)
        return operator

    def _code_index(self, code: int, custom_name: str | None) -> int:
        for index, known in enumerate(self._codes):
            if (known.builtinCode, known.customCode) == (code, custom_name):
                return index
        entry = schema.OperatorCodeT()
        entry.builtinCode = code
        entry.deprecatedBuiltinCode = min(code, 127)  # an int8, where old readers look
        entry.customCode = custom_name
        entry.version = 1 if custom_name else 3  # CONV_2D version 3 has per-channel int8 filters
        self._codes.append(entry)
        return len(self._codes) - 1
