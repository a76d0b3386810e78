"""Stores binary weights of layers that stay in float or become int8 as one bit each.

LceUnpackWeights turns them into the same constants, bit for bit, before the model runs. So the
layer computes the same at the same speed, from a file that is 32 (or 8) times smaller.
"""

from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.bits import computes_the_same
from larq_engine.converter.graph import Array, FloatLayer, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.rules_binary import why_not_binary
from larq_engine.converter.signs import NotBinary
from larq_engine.converter.weights import channel_axis, scales

# For fewer weights, the operator and its constants take about as many bytes as they save.
_WORTHWHILE = 256

# LceUnpackWeights makes int8 from -127 to 127, the numbers that can be negated.
_LARGEST_INT8 = 127


def _scale_axes(op: Op, dimensions: int) -> tuple[int, ...]:
    """Returns the dimensions along which the size of the weights may change."""
    if op.kind == "FULLY_CONNECTED":
        # TensorFlow's converter multiplies a batch norm before the layer into its weights.
        return (0, 1)
    return (channel_axis(op, dimensions),)


def pack_weights(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites a float or int8 layer's binary weights as LceUnpackWeights of their bits."""
    weights = op.input(1)
    if options.for_lce or weights is None or weights.data is None:
        return None
    if weights.dtype not in ("FLOAT32", "INT8"):
        return None
    if weights.elements < _WORTHWHILE:
        return None
    axes = [axis for axis in _scale_axes(op, len(weights.shape)) if axis < len(weights.shape)]
    data = weights.data.astype(np.float32, copy=False)
    found = ((axis, scales(np.moveaxis(data, axis, 0))) for axis in axes)
    axis, scale = next(((a, s) for a, s in found if not isinstance(s, NotBinary)), (0, None))
    if scale is None or (weights.dtype == "INT8" and scale.max() > _LARGEST_INT8):
        return None
    output = weights.like(weights.name, signature=None)
    unpack = _unpack(output, data, scale.astype(np.float32), axis)
    # Layers with equal weights share the operator.
    known = next((other for other in graph.ops if computes_the_same(other, unpack)), None)
    inputs = list(op.inputs)
    inputs[1] = (known or unpack).output
    layer = op.float_layer
    if layer is None:
        why = why_not_binary(op, options)
        layer = FloatLayer(op.kind, weights.stored_bytes, why.reason, why.remedy)
    packed = replace(op, inputs=inputs, float_layer=layer)
    return [packed] if known else [unpack, packed]


def _unpack(output: Tensor, weights: Array, scale: Array, axis: int) -> Op:
    bits = lce_ops.pack_bits(np.signbit(weights).reshape(-1))
    if (scale == scale[0]).all():
        scale = scale[:1]
    return Op(
        "LceUnpackWeights",
        [lce_ops.constant(bits), lce_ops.constant(scale)],
        [output],
        {"axis": axis},
        custom=True,
    )
