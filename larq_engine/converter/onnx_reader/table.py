"""The operators of ONNX and QONNX that the converter reads: a row each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from larq_engine.converter.onnx_reader import (
    elementwise,
    folding,
    moving,
    pooling,
    signs,
    weighted,
)
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.file import QUANTIZERS, STANDARD


@dataclass(frozen=True)
class Row:
    """An operator.

    Attributes:
        make: Adds it to the graph and gives its result, or the list of them.
        fold: What it makes of constants; None where ONNX's reference computes that.
        moves: Whether numbers only move through it, open sizes among them.
        inputs: How many inputs must be there.
    """

    make: Callable[[Call], Any]
    fold: folding.Formula | None = None
    moves: bool = False
    inputs: int = 1


def _of_constants(call: Call) -> Any:
    raise call.error(
        "constants to compute it from",
        "values that are computed when the model runs",
        "export it with fixed sizes but for the batch, or without this operator",
    )


_ROWS = {
    # Layers
    "BatchNormalization": Row(weighted.batch_norm, inputs=5),
    "Conv": Row(weighted.conv, inputs=2),
    "Gemm": Row(weighted.gemm, inputs=2),
    "MatMul": Row(weighted.matmul, inputs=2),
    # Activations
    "Abs": Row(elementwise.unary("ABS")),
    "Clip": Row(elementwise.clip),
    "Exp": Row(elementwise.unary("EXP")),
    "LeakyRelu": Row(elementwise.leaky_relu),
    "LogSoftmax": Row(elementwise.softmax("LOG_SOFTMAX")),
    "Neg": Row(elementwise.unary("NEG")),
    "PRelu": Row(elementwise.prelu, inputs=2),
    "Relu": Row(elementwise.unary("RELU")),
    "Sigmoid": Row(elementwise.unary("LOGISTIC")),
    "Softmax": Row(elementwise.softmax("SOFTMAX")),
    "Sqrt": Row(elementwise.unary("SQRT")),
    "Tanh": Row(elementwise.unary("TANH")),
    # Arithmetic
    "Add": Row(elementwise.binary("ADD"), inputs=2),
    "Div": Row(elementwise.binary("DIV"), inputs=2),
    "Max": Row(elementwise.chain("MAXIMUM")),
    "Min": Row(elementwise.chain("MINIMUM")),
    "Mul": Row(elementwise.binary("MUL"), inputs=2),
    "Sub": Row(elementwise.binary("SUB"), inputs=2),
    "Sum": Row(elementwise.chain("ADD")),
    # Signs
    "BipolarQuant": Row(signs.bipolar_quant, signs.fold_bipolar_quant, inputs=2),
    "Cast": Row(signs.cast, signs.fold_cast, moves=True),
    "Equal": Row(signs.compare("EQUAL"), folding.equal, moves=True, inputs=2),
    "Greater": Row(signs.compare("GREATER"), inputs=2),
    "GreaterOrEqual": Row(signs.compare("GREATER_EQUAL"), inputs=2),
    "Less": Row(signs.compare("LESS"), inputs=2),
    "LessOrEqual": Row(signs.compare("LESS_EQUAL"), inputs=2),
    "Not": Row(signs.logical_not),
    "Quant": Row(signs.quant, signs.fold_quant, inputs=4),
    "ScatterND": Row(signs.scatter, signs.fold_scatter, inputs=3),
    "Sign": Row(signs.sign, signs.fold_sign),
    "Where": Row(signs.where, moves=True, inputs=3),
    # Poolings
    "AveragePool": Row(pooling.average_pool),
    "GlobalAveragePool": Row(pooling.global_pool("MEAN")),
    "GlobalMaxPool": Row(pooling.global_pool("REDUCE_MAX")),
    "MaxPool": Row(pooling.max_pool),
    "ReduceMax": Row(pooling.reduce("REDUCE_MAX")),
    "ReduceMean": Row(pooling.reduce("MEAN")),
    # Moves
    "Concat": Row(moving.concat, moves=True),
    "Dropout": Row(moving.dropout, moves=True),
    "Flatten": Row(moving.flatten),
    "Identity": Row(moving.unchanged, moves=True),
    "Pad": Row(moving.pad),
    "Reshape": Row(moving.reshape, folding.reshape, moves=True, inputs=2),
    "Slice": Row(moving.slice_of, moves=True),
    "Split": Row(moving.split),
    "Squeeze": Row(moving.squeeze, moves=True),
    "Transpose": Row(moving.transpose),
    "Unsqueeze": Row(moving.unsqueeze, moves=True),
    # Constants
    "Constant": Row(_of_constants, folding.constant, inputs=0),
    "ConstantOfShape": Row(_of_constants, folding.constant_of_shape, moves=True),
    "Expand": Row(_of_constants, folding.expand, moves=True, inputs=2),
    "Gather": Row(_of_constants, moves=True, inputs=2),
    "Shape": Row(moving.shape_of),
}

_OF_QUANTIZERS = {"BipolarQuant", "Quant"}


def find_row(domain: str, kind: str) -> Row | None:
    expected = QUANTIZERS if kind in _OF_QUANTIZERS else STANDARD
    return _ROWS.get(kind) if domain == expected else None


def known_kinds() -> list[str]:
    return sorted(_ROWS)
