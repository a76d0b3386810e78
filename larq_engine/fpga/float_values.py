"""Follows floats behind a layer of bits: each is a function of the layer's dot product.

Hardware passes the dot products on. The function of a channel is a row of its values for all dot
products, in the engine's arithmetic of float32. A sign of it is a comparison of the dot product.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.activations import limit, range_of
from larq_engine.converter.graph import Array, Op
from larq_engine.exporting.int8_results import of_channels
from larq_engine.exporting.op_checks import unsupported

# Functions with more values take gigabytes.
_MOST_VALUES = 1 << 25

_NONE = schema.ACTIVATION["NONE"]
_ACTIVATIONS = ("RELU", "RELU6", "RELU_N1_TO_1")
_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "DIV": np.divide,
}


def takes(op: Op) -> bool:
    """Tells whether it computes each value by itself, with constants."""
    if op.custom or not op.inputs or op.inputs[0] is None or op.inputs[0].dtype != "FLOAT32":
        return False
    if op.kind in _ACTIVATIONS:
        return True
    return op.kind in _ARITHMETIC and sum(_is_constant(op, n) for n in (0, 1)) == 1


def _is_constant(op: Op, position: int) -> bool:
    tensor = op.input(position)
    return tensor is not None and tensor.is_constant


def of_layer(op: Op, lowest: int, highest: int) -> Array:
    """Returns what an LceBconv2d makes of its dot products [channel, dot product].

    Raises:
        ValueError: There are too many.
    """
    if op.output.shape[-1] * (highest - lowest + 1) > _MOST_VALUES:
        raise unsupported(op, f"its sums have more than {_MOST_VALUES} values, and floats follow")
    multiplier, bias = (of_channels(op, n).astype(np.float32)[:, None] for n in (2, 3))
    dots = np.arange(lowest, highest + 1).astype(np.float32)
    return np.asarray(dots * multiplier + bias)


def behind(op: Op, values: Array) -> Array:
    """Returns the values behind an operator."""
    if op.kind in _ACTIVATIONS:
        return limit(values, op.known.clamp or (None, None))
    channels = len(values)
    operands = []
    for position in (0, 1):
        tensor = op.input(position)
        if tensor is None or tensor.data is None:
            operands.append(values)
            continue
        constant = tensor.data
        if constant.dtype != np.float32 or constant.size not in (1, channels):
            raise unsupported(op, "expected one float, or one a channel")
        if constant.size > 1 and constant.shape[-1] != channels:
            raise unsupported(op, "expected a constant along the channels")
        operands.append(constant.reshape(-1, 1))
    with np.errstate(all="ignore"):
        made = _ARITHMETIC[op.kind](*operands)
    return activated(op, np.asarray(made, np.float32))


def activated(op: Op, values: Array) -> Array:
    """Returns values behind the activation that an operator has fused."""
    limits = range_of(getattr(op.options, "fusedActivationFunction", _NONE))
    if limits is None:
        raise unsupported(op, "hardware does not have its fused activation")
    return limit(values, limits)


def falling(op: Op, values: Array) -> Array:
    """Tells for each channel whether its function falls; all must rise or fall.

    Raises:
        ValueError: One does neither, or has no order.
    """
    falls = values[:, 0] > values[:, -1]
    turned = np.where(falls[:, None], values[:, ::-1], values)
    if np.isnan(values).any() or (turned[:, 1:] < turned[:, :-1]).any():
        raise unsupported(op, "expected floats that rise or fall with the layer's sums")
    return np.asarray(falls)


def signs(op: Op, values: Array, lowest: int) -> tuple[Array, Array]:
    """Returns the limits below which signs are -1, and for which channels they are +1 there.

    Raises:
        ValueError: The sign of a channel changes more than once.
    """
    minus = values < 0
    falls = ~minus[:, 0] & minus[:, -1]
    turned = minus ^ falls[:, None]
    # From here on all are 0: the first ones are 1.
    ones = turned.sum(axis=1)
    expected = np.arange(values.shape[1]) < ones[:, None]
    if (turned != expected).any():
        raise unsupported(op, "expected a sign that changes once with the layer's sums")
    return lowest + ones, falls
