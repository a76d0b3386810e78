"""Models of operators on floats, whose results in C must be those of the engine without a host."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import larq_engine
from tests.micro import c_model
from tests.micro.c_model import Array
from tests.model_builder import (
    ABSENT,
    ACTIVATION,
    PADDING,
    ModelBuilder,
    add_quantize,
    add_weights,
)
from tests.numpy_net import ACTIVATIONS

# Values of special samples.
_SPECIAL = np.array([0, -0.0, 1e-40, -1e-42, 3e38, -3e38, np.inf, -np.inf, np.nan], np.float32)

UNIT_STEPS = dict.fromkeys(("strideH", "strideW", "dilationHFactor", "dilationWFactor"), 1)


def floats(rng: np.random.Generator, shape: Sequence[int]) -> Array:
    """Returns four samples: usual values, values of all sizes, tiny ones, and special ones."""
    samples = rng.standard_normal((4, *shape)).astype(np.float32)
    samples[1] *= 10.0 ** rng.uniform(-6, 6, shape)
    samples[1][rng.random(shape) < 0.1] = -0.0
    samples[2] *= np.float32(1e-38)
    chosen = rng.random(shape) < 0.2
    samples[3][chosen] = rng.choice(_SPECIAL, int(chosen.sum()))
    return samples


class Model:
    """A model in which the result of each operator is an output."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.builder = ModelBuilder()
        self.inputs: list[int] = []
        self.samples: list[Array] = []
        self.outputs: list[int] = []

    def input(self, *shape: int, data: Array | None = None, **quantization: Any) -> int:
        """Adds an input of one sample's shape, of floats unless there are other data."""
        data = floats(self.rng, shape) if data is None else data
        self.inputs.append(self.builder.tensor((1, *shape), data.dtype, **quantization))
        self.samples.append(data)
        return self.inputs[-1]

    def values(self, *shape: int) -> Array:
        return self.rng.uniform(-1, 1, shape).astype(np.float32)

    def constant(self, *shape: int) -> int:
        return self.builder.constant(self.values(*shape))

    def activation(self) -> dict[str, int]:
        return {"fusedActivationFunction": ACTIVATION[str(self.rng.choice(ACTIVATIONS))]}

    def output(self, shape: Sequence[int], dtype: type = np.float32, **quantization: Any) -> int:
        self.outputs.append(self.builder.tensor(shape, dtype, **quantization))
        return self.outputs[-1]

    def add(self, op: str, inputs: Sequence[int], shape: Sequence[int], **options: Any) -> int:
        """Adds an operator that makes floats."""
        output = self.output(shape)
        self.builder.builtin(op, inputs, [output], **options)
        return output

    def content(self) -> bytes:
        return self.builder.finish(self.inputs, self.outputs)

    def check(self, folder: Path, *, flags: Sequence[str] = ()) -> None:
        check(self.content(), self.samples, folder, flags=flags)


def check(
    content: bytes, samples: Sequence[Array], folder: Path, *, flags: Sequence[str] = ()
) -> None:
    """Compares the bits of all outputs; NaN may have any."""
    results = c_model.run(content, samples, flags=flags, folder=folder)
    interpreter = larq_engine.Interpreter(content, host="none")
    for i in range(len(samples[0])):
        expected = interpreter.predict([data[i : i + 1] for data in samples])
        arrays = expected if isinstance(expected, list) else [expected]
        for got, array in zip(results, arrays, strict=True):
            assert got.dtype == array.dtype
            _check_same(got[i].reshape(array.shape), array)


def _check_same(got: Array, expected: Array) -> None:
    if got.dtype == np.float32:
        nan = np.float32(np.nan)
        got, expected = (np.where(np.isnan(x), nan, x).view(np.uint32) for x in (got, expected))
    np.testing.assert_array_equal(got, expected)


def _out_size(size: int, taps: int, stride: int, dilation: int, padding: str) -> int:
    if padding == "SAME":
        return -(-size // stride)
    return (size - (taps - 1) * dilation - 1) // stride + 1


# ---- Layers --------------------------------------------------------------------------------------


def add_conv(model: Model, x: int, image: tuple[int, int, int]) -> None:
    """Adds a random convolution: over all channels, in groups, or over each channel."""
    rng = model.rng
    channels = image[2]
    form = str(rng.choice(["usual", "grouped", "depthwise"]))
    groups = int(rng.choice([g for g in range(1, channels + 1) if channels % g == 0]))
    taps, stride = rng.integers(1, 5, 2).tolist(), rng.integers(1, 4, 2).tolist()
    dilation = rng.choice([1, 1, 2], 2).tolist()
    fits = all((taps[d] - 1) * dilation[d] < image[d] for d in (0, 1))
    padding = str(rng.choice(["SAME", "VALID"])) if fits else "SAME"
    outputs = channels * int(rng.integers(1, 3))
    if form == "usual":
        groups, outputs = 1, int(rng.integers(1, 11))
    filters = (outputs, *taps, channels // groups)
    if form == "depthwise":
        filters = (1, *taps, outputs)
    weights = model.values(*filters)
    weights[rng.random(weights.shape) < 0.1] = -0.0
    bias = model.constant(outputs) if rng.random() < 0.8 else ABSENT
    sizes = (_out_size(image[d], taps[d], stride[d], dilation[d], padding) for d in (0, 1))
    model.add(
        "DEPTHWISE_CONV_2D" if form == "depthwise" else "CONV_2D",
        [x, model.builder.constant(weights), bias],
        (1, *sizes, outputs),
        strideH=stride[0],
        strideW=stride[1],
        dilationHFactor=dilation[0],
        dilationWFactor=dilation[1],
        padding=PADDING[padding],
        **model.activation(),
        **({"depthMultiplier": outputs // channels} if form == "depthwise" else {}),
    )


def add_dense(model: Model, rows: int, depth: int, units: int) -> None:
    x = model.input(rows, depth)
    for has_bias in (True, False):
        model.add(
            "FULLY_CONNECTED",
            [x, model.constant(units, depth), model.constant(units) if has_bias else ABSENT],
            (rows, units) if has_bias else (1, rows, units),
            keepNumDims=not has_bias,
            **model.activation(),
        )


def add_dense_of_bits(model: Model, rows: int, depth: int, units: int) -> None:
    x = model.input(rows, depth)
    for scales, axis in ((1, 0), (units, 0), (depth, 1)):
        signs = model.rng.choice([-1, 1], (units, depth))
        weights = add_weights(model.builder, signs, model.values(scales), axis)
        for bias in (ABSENT, model.constant(units)):
            model.add("FULLY_CONNECTED", [x, weights, bias], (rows, units), **model.activation())


def add_int8_dense_of_bits(model: Model, rows: int, depth: int, units: int) -> None:
    data = model.rng.integers(-128, 128, (4, rows, depth)).astype(np.int8)
    x = model.input(rows, depth, data=data, scale=0.02, zero_point=-7)
    for scales in (1, units):
        signs = model.rng.choice([-1, 1], (units, depth))
        whole = model.rng.integers(1, 128, scales).astype(np.float32)
        weights = add_weights(model.builder, signs, whole, 0, int8_scale=0.001)
        bias = model.builder.constant(model.rng.integers(-1000, 1000, units).astype(np.int32))
        output = model.output((rows, units), np.int8, scale=0.03 * depth**0.5, zero_point=5)
        operands = [x, weights, bias]
        model.builder.builtin("FULLY_CONNECTED", operands, [output], **model.activation())


def add_bit_products(model: Model, depth: int, rows: int, columns: int) -> None:
    """Adds LceBmatmul of some pairs of values that bits can stand for."""
    sides = []
    for lines in (rows, columns):
        shape = (1, 2, lines, depth)
        sides.append(add_quantize(model.builder, model.input(*shape[1:]), shape))
    for values in ([[1, -1], [1, -1]], [[1, 0], [1, -1]], [[1, -1], [0.3, 0]], [[3, 0.1], [-2, 7]]):
        output = model.output((1, 2, rows, columns))
        table = model.builder.constant(np.array(values, np.float32))
        model.builder.custom("LceBmatmul", [*sides, table], [output], {"depth": depth})


# ---- Values --------------------------------------------------------------------------------------


def add_pairs(model: Model, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    operands = [model.input(*shape[1:]) for shape in (a, b)]
    shape = np.broadcast_shapes(a, b)
    for op, activation in itertools.product(("ADD", "SUB", "MUL"), ACTIVATIONS):
        model.add(op, operands, shape, fusedActivationFunction=ACTIVATION[activation])
    model.add("PRELU", operands, shape)


def add_pairs_with_constants(model: Model, shape: tuple[int, ...]) -> None:
    x = model.input(3, 4, 5)
    for op, activation in itertools.product(("ADD", "SUB", "MUL"), ("NONE", "RELU")):
        both = [x, model.constant(*shape)]
        for operands in (both, both[::-1]):
            fused = ACTIVATION[activation]
            model.add(op, operands, (1, 3, 4, 5), fusedActivationFunction=fused)
    model.add("PRELU", [x, model.constant(*shape)], (1, 3, 4, 5))


def add_functions(model: Model, shape: tuple[int, ...]) -> None:
    x = model.input(*shape)
    for op in ("RELU", "RELU6", "RELU_N1_TO_1", "LOGISTIC"):
        model.add(op, [x], (1, *shape))


def add_softmax(model: Model, channels: int) -> None:
    x = model.input(3, channels)
    for beta in (1.0, 0.3, -2.0, 1e-3):
        model.add("SOFTMAX", [x], (1, 3, channels), beta=beta)


def add_places(model: Model, dtype: type) -> None:
    """Adds ARG_MAX and ARG_MIN; some samples have equal values, and NaN."""
    data = model.rng.integers(-2, 3, (4, 3, 4, 5)).astype(np.float32)
    data[1][model.rng.random((3, 4, 5)) < 0.5] = np.nan
    data[2], data[3] = np.nan, -np.inf
    x = model.input(3, 4, 5, data=data)
    for op, axis in itertools.product(("ARG_MAX", "ARG_MIN"), (1, 2, -1)):
        shape = [size for i, size in enumerate((1, 3, 4, 5)) if i != axis % 4]
        place = model.builder.constant(np.array([axis], np.int32))
        model.builder.builtin(op, [x, place], [model.output(shape, dtype)])


def add_pools(model: Model, op: str, image: tuple[int, int, int]) -> None:
    x = model.input(*image)
    height, width, channels = image
    sizes = {(1, 1), (2, 2), (3, 2), (min(height, 5), min(width, 5)), (height, width), (9, 9)}
    for taps, strides, padding in itertools.product(
        sorted(sizes), ((1, 1), (2, 1), (3, 3)), ("SAME", "VALID")
    ):
        out = [_out_size(image[d], taps[d], strides[d], 1, padding) for d in (0, 1)]
        if min(out) < 1:
            continue
        model.add(
            op,
            [x],
            (1, *out, channels),
            filterHeight=taps[0],
            filterWidth=taps[1],
            strideH=strides[0],
            strideW=strides[1],
            padding=PADDING[padding],
            **model.activation(),
        )


def add_means(model: Model, shape: tuple[int, ...]) -> None:
    """Adds means over all axes that are neighbours."""
    x = model.input(*shape)
    whole = (1, *shape)
    for first, last in itertools.combinations(range(len(whole) + 1), 2):
        axes = np.arange(first, last, dtype=np.int32)
        kept = [1 if axis in axes else size for axis, size in enumerate(whole)]
        left = [size for axis, size in enumerate(whole) if axis not in axes]
        from_end = model.builder.constant(axes[::-1] - np.int32(len(whole)))
        model.add("MEAN", [x, model.builder.constant(axes)], kept, keepDims=True)
        model.add("MEAN", [x, from_end], left, keepDims=False)


# ---- Bytes ---------------------------------------------------------------------------------------


def add_bytes_of_floats(model: Model, dtype: type) -> None:
    halves = np.arange(-400, 400, dtype=np.float32) / 8
    x = model.input(800, data=np.concatenate([floats(model.rng, (800,)), halves[None]]))
    lowest, highest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    for scale in (0.25, 1.0, 0.0371, 3e-30, 1e30):
        for zero_point in (lowest, highest, lowest + 100):
            output = model.output((1, 800), dtype, scale=scale, zero_point=zero_point)
            model.builder.builtin("QUANTIZE", [x], [output])


def add_floats_of_bytes(model: Model, dtype: type) -> None:
    data = np.arange(256).astype(np.uint8)
    data = (data % 2).astype(np.bool_) if dtype is np.bool_ else data.view(dtype)
    model.add("CAST", [model.input(256, data=data[None])], (1, 256))
    for scale, zero_point in ((0.1, 3), (1e-40, 0), (7e36, 100)) if dtype is not np.bool_ else ():
        x = model.input(256, data=data[None], scale=scale, zero_point=zero_point)
        model.add("DEQUANTIZE", [x], (1, 256))


def all_operators() -> Model:
    """Returns a model of all operators on floats, with one sample of each input."""
    model = Model(7)
    image = (6, 5, 4)
    x = model.input(*image)
    for _ in range(8):
        add_conv(model, x, image)
    add_dense(model, 2, 33, 7)
    add_dense(model, 1, 257, 256)
    add_dense_of_bits(model, 2, 37, 9)
    add_int8_dense_of_bits(model, 2, 37, 9)
    add_bit_products(model, 45, 4, 2)
    add_pairs(model, (1, 3, 1, 5), (1, 1, 4, 1))
    add_pairs_with_constants(model, (4, 5))
    add_functions(model, (19,))
    add_softmax(model, 17)
    add_places(model, np.int64)
    add_pools(model, "MAX_POOL_2D", (4, 4, 3))
    add_pools(model, "AVERAGE_POOL_2D", (4, 4, 3))
    add_means(model, (3, 4, 2))
    add_floats_of_bytes(model, np.int8)
    add_floats_of_bytes(model, np.bool_)
    add_bytes_of_floats(model, np.int8)
    backwards = model.builder.constant(np.array([1, 2], np.int32))
    model.add("REVERSE_V2", [x, backwards], (1, *image))
    model.samples = [data[:1] for data in model.samples]
    return model
