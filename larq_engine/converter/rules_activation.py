"""Activations that models write out of others."""

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.rules_fuse import NONE, per_channel, producer


def join_prelu(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """relu(x) - a * relu(-x), or relu(x) + a * relu(-x) -> PRELU(x), of a slope for each channel.

    One of the two summands is 0, so the sum does not round.
    """
    if op.options.fusedActivationFunction != NONE:
        return None
    pairs = [(op.inputs[0], op.inputs[1])]
    if op.kind == "ADD":
        pairs.append((op.inputs[1], op.inputs[0]))
    for above, below in pairs:
        positive, product = producer(above, "RELU", graph), producer(below, "MUL", graph)
        if positive is None or product is None or product.options.fusedActivationFunction != NONE:
            continue
        x = positive.inputs[0]
        slope = _slope(product, x, graph)
        if x is None or slope is None or x.shape != op.output.shape or not np.isfinite(slope).all():
            continue
        if op.kind == "ADD":
            slope = -slope
        shape = (1,) * (len(x.shape) - 2) + slope.shape
        constant = lce_ops.constant(np.ascontiguousarray(slope.reshape(shape)))
        return [Op("PRELU", [x, constant], [op.output])]
    return None


def _slope(product: Op, x: Tensor | None, graph: Graph) -> Array | None:
    """Of a * relu(-x) the a, as one value for each channel."""
    for a, rest in (product.inputs, reversed(product.inputs)):
        negative = producer(rest, "RELU", graph)
        turned = producer(negative.inputs[0], "NEG", graph) if negative is not None else None
        if x is not None and turned is not None and turned.inputs[0] is x and x.shape:
            return per_channel(a, x.shape[-1])
    return None
