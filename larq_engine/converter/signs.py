"""Recognises values that are one of two numbers, however a model computes them.

`find_binary(tensor)` finds: tensor = alpha * s + beta, where s is +1 or -1 everywhere. It also
tells how to make s: as the sign of a value (+1 where `x >= 0`), as a condition (+1 where true), or
by an operator that only moves values, applied to other such s. It changes nothing.

Exact algebra reduces every sign in use to these: x > 0 is not (-x >= 0), and x >= t is x - t >= 0.
TensorFlow writes larq's sign as sign(sign(x) + 0.1), which has no third value because 0.1 lies
between 0 and 1.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from larq_engine.converter.activations import (
    excludes_negative,
    fused_activation,
    keeps_sign,
)
from larq_engine.converter.graph import Array, Op, Tensor
from larq_engine.converter.not_negative import is_not_negative
from larq_engine.converter.sign_values import find_sign_values, is_same_value, uniform


@dataclass(frozen=True)
class Positive:
    """+1 where the tensor, its negative, or a difference from `bound` is >= 0."""

    tensor: Tensor
    negated: bool = False
    # Constant to compare with: the value is tensor - bound, or bound - tensor if negated.
    bound: Tensor | None = None
    # True for > 0 instead of >= 0, which takes a comparison.
    strict: bool = False


@dataclass(frozen=True)
class Condition:
    """+1 where a tensor of truth values is true, or where it is false if negated."""

    tensor: Tensor
    negated: bool = False


@dataclass(frozen=True)
class Moved:
    """The result of an operator that moves or drops values of other sources, or takes maxima."""

    op: Op
    parts: tuple["Source", ...]
    # The tensor of the float model that the result stands for.
    output: Tensor
    # The sign with which a pad operator pads.
    pad_sign: int = 0


Source = Positive | Condition | Moved


@dataclass(frozen=True)
class Binary:
    """A tensor that is alpha * s + beta, with s from `source`."""

    source: Source
    tensor: Tensor
    alpha: float = 1.0
    beta: float = 0.0
    bits: ClassVar[int] = 1

    def pad_sign(self, value: float) -> int | None:
        """Returns the pad of s if the tensor is padded with `value`; 0 is neither sign."""
        signs = (s for s in (0, 1, -1) if self.alpha * s + self.beta == value)
        return next(signs, None)

    def describe(self) -> str:
        """Describes the values in words."""
        return f"{self.beta - self.alpha:g} or {self.beta + self.alpha:g}"


@dataclass(frozen=True)
class NotBinary:
    """The reason why a tensor is not binary, in words for the report."""

    reason: str
    remedy: str


_USE_A_SIGN = (
    "take its sign, 1 where x >= 0 and else -1 (in Keras input_quantizer='ste_sign'), with nothing "
    "but reshaping and max pooling between that and the layer"
)


def find_binary(tensor: Tensor) -> Binary | NotBinary:
    """Returns how the values of a float tensor come from signs, or why they do not."""
    op = tensor.producer
    if op is None or tensor.dtype != "FLOAT32":
        what = "a constant" if tensor.is_constant else "an input of the model"
        if op is not None:
            what = f"a tensor of type {tensor.dtype}"
        return NotBinary(
            f"its input '{tensor.name}' is {what}, not the result of a sign", _USE_A_SIGN
        )
    if op.known.moved is not None:
        return _moved(op, tensor)
    of_sign = _of_sign(tensor)
    if of_sign is not None:
        return of_sign
    finder = _FINDERS.get(op.kind, _not_a_sign)
    return finder(op)


def _of_sign(tensor: Tensor) -> Binary | NotBinary | None:
    """Recognises a value that is one number where another is >= 0, or > 0, else another."""
    found = find_sign_values(tensor)
    if found is None or not np.isfinite(found.values).all():
        return None
    below, at, above = map(float, found.values)
    if at != above and is_not_negative(found.x):
        # `above` is for x > 0, where -x >= 0 is false, and `at` for all other x.
        source = Positive(_before_relu(found.x), negated=True)
        return _between((source, False), tensor, above, at)
    if below != above and at in (below, above):
        strict = at == below
        low, high = (above, below) if strict else (below, above)
        return _between((Positive(found.x, negated=strict), False), tensor, low, high)
    if below != above and tensor.producer is not None and tensor.producer.kind != "SIGN":
        return NotBinary(
            f"its input '{tensor.name}' has a third value, {at:g}, for the sign of 0",
            "use larq's ste_sign, or tf.where(x >= 0, 1., -1.)",
        )
    return None


def _not_a_sign(op: Op) -> NotBinary:
    return NotBinary(
        f"its input '{op.name}' is the result of {op.kind}, not of a sign", _USE_A_SIGN
    )


def scalar(tensor: Tensor | None) -> float | None:
    """Returns the one number that a float constant holds everywhere, or None."""
    number = uniform(tensor) if tensor is not None and tensor.dtype == "FLOAT32" else None
    return None if number is None else float(number)


def _sign(op: Op) -> NotBinary:
    """Returns why a plain sign is not binary, or why c in sign(sign(x) + c) is wrong."""
    (x,) = op.inputs
    assert x is not None
    inner = x.producer
    if inner is not None and inner.kind in ("ADD", "SUB") and not fused_activation(inner):
        a, b = inner.inputs
        shift = scalar(b)
        if shift is not None and inner.kind == "SUB":
            shift = -shift
        if shift is None and inner.kind == "ADD":
            a, shift = b, scalar(a)
        outer = a.producer if a is not None else None
        # A shift that is larger than the sign broadcasts it.
        alike = a is not None and a.shape == x.shape
        if shift is not None and alike and outer is not None and outer.kind == "SIGN":
            return _shifted_sign(op, shift)
    return NotBinary(
        f"its input '{op.name}' is a plain SIGN, which has a third value, 0",
        "use larq's ste_sign, or tf.where(x >= 0, 1., -1.)",
    )


def _shifted_sign(op: Op, shift: float) -> NotBinary:
    return NotBinary(
        f"its input '{op.name}' is sign(sign(x) + c) with c = {shift:g}; only with c between 0 and "
        "1 is that +1 for x >= 0 and -1 otherwise",
        "use larq's ste_sign, which has c = 0.1",
    )


def _before_relu(x: Tensor) -> Tensor:
    """Returns the value before a relu, bounded or not, as both are above 0 at the same places."""
    op = x.producer
    if op is not None and excludes_negative(op.known.clamp):
        assert op.inputs[0] is not None
        return op.inputs[0]
    return x


def _select(op: Op) -> Binary | NotBinary:
    condition, when_true, when_false = op.inputs
    high, low = scalar(when_true), scalar(when_false)
    if condition is None or high is None or low is None or high == low:
        return NotBinary(
            f"its input '{op.name}' chooses between values that are not two constants", _USE_A_SIGN
        )
    if condition.shape != op.output.shape:
        return NotBinary(
            f"the condition of '{op.name}' has the shape {condition.shape}, its result "
            f"{op.output.shape}",
            "make the condition as large as the result",
        )
    return _between(_find_condition(condition), op.output, low, high)


def _between(
    found: tuple[Source, bool], tensor: Tensor, low: float, high: float
) -> Binary | NotBinary:
    """Returns a tensor that is `high` where the source is +1 and `low` elsewhere, or flipped."""
    source, flipped = found
    alpha, beta = (high - low) / 2, (high + low) / 2
    if not np.isfinite([np.float32(alpha), np.float32(beta)]).all():
        return NotBinary(f"'{tensor.name}' has infinite values", _USE_A_SIGN)
    exact = (beta - alpha, beta + alpha) == (low, high)
    if not exact:
        return NotBinary(
            f"'{tensor.name}' is {low:g} or {high:g}, which cannot be scaled from -1 and +1 "
            "without rounding",
            "use -1 and 1, or 0 and 1",
        )
    return Binary(source, tensor, alpha=-alpha if flipped else alpha, beta=beta)


def _cast(op: Op) -> Binary | NotBinary:
    (condition,) = op.inputs
    if condition is None or condition.dtype != "BOOL":
        return _not_a_sign(op)
    return _between(_find_condition(condition), op.output, 0.0, 1.0)


def _find_condition(tensor: Tensor) -> tuple[Source, bool]:
    """Returns the source of a truth value, and whether true is the source's -1."""
    op = tensor.producer
    if op is not None and op.kind == "LOGICAL_NOT" and op.inputs[0] is not None:
        source, flipped = _find_condition(op.inputs[0])
        return source, not flipped
    if op is not None and op.kind in TRUTH_MOVES and _stays_put(op):
        (truth,) = op.inputs[:1]
        assert truth is not None
        source, flipped = _find_condition(truth)
        return Moved(op, (source,), tensor), flipped
    if op is None or op.kind not in _COMPARISONS:
        return Condition(tensor), False
    a, b = op.inputs
    negated, flipped = _COMPARISONS[op.kind]
    if a is not None and a.is_constant:
        # t >= x is x <= t. The side that is subtracted changes, but not the result for equal sides.
        a, b, negated = b, a, not negated
    if a is not None and b is not None and b.data is not None and _fits(b, a):
        if a.dtype == "FLOAT32" and has_exact_differences(b.data):
            bound = None if scalar(b) == 0.0 else b
            return Positive(a, negated, bound), flipped
        if a.dtype == "INT8" and a.quantization is not None and not negated and _is_int8_zero(b):
            return Positive(a), flipped
    return Condition(tensor), False


# Operators with one input that move truth values as fast as bytes in all hosts.
TRUTH_MOVES = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS", "TRANSPOSE")


def _is_int8_zero(tensor: Tensor) -> bool:
    """Tells whether an int8 constant is the zero point everywhere."""
    if tensor.data is None or tensor.dtype != "INT8" or tensor.quantization is None:
        return False
    zero_points = tensor.quantization.zero_point
    return len(zero_points) == 1 and bool((tensor.data == zero_points[0]).all())


def _fits(bound: Tensor, x: Tensor) -> bool:
    return np.broadcast_shapes(bound.shape, x.shape) == x.shape


def has_exact_differences(bound: Array) -> bool:
    """Tells whether x - bound has the sign of the comparison of x and bound, for every x.

    If a bound is 0 or at least 2**-100, no difference from it is one of the numbers below the
    smallest normal one, which runtimes may flush to 0. NaN compares with nothing.
    """
    return bool(((bound == 0) | (np.abs(bound) >= np.float32(2.0**-100))).all())


# For comparisons a ? b: True if b - a >= 0 decides, else a - b >= 0; and True if the comparison
# holds where that is false.
_COMPARISONS = {
    "GREATER_EQUAL": (False, False),
    "LESS": (False, True),
    "LESS_EQUAL": (True, False),
    "GREATER": (True, True),
}


def _affine(op: Op) -> Binary | NotBinary:
    """Recognises a binary value times, plus or minus a number."""
    if fused_activation(op):
        return _not_a_sign(op)
    straight_through = _straight_through(op)
    if straight_through is not None:
        return straight_through
    a, b = [*op.inputs, None][:2]
    number, value = scalar(b), a
    if number is None:
        number, value = scalar(a), b
    if op.kind == "NEG":
        number, value = -1.0, a
    if number is None or value is None or value.is_constant or not np.isfinite(number):
        return _not_a_sign(op)
    if value.shape != op.output.shape:
        return _not_a_sign(op)
    inner = find_binary(value)
    if isinstance(inner, NotBinary):
        # The sign may be right, and only its scale may not be a constant number.
        return inner
    values = [np.float32(inner.beta - inner.alpha), np.float32(inner.beta + inner.alpha)]
    x = np.float32(number)
    if op.kind in ("MUL", "NEG"):
        values = [v * x for v in values]
    elif op.kind == "DIV":
        if value is b or number == 0:
            return _not_a_sign(op)
        values = [v / x for v in values]
    elif op.kind == "ADD":
        values = [v + x for v in values]
    else:
        values = [x - v for v in values] if value is b else [v - x for v in values]
    low, high = (float(v) for v in values)
    if low == high:
        return _not_a_sign(op)
    return _between((inner.source, False), op.output, low, high)


def _straight_through(op: Op) -> Binary | NotBinary | None:
    """Recognises x + (s - x) or x - (x - s), whose gradient was that of x; None for other sums.

    If s is -1, 0 or 1 and does not have the opposite sign of x, float32 gives s to the bit while
    |x| is at most 2**24. For larger |x|, rounding loses s; the sum is treated as the sign that is
    meant.
    """
    if op.kind not in ("ADD", "SUB"):
        return None
    a, b = op.inputs
    for x, rest in [(a, b), (b, a)] if op.kind == "ADD" else [(a, b)]:
        inner = rest.producer if rest is not None else None
        if inner is None or inner.kind != "SUB" or fused_activation(inner):
            continue
        sign, subtracted = inner.inputs if op.kind == "ADD" else reversed(inner.inputs)
        if x is None or sign is None or subtracted is None or sign.is_constant:
            continue
        if not is_same_value(subtracted, x):
            continue
        if not sign.shape == x.shape == op.output.shape:
            continue
        found = find_binary(sign)
        if isinstance(found, NotBinary):
            return found
        if _has_the_sign_of(found, x):
            return replace(found, tensor=op.output)
    return None


def find_straight_through(tensor: Tensor) -> Op | None:
    """Returns the x + (s - x) or x - (x - s) that a tensor's values come from, possibly moved."""
    op = tensor.producer
    while op is not None and op.known.moved is not None:
        values = op.inputs[op.known.moved]
        op = values[0].producer if values and values[0] is not None else None
    return op if op is not None and isinstance(_straight_through(op), Binary) else None


def _has_the_sign_of(binary: Binary, x: Tensor) -> bool:
    """Tells whether a binary value is 0 or +1 where x > 0, and 0 or -1 where x < 0."""
    source = binary.source
    if not isinstance(source, Positive) or source.bound is not None or source.strict:
        return False
    above, below = binary.beta + binary.alpha, binary.beta - binary.alpha
    if source.negated:
        above, below = below, above
    of = _before_clamp(source.tensor)
    return above in (0, 1) and below in (0, -1) and is_same_value(_before_clamp(x), of)


def _before_clamp(x: Tensor) -> Tensor:
    """Returns the first value before x that has the same sign as x everywhere."""
    op = x.producer
    while op is not None and _keeps_sign(op) and op.inputs[0] is not None:
        x = op.inputs[0]
        op = x.producer
    return x


def _keeps_sign(op: Op) -> bool:
    if op.kind in ("MINIMUM", "MAXIMUM"):
        limit = scalar(op.input(1))
        return limit is not None and (limit > 0 if op.kind == "MINIMUM" else limit < 0)
    return op.kind in KEEPING_SIGN or keeps_sign(op.known.clamp)


# Curves whose result is above, at or below 0 exactly where their argument is.
KEEPING_SIGN = ("TANH",)


def _moved(op: Op, tensor: Tensor) -> Binary | NotBinary:
    values = [op.inputs[index] for index in moved_inputs(op)]
    if not _stays_put(op):
        return NotBinary(
            f"where '{op.name}' moves values to is computed when the model runs",
            "give the model a fixed input shape",
        )
    if fused_activation(op) or any(value is None for value in values):
        return _not_a_sign(op)
    found = []
    for value in values:
        assert value is not None
        inner = find_binary(value)
        if isinstance(inner, NotBinary):
            return inner
        found.append(inner)
    # Max pooling keeps the larger value, which must be that of +1.
    size = abs(found[0].alpha) if op.kind == "MAX_POOL_2D" else found[0].alpha
    found = [_with_size(part, size) for part in found]
    first = found[0]
    if any((part.alpha, part.beta) != (first.alpha, first.beta) for part in found):
        return NotBinary(
            f"'{op.name}' joins binary values of different sizes", "join values of one quantizer"
        )
    if op.kind == "MAX_POOL_2D" and first.alpha < 0:
        return NotBinary(
            f"'{op.name}' is a max pooling of values that are -1 where the sign is +1",
            "take the sign before max pooling",
        )
    pad = _pad_sign(op, first) if op.kind in ("PAD", "PADV2") else 0
    if pad is None:
        return NotBinary(
            f"'{op.name}' pads with {pad_value(op)}, which is neither of the two values",
            "pad with 1, or let the convolution pad (in Keras pad_values=1, padding='same')",
        )
    source = Moved(op, tuple(part.source for part in found), tensor, pad)
    return replace(first, source=source, tensor=tensor)


def _with_size(binary: Binary, alpha: float) -> Binary:
    """Returns the value as alpha * s + beta with this alpha, by negating s if that is possible."""
    if binary.alpha != -alpha:
        return binary
    source = _opposite(binary.source)
    return binary if source is None else replace(binary, source=source, alpha=alpha)


def _opposite(source: Source) -> Source | None:
    """Returns a source that is -1 where this one is +1, or None."""
    if isinstance(source, Condition):
        return replace(source, negated=not source.negated)
    if isinstance(source, Positive):
        turned = replace(source, negated=not source.negated, strict=not source.strict)
        return turned if source.tensor.dtype == "FLOAT32" else None
    parts = [_opposite(part) for part in source.parts]
    known = tuple(part for part in parts if part is not None)
    if source.op.kind == "MAX_POOL_2D" or len(known) != len(parts):
        return None
    return replace(source, parts=known, pad_sign=-source.pad_sign)


def moved_inputs(op: Op) -> list[int]:
    """Returns the inputs that are values, of an operator that moves them; others are positions."""
    assert op.known.moved is not None
    return list(range(len(op.inputs))[op.known.moved])


def _others(op: Op) -> list[Tensor | None]:
    moving = set(moved_inputs(op))
    return [tensor for index, tensor in enumerate(op.inputs) if index not in moving]


def _stays_put(op: Op) -> bool:
    """Tells whether the operator's positions are constants."""
    return all(other is None or other.is_constant for other in _others(op))


def pad_value(op: Op) -> float | None:
    """Returns the number that a PAD or PADV2 pads with."""
    return 0.0 if op.kind == "PAD" else scalar(op.input(2))


def _pad_sign(op: Op, binary: Binary) -> int | None:
    """Returns the s with which a PAD or PADV2 of alpha * s + beta pads: 1, -1, or None."""
    value = pad_value(op)
    for sign in (1, -1):
        if value is not None and binary.alpha * sign + binary.beta == value:
            return sign
    return None


_FINDERS: dict[str, Callable[[Op], Binary | NotBinary]] = {
    "SIGN": _sign,
    "SELECT": _select,
    "SELECT_V2": _select,
    "CAST": _cast,
    "MUL": _affine,
    "ADD": _affine,
    "SUB": _affine,
    "DIV": _affine,
    "NEG": _affine,
}
