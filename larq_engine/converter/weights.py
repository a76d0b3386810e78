"""Recognises binary weights: in each output channel, only plus or minus one number, its size.

Larq's quantizers, scales per channel and folded batch norms all keep the sizes in a channel equal
to the last bit. So there is no tolerance: weights that are almost binary stay as they are.

Weights of more bits are odd multiples of one size, or numbers at equal distances: odd multiples
around a centre. Quantizers make them by dividing by 2^bits - 1, which rounds. So these weights may
be off by float32's rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Array, Op
from larq_engine.converter.lce_ops import MOST_BITS, odd_type
from larq_engine.converter.signs import NotBinary
from larq_engine.python.operators import KNOWN_OPS

# Most elements of a temporary array, for weights of any size.
_CHUNK = 1 << 22


# The host's layers with weights.
WEIGHTED_KINDS = tuple(op.name for op in KNOWN_OPS if op.weights is not None and not op.is_ours)


def channel_axis(op: Op, dimensions: int) -> int:
    """Returns the dimension of a layer's weights that has its output channels."""
    weights = op.known.weights
    assert weights is not None
    axis = weights.channel_axis
    if is_turned(op):
        axis = weights.rank - 1 - axis
    # The axis is counted from the end, as matrices can be stacked.
    return (axis - weights.rank) % dimensions


def is_turned(op: Op) -> bool:
    """Tells whether a layer's weights are matrices that are stored transposed."""
    weights = op.known.weights
    return weights is not None and bool(getattr(op.options, weights.turned_by, False))


@dataclass(frozen=True)
class OddWeights:
    """weight = scale[o] * odd[o, ...], where o is the output channel, the first axis.

    The odd numbers lie between -(2^bits - 1) and 2^bits - 1: +1 and -1 for one bit.
    """

    odd: Array
    scale: Array
    bits: int


@dataclass(frozen=True)
class CentredWeights:
    """weight = centre[o] + scale[o] * odd[o, ...]."""

    odd: OddWeights
    centre: Array


def find_odd_weights(weights: Array) -> OddWeights | NotBinary:
    """Finds float weights [output channels, ...] that are +-1 first, then those of more bits."""
    scale = scales(weights)
    if not isinstance(scale, NotBinary):
        return OddWeights(np.where(np.signbit(weights), np.int8(-1), np.int8(1)), scale, 1)
    found = _find_numbers(weights, _odd_rows)
    bits = 1 if found is None else int(np.abs(found[0]).max()).bit_length()
    if found is None or bits == 1:
        return scale
    return OddWeights(found[0].astype(odd_type(bits)), found[1], bits)


def find_centred_weights(weights: Array) -> CentredWeights | None:
    """Finds weights that are up to 256 numbers at equal distances in each output channel."""
    found = _find_numbers(weights, _even_rows)
    if found is None:
        return None
    counts, distance = found
    rows = weights.reshape(len(weights), -1).astype(np.float64)
    low, alike = rows.min(axis=1), distance == 0
    bits = max(1, int(counts.max()).bit_length())
    most = 2**bits - 1
    odd = 2 * counts - most
    # A channel with a single number becomes signs around 0.
    odd[alike] = np.where(low[alike] < 0, -1, 1).reshape(-1, *[1] * (odd.ndim - 1))
    size = np.where(alike, np.abs(low), distance / 2)
    centre = np.where(alike, 0, low + size * most)
    return CentredWeights(OddWeights(odd.astype(odd_type(bits)), size, bits), centre)


def _find_numbers(
    weights: Array, find: Callable[[Array], tuple[Array, Array] | None]
) -> tuple[Array, Array] | None:
    """Returns a whole number for each weight and a size for each channel; `find` does some rows."""
    rows = weights.reshape(len(weights), -1)
    if not rows.size or not np.isfinite(rows).all():
        return None
    numbers = np.zeros(rows.shape, np.int16)
    step = max(1, _CHUNK // rows.shape[1])
    # Most weights are not of few bits, and the first channel alone shows that.
    starts = [(0, 1), *((start, start + step) for start in range(1, len(rows), step))]
    sizes = []
    for start, end in starts:
        if start >= len(rows):
            continue
        found = find(rows[start:end])
        if found is None:
            return None
        numbers[start:end] = found[0]
        sizes.append(found[1])
    return numbers.reshape(weights.shape), np.concatenate(sizes)


# Largest error of a weight, as a share of the largest weight, not of the weight itself.
_ODD_ROUNDING = 2.0**-20


def _odd_rows(rows: Array) -> tuple[Array, Array] | None:
    """Returns the odd numbers and the size of each row, with the smallest numbers that fit.

    A row of zeros has the size 0.
    """
    sizes = np.abs(rows).max(axis=1).astype(np.float64)
    odd, scale = np.ones(rows.shape, np.int16), np.zeros(len(rows))
    missing = sizes > 0
    for largest in range(1, 2**MOST_BITS, 2):
        (left,) = np.nonzero(missing)
        if not len(left):
            break
        size = sizes[left, None] / largest
        ratio = rows[left] / size
        nearest = 2 * np.floor(ratio / 2) + 1
        fits = (np.abs(ratio - nearest) <= _ODD_ROUNDING * largest).all(axis=1)
        odd[left[fits]] = nearest[fits]
        scale[left[fits]] = size[fits, 0]
        missing[left[fits]] = False
    return None if missing.any() else (odd, scale)


def _even_rows(rows: Array) -> tuple[Array, Array] | None:
    """Returns for each number how many distances it is above its row's lowest, and the distances.

    The distances are the largest that fit. A row with a single number has counts of 0 and the
    distance 0.
    """
    low = rows.min(axis=1).astype(np.float64)
    spread = rows.max(axis=1) - low
    off = _ODD_ROUNDING * np.abs(rows).max(axis=1)
    counts, distance = np.zeros(rows.shape, np.int16), np.zeros(len(rows))
    missing = spread > 0
    for most in range(1, 2**MOST_BITS):
        (left,) = np.nonzero(missing)
        if not len(left):
            break
        above = rows[left] - low[left, None]
        size = spread[left] / most
        nearest = np.rint(above / size[:, None])
        # Two numbers must be exact to the last bit, so that rounding does not make a third one.
        bound = 0 * off[left] if most == 1 else off[left]
        fits = (np.abs(above - nearest * size[:, None]) <= bound[:, None]).all(axis=1)
        fits &= (size > 4 * bound) & (np.gcd.reduce(nearest.astype(np.int64), axis=1) == 1)
        counts[left[fits]] = nearest[fits]
        distance[left[fits]] = size[fits]
        missing[left[fits]] = False
    return None if missing.any() else (counts, distance)


def scales(weights: Array) -> Array | NotBinary:
    """Returns the size of each output channel's weights, or why it is not a single number."""
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


# Used only for the report's text; LCE takes weights that are off by up to 0.005 for binary.
_ALMOST = 0.05
