"""Finds modules that run other operators on other images than on the example.

For an even number of rows, x[:, :, : x.shape[2] // 2 * 2] takes all of them, and nothing of the
slice is left in the export. The same is true of a pad to an even size, of numbers that are computed
from a size, and of Python's own if. So the module itself is run on images that are larger by some
pixels or have height and width exchanged.
"""

import re
from typing import Any

from larq_engine.converter.other_sizes import Shapes, grown_shapes
from larq_engine.converter.torch_reader.exporting import Resized
from larq_engine.converter.torch_reader.watching import is_layout, watch

# Operators whose numbers must be the same at every size.
_HAS_NUMBERS = re.compile(
    r"aten\.(\w*(conv|pad|pool|roll)|(add|sub|rsub|mul|div|pow|clamp\w*|hardtanh|where|full_like"
    r"|remainder|floor_divide|ge|gt|le|lt|eq|ne)_?\.)"
)


def find_other_operators(resized: Resized) -> str:
    """Runs the module on larger images, and on images with height and width exchanged.

    Returns:
        The reason why its file has one size; empty if the module always runs the same operators.
    """
    sizes = [tuple(tensor.shape) for tensor in resized.exported.inputs]
    try:
        expected = _operators(resized, sizes)
    except Exception:  # A module may do anything while its operators are recorded.
        return "the operators of the module cannot be compared with those at another size"
    for place in grown_shapes(sizes):
        has_run = False
        for shapes in place:
            try:
                found = _operators(resized, shapes)
            except Exception:  # A module may do anything with other sizes.
                continue
            has_run = True
            if found != expected:
                named = ", ".join(map(str, shapes))
                return f"the module takes other operators for inputs of the shapes {named}"
        if has_run:
            break  # The channels are in this place.
    return ""


def _operators(resized: Resized, shapes: Shapes) -> list[tuple[str, ...]]:
    """Returns the names of the module's operators, with those numbers that must not vary."""
    found: list[tuple[str, ...]] = []

    def note(name: str, args: tuple[Any, ...]) -> None:
        if _HAS_NUMBERS.match(name):
            found.append((name, *(str(arg) for arg in args if not hasattr(arg, "shape"))))
        elif not is_layout(name):
            found.append((name,))

    watch(resized, shapes, note)
    return found
