"""Recognises binary weights: in each output channel, plus or minus one size and nothing else.

Larq's quantizers, scales per channel and folded batch norms all keep the sizes of a channel equal
to the last bit, so there is no tolerance: weights that are almost binary stay as they are.
"""

from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Array, Op
from larq_engine.converter.signs import NotBinary
from larq_engine.python.operators import KNOWN_OPS

# Temporary arrays stay below this many elements, whatever the size of the weights.
_CHUNK = 1 << 22


# The host's layers with weights.
WEIGHTED_KINDS = tuple(op.name for op in KNOWN_OPS if op.weights is not None and not op.is_ours)


def channel_axis(op: Op, dimensions: int) -> int:
    """Which dimension of a layer's weights has its output channels."""
    weights = op.known.weights
    assert weights is not None
    axis = weights.channel_axis
    if is_turned(op):
        axis = weights.rank - 1 - axis
    # From the end, as matrices can be stacked.
    return (axis - weights.rank) % dimensions


def is_turned(op: Op) -> bool:
    """Whether a layer's weights are matrices with their dimensions exchanged."""
    weights = op.known.weights
    return weights is not None and bool(getattr(op.options, weights.turned_by, False))


@dataclass(frozen=True)
class BinaryWeights:
    """weight = scale[o] * (-1 if negative[o, ...] else 1), o the output channel, the first axis."""

    negative: Array
    scale: Array


def find_binary_weights(weights: Array) -> BinaryWeights | NotBinary:
    """Looks at float weights [output channels, ...]."""
    scale = scales(weights)
    if isinstance(scale, NotBinary):
        return scale
    return BinaryWeights(np.signbit(weights), scale)


def scales(weights: Array) -> Array | NotBinary:
    """The size of the weights of each output channel, or why it is not one size."""
    rows = weights.reshape(len(weights), -1)
    if not rows.size:
        return NotBinary("it has no weights", "give it at least one filter")
    scale = np.abs(rows[:, 0])
    not_finite = NotBinary("some of its weights are not finite", "train it again")
    if not np.isfinite(scale).all():
        return not_finite
    step = max(1, _CHUNK // rows.shape[1])
    worst, worst_channel = 0.0, -1
    for start in range(0, len(rows), step):
        part = np.abs(rows[start : start + step])
        off = np.abs(part - scale[start : start + step, None]).max(axis=1)
        if not off.any():
            continue
        if not np.isfinite(off).all():
            return not_finite
        typical = np.maximum(part.mean(axis=1, dtype=np.float64), np.finfo(np.float32).tiny)
        spread = (part.max(axis=1) - part.min(axis=1)) / typical / 2
        channel = int(np.argmax(spread))
        if worst_channel < 0 or spread[channel] > worst:
            worst, worst_channel = float(spread[channel]), start + channel
    if worst_channel < 0:
        return np.asarray(scale)
    if worst < _ALMOST:
        return NotBinary(
            f"its weights are almost binary: sizes within output channel {worst_channel} differ by "
            f"up to {worst:.2g} of their mean, and rounding them would change results",
            "take the sign of the weights in the model (in Keras kernel_quantizer='ste_sign' or "
            "'magnitude_aware_sign')",
        )
    return NotBinary(
        f"its weights are not binary: sizes within output channel {worst_channel} differ by up to "
        f"{worst:.2g} of their mean",
        "take their sign in the model (in Keras kernel_quantizer='ste_sign' or another binary "
        "quantizer), if they can be binary",
    )


# For the report's words only; LCE takes weights for binary that are off by up to 0.005.
_ALMOST = 0.05
