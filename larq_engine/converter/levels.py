"""Recognises values that are one of few numbers at equal distances, as k-bit quantizers make them.

`find_levels(tensor)` finds: tensor = levels[q], where q is the number of limits that another value
is not smaller than. The operators that make the numbers (products, clamps, roundings) work on each
channel by itself and are monotone, so they are not analysed. They are evaluated one after the other
as the runtime would, and bisecting over all float32 numbers finds where the result changes from one
number to the next. If the other value is a byte, the operators are evaluated for each of the 256.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from larq_engine.converter.activations import fused_activation
from larq_engine.converter.float_order import (
    Function,
    evaluate_flushed,
    flush,
    from_number,
    keep,
    to_number,
)
from larq_engine.converter.graph import Array, Op, Tensor
from larq_engine.converter.lce_ops import MOST_BITS, constant, reshape, transpose
from larq_engine.converter.ranges import find_range
from larq_engine.converter.rules_activation import find_clamp
from larq_engine.converter.rules_bits import step_of
from larq_engine.converter.rules_fuse import per_channel
from larq_engine.converter.signs import (
    Binary,
    Moved,
    NotBinary,
    Positive,
    Source,
    find_binary,
    has_exact_differences,
)

# Dividing by 2^bits - 1 rounds, so distances are equal up to this relative error.
_ROUNDING = 2.0**-23

# A byte that is multiplied and then added to rounds twice.
_BYTE_ROUNDING = 2 * _ROUNDING


@dataclass(frozen=True)
class Levels:
    """tensor = levels[q], q = number of limits that x is not smaller than.

    Attributes:
        tensor: A float tensor.
        x: A tensor with as many values in the same order, FLOAT32 or UINT8.
        limits: In rising order, [2^bits - 1] or [2^bits - 1, channels of x]. If there are levels
            that no value has, the first limits are -infinity.
        levels: 2^bits numbers, rising or falling.
        order: The dimension of x for each dimension of the tensor, if they differ. The limits are
            then the same for all channels.
        ops: Operators that make x, if it is not in the graph.
    """

    tensor: Tensor
    x: Tensor
    limits: Array
    levels: tuple[float, ...]
    order: tuple[int, ...] | None = None
    ops: tuple[Op, ...] = ()

    @property
    def bits(self) -> int:
        return len(self.limits).bit_length()

    # levels[q] = alpha * v + beta, where v = 2 * q - (2^bits - 1) is the sum of the planes of bits.

    @property
    def alpha(self) -> float:
        return (self.levels[-1] - self.levels[0]) / (2 * len(self.limits))

    @property
    def beta(self) -> float:
        return (self.levels[-1] + self.levels[0]) / 2

    def pad_sign(self, value: float) -> int | None:
        """Returns the pad of the planes if the tensor is padded with `value`: 0 means v = 0."""
        middle = (self.levels[0] + self.levels[-1]) / 2
        known = {middle: 0, self.levels[-1]: 1, self.levels[0]: -1}
        return known.get(value)

    def describe(self) -> str:
        """Describes the values in words."""
        levels = self.levels[int(np.isinf(self.limits.reshape(len(self.limits), -1)[:, 0]).sum()) :]
        return f"one of {len(levels)} numbers from {levels[0]:g} to {levels[-1]:g}"

    def of(self, x: Array) -> Array:
        """Returns the levels of values of x, [..., channels], with the tensor's dimensions."""
        count = sum((~(x < limit)).astype(np.intp) for limit in self.limits)
        levels = np.take(np.array(self.levels, np.float32), count)
        return np.asarray(levels if self.order is None else levels.transpose(self.order))


def find_data(tensor: Tensor) -> Binary | Levels | NotBinary:
    """Returns how a tensor's values come from a sign or from few numbers, or why they do not."""
    found = find_binary(tensor)
    if not isinstance(found, NotBinary):
        return found
    levels = find_levels(tensor)
    if levels is None or levels.bits > 1:
        return levels or found
    return _as_sign(levels) or found


def _as_sign(levels: Levels) -> Binary | None:
    """Returns values that are one of two numbers as the sign of a comparison, if that is exact."""
    op = levels.tensor.producer
    if op is not None and op.kind == "TRANSPOSE" and op.inputs[0] is not None:
        inner = find_data(op.inputs[0])
        if not isinstance(inner, Binary):
            return None
        source: Source = Moved(op, (inner.source,), levels.tensor)
        return replace(inner, source=source, tensor=levels.tensor)
    bound, alpha, beta = levels.limits[0], levels.alpha, levels.beta
    if levels.ops or not has_exact_differences(bound):
        return None
    if (beta - alpha, beta + alpha) != levels.levels:
        return None
    # Rounding to even may start a level just above a number with fewer set bits. A layer before
    # would lose that last bit in its bias. The sign then compares with the shorter number, and
    # includes it.
    short = np.nextafter(bound, np.float32(-np.inf))
    up_to = _set_bits(short) < _set_bits(bound) and has_exact_differences(short)
    bound = np.ascontiguousarray(short if up_to else bound)
    source = Positive(levels.x, up_to, constant(bound))
    if levels.order is not None:
        turned = transpose(levels.x, levels.order, levels.tensor)
        source = Moved(turned, (source,), levels.tensor)
    elif levels.x.shape != levels.tensor.shape:
        source = Moved(reshape(levels.x, levels.tensor), (source,), levels.tensor)
    return Binary(source, levels.tensor, -alpha if up_to else alpha, beta)


def _set_bits(numbers: Array) -> int:
    """Returns how many bits of the numbers are set."""
    return int(np.unpackbits(np.ascontiguousarray(numbers).view(np.uint8)).sum())


def find_levels(tensor: Tensor) -> Levels | None:
    """Returns how the values of a float tensor come from few numbers, or None."""
    return _find_pooled_levels(tensor) or _find_byte_levels(tensor) or _find_float_levels(tensor)


def _find_pooled_levels(tensor: Tensor) -> Levels | None:
    """Finds levels of a max pooling, which gives the same before roundings as after them."""
    pooled = _before_reshapes(tensor)
    op = pooled.producer
    if op is None or op.kind != "MAX_POOL_2D" or op.options.fusedActivationFunction:
        return None
    levels = None if op.inputs[0] is None else find_levels(op.inputs[0])
    if levels is None or levels.order is not None or levels.levels[0] > levels.levels[-1]:
        return None
    if levels.x.dtype != "FLOAT32" or levels.x.shape != levels.tensor.shape:
        return None
    if levels.limits.ndim > 1 and tensor.shape[-1] != pooled.shape[-1]:
        return None
    x = pooled.like(f"{levels.x.name}/pooled")
    pool = replace(op, inputs=[levels.x], outputs=[x])
    return replace(levels, tensor=tensor, x=x, ops=(*levels.ops, pool))


def _before_reshapes(tensor: Tensor) -> Tensor:
    while tensor.producer is not None and tensor.producer.kind in _RESHAPES:
        before = tensor.producer.inputs[0]
        if before is None:
            break
        tensor = before
    return tensor


def _find_byte_levels(tensor: Tensor) -> Levels | None:
    """Finds levels of values that are computed from bytes, such as those of an image."""
    functions: list[Function] = []
    x: Tensor | None = tensor
    while x is not None and x.dtype == "FLOAT32" and x.producer is not None and x.shape:
        op = x.producer
        if op.kind in _RESHAPES or op.kind == "CAST":
            x = op.inputs[0]
            continue
        step = step_of(op, x.shape[-1])
        if step is None or step[1] is None or step[1].shape != x.shape:
            return None
        functions.insert(0, step[0])
        x = step[1]
    if x is None or x.dtype != "UINT8" or not x.shape:
        return None
    found = [_byte_values(functions, small) for small in (keep, flush)]
    if found[0] is None or found[0] != found[1] or found[0][0] == found[0][-1]:
        return None
    if not _are_even(found[0], _BYTE_ROUNDING):
        return None
    return Levels(tensor, x, np.arange(1, 256, dtype=np.float32), found[0])


def _byte_values(functions: Sequence[Function], small: Function) -> tuple[float, ...] | None:
    """Returns the number that each byte becomes, if it is the same in all channels."""
    values: Array = np.arange(256, dtype=np.float32)[:, None]
    for function in functions:
        with np.errstate(all="ignore"):
            values = evaluate_flushed([function], small, values)
        if not np.isfinite(values).all() or (values != values[:, :1]).any():
            return None
        values = values[:, :1]
    return tuple(map(float, values[:, 0]))


def _are_even(levels: Sequence[float], rounding: float) -> bool:
    """Tells whether numbers lie at equal distances."""
    even = np.linspace(levels[0], levels[-1], len(levels))
    return bool(np.abs(even - levels).max() <= rounding * np.abs(levels).max())


def _find_float_levels(tensor: Tensor) -> Levels | None:
    quantized = _before_reshapes(tensor)
    functions, of_all = list[Function](), list[Function]()
    x, found, rounds, order = quantized, None, False, None
    is_reshaped = False
    while x.producer is not None and x.dtype == "FLOAT32" and x.shape:
        op = x.producer
        # An operator that does the same to all channels can be moved past a change of order or
        # shape.
        alike = len(of_all) == len(functions)
        if op.kind == "TRANSPOSE" and alike:
            turned = _turned(op, order)
            if turned is None or quantized is not tensor or is_reshaped:
                break
            order, x = turned
            functions = of_all
            continue
        if op.kind in _RESHAPES and alike and order is None and op.inputs[0] is not None:
            x, is_reshaped = op.inputs[0], True
            functions = of_all
            continue
        if found is not None and not _clamps(op):
            break
        is_alike = order is not None or is_reshaped
        one, step = _step(op, 1), _step(op, 1 if is_alike else x.shape[-1])
        if step is None or step[1] is None or step[1].shape != x.shape:
            break
        functions.insert(0, step[0])
        if not is_alike and one is not None:
            of_all.insert(0, one[0])
        x = step[1]
        rounds = rounds or op.kind in _ROUNDINGS
        longer = (
            _levels(functions, tensor, x, 1 if is_alike else x.shape[-1], order) if rounds else None
        )
        if found is not None and longer is None:
            break
        found = longer
    if found is not None and found.limits.ndim > 1 and tensor.shape[-1] != quantized.shape[-1]:
        return None
    if found is not None and found.order == tuple(range(len(found.x.shape))):
        return replace(found, order=None)  # The dimensions were turned and turned back.
    return found


_RESHAPES = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS")
_ROUNDINGS: dict[str, Function] = {"ROUND": np.rint, "FLOOR": np.floor, "CEIL": np.ceil}


_CHOICES = ("SELECT", "SELECT_V2")  # A clamp may be written with these.


def _clamps(op: Op) -> bool:
    is_clamp = op.known.clamp is not None or op.kind in ("MINIMUM", "MAXIMUM", *_CHOICES)
    return is_clamp or bool(fused_activation(op))


def _turned(op: Op, order: tuple[int, ...] | None) -> tuple[tuple[int, ...], Tensor] | None:
    """Returns the input of a TRANSPOSE, and the order of it together with those that follow."""
    x, places = op.inputs
    if x is None or places is None or places.data is None:
        return None
    own = [int(place) for place in places.data]
    return tuple(own if order is None else [own[place] for place in order]), x


def _step(op: Op, channels: int) -> tuple[Function, Tensor | None] | None:
    if op.kind in _ROUNDINGS:
        return _ROUNDINGS[op.kind], op.inputs[0]
    if op.kind in _CHOICES:
        return _chosen(op, channels)
    return step_of(op, channels)


def _chosen(op: Op, channels: int) -> tuple[Function, Tensor | None] | None:
    clamp = find_clamp(op)
    if clamp is None:
        return None
    kind, x, bound = clamp
    limit = per_channel(bound, channels)
    function = np.minimum if kind == "MINIMUM" else np.maximum
    return None if limit is None else (lambda values: function(values, limit), x)


def _levels(
    functions: Sequence[Function],
    tensor: Tensor,
    x: Tensor,
    channels: int,
    order: tuple[int, ...] | None,
) -> Levels | None:
    low, high = find_range(x)
    found, flushed = (
        _find(functools.partial(evaluate_flushed, functions, small), low, high, channels)
        for small in (keep, flush)
    )
    if found is None or flushed is None:
        return None
    (limits, levels), (flushed_limits, flushed_levels) = found, flushed
    # If the runtime's treatment of numbers below the smallest normal one matters, nothing is known.
    if levels != flushed_levels or not np.array_equal(limits, flushed_limits):
        return None
    if (flush(limits) != limits).any():
        return None
    if not _are_even(levels, _ROUNDING):
        return None
    if (limits == limits[:, :1]).all():
        limits = limits[:, 0]
    return Levels(tensor, x, np.ascontiguousarray(limits, np.float32), levels, order)


def _find(
    function: Function, low: int | None, high: int | None, channels: int
) -> tuple[Array, tuple[float, ...]] | None:
    """Returns where a monotone function changes and its values, if all channels have the same.

    The function is given numbers from `low` to `high`.
    """
    most = np.finfo(np.float32).max
    start = np.full(channels, -most if low is None else low, np.float32)
    largest = np.full(channels, most if high is None else high, np.float32)
    with np.errstate(all="ignore"):
        last = function(largest)
        beyond = [(np.inf, last)] if high is None else []
        if low is None:
            beyond.append((-np.inf, function(start)))
        if any((function(np.full_like(start, end)) != at).any() for end, at in beyond):
            return None
        if not np.isfinite(last).all() or (last != last[0]).any():
            return None
        levels = _column_values(function, start, largest)
        if levels is None or len(levels) < 2:
            return None
        limits = _limits(function, start, largest, levels)
        reached = function(np.concatenate([start[None], limits]))
        if (reached != levels[:, None]).any():
            return None
    values = levels.astype(np.float64)
    missing = 2 ** len(limits).bit_length() - len(values)
    below = values[0] - np.arange(missing, 0, -1) * ((values[-1] - values[0]) / len(limits))
    never = np.full((missing, channels), -np.inf, np.float32)
    return np.concatenate([never, limits]), tuple(map(float, [*below, *values]))


def _column_values(function: Function, start: Array, largest: Array) -> Array | None:
    """Returns the first channel's values in order, if they rise or fall and are few enough.

    Wherever two neighbours differ, the point halfway is evaluated, for all such places at once.
    """
    numbers = np.concatenate([to_number(start[:1]), to_number(largest[:1])])

    def evaluate(numbers: Array) -> Array:
        points = np.repeat(from_number(numbers)[:, None], len(start), axis=1)
        return np.asarray(function(points)[:, 0])

    values = evaluate(numbers)
    while True:
        differ = values[1:] != values[:-1]
        if differ.sum() > 2**MOST_BITS - 1:
            return None
        after = np.concatenate([[True], differ])
        ends = after | np.concatenate([differ, [True]])
        if not (differ & (np.diff(numbers) > 1)).any():
            break
        numbers, values = numbers[ends], values[ends]
        gaps = np.flatnonzero((values[1:] != values[:-1]) & (np.diff(numbers) > 1))
        middle = (numbers[gaps] + numbers[gaps + 1]) // 2
        numbers = np.insert(numbers, gaps + 1, middle)
        values = np.insert(values, gaps + 1, evaluate(middle))
    found = values[after]
    steps = np.sign(np.diff(found))
    return found if (steps == steps[:1]).all() else None


def _limits(function: Function, start: Array, largest: Array, levels: Array) -> Array:
    """Returns for each channel the smallest numbers at which the function passes each level."""
    rises = levels[0] < levels[-1]
    low = np.repeat(to_number(start)[None], len(levels) - 1, axis=0)
    high = np.repeat(to_number(largest)[None], len(levels) - 1, axis=0)
    aims = levels[:-1, None]
    while (high - low > 1).any():
        middle = (low + high) // 2
        values = function(from_number(middle))
        is_below = values <= aims if rises else values >= aims
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return from_number(high)
