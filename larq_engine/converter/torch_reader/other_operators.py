"""Finds modules that take other operators for other images than for the example.

What x[:, :, : x.shape[2] // 2 * 2] takes of an even number of rows is all of them, and nothing of
the slice is left in what is exported. So it is with a pad that fills up to an even size, with
numbers that are computed from a size, and with Python's own if. The module itself tells, run with
images that are larger by some pixels or turned.
"""

import re
from typing import Any

from larq_engine.converter.other_sizes import Shapes, grown_shapes
from larq_engine.converter.torch_reader.exporting import Resized
from larq_engine.converter.torch_reader.watching import is_layout, watch

# The numbers of these are the module's own at every size.
_HAS_NUMBERS = re.compile(
    r"aten\.(\w*(conv|pad|pool|roll)|(add|sub|rsub|mul|div|pow|clamp\w*|hardtanh|where|full_like"
    r"|remainder|floor_divide|ge|gt|le|lt|eq|ne)_?\.)"
)


def find_other_operators(resized: Resized) -> str:
    """Runs the module with larger images and turned ones.

    Returns:
        Why its file has one size; nothing if the module does the same with all of them.
    """
    sizes = [tuple(tensor.shape) for tensor in resized.exported.inputs]
    try:
        expected = _operators(resized, sizes)
    except Exception:  # A module may do anything where its operators are written down.
        return "the operators of the module cannot be compared with those at another size"
    for place in grown_shapes(sizes):
        has_run = False
        for shapes in place:
            try:
                found = _operators(resized, shapes)
            except Exception:  # A module may do anything with sizes that are not its own.
                continue
            has_run = True
            if found != expected:
                named = ", ".join(map(str, shapes))
                return f"the module takes other operators for inputs of the shapes {named}"
        if has_run:
            break  # Its channels are not in the other place.
    return ""


def _operators(resized: Resized, shapes: Shapes) -> list[tuple[str, ...]]:
    """Returns the names of the operators that the module runs, with what numbers may not vary."""
    found: list[tuple[str, ...]] = []

    def note(name: str, args: tuple[Any, ...]) -> None:
        if _HAS_NUMBERS.match(name):
            found.append((name, *(str(arg) for arg in args if not hasattr(arg, "shape"))))
        elif not is_layout(name):
            found.append((name,))

    watch(resized, shapes, note)
    return found
