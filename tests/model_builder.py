"""Builds small TensorFlow Lite files, valid and malformed, with LCE's operators and builtin ones.

`ModelBuilder` checks nothing on purpose: tests of bad input write any type, shape or options into
the file. The functions below it build the models that several tests share.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

from tests.oracle import Conv, pack_bits, pack_planes

TENSOR_TYPES = {
    np.dtype(np.float32): schema.TensorType.FLOAT32,
    np.dtype(np.float16): schema.TensorType.FLOAT16,
    np.dtype(np.float64): schema.TensorType.FLOAT64,
    np.dtype(np.int8): schema.TensorType.INT8,
    np.dtype(np.uint8): schema.TensorType.UINT8,
    np.dtype(np.int16): schema.TensorType.INT16,
    np.dtype(np.int32): schema.TensorType.INT32,
    np.dtype(np.int64): schema.TensorType.INT64,
    np.dtype(np.bool_): schema.TensorType.BOOL,
    np.dtype(object): schema.TensorType.RESOURCE,
}

PADDING = {"SAME": 0, "VALID": 1}
ACTIVATION = {"NONE": 0, "RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3}

# The number of an optional input that is absent.
ABSENT = -1


def flexbuffer_map(options: Mapping[str, Any]) -> bytes:
    """Encodes custom options; the values may be of any type that FlexBuffers has."""
    builder = flexbuffers.Builder()
    with builder.Map():
        for key in sorted(options):
            builder.Key(key)
            builder.Add(options[key])
    return bytes(builder.Finish())


class ModelBuilder:
    """One subgraph, built tensor by tensor and operator by operator; tensors are numbers."""

    def __init__(self) -> None:
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.operatorCodes = []
        self.model.buffers = [schema.BufferT()]  # number 0 means no data
        self.graph = schema.SubGraphT()
        self.graph.tensors = []
        self.graph.operators = []
        self.model.subgraphs = [self.graph]

    def tensor(
        self,
        shape: Sequence[int],
        dtype: Any = np.float32,
        *,
        name: str | None = None,
        scale: float | Sequence[float] | None = None,
        zero_point: int | Sequence[int] = 0,
        quantized_dimension: int = 0,
        signature: Sequence[int] | None = None,
        data: np.ndarray | None = None,
    ) -> int:
        """Adds a tensor; -1 in `signature` is an open dimension, `data` makes a constant."""
        tensor = schema.TensorT()
        tensor.shape = np.array(shape, np.int32)
        tensor.type = TENSOR_TYPES[np.dtype(dtype)]
        tensor.name = name or f"t{len(self.graph.tensors)}"
        tensor.buffer = 0
        tensor.hasRank = True
        if signature is not None:
            tensor.shapeSignature = np.array(signature, np.int32)
        if scale is not None:
            quantization = schema.QuantizationParametersT()
            quantization.scale = np.atleast_1d(np.array(scale, np.float32))
            quantization.zeroPoint = np.atleast_1d(np.array(zero_point, np.int64))
            quantization.quantizedDimension = quantized_dimension
            tensor.quantization = quantization
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            tensor.buffer = len(self.model.buffers)
            self.model.buffers.append(buffer)
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def constant(self, array: np.ndarray, **quantization: Any) -> int:
        """Adds a constant tensor."""
        return self.tensor(array.shape, array.dtype, data=array, **quantization)

    def custom(
        self,
        op: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: Mapping[str, Any] | bytes = b"",
    ) -> None:
        """Adds a custom operator; options are a map, or raw bytes for malformed ones."""
        operator = self._operator(schema.BuiltinOperator.CUSTOM, inputs, outputs, op)
        content = options if isinstance(options, bytes) else flexbuffer_map(options)
        operator.customOptions = np.frombuffer(content, np.uint8)

    def builtin(
        self, op: str, inputs: Sequence[int], outputs: Sequence[int], **options: Any
    ) -> None:
        """Adds a builtin operator such as "CONV_2D"; options have their names in the schema."""
        operator = self._operator(getattr(schema.BuiltinOperator, op), inputs, outputs, None)
        if op in OPTIONS:
            content = getattr(schema, OPTIONS[op] + "T")()
            for key, value in options.items():
                if not hasattr(content, key):
                    raise AttributeError(f"{op} has no option {key}")
                setattr(content, key, value)
            operator.builtinOptionsType = getattr(schema.BuiltinOptions, OPTIONS[op])
            operator.builtinOptions = content

    def _operator(
        self, code: int, inputs: Sequence[int], outputs: Sequence[int], custom: str | None
    ) -> Any:
        operator_code = schema.OperatorCodeT()
        operator_code.builtinCode = code
        operator_code.deprecatedBuiltinCode = min(code, 127)
        operator_code.customCode = custom
        operator_code.version = 2 if code == schema.BuiltinOperator.BROADCAST_TO else 1
        operator = schema.OperatorT()
        operator.opcodeIndex = len(self.model.operatorCodes)
        self.model.operatorCodes.append(operator_code)
        operator.inputs = np.array(inputs, np.int32)
        operator.outputs = np.array(outputs, np.int32)
        self.graph.operators.append(operator)
        return operator

    def signature(self, inputs: Mapping[str, int], outputs: Mapping[str, int]) -> None:
        """Names inputs and outputs in a signature."""

        def maps(names: Mapping[str, int]) -> list[Any]:
            entries = []
            for name, tensor in names.items():
                entry = schema.TensorMapT()
                entry.name = name
                entry.tensorIndex = tensor
                entries.append(entry)
            return entries

        signature = schema.SignatureDefT()
        signature.signatureKey = f"signature_{len(self.model.signatureDefs or [])}"
        signature.inputs = maps(inputs)
        signature.outputs = maps(outputs)
        self.model.signatureDefs = [*(self.model.signatureDefs or []), signature]

    def subgraph(self) -> "ModelBuilder":
        """Adds another subgraph and returns its builder; its tensors have numbers of their own."""
        other = ModelBuilder()
        other.model = self.model
        self.model.subgraphs.append(other.graph)
        return other

    def interface(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Declares tensors to be inputs and outputs of the subgraph."""
        self.graph.inputs = np.array(inputs, np.int32)
        self.graph.outputs = np.array(outputs, np.int32)

    def finish(self, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        """Returns the file; the arguments are tensors of this subgraph."""
        self.interface(inputs, outputs)
        builder = flatbuffers.Builder(1 << 12)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


# Names of the options of builtin operators in the schema.
OPTIONS = {
    "ADD": "AddOptions",
    "ARG_MAX": "ArgMaxOptions",
    "ARG_MIN": "ArgMinOptions",
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "BATCH_MATMUL": "BatchMatMulOptions",
    "CALL_ONCE": "CallOnceOptions",
    "CAST": "CastOptions",
    "CONCATENATION": "ConcatenationOptions",
    "CONV_2D": "Conv2DOptions",
    "CUMSUM": "CumsumOptions",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
    "DEPTH_TO_SPACE": "DepthToSpaceOptions",
    "DIV": "DivOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions",
    "GATHER": "GatherOptions",
    "GELU": "GeluOptions",
    "IF": "IfOptions",
    "L2_POOL_2D": "Pool2DOptions",
    "LEAKY_RELU": "LeakyReluOptions",
    "LOCAL_RESPONSE_NORMALIZATION": "LocalResponseNormalizationOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "MEAN": "ReducerOptions",
    "MIRROR_PAD": "MirrorPadOptions",
    "MUL": "MulOptions",
    "PACK": "PackOptions",
    "RANDOM_STANDARD_NORMAL": "RandomOptions",
    "RANDOM_UNIFORM": "RandomOptions",
    "REDUCE_ALL": "ReducerOptions",
    "REDUCE_ANY": "ReducerOptions",
    "REDUCE_MAX": "ReducerOptions",
    "REDUCE_MIN": "ReducerOptions",
    "REDUCE_PROD": "ReducerOptions",
    "RESHAPE": "ReshapeOptions",
    "RESIZE_BILINEAR": "ResizeBilinearOptions",
    "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighborOptions",
    "REVERSE_SEQUENCE": "ReverseSequenceOptions",
    "SHAPE": "ShapeOptions",
    "SOFTMAX": "SoftmaxOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
    "SPACE_TO_DEPTH": "SpaceToDepthOptions",
    "SPLIT": "SplitOptions",
    "SPLIT_V": "SplitVOptions",
    "SQUEEZE": "SqueezeOptions",
    "STRIDED_SLICE": "StridedSliceOptions",
    "SUB": "SubOptions",
    "SUM": "ReducerOptions",
    "TRANSPOSE_CONV": "TransposeConvOptions",
    "UNPACK": "UnpackOptions",
    "VAR_HANDLE": "VarHandleOptions",
    "WHILE": "WhileOptions",
}


def one_op_model(
    op: str,
    x: Mapping[str, Any],
    y: Mapping[str, Any],
    operands: Sequence[str | np.ndarray | int] = ("x",),
    **options: Any,
) -> bytes:
    """Builds a model of one builtin operator.

    Args:
        op: The operator.
        x: The input's arguments for `ModelBuilder.tensor`.
        y: The output's arguments.
        operands: What the operator reads: "x", arrays that become constants, or ABSENT.
        **options: Options of the operator.
    """
    builder = ModelBuilder()
    source, result = builder.tensor(name="x", **x), builder.tensor(name="y", **y)
    numbers = [
        builder.constant(operand)
        if isinstance(operand, np.ndarray)
        else (source if operand == "x" else ABSENT)
        for operand in operands
    ]
    builder.builtin(op, numbers, [result], **options)
    return builder.finish([source], [result])


def bconv_options(conv: Conv, **changed: Any) -> dict[str, Any]:
    """Returns the options of an LceBconv2d; `changed` overrides them."""
    if isinstance(conv.padding, str):
        padding = {"padding": PADDING[conv.padding]}
    else:
        (top, bottom), (left, right) = conv.padding
        padding = {"pad_top": top, "pad_bottom": bottom, "pad_left": left, "pad_right": right}
    bits = {"bits_in": conv.bits_in, "bits_weights": conv.bits_weights}
    return {
        "channels_in": conv.channels_in,
        "dilation_height_factor": conv.dilation[0],
        "dilation_width_factor": conv.dilation[1],
        "fused_activation_function": ACTIVATION[conv.activation],
        "pad_values": 0 if conv.padding == "VALID" else conv.pad_value,
        "stride_height": conv.stride[0],
        "stride_width": conv.stride[1],
        **padding,
        **({} if conv.bits_in == conv.bits_weights == 1 else bits),
        **changed,
    }


def packed_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the shape of the bits of a tensor: 32 channels become one word."""
    return (*shape[:-1], -(-shape[-1] // 32))


def add_quantize(
    builder: ModelBuilder,
    source: int,
    shape: Sequence[int],
    *,
    limits: np.ndarray | None = None,
    of_bytes: bool = False,
    **options: Any,
) -> int:
    """Adds an LceQuantize and returns its output.

    It quantizes to several bits if there are limits, and reads uint8 if the type says so.
    """
    if of_bytes:
        bits = builder.tensor((*shape[:-1], 8 * packed_shape(shape)[-1]), np.int32)
        builder.custom("LceQuantize", [source], [bits], {"bits": 8})
        return bits
    if limits is None:
        bits = builder.tensor(packed_shape(shape), np.int32)
        builder.custom("LceQuantize", [source], [bits])
        return bits
    planes = len(limits).bit_length()
    bits = builder.tensor((*shape[:-1], planes * packed_shape(shape)[-1]), np.int32)
    inputs = [source, builder.constant(limits)]
    builder.custom("LceQuantize", inputs, [bits], {"bits": planes, **options})
    return bits


def add_weights(
    builder: ModelBuilder,
    signs: np.ndarray,
    scale: np.ndarray,
    axis: int,
    int8_scale: float | None = None,
) -> int:
    """Adds an LceUnpackWeights of +-1 values and returns its output.

    The weights are int8 if the value that one stands for is given.
    """
    dtype = np.float32 if int8_scale is None else np.int8
    weights = builder.tensor(signs.shape, dtype, name="weights", scale=int8_scale)
    constants = [builder.constant(pack_bits(signs.ravel())), builder.constant(scale)]
    builder.custom("LceUnpackWeights", constants, [weights], {"axis": axis})
    return weights


def bconv_model(
    conv: Conv,
    filters: np.ndarray,
    multiplier: np.ndarray,
    bias: np.ndarray,
    *,
    outputs: Sequence[str] = ("float",),
    scale: float = 1.0,
    zero_point: int = 0,
    thresholds: np.ndarray | None = None,
    op: str = "LceBconv2d",
    input_signature: Sequence[int] | None = None,
    limits: np.ndarray | None = None,
    input_type: type = np.float32,
    **options: Any,
) -> bytes:
    """Builds a model from its input through LceQuantize to one LceBconv2d for each kind of output.

    Args:
        conv: The geometry.
        filters: +-1 values or odd numbers, [Cout, kh, kw, Cin per group].
        multiplier: One for each output channel, for float and int8 outputs.
        bias: One for each output channel, for float and int8 outputs.
        outputs: Any of "float", "int8" and "bits".
        scale: Scale of the int8 output.
        zero_point: Zero point of the int8 output.
        thresholds: One for each output channel, for bits.
        op: The operator's name, of which LCE has two spellings.
        input_signature: Has -1 for open dimensions of the input.
        limits: Limits of LceQuantize, if the geometry has several bits.
        input_type: np.float32, or np.uint8 if the geometry has 8 bits.
        **options: Replaced options.
    """
    builder = ModelBuilder()
    x = builder.tensor(conv.input_shape, input_type, name="x", signature=input_signature)
    of_bytes = input_type is np.uint8
    bits = add_quantize(builder, x, conv.input_shape, limits=limits, of_bytes=of_bytes)
    weights = builder.constant(pack_planes(filters, conv.bits_weights))
    mul, add = builder.constant(multiplier), builder.constant(bias)
    results = []
    for kind in outputs:
        if kind == "float":
            y = builder.tensor(conv.output_shape, name="y_float")
        elif kind == "int8":
            y = builder.tensor(
                conv.output_shape, np.int8, name="y_int8", scale=scale, zero_point=zero_point
            )
        else:
            y = builder.tensor(packed_shape(conv.output_shape), np.int32, name="y_bits")
        if kind == "bits":
            inputs = [bits, weights, ABSENT, ABSENT, builder.constant(thresholds)]
        else:
            inputs = [bits, weights, mul, add, ABSENT]
        builder.custom(op, inputs, [y], bconv_options(conv, **options))
        results.append(y)
    return builder.finish([x], results)


def bmaxpool_model(
    shape: Sequence[int],
    output_shape: Sequence[int],
    window: Sequence[int],
    stride: Sequence[int],
    padding: str,
) -> bytes:
    """Builds a model from float input through LceQuantize and LceBMaxPool2d to bits."""
    builder = ModelBuilder()
    x = builder.tensor(shape, name="x")
    bits = add_quantize(builder, x, shape)
    y = builder.tensor(packed_shape(output_shape), np.int32, name="y")
    options = {
        "padding": PADDING[padding],
        "stride_height": stride[0],
        "stride_width": stride[1],
        "filter_height": window[0],
        "filter_width": window[1],
    }
    builder.custom("LceBMaxPool2d", [bits], [y], options)
    return builder.finish([x], [y])


def open_conv_model() -> bytes:
    """Builds a model of images of any size that refuses small ones: its 3x3 taps do not pad."""
    builder = ModelBuilder()
    x = builder.tensor((1, 5, 5, 2), name="x", signature=(-1, -1, -1, 2))
    y = builder.tensor((1, 3, 3, 1), name="y", signature=(-1, -1, -1, 1))
    filters = builder.constant(np.ones((1, 3, 3, 2), np.float32))
    names = ("strideH", "strideW", "dilationHFactor", "dilationWFactor")
    options = {"padding": PADDING["VALID"], **dict.fromkeys(names, 1)}
    bias = builder.constant(np.zeros(1, np.float32))
    builder.builtin("CONV_2D", [x, filters, bias], [y], **options)
    return builder.finish([x], [y])
