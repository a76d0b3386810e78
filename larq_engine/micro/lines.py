"""Tells which steps can compute some lines of an image alone."""

from dataclasses import replace
from typing import Any

from larq_engine.converter.graph import Op, Tensor
from larq_engine.micro.plan import Lines, Memory, Step, Struct
from larq_engine.micro.windows import pair_fields

# Structs of kernels whose windows go over lines of the input. A transposed convolution's go over
# those of the output.
_WINDOWED = (
    *("le_bconv2d", "le_int8_conv2d", "le_int8_pool"),
    *("le_float_conv2d", "le_float_pool"),
)

# Kernels that go through an image in order, and the argument that counts its pixels or values.
_COUNTS = {
    "le_pack_int8": 1,
    "le_pack_bool": 1,
    "le_pack_float": 1,
    "le_unpack_int8": 1,
    "le_unpack_bool": 1,
    "le_unpack_float": 1,
    "le_table_run": 1,
}


def lines_of(op: Op, step: Step) -> Lines | None:
    """Returns how a step makes lines, or nothing where it needs the whole image."""
    y = op.output
    if len(y.shape) != 4 or y.shape[0] != 1 or not step.reads:
        return None
    for struct in step.structs:
        if struct.role == "pairs":
            return _lines_of_pairs(op, step)
        window = _window(struct)
        if window is not None:
            lines = Lines(window, _with_window)
            # A strip of windows that lie wholly in the pads would read nothing.
            ends = lines.read((0, 1)), lines.read((lines.rows - 1, lines.rows))
            return lines if all(first < last for first, last in ends) else None
    position = _COUNTS.get(step.function)
    x = op.inputs[0]
    if position is None or x is None or x.shape[:2] != y.shape[:2]:
        return None
    each = step.arguments[position] // y.shape[1]

    def change(step: Step, window: dict[str, int]) -> dict[str, Any]:
        arguments = list(step.arguments)
        arguments[position] = window["out_size"] * each
        return {"arguments": arguments}

    return Lines(_one_to_one(y.shape[1]), change)


def _window(struct: Struct) -> dict[str, int] | None:
    """Returns the window along lines, which a struct is, or has beside other fields."""
    if struct.c_type in _WINDOWED:
        return struct.fields.get("y")
    return struct.fields if struct.role == "y" else None


def _with_window(step: Step, window: dict[str, int]) -> dict[str, Any]:
    def changed(struct: Struct) -> Struct:
        if struct.role == "y":
            return replace(struct, fields=window)
        return replace(struct, fields={**struct.fields, "y": window})

    return {"structs": [s if _window(s) is None else changed(s) for s in step.structs]}


def _one_to_one(rows: int) -> dict[str, int]:
    return {"in_size": rows, "out_size": rows, "taps": 1, "stride": 1, "dilation": 1, "pad": 0}


def _lines_of_pairs(op: Op, step: Step) -> Lines | None:
    """Operands that are computed follow two structs in the arguments; constants are names there."""
    rows = op.output.shape[1]
    operands = [tensor for tensor in op.inputs[:2] if tensor is not None]
    beside = []
    for tensor, argument in zip(operands, step.arguments[2:4], strict=True):
        if isinstance(argument, Memory):
            beside += [] if _has_lines(tensor, rows) else [argument]
        elif _has_lines(tensor, rows):
            return None

    def change(step: Step, window: dict[str, int]) -> dict[str, Any]:
        shapes = [_shape_of_lines(t, rows, window["out_size"]) for t in (*operands, op.output)]
        fields: dict[str, Any] = dict(pair_fields(op, *shapes))
        return {
            "structs": [replace(s, fields=fields) if s.role == "pairs" else s for s in step.structs]
        }

    return Lines(_one_to_one(rows), change, tuple(beside))


def _has_lines(tensor: Tensor, rows: int) -> bool:
    return _as_image(tensor)[1] == rows


def _shape_of_lines(tensor: Tensor, rows: int, some: int) -> tuple[int, ...]:
    shape = _as_image(tensor)
    return (shape[0], some, *shape[2:]) if _has_lines(tensor, rows) else shape


def _as_image(tensor: Tensor) -> tuple[int, ...]:
    """Returns four dimensions: those that a shape lacks are of one index, where it is broadcast."""
    return (1,) * (4 - len(tensor.shape)) + tuple(tensor.shape)
