"""Decides what a page asks its visitor for: a picture, a sound or numbers."""

from collections.abc import Sequence

import numpy as np

from larq_engine.python.tensors import Shape
from larq_engine.python.text_table import printable

KINDS = ("image", "sound", "numbers")

_LEAST_SIDE = 8  # pixels; smaller arrays of this form are rarely pictures
_LEAST_SAMPLES = 4000  # half a second of a telephone's sound
_PIXELS = (np.float32, np.int8, np.uint8)


def choose_kind(
    wanted: str | None, names: Sequence[str], shapes: Sequence[Shape], types: Sequence[np.dtype]
) -> str:
    """Returns the kind that is wanted; if that is None, the one that the inputs look like.

    Raises:
        ValueError: The inputs cannot be of the kind that is wanted.
    """
    possible = {
        "image": len(shapes) == 1 and _is_image(shapes[0], types[0]),
        "sound": len(shapes) == 1 and _is_wave(shapes[0], types[0]),
        "numbers": True,
    }
    if wanted is None:
        if possible["sound"] and np.prod(shapes[0]) < _LEAST_SAMPLES:
            return "numbers"
        if possible["image"] and min(shapes[0][1:3]) < _LEAST_SIDE:
            return "numbers"
        return next(kind for kind, is_possible in possible.items() if is_possible)
    if wanted not in KINDS:
        raise ValueError(f"input: expected one of {', '.join(KINDS)}, got {wanted}")
    if not possible[wanted]:
        forms = {
            "image": "one input of 1 x height x width x 1 or 3, of float32, int8 or uint8",
            "sound": "one input of float32 with all samples in one dimension",
        }
        got = ", ".join(
            f"'{name}' of {' x '.join(map(str, shape))}, {dtype}"
            for name, shape, dtype in zip(names, shapes, types, strict=True)
        )
        raise ValueError(
            f"input: expected for '{wanted}' {forms[wanted]}, got {printable(got)}; choose another "
            "kind of input"
        )
    return wanted


def _is_image(shape: Shape, dtype: np.dtype) -> bool:
    return len(shape) == 4 and shape[0] == 1 and shape[3] in (1, 3) and dtype in _PIXELS


def _is_wave(shape: Shape, dtype: np.dtype) -> bool:
    return len(shape) in (2, 3) and max(shape) == np.prod(shape) and dtype == np.float32
