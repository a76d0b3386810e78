"""Small valid models to mutate: by name, each a file's bytes.

They have all operators that the plug-in claims, subgraphs, states, sparse, quantized and string
tensors, and the host's operators one by one, each beside an operator of ours, so that a delegate
has work.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from tests.model_builder import (
    ABSENT,
    ModelBuilder,
    add_quantize,
    add_weights,
    bconv_model,
    bconv_options,
    bmaxpool_model,
    packed_shape,
)
from tests.oracle import Conv, pack_bits

# Folders of LCE's files, and of ours with several bits.
_INTEROP = [Path(__file__).parents[2] / "interop" / folder for folder in ("data", "own")]
_LARGEST_FILE = 7000  # bytes; larger ones hold the same operators and take longer

_F, _I, _B, _L = np.float32, np.int32, np.bool_, np.int64
_IMAGE = (1, 4, 4, 32)


def make_seeds() -> dict[str, bytes]:
    """Returns all seeds, the same ones in the same order each time."""
    seeds = {
        path.stem: path.read_bytes()
        for folder in _INTEROP
        for path in sorted(folder.glob("*.tflite"))
        if path.stat().st_size <= _LARGEST_FILE
    }
    seeds |= {function.__name__.strip("_"): function() for function in _OWN}
    seeds |= {f"host_{number}_{op}": content for number, (op, content) in enumerate(_host_ops())}
    return seeds


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


def _signs(*shape: int) -> np.ndarray:
    return _rng().choice(np.array([-1.0, 1.0], _F), shape)


def _convolutions() -> bytes:
    """Builds a convolution with all three outputs."""
    conv = Conv((1, 4, 4, 32), (3, 3), 8)
    ones = np.ones(8, _F)
    return bconv_model(
        conv,
        _signs(8, 3, 3, 32),
        ones,
        ones,
        outputs=("float", "int8", "bits"),
        thresholds=np.arange(8, dtype=_I),
    )


def _groups() -> bytes:
    conv = Conv((1, 5, 5, 64), (2, 2), 4, groups=2, stride=(2, 2), padding="VALID")
    return bconv_model(conv, _signs(4, 2, 2, 32), np.ones(4, _F), np.zeros(4, _F))


def _open_size() -> bytes:
    conv = Conv((1, 4, 4, 32), (3, 3), 4, padding="SAME", pad_value=0)
    return bconv_model(
        conv, _signs(4, 3, 3, 32), np.ones(4, _F), np.zeros(4, _F), input_signature=(-1, -1, -1, 32)
    )


def _pool() -> bytes:
    return bmaxpool_model((1, 4, 4, 33), (1, 2, 2, 33), (2, 2), (2, 2), "SAME")


def _bits_and_back() -> bytes:
    builder = ModelBuilder()
    x, y = builder.tensor((2, 5, 33), name="x"), builder.tensor((2, 5, 33), name="y")
    builder.custom("LceDequantize", [add_quantize(builder, x, (2, 5, 33))], [y])
    builder.signature({"in": x}, {"out": y})
    return builder.finish([x], [y])


def _int8_bits() -> bytes:
    builder = ModelBuilder()
    quantization = {"scale": 0.5, "zero_point": 3}
    x = builder.tensor((1, 2, 2, 32), np.int8, **quantization)
    y = builder.tensor((1, 2, 2, 32), np.int8, **quantization)
    builder.custom("LceDequantize", [add_quantize(builder, x, (1, 2, 2, 32))], [y])
    return builder.finish([x], [y])


def _conv(builder: ModelBuilder, x: int) -> int:
    """Adds a convolution from and to `_IMAGE`."""
    bits = add_quantize(builder, x, _IMAGE)
    y = builder.tensor(_IMAGE)
    weights = builder.constant(pack_bits(_signs(32, 1, 1, 32)))
    scale = builder.constant(np.full(32, 0.5, _F))
    options = bconv_options(Conv(_IMAGE, (1, 1), 32))
    builder.custom("LceBconv2d", [bits, weights, scale, scale, ABSENT], [y], options)
    return y


def _fused() -> bytes:
    """Builds the host's operators that the plug-in takes, between two convolutions."""
    builder = ModelBuilder()
    x = builder.tensor(_IMAGE, name="x")
    y = _conv(builder, x)
    for op in ("MUL", "ADD", "PRELU", "RELU", "RELU6", "RELU_N1_TO_1"):
        z = builder.tensor(_IMAGE)
        constants = [builder.constant(np.linspace(-1, 1, 32, dtype=_F))] if len(op) < 6 else []
        builder.builtin(op, [y, *(constants if not op.startswith("RELU") else [])], [z])
        y = z
    both, pooled = builder.tensor((1, 4, 4, 64)), builder.tensor((1, 2, 2, 64))
    total = builder.tensor(_IMAGE)
    builder.builtin("ADD", [x, y], [total])
    builder.builtin("CONCATENATION", [total, y], [both], axis=3)
    pool = {"padding": 1, "strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2}
    builder.builtin("MAX_POOL_2D", [both], [pooled], **pool)
    bits = add_quantize(builder, pooled, (1, 2, 2, 64))
    builder.signature({"x": x}, {"bits": bits, "floats": y})
    return builder.finish([x], [bits, y])


def _unpacked_weights() -> bytes:
    builder = ModelBuilder()
    x, y, flat = builder.tensor((1, 45)), builder.tensor((1, 6)), builder.tensor((6, 45))
    unpacked = add_weights(builder, _signs(6, 3, 3, 5), np.ones(6, _F), 0)
    builder.builtin("RESHAPE", [unpacked, builder.constant(np.array([6, 45], _I))], [flat])
    builder.builtin("FULLY_CONNECTED", [x, flat, builder.constant(np.zeros(6, _F))], [y])
    return builder.finish([x], [y])


def _weights_read_as_bits() -> bytes:
    builder = ModelBuilder()
    x, y = builder.tensor((1, 256)), builder.tensor((1, 256))
    weights = add_weights(builder, _signs(256, 256), np.ones(256, _F), 0)
    builder.builtin("FULLY_CONNECTED", [x, weights, builder.constant(np.zeros(256, _F))], [y])
    return builder.finish([x], [y])


def _int8_image() -> bytes:
    """Builds a convolution that the plug-in takes from the host."""
    builder = ModelBuilder()
    x = builder.tensor((1, 6, 5, 3), np.int8, scale=0.5, zero_point=-3)
    y = builder.tensor((1, 3, 3, 4), np.int8, scale=4.0, zero_point=5)
    weights = _rng().integers(-127, 128, (4, 3, 3, 3)).astype(np.int8)
    filters = builder.constant(weights, scale=[0.1, 0.2, 0.3, 0.4], zero_point=[0] * 4)
    bias = builder.constant(np.arange(4, dtype=_I), scale=[0.1] * 4, zero_point=[0] * 4)
    options = {"padding": 0, "strideH": 2, "strideW": 2, "dilationHFactor": 1, "dilationWFactor": 1}
    builder.builtin("CONV_2D", [x, filters, bias], [y], **options)
    return builder.finish([x], [add_quantize(builder, y, (1, 3, 3, 4))])


def _int8_weights_read_as_bits() -> bytes:
    builder = ModelBuilder()
    x = builder.tensor((1, 256), np.int8, scale=0.5, zero_point=-3)
    y = builder.tensor((1, 256), np.int8, scale=4.0, zero_point=5)
    weights = add_weights(builder, _signs(256, 256), np.ones(256, _F), 0, int8_scale=0.1)
    bias = builder.constant(np.zeros(256, _I), scale=0.05)
    builder.builtin("FULLY_CONNECTED", [x, weights, bias], [y])
    return builder.finish([x], [y])


def _branches() -> bytes:
    builder = ModelBuilder()
    c, x, y = builder.tensor((1,), _B), builder.tensor(_IMAGE), builder.tensor(_IMAGE)
    builder.builtin("IF", [c, x], [y], thenSubgraphIndex=1, elseSubgraphIndex=2)
    bits = add_quantize(builder, y, _IMAGE)
    for number in range(2):
        branch = builder.subgraph()
        a = branch.tensor(_IMAGE)
        b = _conv(branch, a) if number else branch.tensor(_IMAGE)
        if not number:
            branch.builtin("ADD", [a, a], [b])
        branch.interface([a], [b])
    builder.signature({"c": c, "x": x}, {"bits": bits})
    return builder.finish([c, x], [bits])


def _loop() -> bytes:
    builder = ModelBuilder()
    n, x = builder.tensor((1,), _I), builder.tensor(_IMAGE)
    m, y = builder.tensor((1,), _I), builder.tensor(_IMAGE)
    builder.builtin("WHILE", [n, x], [m, y], condSubgraphIndex=1, bodySubgraphIndex=2)
    test, body = builder.subgraph(), builder.subgraph()
    n1, x1, less = test.tensor((1,), _I), test.tensor(_IMAGE), test.tensor((1,), _B)
    # The condition is true for no more than two numbers, so that a loop from anywhere ends.
    test.builtin("EQUAL", [n1, test.constant(np.array([0], _I))], [less])
    test.interface([n1, x1], [less])
    n2, x2, more = body.tensor((1,), _I), body.tensor(_IMAGE), body.tensor((1,), _I)
    body.builtin("ADD", [n2, body.constant(np.array([1], _I))], [more])
    body.interface([n2, x2], [more, _conv(body, x2)])
    return builder.finish([n, x], [m, y])


def _state() -> bytes:
    """Builds a variable that a subgraph sets once, and a sum of all inputs so far."""
    builder = ModelBuilder()
    once = builder.subgraph()
    builder.builtin("CALL_ONCE", [], [])
    _options(builder, "CallOnceOptions", initSubgraphIndex=1)
    h0 = once.tensor((1,), object)
    once.builtin("VAR_HANDLE", [], [h0], container="c", sharedName="sum")
    once.builtin("ASSIGN_VARIABLE", [h0, once.constant(np.zeros(_IMAGE, _F))], [])
    once.interface([], [])
    x, old, new = (builder.tensor(_IMAGE) for _ in range(3))
    handle = builder.tensor((1,), object)
    builder.builtin("VAR_HANDLE", [], [handle], container="c", sharedName="sum")
    builder.builtin("READ_VARIABLE", [handle], [old])
    builder.builtin("ADD", [old, x], [new])
    builder.builtin("ASSIGN_VARIABLE", [handle, new], [])
    return builder.finish([x], [add_quantize(builder, new, _IMAGE)])


def _recurrent() -> bytes:
    """Builds a tensor that keeps its value from run to run."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 2, 3)), builder.tensor((1, 2, 4))
    constants = [builder.constant(np.ones(s, _F)) for s in ((4, 3), (4, 4), (4,))]
    state = builder.tensor((1, 4))
    builder.graph.tensors[state].isVariable = True
    builder.builtin("UNIDIRECTIONAL_SEQUENCE_RNN", [x, *constants, state], [y])
    return builder.finish([x], [add_quantize(builder, y, (1, 2, 4))])


def _lookup() -> bytes:
    """Builds strings in a table that is filled once."""
    builder = ModelBuilder()
    once = builder.subgraph()
    builder.builtin("CALL_ONCE", [], [])
    _options(builder, "CallOnceOptions", initSubgraphIndex=1)
    values = np.array([5, 7], _L)

    def table(b: ModelBuilder) -> int:
        number = b.tensor((1,), object)
        b.builtin("HASHTABLE", [], [number])
        _options(b, "HashtableOptions", tableId=1, keyDtype=5, valueDtype=4)
        return number

    def strings(b: ModelBuilder, content: bytes) -> int:
        number = b.constant(np.frombuffer(content, np.uint8))
        b.graph.tensors[number].type = schema.TensorType.STRING
        b.graph.tensors[number].shape = np.array([2], _I)
        return number

    two = b"\2\0\0\0\x10\0\0\0\x11\0\0\0\x13\0\0\0abb"
    once.builtin("HASHTABLE_IMPORT", [table(once), strings(once, two), once.constant(values)], [])
    once.interface([], [])
    keys, y, z = builder.tensor((2,)), builder.tensor((2,), _L), builder.tensor((2,))
    builder.graph.tensors[keys].type = schema.TensorType.STRING
    default = builder.constant(np.array(-1, _L))
    builder.builtin("HASHTABLE_FIND", [table(builder), keys, default], [y])
    builder.builtin("CAST", [y], [z], inDataType=4, outDataType=0)
    return builder.finish([keys], [add_quantize(builder, z, (2,))])


def _quantized() -> bytes:
    """Builds integer layers of the host, with a scale for each channel, before ours."""
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 3), name="x")

    def tensor(*shape: int) -> int:
        return builder.tensor(shape, np.int8, scale=0.5, zero_point=-3)

    def weights(*shape: int, axis: int) -> list[int]:
        scales = np.linspace(0.1, 1, shape[axis])
        zeros = np.zeros(shape[axis], _L)
        data = _rng().integers(-127, 128, shape).astype(np.int8)
        bias = {"scale": scales * 0.5, "zero_point": zeros}
        return [
            builder.constant(data, scale=scales, zero_point=zeros, quantized_dimension=axis),
            builder.constant(np.zeros(shape[axis], _I), **bias),
        ]

    a, b, c, d = tensor(1, 4, 4, 3), tensor(1, 4, 4, 8), tensor(1, 4, 4, 8), tensor(1, 4, 4, 8)
    strides = {"padding": 0, "strideH": 1, "strideW": 1}
    builder.builtin("QUANTIZE", [x], [a])
    builder.builtin("CONV_2D", [a, *weights(8, 3, 3, 3, axis=0)], [b], **strides)
    depthwise = [b, *weights(1, 3, 3, 8, axis=3)]
    builder.builtin("DEPTHWISE_CONV_2D", depthwise, [c], depthMultiplier=1, **strides)
    builder.builtin("ADD", [b, c], [d])
    e, f = tensor(1, 8), tensor(1, 4)
    builder.builtin("MEAN", [d, builder.constant(np.array([1, 2], _I))], [e])
    builder.builtin("FULLY_CONNECTED", [e, *weights(4, 8, axis=0)], [f])
    scores = builder.tensor((1, 4), name="scores")
    builder.builtin("DEQUANTIZE", [f], [scores])
    bits = builder.tensor(packed_shape((1, 4, 4, 8)), _I)
    builder.custom("LceQuantize", [d], [bits])
    builder.signature({"x": x}, {"scores": scores, "bits": bits})
    return builder.finish([x], [scores, bits])


def _product() -> bytes:
    """Builds the product of two matrices that are both computed."""
    builder = ModelBuilder()
    x, y = builder.tensor((2, 5, 40)), builder.tensor((2, 6, 40))
    sides = [add_quantize(builder, x, (2, 5, 40)), add_quantize(builder, y, (2, 6, 40))]
    values = builder.constant(np.array([[1, 0], [1, -1]], _F))
    product = builder.tensor((2, 5, 6))
    builder.custom("LceBmatmul", [*sides, values], [product], {"depth": 40})
    return builder.finish([x, y], [product])


def _sparse() -> bytes:
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4)), builder.tensor((1, 4))
    weights = builder.constant(np.array([1, 2, 3, 4], _F))
    tensor = builder.graph.tensors[weights]
    tensor.shape = np.array([4, 4], _I)
    sparsity = tensor.sparsity = schema.SparsityParametersT()
    sparsity.traversalOrder = [0, 1]
    dense, compressed = schema.DimensionMetadataT(), schema.DimensionMetadataT()
    dense.format, dense.denseSize = schema.DimensionType.DENSE, 4
    compressed.format = schema.DimensionType.SPARSE_CSR
    compressed.arraySegmentsType = schema.SparseIndexVector.Uint8Vector
    compressed.arraySegments = schema.Uint8VectorT()
    compressed.arraySegments.values = np.array([0, 1, 2, 3, 4], np.uint8)
    compressed.arrayIndicesType = schema.SparseIndexVector.Int32Vector
    compressed.arrayIndices = schema.Int32VectorT()
    compressed.arrayIndices.values = np.array([0, 1, 2, 3], _I)
    sparsity.dimMetadata = [dense, compressed]
    full = builder.tensor((4, 4))
    builder.builtin("DENSIFY", [weights], [full])
    builder.builtin("FULLY_CONNECTED", [x, full, builder.constant(np.zeros(4, _F))], [y])
    return builder.finish([x], [add_quantize(builder, y, (1, 4))])


def _shape_from_data() -> bytes:
    """Builds sizes that are known only when the model runs."""
    builder = ModelBuilder()
    x, shape = builder.tensor((1, 64)), builder.tensor((4,), _I)
    y = builder.tensor((1, 1, 2, 32), signature=(-1, -1, -1, 32))
    builder.builtin("RESHAPE", [x, shape], [y])
    bits = builder.tensor((1, 1, 2, 1), _I, signature=(-1, -1, -1, 1))
    builder.custom("LceQuantize", [y], [bits])
    return builder.finish([x, shape], [bits])


def _two_signatures() -> bytes:
    builder = ModelBuilder()
    x = builder.tensor(_IMAGE)
    y = _conv(builder, x)
    builder.signature({"x": x}, {"y": y})
    other = builder.subgraph()
    a = other.tensor(_IMAGE)
    b = _conv(other, a)
    other.interface([a], [b])
    builder.signature({"a": a}, {"b": b})
    builder.model.signatureDefs[1].subgraphIndex = 1
    return builder.finish([x], [y])


_OWN = [
    _convolutions, _groups, _open_size, _pool, _bits_and_back, _int8_bits, _fused,
    _unpacked_weights, _weights_read_as_bits, _int8_image, _int8_weights_read_as_bits, _branches,
    _loop, _state, _recurrent, _lookup, _quantized, _product, _sparse, _shape_from_data,
    _two_signatures,
]  # fmt: skip


def _options(builder: ModelBuilder, name: str, **values: Any) -> None:
    """Gives the last operator options that `ModelBuilder.builtin` does not know."""
    content = getattr(schema, name + "T")()
    for key, value in values.items():
        setattr(content, key, value)
    operator = builder.graph.operators[-1]
    operator.builtinOptionsType = getattr(schema.BuiltinOptions, name)
    operator.builtinOptions = content


def _ints(*values: int) -> np.ndarray:
    return np.array(values, _I)


_W = {"padding": 0, "strideH": 1, "strideW": 1}
_POOL = {**_W, "filterHeight": 2, "filterWidth": 2}
_IMG, _ROW = (1, 4, 4, 3), (2, 8)

# The operator and its inputs: a shape of floats, a (shape, type), or an array that is a constant.
# Then come outputs, and options with the name of their table.
_Spec = tuple[str, Sequence[Any], Sequence[Any], str, dict[str, Any]]
_UNARY = (
    "ABS", "CEIL", "COS", "ELU", "EXP", "FLOOR", "HARD_SWISH", "LOG", "LOGISTIC", "LOG_SOFTMAX",
    "L2_NORMALIZATION", "NEG", "RELU_0_TO_1", "ROUND", "RSQRT", "SIGN", "SIN", "SQRT", "SQUARE",
    "TANH", "ZEROS_LIKE", "RELU", "RELU6",
)  # fmt: skip
_BINARY = (
    "ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "POW", "SQUARED_DIFFERENCE", "FLOOR_DIV",
    "FLOOR_MOD", "PRELU",
)  # fmt: skip
_COMPARE = ("LESS", "GREATER", "EQUAL", "NOT_EQUAL", "GREATER_EQUAL", "LESS_EQUAL")
_REDUCE = ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD")
_OTHERS: list[_Spec] = [
    ("AVERAGE_POOL_2D", [_IMG], [_IMG], "Pool2DOptions", _POOL),
    ("MAX_POOL_2D", [_IMG], [_IMG], "Pool2DOptions", _POOL),
    ("L2_POOL_2D", [_IMG], [_IMG], "Pool2DOptions", _POOL),
    ("CONCATENATION", [_ROW, _ROW], [(2, 16)], "ConcatenationOptions", {"axis": 1}),
    ("CONV_2D", [_IMG, np.ones((8, 3, 3, 3), _F), np.ones(8, _F)], [(1, 4, 4, 8)],
     "Conv2DOptions", _W),
    ("DEPTHWISE_CONV_2D", [_IMG, np.ones((1, 3, 3, 6), _F), np.ones(6, _F)], [(1, 4, 4, 6)],
     "DepthwiseConv2DOptions", {**_W, "depthMultiplier": 2}),
    ("TRANSPOSE_CONV", [_ints(1, 8, 8, 2), np.ones((2, 2, 2, 3), _F), _IMG], [(1, 8, 8, 2)],
     "TransposeConvOptions", {"padding": 0, "strideH": 2, "strideW": 2}),
    ("CONV_3D", [(1, 3, 4, 4, 2), np.ones((2, 2, 2, 2, 3), _F), np.ones(3, _F)], [(1, 3, 4, 4, 3)],
     "Conv3DOptions", {"padding": 0, "strideD": 1, "strideH": 1, "strideW": 1}),
    ("FULLY_CONNECTED", [_ROW, np.ones((4, 8), _F), np.ones(4, _F)], [(2, 4)],
     "FullyConnectedOptions", {}),
    ("BATCH_MATMUL", [(2, 3, 4), (2, 4, 5)], [(2, 3, 5)], "BatchMatMulOptions", {}),
    ("SOFTMAX", [_ROW], [_ROW], "SoftmaxOptions", {"beta": 1.0}),
    ("RESHAPE", [_ROW, _ints(4, 4)], [(4, 4)], "ReshapeOptions", {"newShape": [4, 4]}),
    ("RESHAPE", [_ROW], [(4, 4)], "ReshapeOptions", {"newShape": [4, 4]}),
    ("SQUEEZE", [(1, 8)], [(8,)], "SqueezeOptions", {"squeezeDims": [0]}),
    ("EXPAND_DIMS", [_ROW, _ints(0)], [(1, 2, 8)], "ExpandDimsOptions", {}),
    ("RESIZE_BILINEAR", [_IMG, _ints(8, 8)], [(1, 8, 8, 3)], "ResizeBilinearOptions", {}),
    ("RESIZE_NEAREST_NEIGHBOR", [_IMG, _ints(8, 8)], [(1, 8, 8, 3)],
     "ResizeNearestNeighborOptions", {}),
    ("PAD", [_ROW, _ints(0, 0, 1, 1).reshape(2, 2)], [(2, 10)], "PadOptions", {}),
    ("PADV2", [_ROW, _ints(0, 0, 1, 1).reshape(2, 2), np.array([2], _F)], [(2, 10)],
     "PadV2Options", {}),
    ("MIRROR_PAD", [_ROW, _ints(0, 0, 1, 1).reshape(2, 2)], [(2, 10)], "MirrorPadOptions", {}),
    ("TRANSPOSE", [_ROW, _ints(1, 0)], [(8, 2)], "TransposeOptions", {}),
    ("GATHER", [_ROW, _ints(1, 0)], [(2, 8)], "GatherOptions", {"axis": 0}),
    ("GATHER_ND", [_ROW, _ints(1, 0).reshape(2, 1)], [(2, 8)], "GatherNdOptions", {}),
    ("SCATTER_ND", [_ints(1, 0).reshape(2, 1), _ROW, _ints(3, 8)], [(3, 8)], "ScatterNdOptions",
     {}),
    ("SLICE", [_ROW, _ints(0, 1), _ints(2, 4)], [(2, 4)], "SliceOptions", {}),
    ("STRIDED_SLICE", [_ROW, _ints(0, 0), _ints(2, 4), _ints(1, 2)], [(2, 2)],
     "StridedSliceOptions", {}),
    ("SPLIT", [_ints(1), _ROW], [(2, 4), (2, 4)], "SplitOptions", {"numSplits": 2}),
    ("SPLIT_V", [_ROW, _ints(3, 5), _ints(1)], [(2, 3), (2, 5)], "SplitVOptions",
     {"numSplits": 2}),
    ("PACK", [_ROW, _ROW], [(2, 2, 8)], "PackOptions", {"axis": 1, "valuesCount": 2}),
    ("UNPACK", [_ROW], [(8,), (8,)], "UnpackOptions", {"axis": 0, "num": 2}),
    ("TILE", [_ROW, _ints(2, 1)], [(4, 8)], "TileOptions", {}),
    ("BROADCAST_TO", [(1, 8), _ints(2, 8)], [_ROW], "BroadcastToOptions", {}),
    ("SPACE_TO_DEPTH", [_IMG], [(1, 2, 2, 12)], "SpaceToDepthOptions", {"blockSize": 2}),
    ("DEPTH_TO_SPACE", [(1, 2, 2, 12)], [_IMG], "DepthToSpaceOptions", {"blockSize": 2}),
    ("SPACE_TO_BATCH_ND", [_IMG, _ints(2, 2), _ints(0, 0, 0, 0).reshape(2, 2)], [(4, 2, 2, 3)],
     "SpaceToBatchNDOptions", {}),
    ("BATCH_TO_SPACE_ND", [(4, 2, 2, 3), _ints(2, 2), _ints(0, 0, 0, 0).reshape(2, 2)], [_IMG],
     "BatchToSpaceNDOptions", {}),
    ("ARG_MAX", [_ROW, _ints(1)], [((2,), _L)], "ArgMaxOptions", {"outputType": 4}),
    ("ARG_MIN", [_ROW, _ints(1)], [((2,), _I)], "ArgMinOptions", {"outputType": 2}),
    ("TOPK_V2", [_ROW, _ints(3)], [(2, 3), ((2, 3), _I)], "TopKV2Options", {}),
    ("CAST", [_ROW], [(_ROW, _I)], "CastOptions", {"inDataType": 0, "outDataType": 2}),
    ("SHAPE", [_ROW], [((2,), _I)], "ShapeOptions", {"outType": 2}),
    ("RANK", [_ROW], [((), _I)], "RankOptions", {}),
    ("FILL", [_ints(2, 8), np.array(1, _F)], [_ROW], "FillOptions", {}),
    ("RANGE", [_ints(0)[0], _ints(5)[0], _ints(1)[0]], [((5,), _I)], "RangeOptions", {}),
    ("ONE_HOT", [_ints(1, 2), _ints(3)[0], np.array(1, _F), np.array(0, _F)], [(2, 3)],
     "OneHotOptions", {"axis": -1}),
    ("SELECT_V2", [(_ROW, _B), _ROW, _ROW], [_ROW], "SelectV2Options", {}),
    ("SELECT", [(_ROW, _B), _ROW, _ROW], [_ROW], "SelectOptions", {}),
    ("WHERE", [(_ROW, _B)], [((1, 2), _L)], "WhereOptions", {}),
    ("LOGICAL_AND", [(_ROW, _B), (_ROW, _B)], [(_ROW, _B)], "LogicalAndOptions", {}),
    ("LOGICAL_NOT", [(_ROW, _B)], [(_ROW, _B)], "LogicalNotOptions", {}),
    ("REDUCE_ANY", [(_ROW, _B), _ints(1)], [((2,), _B)], "ReducerOptions", {}),
    ("CUMSUM", [_ROW, _ints(1)[0]], [_ROW], "CumsumOptions", {}),
    ("REVERSE_V2", [_ROW, _ints(1)], [_ROW], "ReverseV2Options", {}),
    ("REVERSE_SEQUENCE", [_ROW, _ints(1, 2)], [_ROW], "ReverseSequenceOptions",
     {"seqDim": 1, "batchDim": 0}),
    ("LEAKY_RELU", [_ROW], [_ROW], "LeakyReluOptions", {"alpha": 0.5}),
    ("GELU", [_ROW], [_ROW], "GeluOptions", {}),
    ("ATAN2", [_ROW, _ROW], [_ROW], "", {}),
    ("ADD_N", [_ROW, _ROW, _ROW], [_ROW], "AddNOptions", {}),
    ("LOCAL_RESPONSE_NORMALIZATION", [_IMG], [_IMG], "LocalResponseNormalizationOptions",
     {"radius": 1}),
    ("EMBEDDING_LOOKUP", [_ints(1, 0), _ROW], [_ROW], "", {}),
    ("SPARSE_TO_DENSE", [_ints(1, 2), _ints(4), np.ones(2, _F), np.array(0, _F)], [(4,)],
     "SparseToDenseOptions", {}),
    ("SEGMENT_SUM", [_ROW, _ints(0, 1)], [_ROW], "SegmentSumOptions", {}),
    ("UNSORTED_SEGMENT_SUM", [_ROW, _ints(0, 1), _ints(2)[0]], [_ROW], "", {}),
    ("UNIQUE", [(8,)], [(8,), ((8,), _I)], "UniqueOptions", {"idxOutType": 2}),
    ("MATRIX_DIAG", [_ROW], [(2, 8, 8)], "MatrixDiagOptions", {}),
    ("MATRIX_SET_DIAG", [(2, 3, 3), (2, 3)], [(2, 3, 3)], "MatrixSetDiagOptions", {}),
    ("DYNAMIC_UPDATE_SLICE", [_ROW, (1, 2), _ints(0, 1)], [_ROW], "", {}),
    ("BROADCAST_ARGS", [_ints(1, 8), _ints(2, 1)], [((2,), _I)], "", {}),
    ("FAKE_QUANT", [_ROW], [_ROW], "FakeQuantOptions", {"min": -1.0, "max": 1.0, "numBits": 8}),
    ("BUCKETIZE", [_ROW], [(_ROW, _I)], "BucketizeOptions", {"boundaries": [0.0, 1.0]}),
    ("BITWISE_XOR", [(_ROW, _I), (_ROW, _I)], [(_ROW, _I)], "BitwiseXorOptions", {}),
    ("RIGHT_SHIFT", [(_ROW, _I), (_ROW, _I)], [(_ROW, _I)], "RightShiftOptions", {}),
    ("RANDOM_UNIFORM", [_ints(2, 8)], [_ROW], "RandomOptions", {}),
    ("RANDOM_STANDARD_NORMAL", [_ints(2, 8)], [_ROW], "RandomOptions", {}),
    ("MULTINOMIAL", [_ROW, _ints(3)[0]], [((2, 3), _L)], "RandomOptions", {}),
    ("RFFT2D", [(1, 4, 4), _ints(4, 4)], [(1, 4, 3)], "Rfft2dOptions", {}),
    ("NON_MAX_SUPPRESSION_V4", [(4, 4), (4,), _ints(2)[0], np.array(0.5, _F), np.array(0.1, _F)],
     [((2,), _I), ((), _I)], "NonMaxSuppressionV4Options", {}),
    ("SVDF", [(2, 3), np.ones((4, 3), _F), np.ones((4, 5), _F), np.ones(2, _F), (2, 20)], [(2, 2)],
     "SVDFOptions", {"rank": 2}),
]  # fmt: skip


def _specs() -> Iterator[_Spec]:
    for op in _UNARY:
        yield op, [_ROW], [_ROW], "", {}
    for op in _BINARY:
        yield op, [_ROW, np.linspace(-1, 1, 8, dtype=_F)], [_ROW], "", {}
    for op in _COMPARE:
        yield op, [_ROW, _ROW], [(_ROW, _B)], "", {}
    for op in _REDUCE:
        yield op, [_ROW, _ints(1)], [(2, 1)], "ReducerOptions", {"keepDims": True}
    yield from _OTHERS


def _host_ops() -> Iterator[tuple[str, bytes]]:
    """Yields models of an operator whose first input or, if float, output LceQuantize reads."""
    for op, sources, results, table, options in _specs():
        builder = ModelBuilder()
        inputs, graph_inputs = [], []
        for source in sources:
            if isinstance(source, (np.ndarray, np.generic)):
                inputs.append(builder.constant(np.asarray(source)))
            else:
                typed = len(source) == 2 and isinstance(source[0], tuple)
                shape, dtype = source if typed else (source, _F)
                inputs.append(builder.tensor(shape, dtype, name=f"x{len(inputs)}"))
                graph_inputs.append(inputs[-1])
        outputs = []
        floats = []
        for result in results:
            typed = len(result) == 2 and isinstance(result[0], tuple)
            shape, dtype = result if typed else (result, _F)
            outputs.append(builder.tensor(shape, dtype, name=f"y{len(outputs)}"))
            if dtype is _F:
                floats.append((outputs[-1], shape))
        builder.builtin(op, inputs, outputs)
        if op == "RFFT2D":
            builder.graph.tensors[outputs[0]].type = schema.TensorType.COMPLEX64
            floats = []
        if op == "SVDF":
            builder.graph.tensors[inputs[-1]].isVariable = True
            graph_inputs.pop()
        if table:
            _options(builder, table, **options)
        if floats:
            outputs.append(add_quantize(builder, *floats[0]))
        else:
            shape = (2, 8)
            x = builder.tensor(shape)
            graph_inputs.append(x)
            outputs.append(add_quantize(builder, x, shape))
        yield op, builder.finish(graph_inputs, outputs)
