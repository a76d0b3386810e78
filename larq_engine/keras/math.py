"""Provides functions with two values: signs, and steps."""

from typing import Any

from keras import ops


def sign(x: Any) -> Any:
    """Returns -1 where x < 0, else 1. The converter knows this form, which is larq's."""
    return ops.sign(ops.sign(x) + 0.1)


def heaviside(x: Any) -> Any:
    """Returns 1 where x > 0, else 0."""
    return ops.sign(ops.relu(x))
