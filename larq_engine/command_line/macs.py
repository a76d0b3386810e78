"""How many products an operator computes for the shapes in its file: the work that a layer is."""

import math
from collections.abc import Callable

from larq_engine.converter.graph import Op


def count_macs(op: Op) -> int:
    """Returns the products of an operator with weights, 0 of any other.

    Raises:
        ValueError: The operator's inputs or options are none that it can have.
    """
    formula = _FORMULAS.get(op.kind)
    if formula is None:
        return 0
    if not op.outputs:
        raise ValueError(f"{op.kind}: expected an output, got none; re-convert the model")
    return formula(op)


def has_weights(op: Op) -> bool:
    """Whether the operator multiplies with weights, its second input."""
    return op.kind in _FORMULAS


def _shape(op: Op, position: int, rank: int | None) -> tuple[int, ...]:
    tensor = op.input(position)
    if tensor is None or not tensor.shape or rank not in (None, len(tensor.shape)):
        got = "none" if tensor is None else f"the shape {tensor.shape}"
        raise ValueError(
            f"{op.kind} '{op.name}': input {position}: expected a tensor of "
            f"{rank or 'one or more'} dimensions, got {got}; re-convert the model"
        )
    return tensor.shape


def _convolution(op: Op) -> int:
    return op.output.elements * math.prod(_shape(op, 1, 4)[1:])


def _depthwise(op: Op) -> int:
    return op.output.elements * math.prod(_shape(op, 1, 4)[1:3])


def _transposed(op: Op) -> int:
    # Each input value is multiplied with the weights of its channel, for every output channel.
    return math.prod(_shape(op, 2, 4)) * math.prod(_shape(op, 1, 4)[:3])


def _convolution_3d(op: Op) -> int:
    return op.output.elements * math.prod(_shape(op, 1, 5)[:4])


def _dense(op: Op) -> int:
    return op.output.elements * _shape(op, 1, 2)[1]


def _matrices(op: Op) -> int:
    rows, columns = (1, *_shape(op, 0, None))[-2:]
    return op.output.elements * (rows if op.options is not None and op.options.adjX else columns)


def _binary(op: Op) -> int:
    pixel, filters = _shape(op, 0, 4)[3], _shape(op, 1, 4)
    channels = op.options.get("channels_in") if isinstance(op.options, dict) else None
    fits = pixel > 0 and filters[3] > 0 and pixel % filters[3] == 0
    if not isinstance(channels, int) or not fits:
        raise ValueError(
            f"{op.kind} '{op.name}': expected a number of channels_in and a filter whose depth "
            f"divides the {pixel} words of a pixel, got {channels} and {filters[3]} words; "
            "re-convert the model"
        )
    groups = pixel // filters[3]
    pixels = math.prod(op.output.shape[:-1])
    return pixels * math.prod(filters[:3]) * (channels // groups)


_FORMULAS: dict[str, Callable[[Op], int]] = {
    "BATCH_MATMUL": _matrices,
    "CONV_2D": _convolution,
    "CONV_3D": _convolution_3d,
    "DEPTHWISE_CONV_2D": _depthwise,
    "FULLY_CONNECTED": _dense,
    "LceBconv2d": _binary,
    "TRANSPOSE_CONV": _transposed,
}
