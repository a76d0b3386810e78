"""Max pooling goes before what is done to each of its values, which are then fewer.

Where f never falls, the largest of f(x) is f of the largest x, to the bit: rounding keeps an order.
Only a zero may get another sign, which no sign or comparison sees, and a NaN that f makes may be
missing where a larger value is beside it.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops
from larq_engine.converter.activations import fused_activation, range_of
from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.rules_fuse import NONE, per_channel


def pool_first(op: Op, graph: Graph, options: Options) -> list[Op] | None:
    """MAX_POOL_2D(f(x)) -> f(MAX_POOL_2D(x)) of floats; f takes over an activation."""
    made = op.inputs[0]
    assert made is not None
    before = made.producer
    if before is None or not graph.only_use(made) or made.dtype != "FLOAT32":
        return None
    # Of as many values or more nothing is gained.
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


_ACTIVATION = "fusedActivationFunction"


def _with_activation(op: Op, activation: int) -> object:
    return lce_ops.with_options(op, **{_ACTIVATION: activation})


def _rising_in(op: Op) -> int | None:
    """The input that alone varies, if a larger value of it never makes a smaller result."""
    if op.kind not in _RISES or range_of(fused_activation(op)) is None:
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
    """Of slopes, where 0 makes NaN of -inf alone: of other values in its window, no longer."""
    return bool((constant >= 0).all())


def _first(index: int, constant: Array) -> bool:
    return index == 0


# For an operator's varying input and its constant.
_RISES: dict[str, Callable[[int, Array], bool]] = {
    "ADD": _always,
    "SUB": _first,
    "MUL": _above_0,
    "PRELU": _not_below_0,
    **dict.fromkeys(("RELU", "RELU6", "RELU_N1_TO_1"), _always),
}
