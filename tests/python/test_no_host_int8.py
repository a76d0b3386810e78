"""Operators on bytes without a host: LiteRT's default delegate, XNNPACK, gives the same bytes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import larq_engine
from tests.model_builder import ABSENT, ACTIVATION, ModelBuilder
from tests.no_host import check_equal, run_alone

Array = np.ndarray
Tensor = Mapping[str, Any]

_SAME, _VALID = 0, 1


def _byte(rng: np.random.Generator, dtype: Any = np.int8) -> int:
    return int(rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1))


def _bytes(rng: np.random.Generator, shape: Sequence[int], dtype: Any = np.int8) -> Array:
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


def _scale(rng: np.random.Generator) -> float:
    return float(np.float32(10 ** rng.uniform(-3, 0)))


def _quantized(
    rng: np.random.Generator,
    shape: Sequence[int],
    dtype: Any = np.int8,
    scale: float | None = None,
    zero_point: int | None = None,
    **tensor: Any,
) -> dict[str, Any]:
    return {
        "shape": shape,
        "dtype": dtype,
        "scale": _scale(rng) if scale is None else scale,
        "zero_point": _byte(rng, dtype) if zero_point is None else zero_point,
        **tensor,
    }


def _model(op: str, inputs: Sequence[Tensor | None], output: Tensor, **options: Any) -> bytes:
    """Builds a model of one operator; inputs with `data` are constants, None is absent."""
    builder = ModelBuilder()
    numbers = [ABSENT if tensor is None else builder.tensor(**tensor) for tensor in inputs]
    given = [
        number
        for number, tensor in zip(numbers, inputs, strict=True)
        if tensor is not None and "data" not in tensor
    ]
    result = builder.tensor(**output)
    builder.builtin(op, numbers, [result], **options)
    return builder.finish(given, [result])


def _constant(array: Array, **quantization: Any) -> dict[str, Any]:
    return {"shape": array.shape, "dtype": array.dtype, "data": array, **quantization}


def _refused(model: bytes, op: str) -> None:
    """Expects an error that names the operator, of the file's checks or of the engine's."""
    with pytest.raises(ValueError, match=f"computes by itself, got {op} |the file is corrupted"):
        larq_engine.Interpreter(model, host="none")


# QUANTIZE and DEQUANTIZE.


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("shape", [(5,), (1, 7), (3, 5, 6), (17, 4, 3, 5)])
def test_floats_become_bytes(rng, shape, dtype):
    output = _quantized(rng, shape, dtype)
    halves = rng.integers(-300, 300, shape) + rng.choice([0, 0.5, 0.25], shape)
    x = (halves * output["scale"]).astype(np.float32)
    x.flat[:5] = [np.nan, np.inf, -np.inf, 3e38, -0.0]
    check_equal(_model("QUANTIZE", [{"shape": shape}], output), [x])


@pytest.mark.parametrize("ratio", [1e-4, 0.0024, 0.03, 0.5, 0.77, 1.0, 1.3, 7.9, 127.5, 300.0])
def test_bytes_of_another_scale(rng, ratio):
    x = np.arange(-128, 128, dtype=np.int8).reshape(1, 16, 16)
    for _ in range(3):
        source = _quantized(rng, x.shape)
        output = _quantized(rng, x.shape, scale=float(np.float32(source["scale"] / ratio)))
        check_equal(_model("QUANTIZE", [source], output), [x])


@pytest.mark.parametrize("types", [(np.int8, np.uint8), (np.uint8, np.int8), (np.uint8, np.uint8)])
def test_bytes_of_another_type(rng, types):
    x = _bytes(rng, (3, 96), types[0])  # the host rounds what is left of 16 otherwise
    for _ in range(3):
        source, output = (_quantized(rng, x.shape, dtype) for dtype in types)
        check_equal(_model("QUANTIZE", [source], output), [x])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_bytes_become_floats(rng, dtype):
    x = _bytes(rng, (3, 5, 6), dtype)
    check_equal(_model("DEQUANTIZE", [_quantized(rng, x.shape, dtype)], {"shape": x.shape}), [x])


def test_constants_of_float16(rng):
    values = rng.normal(size=(1, 40)).astype(np.float16)
    values.flat[:8] = [0, -0.0, 6e-8, -6e-5, 65504, np.inf, -np.inf, 6.1e-5]
    builder = ModelBuilder()
    x, floats, y = (builder.tensor((1, 40)) for _ in range(3))
    builder.builtin("DEQUANTIZE", [builder.constant(values)], [floats])
    builder.builtin("ADD", [x, floats], [y])
    check_equal(builder.finish([x], [y]), [np.zeros((1, 40), np.float32)])


# Convolutions and dense layers.


def _layer(
    rng: np.random.Generator,
    op: str,
    shape: tuple[int, ...],
    filters: tuple[int, ...],
    output: tuple[int, ...],
    *,
    per_channel: bool = True,
    bias: str = "usual",
    lowest: bool = False,
    activation: str = "NONE",
    **options: Any,
) -> bytes:
    depthwise = op == "DEPTHWISE_CONV_2D"
    channels = filters[-1] if depthwise else filters[0]
    weights = np.maximum(_bytes(rng, filters), -127)
    if lowest:
        weights.flat[::3] = -128
    source = _quantized(rng, shape)
    scales = rng.uniform(0.001, 0.01, channels if per_channel else 1).astype(np.float32)
    depth = weights.size // channels
    scale = float(np.float32(source["scale"] * scales.mean() * 75 * np.sqrt(depth)))
    zeros = [0] * len(scales)
    axis = 3 if depthwise else 0
    inputs: list[Tensor | None] = [
        source,
        _constant(weights, scale=scales, zero_point=zeros, quantized_dimension=axis),
    ]
    if bias != "none":
        most = {"usual": 20_000, "wraps": 2**31 - 1}[bias]
        values = rng.integers(-most, most, channels).astype(np.int32)
        inputs.append(_constant(values, scale=scales * source["scale"], zero_point=zeros))
    return _model(
        op,
        inputs,
        _quantized(rng, output, scale=scale),
        fusedActivationFunction=ACTIVATION[activation],
        **options,
    )


def _conv(
    rng: np.random.Generator,
    shape: tuple[int, int, int, int],
    filters: tuple[int, int, int, int],
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: int = _SAME,
    op: str = "CONV_2D",
    **layer: Any,
) -> None:
    reach = [(taps - 1) * step + 1 for taps, step in zip(filters[1:3], dilation, strict=True)]
    size = [
        -(-(pixels - (0 if padding == _SAME else taps - 1)) // step)
        for pixels, taps, step in zip(shape[1:3], reach, stride, strict=True)
    ]
    depthwise = op == "DEPTHWISE_CONV_2D"
    channels = filters[-1] if depthwise else filters[0]
    options = {"depthMultiplier": channels // shape[3]} if depthwise else {}
    model = _layer(
        rng,
        op,
        shape,
        filters,
        (shape[0], *size, channels),
        padding=padding,
        strideH=stride[0],
        strideW=stride[1],
        dilationHFactor=dilation[0],
        dilationWFactor=dilation[1],
        **options,
        **layer,
    )
    check_equal(model, [_bytes(rng, shape)])


@pytest.mark.parametrize(
    "layer",
    [
        {},
        {"per_channel": False},
        {"lowest": True},
        {"bias": "wraps"},
        {"stride": (2, 1), "padding": _VALID},
        {"dilation": (2, 2)},
        {"dilation": (1, 3), "padding": _VALID, "activation": "RELU"},
        {"filters": (8, 3, 3, 4)},
        {"filters": (6, 2, 3, 8), "per_channel": False, "stride": (2, 2)},
        {"filters": (33, 1, 1, 16), "activation": "RELU6"},
    ],
)
@pytest.mark.parametrize("images", [1, 3])
def test_convolutions(rng, images, layer):
    _conv(rng, (images, 9, 11, 16), **{"filters": (8, 3, 3, 16), **layer})


@pytest.mark.parametrize(
    "layer",
    [
        {},
        {"per_channel": False},
        {"lowest": True},
        {"bias": "wraps", "activation": "RELU_N1_TO_1"},
        {"stride": (2, 2), "activation": "RELU6"},
        {"stride": (2, 1), "padding": _VALID},
        {"dilation": (2, 3)},
        {"filters": (1, 5, 4, 48)},
    ],
)
@pytest.mark.parametrize("images", [1, 3])
def test_depthwise_convolutions(rng, images, layer):
    filters = {"filters": (1, 3, 3, 16)}
    _conv(rng, (images, 9, 11, 16), **{**filters, **layer}, op="DEPTHWISE_CONV_2D")


@pytest.mark.parametrize("stride", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("channels", [8, 41, 96])
def test_depthwise_convolutions_of_wide_images(rng, channels, stride):
    """Several pixels of a line are computed together, but for those at its ends."""
    filters = (1, 3, 3, channels)
    _conv(rng, (2, 5, 37, channels), filters, stride, op="DEPTHWISE_CONV_2D")
    _conv(rng, (2, 8, 37, channels), filters, stride, dilation=(2, 1), op="DEPTHWISE_CONV_2D")


@pytest.mark.parametrize("layer", [{}, {"lowest": True}, {"bias": "none"}, {"per_channel": True}])
@pytest.mark.parametrize("rows", [1, 3, 17])
def test_dense_layers(rng, rows, layer):
    for activation in ("NONE", "RELU", "RELU6"):
        settings = {"per_channel": False, "activation": activation, **layer}
        model = _layer(rng, "FULLY_CONNECTED", (rows, 65), (10, 65), (rows, 10), **settings)
        check_equal(model, [_bytes(rng, (rows, 65))])


@pytest.mark.parametrize("keeps", [True, False])
def test_dense_layers_of_more_dimensions(rng, keeps):
    shape, output = (2, 3, 64), (2, 3, 10) if keeps else (6, 10)
    model = _layer(rng, "FULLY_CONNECTED", shape, (10, 64), output, keepNumDims=keeps)
    check_equal(model, [_bytes(rng, shape)])


# MEAN.


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((1, 16, 16, 64), [1, 2]),
        ((3, 7, 9, 33), [1, 2]),
        ((3, 7, 9, 33), [-1]),
        ((3, 7, 9, 33), [1, 3]),
        ((17, 40), [1]),
        ((3, 5, 4), [0, 1, 2]),
    ],
)
def test_means(rng, shape, axes, keeps):
    for same_scale in (True, False):
        x = _bytes(rng, shape)
        source = _quantized(rng, shape)
        if same_scale:
            output = dict(source)
        else:
            output = _quantized(rng, shape, scale=float(source["scale"] * rng.uniform(0.05, 2)))
        output["shape"] = x.astype(int).sum(tuple(axes), keepdims=keeps).shape
        inputs = [source, _constant(np.array(axes, np.int32))]
        check_equal(_model("MEAN", inputs, output, keepDims=keeps), [x])


def test_means_halfway(rng):
    x = np.clip(_bytes(rng, (3, 16, 500)) // 8, -128, 127).astype(np.int8)
    for zero_point in (-1, 0, 3):
        source = _quantized(rng, x.shape, zero_point=zero_point)
        output = {**source, "shape": (3, 500), "zero_point": 31}
        inputs = [source, _constant(np.array([1], np.int32))]
        check_equal(_model("MEAN", inputs, output), [x])


# Sums and products.


def _binary(
    rng: np.random.Generator,
    op: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    activation: str = "NONE",
    constant: int | None = None,
) -> None:
    values = [_bytes(rng, shape) for shape in shapes]
    inputs = [_quantized(rng, shape) for shape in shapes]
    a, b = (tensor["scale"] for tensor in inputs)
    largest = a * b * 100 if op == "MUL" else max(a, b)
    if op != "MUL":
        inputs[1]["scale"] = b = float(np.float32(a * 10 ** rng.uniform(-1, 1)))
        largest = max(a, b)
    scale = float(np.float32(largest * rng.uniform(0.3, 2)))
    output = _quantized(rng, np.broadcast_shapes(*shapes), scale=scale)
    if constant is not None:
        inputs[constant]["data"] = values.pop(constant)
    model = _model(op, inputs, output, fusedActivationFunction=ACTIVATION[activation])
    check_equal(model, values)


@pytest.mark.parametrize("op", ["ADD", "SUB", "MUL"])
@pytest.mark.parametrize(
    "shapes",
    [
        ((3, 5, 7, 33), (3, 5, 7, 33)),
        ((1, 5, 7, 33), (33,)),
        ((17, 5), (1,)),
        ((2, 5, 1, 33), (1, 7, 1)),
        ((1, 1, 6), (3, 4, 1)),
    ],
)
def test_sums_and_products(rng, op, shapes):
    for activation in ACTIVATION:
        _binary(rng, op, shapes, activation)
    _binary(rng, op, shapes[::-1])


@pytest.mark.parametrize("op", ["ADD", "SUB", "MUL"])
@pytest.mark.parametrize("constant", [0, 1])
def test_sums_and_products_with_a_constant(rng, op, constant):
    shapes = [(3, 5, 7, 33), (3, 5, 7, 33)]
    for shape in ((33,), (1,), (7, 1)):
        shapes[constant] = shape
        _binary(rng, op, (shapes[0], shapes[1]), constant=constant)


@pytest.mark.parametrize("op", ["ADD", "SUB", "MUL"])
def test_scales_that_xnnpack_does_not_take_are_refused(rng, op):
    a, b = (_quantized(rng, (1, 4), scale=1.0) for _ in range(2))
    for scale in (1 / 256, 2.0**17):
        _refused(_model(op, [a, b], _quantized(rng, (1, 4), scale=scale)), op)


# Pooling.


@pytest.mark.parametrize("op", ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
@pytest.mark.parametrize("activation", ["NONE", "RELU", "RELU6"])
@pytest.mark.parametrize(
    ("size", "stride", "padding"), [(2, 2, _VALID), (3, 2, _SAME), (3, 1, _SAME), (7, 1, _VALID)]
)
def test_pooling(rng, op, activation, size, stride, padding):
    x = _bytes(rng, (3, 7, 9, 33))
    tensor = _quantized(rng, x.shape)
    height, width = (
        -(-(pixels - (0 if padding == _SAME else size - 1)) // stride) for pixels in x.shape[1:3]
    )
    window = {"filterHeight": size, "filterWidth": size, "strideH": stride, "strideW": stride}
    model = _model(
        op,
        [tensor],
        {**tensor, "shape": (3, height, width, 33)},
        padding=padding,
        fusedActivationFunction=ACTIVATION[activation],
        **window,
    )
    check_equal(model, [x])
    _refused(_model(op, [tensor], {**tensor, "scale": 2.0}, padding=padding, **window), op)


# Functions of one value.


@pytest.mark.parametrize("op", ["RELU", "RELU6"])
@pytest.mark.parametrize("ratio", [1.0, 0.4, 1.7])
def test_clamps(rng, op, ratio):
    x = np.arange(-128, 128, dtype=np.int8).reshape(16, 16)
    for _ in range(3):
        source = _quantized(rng, x.shape)
        scale = float(np.float32(source["scale"] / ratio))
        check_equal(_model(op, [source], _quantized(rng, x.shape, scale=scale)), [x])


@pytest.mark.parametrize(("op", "output"), [("LOGISTIC", (2.0**-8, -128)), ("TANH", (2.0**-7, 0))])
def test_curves(rng, op, output):
    x = np.arange(-128, 128, dtype=np.int8).reshape(1, 4, 64)
    scale, zero_point = output
    for _ in range(5):
        y = _quantized(rng, x.shape, scale=scale, zero_point=zero_point)
        check_equal(_model(op, [_quantized(rng, x.shape)], y), [x])
    _refused(_model(op, [_quantized(rng, x.shape)], {**y, "scale": 1.0}), op)


@pytest.mark.parametrize("beta", [1.0, 0.3])
@pytest.mark.parametrize("shape", [(1, 1000), (3, 10), (17, 1), (2, 3, 5, 7)])
def test_softmax(rng, shape, beta):
    for _ in range(3):
        y = _quantized(rng, shape, scale=2.0**-8, zero_point=-128)
        check_equal(_model("SOFTMAX", [_quantized(rng, shape)], y, beta=beta), [_bytes(rng, shape)])
    _refused(_model("SOFTMAX", [_quantized(rng, shape)], {**y, "zero_point": 0}), "SOFTMAX")


def test_softmax_of_a_scalar_is_refused(rng):
    """A file may leave the output's rank open, and an input may be resized to any."""
    source, y = _quantized(rng, (1, 4)), _quantized(rng, (), scale=2.0**-8, zero_point=-128)
    with pytest.raises(ValueError, match="at least 1 dimension, got a scalar"):
        run_alone(_model("SOFTMAX", [source], y, beta=1.0), [np.array(3, np.int8)])


# Padding.


@pytest.mark.parametrize(
    "pads",
    [
        [[0, 0], [1, 2], [3, 0], [0, 0]],
        [[0, 0], [1, 1], [1, 1], [2, 5]],
        [[0, 0], [0, 0], [0, 0], [0, 1]],
    ],
)
@pytest.mark.parametrize("op", ["PAD", "PADV2"])
def test_padding(rng, op, pads):
    x = _bytes(rng, (3, 4, 5, 6))
    source = _quantized(rng, x.shape)
    output = {**source, "shape": np.pad(x, pads).shape}
    inputs = [source, _constant(np.array(pads, np.int32))]
    if op == "PADV2":
        inputs.append({**source, "shape": (1,), "data": _bytes(rng, (1,))})
    check_equal(_model(op, inputs, output), [x])
    _refused(_model(op, inputs, {**output, "scale": 2.0}), op)
    inputs[1] = _constant(np.array(pads[:3], np.int32))
    _refused(_model(op, inputs, output), op)


# Whole models.


@pytest.mark.parametrize("images", [1, 3])
def test_an_int8_network(rng, images):
    """Images become bytes, a layer makes floats of them, and a head is a mean and a layer."""
    builder = ModelBuilder()
    floats, shape = (images, 9, 7, 3), (images, 9, 7, 16)
    image = builder.tensor(floats)
    pixels = builder.tensor(**_quantized(rng, floats, scale=0.02, zero_point=3))
    weights = builder.constant(_bytes(rng, (16, 3, 3, 3)), scale=[0.01] * 16, zero_point=[0] * 16)
    bias = builder.constant(np.arange(16, dtype=np.int32))
    layer = builder.tensor(**_quantized(rng, shape, scale=0.4))
    values = builder.tensor(shape)
    again = builder.tensor(**_quantized(rng, shape, scale=0.3, zero_point=-7))
    means = builder.tensor(**_quantized(rng, (images, 16), scale=0.1, zero_point=9))
    head = builder.constant(_bytes(rng, (5, 16)), scale=0.02, zero_point=0)
    scores = builder.tensor(**_quantized(rng, (images, 5), scale=0.5, zero_point=0))
    result = builder.tensor((images, 5))
    builder.builtin("QUANTIZE", [image], [pixels])
    window = {"strideH": 1, "strideW": 1}
    builder.builtin("CONV_2D", [pixels, weights, bias], [layer], padding=_SAME, **window)
    builder.builtin("DEQUANTIZE", [layer], [values])
    builder.builtin("QUANTIZE", [values], [again])
    builder.builtin("MEAN", [again, builder.constant(np.array([1, 2], np.int32))], [means])
    builder.builtin("FULLY_CONNECTED", [means, head, ABSENT], [scores])
    builder.builtin("DEQUANTIZE", [scores], [result])
    images_of_floats = rng.normal(size=floats).astype(np.float32)
    check_equal(builder.finish([image], [result]), [images_of_floats])


# Refusals.


def test_unusual_tensors_are_refused(rng):
    good = _quantized(rng, (1, 4))
    for changed in ({"scale": None}, {"scale": [0.5, 1.0]}, {"zero_point": 128}):
        _refused(_model("QUANTIZE", [good], {**good, **changed}), "QUANTIZE")
        _refused(_model("QUANTIZE", [{**good, **changed}], good), "QUANTIZE")
        axes = _constant(np.array([1], np.int32))
        _refused(_model("MEAN", [good, axes], {**good, **changed}), "MEAN")
    _refused(_model("QUANTIZE", [], good), "QUANTIZE")
    _refused(_model("QUANTIZE", [{"shape": (1, 4)}] * 2, good), "QUANTIZE")
    _refused(_model("QUANTIZE", [{"shape": (1, 4), "dtype": np.int32}], good), "QUANTIZE")


@pytest.mark.parametrize("axes", [[], [2], [-3]])
def test_axes_that_the_input_does_not_have(rng, axes):
    x = _quantized(rng, (1, 4))
    _refused(_model("MEAN", [x, _constant(np.array(axes, np.int32))], x), "MEAN")


@pytest.mark.parametrize("op", ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"])
def test_unusual_layers_are_refused(rng, op):
    shape = (1, 4) if op == "FULLY_CONNECTED" else (1, 2, 2, 4)
    filters = {"FULLY_CONNECTED": (8, 4), "CONV_2D": (8, 1, 1, 4)}.get(op, (1, 1, 1, 8))
    x = _quantized(rng, shape, scale=0.5)
    y = _quantized(rng, (*shape[:-1], 8), scale=0.5)
    weights = _quantized(rng, filters, scale=0.1, zero_point=0, data=_bytes(rng, filters))
    bias = _constant(np.zeros(8, np.int32))
    window = {} if op == "FULLY_CONNECTED" else {"strideH": 1, "strideW": 1}
    good = _model(op, [x, weights, bias], y, **window)
    assert run_alone(good, [_bytes(rng, shape)])[0].shape == y["shape"]
    bad_filters = _bytes(rng, (*filters[:-1], 3))
    short = _constant(np.zeros(7, np.int32))
    floats = _constant(np.zeros(8, np.float32))
    for inputs in (
        [x],
        [x, weights, bias, bias],
        [x, weights, short],
        [x, weights, floats],
        [x, {**weights, "zero_point": 1}, bias],
        [x, {**weights, "scale": [0.1] * 5, "zero_point": [0] * 5}, bias],
        [x, {**weights, "scale": 1e6}, bias],
        [x, {key: value for key, value in weights.items() if key != "data"}, bias],
    ):
        _refused(_model(op, inputs, y, **window), op)
    if op != "FULLY_CONNECTED":
        wrong = {**weights, "shape": bad_filters.shape, "data": bad_filters}
        _refused(_model(op, [x, wrong, bias], y, **window), op)
        _refused(_model(op, [x, weights, bias], y, strideH=0, strideW=1), op)
        _refused(_model(op, [x, weights, bias], y, **window, dilationHFactor=0), op)
