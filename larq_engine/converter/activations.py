"""Describes what activations do to values, both fused ones and those that are operators.

Rules understand activations that limit values to a range (operators.py), and no others.
"""

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Array, Op
from larq_engine.python.operators import Range, known_op

EVERYTHING: Range = (None, None)

_NAMES = {number: name for name, number in schema.ACTIVATION.items()}


def activation_name(activation: int) -> str | None:
    """Returns the name of the operator that does what a fused activation does."""
    return _NAMES.get(activation)


def range_of(activation: int) -> Range | None:
    """Returns the range to which a fused activation limits values; None if it does more."""
    if activation == schema.ACTIVATION["NONE"]:
        return EVERYTHING
    name = activation_name(activation)
    return known_op(name).clamp if name is not None else None


def fused_activation(op: Op) -> int:
    """Returns the number of the activation that a builtin operator has fused."""
    return int(getattr(op.options, "fusedActivationFunction", schema.ACTIVATION["NONE"]))


def limit(x: Array, to: Range) -> Array:
    """Limits values to a range and keeps their type; NaN stays NaN."""
    return x if to == EVERYTHING else np.clip(x, *to)


def excludes_negative(to: Range | None) -> bool:
    """Tells whether no value of a range is below 0."""
    return to is not None and to[0] is not None and to[0] >= 0


def keeps_sign(to: Range | None) -> bool:
    """Tells whether limiting a value to a range keeps it above, at or below 0."""
    return to is not None and (to[0] is None or to[0] < 0) and (to[1] is None or to[1] > 0)
