"""Table of host operators that have an int8 form, with what the form requires, one row each."""

import enum
from dataclasses import dataclass

from larq_engine.converter.graph import Op, Quantization

_FIRST, _SECOND = (0,), (1,)


class Scale(enum.Enum):
    """The origin of the scale of an int8 operator's output."""

    FREE = "from the values that it makes"
    SAME = "from its input: both have one scale"
    FIXED = "from the operator"


@dataclass(frozen=True)
class Int8Form:
    """A row of the table.

    Attributes:
        kind: The operator.
        version: The version of the operator in the schema that first has the form.
        scale: The origin of the output's scale.
        fixed: The scale, if the operator fixes it.
        values: The inputs that become int8, all if None. For layers it is the data.
        moves: Whether each output value is one of the input values, so that signs stay the same.
        pixelwise: Whether each output value depends on the input values at one place only. The
            engine computes such operators together with the binary layers that they follow.
    """

    kind: str
    version: int = 2
    scale: Scale = Scale.FREE
    fixed: Quantization | None = None
    values: tuple[int, ...] | None = _FIRST
    moves: bool = False
    pixelwise: bool = False


def _fixed(kind: str, scale: float, zero_point: int, version: int = 2) -> Int8Form:
    """Makes a row for an operator whose results lie in a known range, which int8 covers exactly."""
    fixed = Quantization((scale,), (zero_point,))
    return Int8Form(kind, version, Scale.FIXED, fixed, pixelwise=True)


def _pixelwise(kind: str, version: int = 2, values: tuple[int, ...] | None = _FIRST) -> Int8Form:
    return Int8Form(kind, version, values=values, pixelwise=True)


def _moving(kind: str, version: int = 2, values: tuple[int, ...] | None = _FIRST) -> Int8Form:
    return Int8Form(kind, version, Scale.SAME, values=values, moves=True)


_ROWS = (
    Int8Form("CONV_2D", version=3),
    Int8Form("DEPTHWISE_CONV_2D", version=3),
    Int8Form("FULLY_CONNECTED", version=4),
    Int8Form("TRANSPOSE_CONV", version=3),
    _fixed("LOGISTIC", 1 / 256, -128),
    _fixed("SOFTMAX", 1 / 256, -128),
    _fixed("TANH", 1 / 128, 0),
    _pixelwise("ADD", values=None),
    _pixelwise("MUL", values=None),
    _pixelwise("SUB", values=None),
    _pixelwise("HARD_SWISH", version=1),
    _pixelwise("LEAKY_RELU"),
    _pixelwise("RELU"),
    _pixelwise("RELU6"),
    _pixelwise("RELU_N1_TO_1", version=1),
    Int8Form("MEAN"),
    Int8Form("AVERAGE_POOL_2D", scale=Scale.SAME),
    Int8Form("RESIZE_BILINEAR", scale=Scale.SAME),
    # PAD inserts 0, which need not be in the range of the values.
    Int8Form("PAD", scale=Scale.SAME),
    _moving("CONCATENATION", values=None),
    _moving("DEPTH_TO_SPACE"),
    _moving("EXPAND_DIMS", version=1),
    _moving("MAX_POOL_2D"),
    _moving("RESHAPE", version=1),
    _moving("RESIZE_NEAREST_NEIGHBOR"),
    _moving("SLICE"),
    _moving("SPACE_TO_DEPTH"),
    _moving("SPLIT", values=_SECOND),
    _moving("SQUEEZE", version=1),
    _moving("STRIDED_SLICE"),
    _moving("TRANSPOSE"),
)

_BY_KIND = {row.kind: row for row in _ROWS}


def int8_form(op: Op) -> Int8Form | None:
    """Returns the row of an operator, or None."""
    return None if op.custom else _BY_KIND.get(op.kind)


def is_layer(op: Op) -> bool:
    """Tells whether it multiplies by weights, which makes int8 worth its cost."""
    return op.known.weights is not None and int8_form(op) is not None


def value_positions(op: Op) -> list[int]:
    """Returns the inputs that are numbers, not positions, shapes, weights or biases."""
    weights = op.known.weights
    if weights is not None:
        return [weights.data]
    form = int8_form(op)
    assert form is not None
    return list(range(len(op.inputs)) if form.values is None else form.values)
