"""Builds float .tflite graphs in few words, converts them, and compares the results.

The float graph runs in stock LiteRT, the converted one in the plug-in. Weights and scales are
powers of two and biases small multiples of them, so that every float sum is exact and results must
be equal to the bit.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter as StockInterpreter
from ai_edge_litert.interpreter import OpResolverType

import larq_engine
from larq_engine.converter import schema
from larq_engine.converter.api import convert_tflite
from larq_engine.converter.graph import Graph, Op
from larq_engine.converter.report import LayerReport
from tests.model_builder import ABSENT, ACTIVATION, PADDING, ModelBuilder
from tests.oracle import output_size

# Values at which signs change, and their neighbours: zeros of both signs and the smallest normal
# numbers.
EDGES = np.array([0.0, -0.0, 1.2e-38, -1.2e-38, 0.25, -0.25, 1.0, -1.0, 7.5, -9.0], np.float32)

# XNNPACK flushes these to zero in all arithmetic, but LiteRT's own kernels compare them as they
# are. So only forms that convert without arithmetic can treat them as the unconverted model does.
DENORMALS = np.array([1e-45, -1e-45, 1e-39, -1e-39], np.float32)


@dataclass(frozen=True)
class Value:
    """A tensor of a graph under construction."""

    number: int
    shape: tuple[int, ...]


# Operands of an operator: tensors, or numbers and arrays that become constants.
Operand = Value | float | np.ndarray | None


class Net:
    """A float graph under construction."""

    def __init__(self) -> None:
        self.builder = ModelBuilder()
        self._inputs: list[int] = []

    def input(self, *shape: int, dtype: Any = np.float32, **tensor: Any) -> Value:
        number = self.builder.tensor(shape, dtype, name=f"input_{len(self._inputs)}", **tensor)
        self._inputs.append(number)
        return Value(number, shape)

    def open(self, value: Value, *signature: int) -> Value:
        """Leaves the sizes of a value open that are -1 in the signature."""
        self.builder.graph.tensors[value.number].shapeSignature = np.array(signature, np.int32)
        return value

    def constant(self, array: Any) -> Value:
        data = np.asarray(array)
        if data.dtype == np.float64:
            data = data.astype(np.float32)
        elif data.dtype == np.int64:
            data = data.astype(np.int32)
        return Value(self.builder.constant(data), data.shape)

    def _operand(self, operand: Operand) -> Value:
        if operand is None:
            return Value(ABSENT, ())
        return operand if isinstance(operand, Value) else self.constant(operand)

    def op(
        self,
        kind: str,
        *operands: Operand,
        shape: Sequence[int] | None = None,
        dtype: Any = np.float32,
        scale: float | Sequence[float] | None = None,
        zero_point: int | Sequence[int] = 0,
        **options: Any,
    ) -> Value:
        """Adds an operator with one output, by default of the shape of the broadcast operands."""
        values = [self._operand(operand) for operand in operands]
        result = tuple(
            np.broadcast_shapes(*[value.shape for value in values]) if shape is None else shape
        )
        number = self.builder.tensor(result, dtype, scale=scale, zero_point=zero_point)
        output = Value(number, result)
        self.builder.builtin(kind, [value.number for value in values], [output.number], **options)
        return output

    def sign(self, x: Value) -> Value:
        """Adds +1 or -1 for each value, in the form in which TensorFlow writes larq's sign."""
        return self.op("SIGN", self.op("ADD", self.op("SIGN", x), 0.1))

    def conv(
        self,
        x: Value,
        filters: np.ndarray | Value,
        bias: np.ndarray | Value | None = None,
        *,
        padding: str = "VALID",
        stride: tuple[int, int] = (1, 1),
        dilation: tuple[int, int] = (1, 1),
        activation: str = "NONE",
    ) -> Value:
        """Adds a CONV_2D."""
        channels = filters.shape[0]
        sizes = [
            output_size(size, taps, step, padding, gap)
            for size, taps, step, gap in zip(
                x.shape[1:3], filters.shape[1:3], stride, dilation, strict=True
            )
        ]
        return self.op(
            "CONV_2D",
            x,
            filters,
            np.zeros(channels, np.float32) if bias is None else bias,
            shape=(x.shape[0], *sizes, channels),
            padding=PADDING[padding],
            strideH=stride[0],
            strideW=stride[1],
            dilationHFactor=dilation[0],
            dilationWFactor=dilation[1],
            fusedActivationFunction=ACTIVATION[activation],
        )

    def dense(
        self, x: Value, weights: np.ndarray | Value, bias: np.ndarray | None = None, **options: Any
    ) -> Value:
        """Adds a FULLY_CONNECTED, whose rows run along all dimensions but the last."""
        keeps = options.get("keepNumDims", False)
        rows = x.shape[:-1] if keeps else (int(np.prod(x.shape)) // weights.shape[1],)
        return self.op(
            "FULLY_CONNECTED", x, weights, bias, shape=(*rows, weights.shape[0]), **options
        )

    def reshape(self, x: Value, *shape: int) -> Value:
        return self.op("RESHAPE", x, np.array(shape, np.int32), shape=shape, newShape=shape)

    def transpose(self, x: Value, *order: int) -> Value:
        shape = [x.shape[axis] for axis in order]
        return self.op("TRANSPOSE", x, np.array(order, np.int32), shape=shape)

    def pad(self, x: Value, pads: Sequence[tuple[int, int]], value: float | None = None) -> Value:
        """Adds a PAD, or a PADV2 if a value is given.

        `pads` has a pair for the height and one for the width, or a pair for each dimension.
        """
        table = np.array(pads if len(pads) == len(x.shape) else [(0, 0), *pads, (0, 0)], np.int32)
        shape = [size + int(sum(pair)) for size, pair in zip(x.shape, table, strict=True)]
        if value is None:
            return self.op("PAD", x, table, shape=shape)
        return self.op("PADV2", x, table, value, shape=shape)

    def max_pool(
        self,
        x: Value,
        window: tuple[int, int] = (2, 2),
        stride: tuple[int, int] = (2, 2),
        padding: str = "VALID",
        activation: str = "NONE",
    ) -> Value:
        sizes = [
            output_size(size, taps, step, padding)
            for size, taps, step in zip(x.shape[1:3], window, stride, strict=True)
        ]
        return self.op(
            "MAX_POOL_2D",
            x,
            shape=(x.shape[0], *sizes, x.shape[3]),
            padding=PADDING[padding],
            strideH=stride[0],
            strideW=stride[1],
            filterHeight=window[0],
            filterWidth=window[1],
            fusedActivationFunction=ACTIVATION[activation],
        )

    def concatenate(self, parts: Sequence[Value], axis: int) -> Value:
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        return self.op("CONCATENATION", *parts, shape=shape, axis=axis)

    def split(self, x: Value, count: int, axis: int) -> list[Value]:
        shape = list(x.shape)
        shape[axis] //= count
        parts = [Value(self.builder.tensor(shape), tuple(shape)) for _ in range(count)]
        where = self.constant(np.array(axis, np.int32))
        outputs = [part.number for part in parts]
        self.builder.builtin("SPLIT", [where.number, x.number], outputs, numSplits=count)
        return parts

    def finish(self, *outputs: Value) -> bytes:
        return self.builder.finish(self._inputs, [value.number for value in outputs])


def signs(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Returns random values of +1 and -1."""
    return rng.choice(np.array([-1.0, 1.0], np.float32), shape)


def steps(rng: np.random.Generator, *shape: int, step: float = 0.5) -> np.ndarray:
    """Returns random multiples of a power of two, zero and negative ones among them."""
    return (rng.integers(-9, 10, shape) * step).astype(np.float32)


def edges(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Returns random inputs, many of which lie at or next to zero."""
    return rng.choice(EDGES, shape)


@dataclass(frozen=True)
class Converted:
    """A converted file after it was read again."""

    content: bytes
    graph: Graph
    layers: tuple[LayerReport, ...]

    @property
    def kinds(self) -> list[str]:
        """Operators in their order."""
        return [op.kind for op in self.graph.ops]

    def ops(self, kind: str) -> list[Op]:
        return [op for op in self.graph.ops if op.kind == kind]

    def op(self, kind: str) -> Op:
        (found,) = self.ops(kind)
        return found

    @property
    def reason(self) -> str:
        """Reason for the only layer that is not binary."""
        (reason,) = [layer.reason for layer in self.layers if layer.became != "binary"]
        return reason


def convert(content: bytes, *, check: bool = False, **options: str) -> Converted:
    """Converts a file; `check` asks for the self-check, which costs more than most tests."""
    with warnings.catch_warnings():
        # A conversion works or raises; it never warns.
        warnings.simplefilter("error")
        converted = convert_tflite(content, check=check, **options)
    return Converted(converted, schema.read(converted).graphs[0], converted.report.layers)


def run_stock(
    content: bytes,
    inputs: Sequence[np.ndarray],
    *,
    resolver: OpResolverType = OpResolverType.AUTO,
    batch: int | None = None,
) -> list[np.ndarray]:
    """Returns what LiteRT without the plug-in computes.

    `batch` is the batch of the inputs whose batch the file leaves open.
    """
    interpreter = StockInterpreter(model_content=content, experimental_op_resolver_type=resolver)
    for info in interpreter.get_input_details() if batch is not None else ():
        interpreter.resize_tensor_input(info["index"], (batch, *info["shape"][1:]))
    interpreter.allocate_tensors()
    for info, array in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(info["index"], array)
    interpreter.invoke()
    return [interpreter.get_tensor(info["index"]) for info in interpreter.get_output_details()]


def run_engine(content: bytes, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Returns what LiteRT with the plug-in computes."""
    results = larq_engine.Interpreter(content).predict(list(inputs))
    return results if isinstance(results, list) else [results]


def convert_and_compare(
    net: Net,
    *outputs: Value,
    inputs: Sequence[np.ndarray],
    check: bool = False,
    **options: str,
) -> Converted:
    """Converts a graph and asserts that results of both are equal to the bit."""
    content = net.finish(*outputs)
    converted = convert(content, check=check, **options)
    expected, got = run_stock(content, inputs), run_engine(converted.content, inputs)
    for want, have in zip(expected, got, strict=True):
        assert want.shape == have.shape
        np.testing.assert_array_equal(have, want)
    return converted
