"""Functions for training whose true gradient is 0 or unwanted, each with a substitute gradient."""

from collections.abc import Callable
from typing import Any

from keras import ops

from larq_engine.keras import math


def ste_sign(x: Any, clip_value: float | None = 1.0) -> Any:
    """Returns the sign; passes gradients on where |x| <= clip_value."""
    return _with_gradient(x, math.sign, lambda x, dy: _clipped(x, dy, clip_value))


def approx_sign(x: Any) -> Any:
    """Returns the sign; its gradient is 2 - 2|x| where |x| <= 1."""

    def gradient(x: Any, dy: Any) -> Any:
        size = ops.absolute(x)
        return ops.where(size <= 1.0, (1 - size) * 2 * dy, ops.zeros_like(dy))

    return _with_gradient(x, math.sign, gradient)


def swish_sign(x: Any, beta: float = 5.0) -> Any:
    """Returns the sign; its gradient is that of BNN+'s swish-like function."""

    def gradient(x: Any, dy: Any) -> Any:
        bx = beta * x
        return dy * beta * (2 - bx * ops.tanh(bx * 0.5)) / (1 + ops.cosh(bx))

    return _with_gradient(x, math.sign, gradient)


def ste_heaviside(x: Any, clip_value: float | None = 1.0) -> Any:
    """Returns 1 where x > 0, else 0; passes gradients on where |x| <= clip_value."""
    return _with_gradient(x, math.heaviside, lambda x, dy: _clipped(x, dy, clip_value))


def ste_tern(
    x: Any,
    threshold_value: float = 0.05,
    ternary_weight_networks: bool = False,
    clip_value: float | None = 1.0,
) -> Any:
    """Returns -1, 0 or 1 by a threshold; passes gradients on where |x| <= clip_value.

    The threshold of ternary weight networks is 0.7 times the mean of |x|.
    """

    def value(x: Any) -> Any:
        threshold = threshold_value
        if ternary_weight_networks:
            threshold = 0.7 * ops.sum(ops.absolute(x)) / ops.cast(ops.size(x), x.dtype)
        return ops.sign(ops.sign(x + threshold) + ops.sign(x - threshold))

    return _with_gradient(x, value, lambda x, dy: _clipped(x, dy, clip_value))


def round_to_steps(x: Any, steps: int) -> Any:
    """Returns the nearest multiple of 1 / steps; passes all gradients on."""
    return _with_gradient(x, lambda x: ops.round(x * steps) / steps, lambda x, dy: dy)


def clip_to_unit(x: Any) -> Any:
    """Returns x between 0 and 1; passes gradients on from 0 to 1, both included."""

    def gradient(x: Any, dy: Any) -> Any:
        return ops.where(ops.logical_and(x >= 0.0, x <= 1.0), dy, ops.zeros_like(dy))

    return _with_gradient(x, lambda x: ops.clip(x, 0.0, 1.0), gradient)


def _clipped(x: Any, dy: Any, clip_value: float | None) -> Any:
    if clip_value is None:
        return dy
    return ops.where(ops.absolute(x) <= clip_value, dy, ops.zeros_like(dy))


def _with_gradient(x: Any, value: Callable[[Any], Any], gradient: Callable[[Any, Any], Any]) -> Any:
    """Returns value(x), whose gradient is gradient(x, the gradient of the result)."""

    @ops.custom_gradient
    def call(x: Any) -> Any:
        def backward(*given: Any, upstream: Any = None) -> Any:
            # PyTorch's backend passes x positionally and the gradient as `upstream=`; the other
            # backends pass only the gradient, positionally.
            return gradient(x, given[0] if upstream is None else upstream)

        return value(x), backward

    # The copy of a variable is a tensor on every backend; TensorFlow takes no variables here.
    return call(ops.copy(x))
