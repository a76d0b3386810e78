"""Moves pooling before an operator on each value, which then has fewer values to compute.

If f never falls, the largest f(x) is f of the largest x, to the bit, as rounding keeps the order.
Only a zero may get another sign, which no sign or comparison sees. A NaN that f makes may be
missing if a larger value is beside it.

An average of sums and products with constants of a channel is the sum or product of the average,
except for rounding: numbers that are far from 0 compared with their spread are summed as they are.
If a sign reads these values, too, beside a gate, it takes the operators in, and only the average is
left to be computed: RealToBinaryNet's batch norms cost no pass of their own.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.activations import fused_activation, range_of
from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.rules_bits import becomes_bits
from larq_engine.converter.rules_float import can_change, free_layer
from larq_engine.converter.rules_fuse import NONE, per_channel, producer


def pool_first(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites MAX_POOL_2D(f(x)) as f(MAX_POOL_2D(x)), for floats; f takes over an activation."""
    made = op.inputs[0]
    assert made is not None
    before = made.producer
    if before is None or not graph.only_use(made) or made.dtype != "FLOAT32":
        return None
    # Nothing is gained if the pooling makes as many values as it reads, or more.
    if op.output.elements >= made.elements:
        return None
    index = _rising_in(before)
    x = None if index is None else before.inputs[index]
    if index is None or x is None or x.shape != made.shape:
        return None
    if fused_activation(op) != NONE:
        if not hasattr(before.options, _ACTIVATION) or fused_activation(before) != NONE:
            return None
        before = replace(before, options=_with_activation(before, fused_activation(op)))
    pooled = op.output.like(f"{made.name}/pooled")
    inputs: list[Tensor | None] = list(before.inputs)
    inputs[index] = pooled
    return [
        replace(op, inputs=[x], outputs=[pooled], options=_with_activation(op, NONE)),
        replace(before, inputs=inputs, outputs=op.outputs),
    ]


def give_to_pooled_layer(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites f(MAX_POOL_2D(layer)) as MAX_POOL_2D(f(layer)), if only a sign reads f.

    The layer takes f in. Then bits are pooled instead of floats or bytes.
    """
    index = _rising_in(op)
    pool = producer(op.input(index), "MAX_POOL_2D", graph) if index is not None else None
    if pool is None or index is None or options.for_xcore or fused_activation(pool) != NONE:
        return None
    x = pool.inputs[0]
    layer = free_layer(x, graph)
    if x is None or layer is None or not can_change(layer.inputs[1]):
        return None
    if op.output.shape != pool.output.shape or not becomes_bits(op.output, graph):
        return None
    made = x.like(f"{op.name}/before_pool")
    inputs = list(op.inputs)
    inputs[index] = x
    return [
        replace(op, inputs=inputs, outputs=[made]),
        replace(pool, inputs=[made], outputs=op.outputs),
    ]


def average_first(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """Rewrites AVERAGE_POOL_2D or MEAN of f(x) as f of that of x, for floats and an affine f.

    Signs must read f(x) as well, as they take f in. In int8 an average would be rounded before f.
    """
    made = op.inputs[0]
    assert made is not None
    before = made.producer
    if before is None or options.has_samples or op.output.elements >= made.elements:
        return None
    index = _affine_in(before)
    if index is None or not _keeps_channels(op) or not _is_for_signs(made, graph, op):
        return None
    x, other = before.inputs[index], before.inputs[1 - index]
    constant = per_channel(other, made.shape[-1])
    assert x is not None and other is not None and constant is not None
    if len(other.shape) > len(op.output.shape):
        other = lce_ops.constant(np.ascontiguousarray(constant))
    pooled = op.output.like(f"{made.name}/pooled")
    inputs: list[Tensor | None] = [pooled, pooled]
    inputs[1 - index] = other
    after = replace(before, inputs=inputs, outputs=op.outputs)
    activation = fused_activation(op)
    if activation != NONE:
        after = replace(after, options=_with_activation(after, activation))
        op = replace(op, options=_with_activation(op, NONE))
    return [replace(op, inputs=[x, *op.inputs[1:]], outputs=[pooled]), after]


def _keeps_channels(op: Op) -> bool:
    """Tells whether each average is of values of one channel."""
    if op.kind == "AVERAGE_POOL_2D":
        return True
    made, axes = op.inputs
    if made is None or axes is None or axes.data is None:
        return False
    rank = len(made.shape)
    return all(axis % rank != rank - 1 for axis in axes.data.reshape(-1))


def _affine_in(op: Op) -> int | None:
    """Returns the varying input, if the operator adds or multiplies by constants of a channel."""
    output = op.output
    if op.kind not in _AFFINE or output.dtype != "FLOAT32" or not output.shape:
        return None
    if fused_activation(op) != NONE:
        return None
    for index in (0, 1):
        x, constant = op.inputs[index], per_channel(op.inputs[1 - index], output.shape[-1])
        if constant is not None and np.isfinite(constant).all() and x is not None:
            return index if not x.is_constant and x.shape == output.shape else None
    return None


_AFFINE = ("ADD", "SUB", "MUL")


def _is_for_signs(tensor: Tensor, graph: Graph, reader: Op) -> bool:
    """Tells whether all other readers, at least one, are signs, perhaps behind affine operators."""
    waiting, signs = [tensor], 0
    while waiting:
        value = waiting.pop()
        if any(value is output for output in graph.outputs):
            return False
        for other in value.consumers:
            if other.kind == "LceQuantize":
                signs += 1
            elif other is not reader:
                if _affine_in(other) is None:
                    return False
                waiting.append(other.output)
    return signs > 0


_ACTIVATION = "fusedActivationFunction"


def _with_activation(op: Op, activation: int) -> object:
    return lce_ops.with_options(op, **{_ACTIVATION: activation})


def _rising_in(op: Op) -> int | None:
    """Returns the varying input, if a larger value of it never makes a smaller result."""
    if op.kind not in _RISES or range_of(fused_activation(op)) is None or not op.output.shape:
        return None
    if len(op.inputs) == 1:
        return 0
    for index in (0, 1):
        constant = per_channel(op.inputs[1 - index], op.output.shape[-1])
        if constant is not None and np.isfinite(constant).all():
            return index if _RISES[op.kind](index, constant) else None
    return None


def _always(index: int, constant: Array) -> bool:
    return True


def _above_0(index: int, constant: Array) -> bool:
    return bool((constant > 0).all())


def _not_below_0(index: int, constant: Array) -> bool:
    """Tells whether no slope is negative.

    A slope of 0 makes NaN of -inf only, and no longer does if a window has a larger value.
    """
    return bool((constant >= 0).all())


def _first(index: int, constant: Array) -> bool:
    return index == 0


# For each operator: tells from the varying input and the constant whether it never falls.
_RISES: dict[str, Callable[[int, Array], bool]] = {
    "ADD": _always,
    "SUB": _first,
    "MUL": _above_0,
    "PRELU": _not_below_0,
    **dict.fromkeys(("RELU", "RELU6", "RELU_N1_TO_1"), _always),
}
