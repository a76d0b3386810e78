"""Decides what a page asks its visitor for: a picture, a sound or numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from larq_engine.python.tensors import Shape
from larq_engine.python.text_table import printable

KINDS = ("image", "sound", "numbers")

# Options that are not given have these values.
MIDDLE = 127.5  # halfway from black to white: the mean and std of pixels
RATE = 16000  # samples a second

_LEAST_SIDE = 8  # pixels; smaller arrays of this form are rarely pictures
_LEAST_SAMPLES = 4000  # half a second of a telephone's sound
_FORMS = {
    "image": "one input of fixed sizes, 1 x height x width x 1 or 3, of float32, or of int8 or "
    "uint8 with a scale",
    "sound": "one input of fixed sizes, of float32 with all samples in one dimension",
}


@dataclass(frozen=True)
class ModelInput:
    """An input of a model.

    Attributes:
        name: Its name.
        shape: Its sizes, -1 for one that the file leaves open; an open batch is 1.
        dtype: Its type.
        scale: The scale of a quantized input, else None.
        zero_point: Its zero point, likewise.
    """

    name: str
    shape: Shape
    dtype: np.dtype[Any]
    scale: Any
    zero_point: Any

    def __str__(self) -> str:
        sizes = ("any" if size == -1 else str(size) for size in self.shape)
        return printable(f"'{self.name}' of {' x '.join(sizes)}, {self.dtype}")


def choose_kind(wanted: str | None, inputs: Sequence[ModelInput]) -> str:
    """Returns the kind that is wanted; if that is None, the one that the inputs look like.

    Raises:
        ValueError: The inputs cannot be of the kind that is wanted, or of none.
    """
    kind = _likely_kind(inputs) if wanted is None else _checked_kind(wanted, inputs)
    if kind == "numbers":
        _check_open_sizes(inputs)
    return kind


def _checked_kind(wanted: str, inputs: Sequence[ModelInput]) -> str:
    if wanted not in KINDS:
        raise ValueError(f"input: expected one of {', '.join(KINDS)}, got {wanted}")
    if (wanted == "image" and not _is_image(inputs)) or (
        wanted == "sound" and not _is_sound(inputs)
    ):
        raise ValueError(
            f"input: expected for '{wanted}' {_FORMS[wanted]}, got "
            f"{', '.join(map(str, inputs)) or 'none'}; choose another kind of input"
        )
    return wanted


def _check_open_sizes(inputs: Sequence[ModelInput]) -> None:
    """Refuses open sizes that do not follow from how many numbers a visitor gives."""
    for x in inputs:
        if x.shape.count(-1) > 1:
            raise ValueError(
                f"input {x}: expected at most one size besides the batch that the file leaves "
                f"open, got {x.shape.count(-1)}; give the model fixed sizes when you convert it"
            )


def _likely_kind(inputs: Sequence[ModelInput]) -> str:
    if _is_image(inputs) and min(inputs[0].shape[1:3]) >= _LEAST_SIDE:
        return "image"
    if _is_sound(inputs) and max(inputs[0].shape) >= _LEAST_SAMPLES:
        return "sound"
    return "numbers"


def _is_image(inputs: Sequence[ModelInput]) -> bool:
    if len(inputs) != 1:
        return False
    [x] = inputs
    is_quantized = x.dtype in (np.int8, np.uint8) and isinstance(x.scale, float)
    is_pixels = x.dtype == np.float32 or is_quantized
    is_picture = len(x.shape) == 4 and x.shape[0] == 1 and x.shape[3] in (1, 3)
    return is_pixels and is_picture and -1 not in x.shape


def _is_sound(inputs: Sequence[ModelInput]) -> bool:
    if len(inputs) != 1:
        return False
    [x] = inputs
    is_line = len(x.shape) in (2, 3) and max(x.shape) == np.prod(x.shape)
    return bool(is_line and x.dtype == np.float32 and -1 not in x.shape)
