"""Replaces the operators between a value and its sign by one comparison, or by nothing.

Clamps, scales and batch norms work on each channel by itself and are monotone. So the sign of their
result changes at one input value. That value is found by evaluating the operators one after the
other, as the runtime would, and bisecting over all float32 numbers. So it is exact. If the result
depends on whether the runtime flushes small numbers to zero, nothing is replaced.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.bits import computes_the_same
from larq_engine.converter.float_order import (
    Function,
    evaluate_flushed,
    flush,
    from_number,
    keep,
    to_number,
)
from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.rules_bits import step_of
from larq_engine.converter.signs import KEEPING_SIGN, has_exact_differences


def shorten_before_sign(op: Op, graph: Graph, options: Options) -> list[Op] | Tensor | None:
    """Replaces LceQuantize(f(x)) by LceQuantize of x, x - t or t - x, with a t for each channel."""
    found = _longest(op, graph) if lce_ops.takes_sign(op) else None
    if found is None:
        return None
    x, bound, falls = found
    made: list[Op] = []
    if falls or bound.any():
        made = [_compare(x, bound, falls, f"{op.name}/difference")]
        x = made[0].output
    shorter = replace(op, inputs=[x])
    known = next((other for other in x.consumers if computes_the_same(other, shorter)), None)
    if known is not None and graph.is_internal(op.output):
        return known.output
    return [*made, shorter]


def _compare(x: Tensor, bound: Array, falls: bool, name: str) -> Op:
    """Makes a value that is not negative for x from the bounds on, or for x up to them."""
    difference = x.like(name)
    if not bound.any():
        return Op("NEG", [x], [difference])
    constant = lce_ops.constant(bound[:1] if (bound == bound[0]).all() else bound)
    sides: list[Tensor | None] = [constant, x] if falls else [x, constant]
    return Op("SUB", sides, [difference], schema.make_options("SubOptions"))


def _longest(op: Op, graph: Graph) -> tuple[Tensor, Array, bool] | None:
    """Returns the earliest value whose sign gives the bits with fewer operators, and the bounds.

    A comparison is worth it if it replaces at least two operators; if none is needed, one is
    enough. The last result tells whether the sign is +1 up to the bounds, not from them on.
    """
    best: tuple[Tensor, Array, bool] | None = None
    tensor, functions = op.inputs[0], list[Function]()
    others_read, removed = False, 0
    while tensor is not None and tensor.producer is not None and tensor.dtype == "FLOAT32":
        others_read |= not graph.only_use(tensor)
        removed += not others_read
        step = _step(tensor.producer, tensor, is_sign=not functions or _is_dropped(best, tensor))
        if step is None:
            break
        function, tensor = step
        functions.insert(0, function)
        bounds = _bounds(functions, tensor.shape[-1])
        if bounds is None:
            continue
        found = (tensor, *bounds)
        if removed > 1 or _is_dropped(found, tensor):
            best = found
    return best


def _step(op: Op, output: Tensor, *, is_sign: bool) -> tuple[Function, Tensor] | None:
    """Returns what an operator does to each channel's values, and the values."""
    if not output.shape:
        return None
    # A runtime may compute a curve in any way, but the curve's sign is known.
    curve = is_sign and op.kind in KEEPING_SIGN
    step = (keep, op.inputs[0]) if curve else step_of(op, output.shape[-1])
    if step is None or step[1] is None or step[1].shape != output.shape:
        return None
    return step[0], step[1]


def _is_dropped(found: tuple[Tensor, Array, bool] | None, tensor: Tensor) -> bool:
    """Tells whether the sign is simply that of `tensor`."""
    return found is not None and found[0] is tensor and not found[2] and not found[1].any()


def _bounds(functions: Sequence[Function], channels: int) -> tuple[Array, bool] | None:
    """Returns where the sign becomes +1, or ceases to be, and True if it ceases.

    Returns None if channels differ in the direction, if the sign never changes, or if it depends on
    how the runtime treats numbers below the smallest normal one.
    """

    largest = np.full(channels, np.finfo(np.float32).max, np.float32)
    with np.errstate(all="ignore"):
        ends = [evaluate_flushed(functions, keep, end) for end in (-largest, largest)]
        first, last = (end >= 0 for end in ends)
        falls = bool(first[0])
        if np.isnan(ends).any() or (first != falls).any() or (last == falls).any():
            return None
        turn = np.float32(-1 if falls else 1)
        bounds = [turn * _first(functions, turn, small, largest) for small in (keep, flush)]
    bound = np.where(bounds[0] == 0, np.float32(0), bounds[0])
    # When flushed, all numbers below the smallest normal one are 0.
    alike = np.array_equal(flush(bound), flush(bounds[1]))
    return (bound, falls) if alike and has_exact_differences(bound) else None


def _first(
    functions: Sequence[Function], turn: np.float32, small: Function, largest: Array
) -> Array:
    """Returns the smallest numbers n for which `turn` * n gives values that are not negative."""
    low, high = to_number(-largest), to_number(largest)
    while (high - low > 1).any():
        middle = (low + high) // 2
        yes = evaluate_flushed(functions, small, turn * from_number(middle)) >= 0
        low, high = np.where(yes, low, middle), np.where(yes, middle, high)
    return from_number(high)
