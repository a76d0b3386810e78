"""The table of operators of ONNX and QONNX that the converter reads, one row each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from larq_engine.converter.onnx_reader import (
    activations,
    einsum,
    elementwise,
    folding,
    moving,
    normalizing,
    picking,
    pooling,
    resizing,
    signs,
    transposed,
    weighted,
)
from larq_engine.converter.onnx_reader.call import Call
from larq_engine.converter.onnx_reader.file import QUANTIZERS, STANDARD


@dataclass(frozen=True)
class Row:
    """An operator.

    Attributes:
        make: Adds the operator to the graph and returns its result, or a list of results.
        fold: Evaluates the operator on constants; None if ONNX's reference does that.
        moves: Whether the operator only moves numbers, open sizes included.
        inputs: The number of inputs that must be present.
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
    "Conv": Row(weighted.conv, inputs=2),
    "ConvTranspose": Row(transposed.conv_transpose, inputs=2),
    "Einsum": Row(einsum.einsum),
    "Gemm": Row(weighted.gemm, inputs=2),
    "MatMul": Row(weighted.matmul, inputs=2),
    # Normalization
    "BatchNormalization": Row(weighted.batch_norm, inputs=5),
    "GroupNormalization": Row(normalizing.group_norm, inputs=3),
    "InstanceNormalization": Row(normalizing.instance_norm, inputs=3),
    "LayerNormalization": Row(normalizing.layer_norm, inputs=2),
    "LpNormalization": Row(normalizing.lp_norm),
    "RMSNormalization": Row(normalizing.rms_norm, inputs=2),
    # Activations
    "Abs": Row(elementwise.unary("ABS")),
    "Celu": Row(activations.celu),
    "Clip": Row(elementwise.clip),
    "Elu": Row(activations.elu),
    "Erf": Row(activations.erf),
    "Exp": Row(elementwise.unary("EXP")),
    "Gelu": Row(activations.gelu),
    "HardSigmoid": Row(activations.hard_sigmoid),
    "HardSwish": Row(elementwise.unary("HARD_SWISH")),
    "LeakyRelu": Row(elementwise.leaky_relu),
    "LogSoftmax": Row(elementwise.softmax("LOG_SOFTMAX")),
    "Mish": Row(activations.mish),
    "Neg": Row(elementwise.unary("NEG")),
    "PRelu": Row(elementwise.prelu, inputs=2),
    "Relu": Row(elementwise.unary("RELU")),
    "Selu": Row(activations.selu),
    "Sigmoid": Row(elementwise.unary("LOGISTIC")),
    "Softmax": Row(elementwise.softmax("SOFTMAX")),
    "Softplus": Row(activations.softplus),
    "Softsign": Row(activations.softsign),
    "Swish": Row(activations.swish),
    "Tanh": Row(elementwise.unary("TANH")),
    "ThresholdedRelu": Row(activations.thresholded_relu),
    # Arithmetic
    "Add": Row(elementwise.binary("ADD"), inputs=2),
    "Ceil": Row(elementwise.unary("CEIL")),
    "Cos": Row(elementwise.unary("COS")),
    "CumSum": Row(picking.cumulative, inputs=2),
    "Div": Row(elementwise.binary("DIV"), inputs=2),
    "Floor": Row(elementwise.unary("FLOOR")),
    "Log": Row(elementwise.unary("LOG")),
    "Max": Row(elementwise.chain("MAXIMUM")),
    "Min": Row(elementwise.chain("MINIMUM")),
    "Mul": Row(elementwise.binary("MUL"), inputs=2),
    "Pow": Row(elementwise.power, inputs=2),
    "Reciprocal": Row(elementwise.reciprocal),
    "Round": Row(elementwise.unary("ROUND")),
    "Sin": Row(elementwise.unary("SIN")),
    "Sqrt": Row(elementwise.unary("SQRT")),
    "Sub": Row(elementwise.binary("SUB"), inputs=2),
    "Sum": Row(elementwise.chain("ADD")),
    # Signs
    "And": Row(signs.logical("LOGICAL_AND"), inputs=2),
    "BipolarQuant": Row(signs.bipolar_quant, signs.fold_bipolar_quant, inputs=2),
    "Cast": Row(signs.cast, signs.fold_cast, moves=True),
    "Equal": Row(signs.compare("EQUAL"), folding.equal, moves=True, inputs=2),
    "Greater": Row(signs.compare("GREATER"), inputs=2),
    "GreaterOrEqual": Row(signs.compare("GREATER_EQUAL"), inputs=2),
    "IsNaN": Row(signs.is_nan),
    "Less": Row(signs.compare("LESS"), inputs=2),
    "LessOrEqual": Row(signs.compare("LESS_EQUAL"), inputs=2),
    "Not": Row(signs.logical_not),
    "Or": Row(signs.logical("LOGICAL_OR"), inputs=2),
    "Quant": Row(signs.quant, signs.fold_quant, inputs=4),
    "ScatterND": Row(signs.scatter, signs.fold_scatter, inputs=3),
    "Sign": Row(signs.sign, signs.fold_sign),
    "Where": Row(signs.where, moves=True, inputs=3),
    "Xor": Row(signs.logical("NOT_EQUAL"), inputs=2),
    # Poolings
    "ArgMax": Row(pooling.arg("ARG_MAX")),
    "ArgMin": Row(pooling.arg("ARG_MIN")),
    "AveragePool": Row(pooling.average_pool),
    "GlobalAveragePool": Row(pooling.global_pool("MEAN")),
    "GlobalMaxPool": Row(pooling.global_pool("REDUCE_MAX")),
    "MaxPool": Row(pooling.max_pool),
    "ReduceL1": Row(pooling.reduce("SUM", "ABS")),
    "ReduceL2": Row(pooling.reduce("SUM", "SQUARE", "SQRT")),
    "ReduceLogSumExp": Row(pooling.log_sum_exp),
    "ReduceMax": Row(pooling.reduce("REDUCE_MAX")),
    "ReduceMean": Row(pooling.reduce("MEAN")),
    "ReduceMin": Row(pooling.reduce("REDUCE_MIN")),
    "ReduceProd": Row(pooling.reduce("REDUCE_PROD")),
    "ReduceSum": Row(pooling.reduce("SUM")),
    "ReduceSumSquare": Row(pooling.reduce("SUM", "SQUARE")),
    # Moves
    "Concat": Row(moving.concat, moves=True),
    "DepthToSpace": Row(resizing.depth_to_space),
    "Dropout": Row(moving.dropout, moves=True),
    "Expand": Row(picking.expand, folding.expand, moves=True, inputs=2),
    "Flatten": Row(moving.flatten),
    "Gather": Row(picking.gather, moves=True, inputs=2),
    "GatherND": Row(picking.gather_nd, inputs=2),
    "Identity": Row(moving.unchanged, moves=True),
    "Pad": Row(moving.pad),
    "Reshape": Row(moving.reshape, folding.reshape, moves=True, inputs=2),
    "Resize": Row(resizing.resize, moves=True),
    "Slice": Row(moving.slice_of, moves=True),
    "SpaceToDepth": Row(resizing.space_to_depth),
    "Split": Row(moving.split),
    "Squeeze": Row(moving.squeeze, moves=True),
    "Tile": Row(picking.tile, inputs=2),
    "Transpose": Row(moving.transpose),
    "Unsqueeze": Row(moving.unsqueeze, moves=True),
    "Upsample": Row(resizing.resize, inputs=2),
    # Constants
    "Constant": Row(_of_constants, folding.constant, inputs=0),
    "ConstantOfShape": Row(_of_constants, folding.constant_of_shape, moves=True),
    "Shape": Row(moving.shape_of, moves=True),
}

_QUANTIZER_KINDS = {"BipolarQuant", "Quant"}


def find_row(domain: str, kind: str) -> Row | None:
    expected = QUANTIZERS if kind in _QUANTIZER_KINDS else STANDARD
    return _ROWS.get(kind) if domain == expected else None


def known_kinds() -> list[str]:
    return sorted(_ROWS)
