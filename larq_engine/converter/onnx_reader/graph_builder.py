"""The float graph that is being made, with functions that reorder and reshape values."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import NUMPY_TYPES, Array, Graph, Op, Tensor
from larq_engine.converter.layer_names import name_tensor
from larq_engine.converter.onnx_reader.file import MOST_BYTES
from larq_engine.converter.onnx_reader.layout import (
    OPEN,
    Shape,
    Value,
    broadcast,
    closed,
    flattened,
    identity,
    is_same_order,
)
from larq_engine.converter.third_values import PlainSign

# Input of an operator: a constant, a value computed when the model runs, or absent.
Operand = Array | Value | None

# Options of operators that have the same ones wherever they occur.
_OPTIONS = {
    "ABS": "AbsOptions",
    "ADD": "AddOptions",
    "COS": "CosOptions",
    "DIV": "DivOptions",
    "EQUAL": "EqualOptions",
    "EXP": "ExpOptions",
    "GREATER": "GreaterOptions",
    "GREATER_EQUAL": "GreaterEqualOptions",
    "HARD_SWISH": "HardSwishOptions",
    "LESS": "LessOptions",
    "LESS_EQUAL": "LessEqualOptions",
    "LOGICAL_AND": "LogicalAndOptions",
    "LOGICAL_NOT": "LogicalNotOptions",
    "LOGICAL_OR": "LogicalOrOptions",
    "LOG_SOFTMAX": "LogSoftmaxOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "MUL": "MulOptions",
    "NEG": "NegOptions",
    "NOT_EQUAL": "NotEqualOptions",
    "PAD": "PadOptions",
    "PADV2": "PadV2Options",
    "POW": "PowOptions",
    "RESHAPE": "ReshapeOptions",
    "REVERSE_V2": "ReverseV2Options",
    "SELECT_V2": "SelectV2Options",
    "SLICE": "SliceOptions",
    "SQUARE": "SquareOptions",
    "SUB": "SubOptions",
    "TILE": "TileOptions",
    "TRANSPOSE": "TransposeOptions",
}

_NAMES = {np.dtype(dtype): name for name, dtype in NUMPY_TYPES.items()}


class GraphBuilder:
    """A graph in the making. New operators belong to the layer that `layer` names at the time."""

    def __init__(self) -> None:
        self.layer = ""
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.ops: list[Op] = []
        # Layers whose weights were rounded to one size, and the largest deviation relative to that
        # size.
        self.rounded: dict[str, float] = {}
        # The results of Sign, and the signs of constants.
        self.plain_signs: dict[Tensor, PlainSign] = {}
        self.constant_signs: list[PlainSign] = []
        self.producers: dict[Tensor, Op] = {}
        self._reordered: dict[Any, Value] = {}

    def input(self, name: str, shape: Shape, dtype: str, order: tuple[int, ...]) -> Value:
        tensor = self._tensor(name, tuple(shape[axis] for axis in order), dtype)
        self.inputs.append(tensor)
        return Value(shape, tensor, order)

    def output(self, name: str, value: Value) -> None:
        """Makes a value an output of the graph, in the order that it has."""
        tensor = value.tensor
        if tensor not in self.producers or tensor in self.outputs:
            # A tensor that is an input or another output has its own name already.
            tensor = self.reshape(tensor, value.stored_shape)
        tensor.name = name
        producer = self.producers[tensor]
        for number, given in enumerate(producer.inputs):
            if given is not None and given.is_constant:
                # The constant tells the layer, as the output's name does not.
                name = name_tensor(producer.layer, producer.kind)
                producer.inputs[number] = Tensor(name, given.shape, given.dtype, data=given.data)
                break
        self.outputs.append(tensor)

    def graph(self, name: str) -> Graph:
        """Returns the graph without the operators that its outputs do not need."""
        needed, kept = set(self.outputs), []
        for op in reversed(self.ops):
            if needed.intersection(op.outputs):
                needed.update(tensor for tensor in op.inputs if tensor is not None)
                kept.append(op)
        return Graph(name, self.inputs, self.outputs, reversed(kept))

    def op(
        self,
        kind: str,
        inputs: Sequence[Tensor | None],
        shape: Shape,
        dtype: str = "FLOAT32",
        options: Any = None,
    ) -> Tensor:
        """Adds an operator and returns its result, with OPEN for open sizes in `shape`."""
        result = self._tensor(name_tensor(self.layer, kind), shape, dtype)
        if options is None and kind in _OPTIONS:
            options = schema.make_options(_OPTIONS[kind])
        self.ops.append(Op(kind, list(inputs), [result], options, layer=self.layer))
        self.producers[result] = self.ops[-1]
        return result

    def _tensor(self, name: str, shape: Shape, dtype: str) -> Tensor:
        sizes = closed(shape)
        if 0 in sizes:
            raise ConversionError(
                f"'{name}': expected a tensor with values, got the shape {list(shape)}; look at "
                "the weights, or export it again"
            )
        if math.prod(sizes) * np.dtype(NUMPY_TYPES[dtype]).itemsize >= MOST_BYTES:
            raise ConversionError(
                f"'{name}': expected a tensor of less than 2 GB, got the shape {list(shape)}; "
                "convert a smaller model"
            )
        return Tensor(name, sizes, dtype, signature=shape if OPEN in shape else None)

    def constant(self, data: Array | float | Sequence[int]) -> Tensor:
        """Makes a constant of an array, or of numbers, which become float32 or int32."""
        if not isinstance(data, np.ndarray):
            data = np.asarray(data, np.float32 if isinstance(data, float) else np.int32)
        # The array may be a view that repeats one value; the file needs all values.
        array = np.asarray(data, data.dtype.newbyteorder("="), order="C")
        return Tensor("", array.shape, _NAMES[array.dtype], data=array)

    def value(self, operand: Array | Value) -> Value:
        """Returns an operand as a value, also if it is a constant."""
        if isinstance(operand, Value):
            return operand
        return Value(operand.shape, self.constant(operand), identity(operand.shape))

    def reshape(self, x: Tensor, shape: Shape) -> Tensor:
        return self.op("RESHAPE", [x, self.constant(list(shape))], shape, x.dtype)

    def plain(self, value: Value) -> Value:
        """Returns the value with all dimensions and values in ONNX's order."""
        return self.ordered(value, identity(value.shape))

    def ordered(self, value: Value, order: tuple[int, ...]) -> Value:
        """Returns the value with its dimensions in this order; flattened images are undone."""
        if value.image:
            value = self._unflatten(value)
        if value.order == order:
            return value
        key = value.tensor, value.order, order
        if key not in self._reordered:
            turn = [value.order.index(axis) for axis in order]
            shape = tuple(value.shape[axis] for axis in order)
            if value.tensor.data is not None:
                turned = self.constant(np.ascontiguousarray(value.tensor.data.transpose(turn)))
            elif is_same_order(value.shape, value.order, order) and set(value.shape[2:]) <= {1}:
                # Images of one channel are transposed, as a RESHAPE would hold their size.
                turned = self.reshape(value.tensor, shape)
            else:
                turned = self._transpose(value.tensor, turn, shape)
            self._reordered[key] = Value(value.shape, turned, order)
        return self._reordered[key]

    def _unflatten(self, value: Value) -> Value:
        """Returns rows with their values in ONNX's order."""
        key = value.tensor, value.shape, value.image
        if key not in self._reordered:
            rows = value.shape[:-1]
            image = self.reshape(value.tensor, (*rows, *value.image))
            order = (*range(len(rows)), *self._channels_first(len(rows), len(value.image)))
            shape = tuple((*rows, *value.image)[axis] for axis in order)
            turned = self._transpose(image, order, shape)
            flat = self.reshape(turned, value.shape)
            self._reordered[key] = Value(value.shape, flat, value.order)
        return self._reordered[key]

    def _transpose(self, x: Tensor, turn: Sequence[int], shape: Shape) -> Tensor:
        return self.op("TRANSPOSE", [x, self.constant(turn)], shape, x.dtype)

    @staticmethod
    def _channels_first(start: int, count: int) -> tuple[int, ...]:
        return (start + count - 1, *range(start, start + count - 1))

    def align(self, *operands: Array | Value) -> tuple[list[Tensor], Value]:
        """Brings the operands of an elementwise operator into one order.

        Returns:
            The tensors of the operands, and a value with the shape, order and image of the result.
            The tensor of that value is an operand's.
        """
        shape = broadcast(*[operand.shape for operand in operands])
        values = {n: o for n, o in enumerate(operands) if isinstance(o, Value)}
        for number, value in values.items():
            if len(value.shape) < len(shape):
                value = self.plain(value)
                whole = (1,) * (len(shape) - len(value.shape)) + value.shape
                tensor = self.reshape(value.tensor, whole)
                values[number] = Value(whole, tensor, identity(whole))
        found = {(value.order, value.image) for value in values.values()}
        order, image = max(found, key=lambda lie: (lie[0] != identity(shape), lie))
        if len(found) > 1:
            values = {number: self.ordered(value, order) for number, value in values.items()}
            image = ()
        like = next(iter(values.values()))
        model = Value(shape, like.tensor, order, image)
        alone = broadcast(*[value.shape for value in values.values()])
        tensors = [
            values[number].tensor
            if number in values
            else self.constant(_lay(np.asarray(operand), model, alone))
            for number, operand in enumerate(operands)
        ]
        return tensors, model


def _lay(array: Array, model: Value, alone: Shape) -> Array:
    """Returns a constant in the layout of `model`; `alone` is the shape of the other operands."""
    if array.size and alone == model.shape and bool((array == array.flat[0]).all()):
        return np.asarray(array.flat[0])
    whole = array.reshape((1,) * (len(model.shape) - array.ndim) + array.shape)
    if model.image and whole.shape[-1] > 1:
        whole = whole[..., flattened(model.image)]
    laid = whole.transpose(model.order)
    while laid.ndim > 1 and laid.shape[0] == 1:
        laid = laid[0]
    return np.asarray(laid)
