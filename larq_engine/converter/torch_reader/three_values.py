"""Finds what a node gives for negative, zero and positive values of a single other node.

Modules write signs as torch.sign, as a comparison with 0, or as arithmetic, masks and choices of
these. All of them are functions of the sign of x, so three values describe them.
"""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from larq_engine.converter.torch_reader.folding import Constants
from larq_engine.converter.torch_reader.nodes import COPIES, Node, copied, is_node, kind, shape

Triple = tuple[float, float, float]

# Stands for a value that may be anything, such as that of uninitialized memory.
_UNDEFINED = math.nan


@dataclass(frozen=True)
class ThreeValues:
    """The values where x < 0, x == 0 and x > 0. Without x, all three are the same number."""

    x: Node | None
    values: Triple


def _sign(value: float) -> float:
    return math.copysign(1.0, value) if value else value


# Operators by a part of their names: ge stands for aten.ge.Scalar and aten.ge.Tensor.
_ARITHMETIC: dict[str, Callable[..., float]] = {
    "add": operator.add,
    "div": lambda a, b: a / b if b else _UNDEFINED,
    "eq": operator.eq,
    "ge": operator.ge,
    "gt": operator.gt,
    "le": operator.le,
    "logical_not": operator.not_,
    "lt": operator.lt,
    "mul": operator.mul,
    "ne": operator.ne,
    "neg": operator.neg,
    "rsub": lambda a, b: b - a,
    "sgn": _sign,
    "sign": _sign,
    "sub": operator.sub,
    "where": lambda condition, a, b: a if condition else b,
}
# Operators that tell the sign of an unknown value, if they compare it with 0.
_TELL_SIGNS = {"eq", "ge", "gt", "le", "lt", "ne", "sgn", "sign"}

_CASTS = {"_to_copy", "to"}


def _cast(convert: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: value if math.isnan(value) else float(convert(value))


# Casts to types that do not hold every value: the bool True + True is True, and the integer of 0.5
# is 0.
_INTEGER_CASTS: dict[str, Callable[[float], float]] = {
    "torch.bool": _cast(bool),
    "torch.uint8": _cast(lambda value: math.trunc(value) % 256),
    **{f"torch.int{bits}": _cast(math.trunc) for bits in (8, 16, 32, 64)},
}
_CLAMPS = {"clamp", "hardtanh"}
_UNWRITTEN = {"empty", "empty_like", "new_empty"}


class SignFinder:
    """Finds the three values of a graph's nodes."""

    def __init__(self, constants: Constants) -> None:
        self._constants = constants
        self._found: dict[Node, ThreeValues | None] = {}

    def find(self, value: Any) -> ThreeValues | None:
        """Returns the three values of a node or number; None if it depends on more than a sign."""
        if isinstance(value, (bool, int, float)):
            return _number(float(value))
        if not is_node(value):
            return None
        if value not in self._found:
            self._found[value] = self._read(value)
        return self._found[value]

    def _read(self, node: Node) -> ThreeValues | None:
        found = self._evaluate(node)
        dtype = str(getattr(node.meta.get("val"), "dtype", ""))
        if found is None or dtype not in _INTEGER_CASTS:
            return found
        negative, zero, positive = map(_INTEGER_CASTS[dtype], found.values)
        return replace(found, values=(negative, zero, positive))

    def _evaluate(self, node: Node) -> ThreeValues | None:
        """Returns the three values, computed as floats."""
        name = kind(node)
        if name in COPIES:
            return self.find(node.args[0])
        short = name.split(".")[1] if name.startswith("aten.") else ""
        if short in _CASTS:
            return self.find(node.args[0])
        if short in _UNWRITTEN:
            return _number(_UNDEFINED)
        if short in ("ones_like", "zeros_like"):
            return _number(1.0 if short == "ones_like" else 0.0)
        if short in ("full", "full_like"):
            return self.find(node.args[1])
        if short == "scalar_tensor":
            return self.find(node.args[0])
        if short in _CLAMPS:
            return self._clamp(node)
        if short in ("masked_fill", "index_put"):
            return self._fill(node)
        if short in _ARITHMETIC and not node.kwargs:
            return self._compute(short, node)
        return self._constant(node)

    def _compute(self, short: str, node: Node) -> ThreeValues | None:
        parts = [self.find(value) for value in node.args]
        if short in _TELL_SIGNS and parts[0] is None and is_node(node.args[0]):
            parts[0] = ThreeValues(copied(node.args[0]), (-math.inf, 0.0, math.inf))
            if any(part is None or set(part.values) != {0.0} for part in parts[1:]):
                return None
        return _apply(_ARITHMETIC[short], parts)

    def _clamp(self, node: Node) -> ThreeValues | None:
        low, high = ([*node.args[1:], None, None] if len(node.args) < 3 else node.args[1:3])[:2]
        if kind(node).startswith("aten.hardtanh") and len(node.args) < 3:
            return None
        ends = [-math.inf if low is None else low, math.inf if high is None else high]
        return _apply(
            lambda x, a, b: min(max(x, a), b), [self.find(v) for v in (node.args[0], *ends)]
        )

    def _fill(self, node: Node) -> ThreeValues | None:
        base, mask, filling = node.args[:3]
        if isinstance(mask, (list, tuple)):
            if len(mask) != 1 or (len(node.args) > 3 and node.args[3]):
                return None
            (mask,) = mask
        condition = self.find(mask)
        if not is_node(mask) or shape(mask) != shape(node):
            return None
        return _apply(_ARITHMETIC["where"], [condition, self.find(filling), self.find(base)])

    def _constant(self, node: Node) -> ThreeValues | None:
        """Returns the number in a constant tensor with a single value."""
        if not self._constants.is_constant(node):
            return None
        value = self._constants.value(node)
        if getattr(value, "numel", lambda: 0)() != 1:
            return None
        return _number(float(value))


def _number(value: float) -> ThreeValues:
    return ThreeValues(None, (value, value, value))


def _apply(
    function: Callable[..., float], parts: Sequence[ThreeValues | None]
) -> ThreeValues | None:
    known = [part for part in parts if part is not None]
    origins = {part.x for part in known if part.x is not None}
    if len(known) < len(parts) or len(origins) > 1:
        return None
    negative, zero, positive = (
        float(function(*values)) for values in zip(*(part.values for part in known), strict=True)
    )
    return ThreeValues(origins.pop() if origins else None, (negative, zero, positive))
