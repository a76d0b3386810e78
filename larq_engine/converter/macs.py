"""Counts the products that an operator computes for the shapes in its file."""

import math

from larq_engine.converter.graph import Op
from larq_engine.converter.lce_ops import is_ours
from larq_engine.converter.weights import channel_axis


def count_macs(op: Op) -> int:
    """Returns the products of an operator with weights or of bits, and 0 for any other.

    Raises:
        ValueError: The operator cannot have these inputs or options.
    """
    known = op.known.weights
    if known is None and op.kind != "LceBmatmul":
        return 0
    if not op.outputs:
        raise ValueError(f"{op.kind}: expected an output, got none; re-convert the model")
    if known is None:
        return op.output.elements * _depth(op)
    sizes = _shape(op, 1)
    if is_ours(op):
        return _binary(op, sizes)
    if known.of_inputs:
        return math.prod(_shape(op, known.data)) * math.prod(sizes[:-1])
    channels = channel_axis(op, len(sizes))
    first = len(sizes) - known.rank
    summed = (sizes[axis] for axis in range(first, len(sizes)) if axis != channels)
    return op.output.elements * math.prod(summed)


def _depth(op: Op) -> int:
    depth = op.options.get("depth") if isinstance(op.options, dict) else None
    if not isinstance(depth, int) or depth < 1:
        raise ValueError(
            f"{op.kind} '{op.name}': expected a depth of 1 or more, got {depth}; re-convert the "
            "model"
        )
    return depth


def _shape(op: Op, position: int) -> tuple[int, ...]:
    """Returns the shape of the data or the weights."""
    known = op.known.weights
    assert known is not None
    tensor = op.input(position)
    stacked = bool(known.turned_by)
    rank = len(tensor.shape) if tensor is not None else 0
    if tensor is None or rank < known.rank or (rank > known.rank and not stacked):
        got = "none" if tensor is None else f"the shape {tensor.shape}"
        more = " or more" if stacked else ""
        raise ValueError(
            f"{op.kind} '{op.name}': input {position}: expected a tensor of {known.rank}{more} "
            f"dimensions, got {got}; re-convert the model"
        )
    return tensor.shape


def group_words(op: Op) -> tuple[int, int] | None:
    """Returns the words of one plane, of an LceBconv2d's pixel and of one group of it.

    Returns None if they do not fit each other.
    """
    pixel, taps = _shape(op, 0)[3], _shape(op, 1)[3]
    options = op.options if isinstance(op.options, dict) else {}
    bits = [options.get(key, 1) for key in ("bits_in", "bits_weights")]
    if not all(isinstance(number, int) and number > 0 for number in bits):
        return None
    bits_in, bits_weights = bits
    if pixel <= 0 or taps <= 0 or pixel % bits_in or taps % bits_weights:
        return None
    plane, group = pixel // bits_in, taps // bits_weights
    return None if plane % group else (plane, group)


def _binary(op: Op, filters: tuple[int, ...]) -> int:
    pixel = _shape(op, 0)[3]
    channels = op.options.get("channels_in") if isinstance(op.options, dict) else None
    words = group_words(op)
    if not isinstance(channels, int) or words is None:
        raise ValueError(
            f"{op.kind} '{op.name}': expected a number of channels_in and a filter whose depth "
            f"divides the {pixel} words of a pixel, got {channels} and {filters[3]} words; "
            "re-convert the model"
        )
    groups = words[0] // words[1]
    pixels = math.prod(op.output.shape[:-1])
    return pixels * math.prod(filters[:3]) * (channels // groups)
