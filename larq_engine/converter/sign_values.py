"""Values that depend only on whether another value is below, at or above 0.

Whatever a model computes elementwise from signs of a value and its comparisons with 0, the result
is one of three numbers. They are found by evaluating the operators for -1, 0 and 1, as for
constants. So no way to write a sign needs a formula of its own.
"""

from dataclasses import dataclass

import numpy as np

from larq_engine.converter.constants import evaluate
from larq_engine.converter.graph import Array, Op, Tensor
from larq_engine.python.operators import KNOWN_OPS

# Stand for values below 0, at 0 and above 0.
_SIGN_CASES = np.array([-1, 0, 1], np.float32)

_COMPARISONS = ("EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL")
_ELEMENTWISE = (
    *_COMPARISONS,
    *(op.name for op in KNOWN_OPS if op.clamp is not None),
    *("ABS", "ADD", "CAST", "DIV", "LOGICAL_AND", "LOGICAL_NOT", "LOGICAL_OR", "MAXIMUM"),
    *("MINIMUM", "MUL", "NEG", "SELECT", "SELECT_V2", "SIGN", "SUB"),
)


@dataclass(frozen=True)
class SignValues:
    """The values of a tensor where `x`, of the same shape, is below 0, at 0 and above 0."""

    x: Tensor
    values: Array


def find_sign_values(tensor: Tensor) -> SignValues | None:
    """Returns the three values of a tensor, or None if more than a sign decides it."""
    return _Search().values(tensor)


class _Search:
    """Computes each tensor once, even if several paths lead to it."""

    def __init__(self) -> None:
        self._found: dict[int, SignValues | None] = {}

    def values(self, tensor: Tensor) -> SignValues | None:
        """Returns the three values of a tensor; it does not recurse, as chains may be long."""
        waiting = [tensor]
        while waiting:
            unknown = self._first_unknown(waiting[-1])
            if unknown is not None:
                waiting.append(unknown)
                continue
            done = waiting.pop()
            self._found[id(done)] = self._compute(done)
        return self._found[id(tensor)]

    def _first_unknown(self, tensor: Tensor) -> Tensor | None:
        """Returns an input that must be computed before the tensor."""
        op = _elementwise_producer(tensor)
        for given in () if op is None else op.inputs:
            if given is None or uniform(given) is not None:
                continue
            if id(given) not in self._found:
                return given
            if op is not None and self._values_of_input(op, given) is None:
                return None  # One unknown input is enough: the tensor is unknown, too.
        return None

    def _compute(self, tensor: Tensor) -> SignValues | None:
        op = _elementwise_producer(tensor)
        if op is None:
            return None
        x: Tensor | None = None
        inputs: list[Array] = []
        for given in op.inputs:
            number = uniform(given)
            if number is not None:
                inputs.append(number)
                continue
            found = self._values_of_input(op, given)
            if found is None or found.x.shape != tensor.shape:
                return None
            if x is not None and not is_same_value(found.x, x):
                return None
            x = found.x
            inputs.append(found.values)
        # At 0 the value may be 0 or -0, which only a division tells apart.
        if x is None or (op.kind == "DIV" and not np.all(inputs[1])):
            return None
        values = evaluate(op, inputs)
        return None if values is None else SignValues(x, values)

    def _values_of_input(self, op: Op, given: Tensor | None) -> SignValues | None:
        found = self._found[id(given)] if given is not None else None
        if found is not None or given is None or given.dtype != "FLOAT32" or given.is_constant:
            return found
        compared = op.kind in _COMPARISONS and any(uniform(other) == 0 for other in op.inputs)
        return SignValues(given, _SIGN_CASES) if compared or op.kind == "SIGN" else None


def _elementwise_producer(tensor: Tensor) -> Op | None:
    op = tensor.producer
    return None if op is None or op.custom or op.kind not in _ELEMENTWISE else op


def uniform(tensor: Tensor | None) -> Array | None:
    """Returns the one number that a constant holds everywhere, or None."""
    if tensor is None or tensor.data is None or not tensor.elements:
        return None
    first = tensor.data.reshape(-1)[0]
    # 0 and -0 are equal, but a division by them gives different results.
    alike = (tensor.data == first) & (np.signbit(tensor.data) == np.signbit(first))
    return np.asarray(first) if bool(alike.all()) else None


def is_same_value(a: Tensor, b: Tensor) -> bool:
    """Tells whether two tensors are the same, or transposed from the same one in the same way."""
    return a is b or _turned_from(a) == _turned_from(b)


def _turned_from(tensor: Tensor) -> tuple[int, list[int]]:
    """Returns the tensor before all transposes, and the order that these make together."""
    order = np.arange(len(tensor.shape))
    while tensor.producer is not None and tensor.producer.kind == "TRANSPOSE":
        x, turn = tensor.producer.inputs
        if x is None or turn is None or turn.data is None:
            break
        tensor, order = x, turn.data.reshape(-1)[order]
    return id(tensor), list(map(int, order))
