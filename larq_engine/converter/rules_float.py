"""Makes float layers take in the operators behind them, as TensorFlow's own converter does.

Converters of other frameworks do so only in part. As with TensorFlow's, weights times a constant
round once more.
"""

from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.activations import fused_activation
from larq_engine.converter.graph import Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.rules_fuse import NONE, affine, per_channel, values
from larq_engine.converter.weights import channel_axis

_LAYERS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def write_convolution(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites a DEPTHWISE_CONV_2D of one channel as CONV_2D."""
    x, weights = op.inputs[:2]
    if x is None or len(x.shape) != 4 or x.shape[3] != 1 or not can_change(weights):
        return None
    assert weights is not None and weights.data is not None
    filters = np.ascontiguousarray(weights.data.transpose(3, 1, 2, 0))
    fields = {name: value for name, value in vars(op.options).items() if name in _SHARED}
    made = schema.make_options("Conv2DOptions", **fields)
    inputs = [x, lce_ops.constant(filters), *op.inputs[2:]]
    return [replace(op, kind="CONV_2D", inputs=inputs, options=made)]


# Options that both kinds of convolution have.
_SHARED = {
    *("padding", "strideW", "strideH", "dilationWFactor", "dilationHFactor"),
    "fusedActivationFunction",
}


def take_in_affine(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Moves an ADD, SUB, MUL or DIV with a constant per channel into a layer's weights and bias."""
    for index in (0, 1):
        layer, constant = free_layer(op.inputs[index], graph), op.inputs[1 - index]
        if layer is not None and constant is not None and constant.is_constant:
            return _with_affine(op, layer, constant, constant_first=index == 1)
    return None


def _with_affine(op: Op, layer: Op, other: Tensor, *, constant_first: bool) -> list[Op] | None:
    weights, bias = layer.inputs[1], layer.input(2)
    constant = per_channel(other, op.output.shape[-1])
    if constant is None or op.output.shape != layer.output.shape or not can_change(weights):
        return None
    if (op.kind == "DIV" and constant_first) or (bias is not None and bias.data is None):
        return None
    assert weights is not None and weights.data is not None
    old = np.zeros(len(constant), np.float32) if bias is None else values(layer, 2)
    ones = np.ones(len(constant), np.float32)
    with np.errstate(all="ignore"):
        multiplier, shift = affine(op.kind, ones, old, constant, constant_first)
        along = [1] * weights.data.ndim
        along[channel_axis(layer, weights.data.ndim)] = -1
        product = weights.data * multiplier.reshape(along)
    if not (np.isfinite(product).all() and np.isfinite(shift).all()):
        return None
    changed = [lce_ops.constant(data.astype(np.float32)) for data in (product, shift)]
    made = lce_ops.with_options(layer, fusedActivationFunction=fused_activation(op))
    return [replace(layer, inputs=[layer.inputs[0], *changed], outputs=[op.output], options=made)]


def take_in_activation(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites RELU, RELU6 or RELU_N1_TO_1 of a layer as the layer's own activation."""
    layer = free_layer(op.inputs[0], graph)
    if layer is None:
        return None
    made = lce_ops.with_options(layer, fusedActivationFunction=schema.ACTIVATION[op.kind])
    return [replace(layer, outputs=[op.output], options=made)]


def free_layer(tensor: Tensor | None, graph: Graph) -> Op | None:
    """Returns the float layer, without activation, that makes the tensor for its only reader."""
    op = tensor.producer if tensor is not None else None
    if tensor is None or op is None or op.kind not in _LAYERS or tensor.dtype != "FLOAT32":
        return None
    if not graph.only_use(tensor) or op.options is None or fused_activation(op) != NONE:
        return None
    return op


def can_change(weights: Tensor | None) -> bool:
    """Tells whether weights are a layer's own float32 data, not made of fewer bytes."""
    return (
        weights is not None
        and weights.data is not None
        and (weights.dtype, weights.recipe, len(weights.consumers)) == ("FLOAT32", None, 1)
    )
