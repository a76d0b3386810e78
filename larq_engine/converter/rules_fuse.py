"""Fuses what follows an LceBconv2d into it: activation, multiplier, bias.

y = clamp(dot) * multiplier + bias, with the activation as the clamp. All rules require that nothing
else reads the value in between.
"""

from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.padding import is_zero_padded

NONE = schema.ACTIVATION["NONE"]


def producer(tensor: Tensor | None, kind: str, graph: Graph) -> Op | None:
    """Returns the operator of this kind that makes the tensor for its only reader."""
    if tensor is None or not graph.only_use(tensor):
        return None
    op = tensor.producer
    return op if op is not None and op.kind == kind else None


def float_convolution(tensor: Tensor | None, graph: Graph) -> Op | None:
    """Returns the LceBconv2d with float output that makes the tensor for its only reader."""
    op = producer(tensor, "LceBconv2d", graph)
    return op if op is not None and op.output.dtype == "FLOAT32" else None


def values(op: Op, index: int) -> Array:
    """Returns the constant at an input of an operator."""
    tensor = op.inputs[index]
    assert tensor is not None and tensor.data is not None
    return tensor.data


def per_channel(tensor: Tensor | None, channels: int) -> Array | None:
    """Returns a constant as one value for each channel, or None if it varies within a channel."""
    if tensor is None or tensor.data is None or tensor.dtype != "FLOAT32":
        return None
    if tensor.elements == 1:
        return np.broadcast_to(tensor.data.reshape(-1), (channels,))
    if tensor.elements == channels and tensor.shape[-1] == channels:
        return tensor.data.reshape(-1)
    return None


def other_side(op: Op, graph: Graph) -> tuple[Op, Tensor, bool] | None:
    """Returns an operator's convolution, its constant, and whether the constant comes first."""
    for index in (0, 1):
        convolution = float_convolution(op.input(index), graph)
        other = op.input(1 - index)
        if convolution is not None and other is not None and other.is_constant:
            return convolution, other, index == 1
    return None


def fuse_affine(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites an ADD, SUB, MUL or DIV with a constant per channel as multiplier and bias."""
    found = other_side(op, graph)
    if found is None:
        return None
    convolution, other, constant_first = found
    constant = per_channel(other, op.output.shape[-1])
    if constant is None or op.output.shape != convolution.output.shape:
        return None
    if op.kind == "DIV" and constant_first:
        return None
    with np.errstate(all="ignore"):
        multiplier, bias = affine(
            op.kind, values(convolution, 2), values(convolution, 3), constant, constant_first
        )
    if not (np.isfinite(multiplier).all() and np.isfinite(bias).all()):
        return None
    activation = op.options.fusedActivationFunction
    output = op.output if activation == NONE else op.output.like(f"{op.name}/before_activation")
    fused = _with(convolution, output, multiplier=multiplier, bias=bias)
    if activation == NONE:
        return [fused]
    return [fused, lce_ops.activation(activation, output, op.output)]


def affine(
    kind: str, multiplier: Array, bias: Array, constant: Array, constant_first: bool
) -> tuple[Array, Array]:
    """Returns multiplier and bias after an ADD, SUB, MUL or DIV."""
    if kind == "ADD":
        return multiplier, bias + constant
    if kind == "SUB":
        return (-multiplier, constant - bias) if constant_first else (multiplier, bias - constant)
    if kind == "MUL":
        return multiplier * constant, bias * constant
    return multiplier / constant, bias / constant


def fuse_activation(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Moves a RELU, RELU6 or RELU_N1_TO_1 into a convolution's clamp, if values stay equal.

    relu(dot * m) is m * relu(dot) only for m > 0; the other two have bounds that m would scale.
    """
    convolution = float_convolution(op.input(0), graph)
    if convolution is None or convolution.options["fused_activation_function"] != NONE:
        return None
    if options.for_lce and is_zero_padded(convolution.options):
        return None
    multiplier, bias = values(convolution, 2), values(convolution, 3)
    fits = (multiplier >= 0) if op.kind == "RELU" else (multiplier == 1)
    if bias.any() or not fits.all():
        return None
    return [_with(convolution, op.output, activation=schema.ACTIVATION[op.kind])]


def _with(
    convolution: Op,
    output: Tensor,
    multiplier: Array | None = None,
    bias: Array | None = None,
    activation: int | None = None,
) -> Op:
    """Returns the convolution with another output, and constants or activation changed."""
    inputs = list(convolution.inputs)
    if multiplier is not None:
        inputs[2] = lce_ops.constant(multiplier.astype(np.float32))
    if bias is not None:
        inputs[3] = lce_ops.constant(bias.astype(np.float32))
    options = dict(convolution.options)
    if activation is not None:
        options["fused_activation_function"] = activation
    return replace(convolution, inputs=inputs, outputs=[output], options=options)
