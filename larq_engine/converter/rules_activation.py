"""Rules for activations that models compute with several operators."""

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.rules_fuse import NONE, per_channel, producer
from larq_engine.converter.sign_values import is_same_value
from larq_engine.converter.signs import scalar


def join_prelu(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites relu(x) - a * relu(-x), or relu(x) + a * relu(-x), as a PRELU with channels' slopes.

    One of the two terms is 0, so the sum does not round.
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


def join_clamp(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Replaces x > c ? c : x by MINIMUM(x, c), and other such choices likewise."""
    found = find_clamp(op)
    return None if found is None else [Op(found[0], [*found[1:]], [op.output])]


def find_clamp(op: Op) -> tuple[str, Tensor, Tensor] | None:
    """Returns MINIMUM or MAXIMUM if a SELECT computes that, with the value and the bound."""
    truth, when_true, when_false = op.inputs
    compared = truth.producer if truth is not None else None
    if compared is None or compared.kind not in _ABOVE:
        return None
    x, bound = compared.inputs
    above = _ABOVE[compared.kind]
    if x is not None and x.is_constant:
        x, bound, above = bound, x, not above
    if x is None or bound is None or bound.data is None or x.shape != op.output.shape:
        return None
    for chosen, constant, takes_smaller in [
        (when_false, when_true, above),
        (when_true, when_false, not above),
    ]:
        if chosen is None or constant is None or not is_same_value(chosen, x):
            continue
        # Comparisons know scales; a choice moves bytes, and MINIMUM and MAXIMUM compare bytes.
        if any(each.quantization != x.quantization for each in (constant, bound, op.output)):
            continue
        if _is_same_number(constant, bound):
            return "MINIMUM" if takes_smaller else "MAXIMUM", x, bound
    return None


# For each comparison of x with c: True if it holds for values above c.
_ABOVE = {"GREATER": True, "GREATER_EQUAL": True, "LESS": False, "LESS_EQUAL": False}


def _is_same_number(a: Tensor, b: Tensor) -> bool:
    numbers = scalar(a), scalar(b)
    if None not in numbers:
        return numbers[0] == numbers[1]
    return a.data is not None and b.data is not None and np.array_equal(a.data, b.data)


def _slope(product: Op, x: Tensor | None, graph: Graph) -> Array | None:
    """Returns the factor a of a * relu(-x), as one value for each channel."""
    for a, rest in (product.inputs, reversed(product.inputs)):
        if x is not None and x.shape and _below_zero(rest, graph) is x:
            return per_channel(a, x.shape[-1])
    return None


def _below_zero(tensor: Tensor | None, graph: Graph) -> Tensor | None:
    """Returns x if `tensor` is relu(-x); -x is a NEG, or x * -1, which may have the relu fused."""
    relu = producer(tensor, "RELU", graph)
    activation = NONE if relu is not None else schema.ACTIVATION["RELU"]
    negative = relu.inputs[0] if relu is not None else tensor
    turned = producer(negative, "NEG", graph)
    if turned is not None:
        return turned.inputs[0] if relu is not None else None
    product = producer(negative, "MUL", graph)
    if product is None or product.options.fusedActivationFunction != activation:
        return None
    for factor, rest in (product.inputs, reversed(product.inputs)):
        if scalar(factor) == -1.0:
            return rest
    return None
