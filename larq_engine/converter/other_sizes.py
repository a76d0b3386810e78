"""Finds out whether a file is right for images of other sizes than it was made for.

A file fixes the sizes of its inputs, but hosts accept others. A file that was not compared with the
model at a second size, or that differs there, is marked. `Interpreter.resize` then refuses other
sizes.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.calls import pass_constants
from larq_engine.converter.check_plan import has_state
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Graph, Model, Tensor
from larq_engine.converter.self_check import agrees_at, is_changed
from larq_engine.python.model_file import FIXED_SIZES

NOT_COMPARED = "the file was not compared with the model at another size (check=False)"
NO_RESULTS = "the model has no results at another size that was tried"

# The mark's name as text and as bytes, as files may have it.
_NAMES = (FIXED_SIZES, FIXED_SIZES.encode())

# For each operator, the number of the input that gives the size of its output.
_SIZE_INPUTS = {
    "BROADCAST_TO": 1,
    "CONV_3D_TRANSPOSE": 0,
    "RESIZE_BILINEAR": 1,
    "RESIZE_NEAREST_NEIGHBOR": 1,
    "TRANSPOSE_CONV": 0,
}

# Operators that repeat an image of one pixel to the size of the other input.
_BROADCASTING = (
    "ADD",
    "DIV",
    "MAXIMUM",
    "MINIMUM",
    "MUL",
    "POW",
    "PRELU",
    "SELECT_V2",
    "SQUARED_DIFFERENCE",
    "SUB",
)

Shapes = list[tuple[int, ...]]

# Changes that make an image larger. The first three leave other remainders of strides.
_LARGER: tuple[Callable[[int, bool], int], ...] = (
    lambda size, is_second: size + (2 if is_second else 1),
    lambda size, is_second: size + (1 if is_second else 2),
    lambda size, is_second: size + 3,
    lambda size, is_second: size * 3,
)

# Most values that all operators of a model together may have at a larger size. The model's shapes
# are found by running it with all values in memory.
_MOST_VALUES = 128 << 20

# Numbers of dimensions before and behind those of an image, for channels first and last.
_PLACES = ((2, 0), (1, 1))


def differs_at(shapes: Sequence[tuple[int, ...]]) -> str:
    """Returns why a file that computes something else for these shapes may not be resized."""
    named = ", ".join(map(str, shapes))
    return f"the file does not compute what the model does for inputs of the shapes {named}"


def find_fixed_sizes(
    shapes: Sequence[tuple[int, ...]], agrees: Callable[[Shapes], bool | None]
) -> str:
    """Compares two models at other sizes of images, with channels first and with channels last.

    Args:
        shapes: Shapes of their inputs, the batch first.
        agrees: Tells whether the two are the same for other shapes; None if the model does not run.

    Returns:
        The reason why the sizes are fixed; empty if other sizes are right.
    """
    compared = False
    for alternatives in _other_shapes(shapes):
        for others in alternatives:
            result = agrees(others)
            if result is False:
                return differs_at(others)
            if result:
                compared = True
                break
    return "" if compared else NO_RESULTS


def find_fixed_larger(
    shapes: Sequence[tuple[int, ...]], agrees: Callable[[Shapes], bool | None]
) -> str:
    """Compares two models at larger sizes, as `find_fixed_sizes` does at smaller ones.

    A slice that ends at the original image's last pixel takes all of every smaller image, so only
    larger images show the difference. A model need not run at larger sizes.
    """
    for others in larger_shapes(shapes):
        result = agrees(others)
        if result is False:
            return differs_at(others)
        if result:
            break
    return ""


def all_other_shapes(shapes: Sequence[tuple[int, ...]]) -> list[Shapes]:
    """Returns all shapes that are tried, and larger ones, as a stride maps several sizes to one."""
    found = [others for alternatives in _other_shapes(shapes) for others in alternatives]
    found += _all_changed(shapes, _LARGER)
    return [others for n, others in enumerate(found) if others not in [[*shapes], *found[:n]]]


def slightly_larger_shapes(shapes: Sequence[tuple[int, ...]]) -> list[Shapes]:
    """Returns images that are larger by a pixel or two, with channels first and last.

    Height and width are odd once and even once each, to show what is rounded.
    """
    return _all_changed(shapes, _LARGER[:2])


def grown_shapes(shapes: Sequence[tuple[int, ...]]) -> list[list[Shapes]]:
    """Returns other images, mostly larger ones, for each place of the channels.

    They are larger by a few pixels, and by 4 to 32 pixels, which are the strides of whole networks.
    One has height and width exchanged.
    """
    steps = [lambda size, is_second, step=step: size + step for step in (4, 8, 16, 32)]
    return [
        [
            *_changed_at(place, shapes, [*_LARGER[:3], *steps]),
            [_turned(shape, *place) for shape in shapes],
        ]
        for place in _PLACES
    ]


def _turned(shape: tuple[int, ...], first: int, last: int) -> tuple[int, ...]:
    end = len(shape) - last
    return (*shape[:first], *reversed(shape[first:end]), *shape[end:])


def larger_shapes(shapes: Sequence[tuple[int, ...]]) -> list[Shapes]:
    """Returns larger images, with channels first and last, in the order in which to try them.

    Some models run only at sizes that can be halved as often as their own.
    """
    found = _all_changed(shapes, (_larger, lambda size, is_second: 2 * size))
    return [others for others in found if others != [*shapes]]


def _all_changed(
    shapes: Sequence[tuple[int, ...]], changes: Sequence[Callable[[int, bool], int]]
) -> list[Shapes]:
    """Returns the shapes after each change, for each place of the channels."""
    return [others for place in _PLACES for others in _changed_at(place, shapes, changes)]


def _changed_at(
    place: tuple[int, int],
    shapes: Sequence[tuple[int, ...]],
    changes: Sequence[Callable[[int, bool], int]],
) -> list[Shapes]:
    return [[_changed(shape, *place, change) for shape in shapes] for change in changes]


def _other_shapes(shapes: Sequence[tuple[int, ...]]) -> list[list[Shapes]]:
    """Returns other shapes for each place of the channels, in the order in which to try them.

    Pads and windows depend on the remainder that a stride leaves. So height and width get different
    remainders: an even size gets an odd one and its half. Some models run only at sizes of more
    than half of their own, some only at sizes that can be halved as often.
    """
    found: list[list[Shapes]] = []
    for first, last in _PLACES:
        alternatives = []
        for change in (_smaller, _half, _as_often_even, _larger):
            others = [_changed(shape, first, last, change) for shape in shapes]
            if others != [*shapes] and others not in alternatives:
                alternatives.append(others)
        if alternatives and alternatives not in found:
            found.append(alternatives)
    return found


def _changed(
    shape: tuple[int, ...], first: int, last: int, change: Callable[[int, bool], int]
) -> tuple[int, ...]:
    """Changes all sizes but the batch and the channels, which rows of numbers do not have."""
    axes = range(first, len(shape) - last) if len(shape) > 2 else range(1, len(shape))
    sizes = list(shape)
    for axis in axes:
        sizes[axis] = change(sizes[axis], (axis - axes.start) % 2 == 1)
    return tuple(sizes)


def _smaller(size: int, is_second: bool) -> int:
    odd = size % 2
    return max(1, size // 2 + (odd if is_second else 1 - odd))


def _half(size: int, is_second: bool) -> int:
    return max(1, size // 2)


def _as_often_even(size: int, is_second: bool) -> int:
    """Returns about half, with the same power of 2 as a factor, or the size if none is smaller.

    A larger size would take the memory of an image with four times the pixels.
    """
    power = size & -size
    return -(-size // 2 // power) * power


def _larger(size: int, is_second: bool) -> int:
    """Returns about 1.5 times the size, odd where `_smaller` is even and the reverse."""
    return max(size + 1, 2 * size - _smaller(size, not is_second))


def compare_sizes(
    converted: Model,
    file: schema.File,
    *,
    check: bool,
    known: str | None,
    progress: Callable[[str], None],
) -> str:
    """Compares a converted model at another size with the float file that it came from.

    Args:
        check: Whether to run them. If not, only a file that no rule changed is known to be right.
        known: The reason why the float file is wrong at other sizes, empty if it is right. None if
            the float file is the user's own: then it is right by definition, except for sizes that
            it holds as numbers.

    Returns:
        The reason why the sizes are fixed; empty if other sizes are right.
    """
    if known:
        return known
    original = file.model()
    pass_constants(original)
    changed = is_changed(converted, original)
    for number in schema.runnable_graphs(original):
        graph = original.graphs[number]
        inputs = graph.inputs
        if any(size < 0 for tensor in inputs for size in (tensor.signature or ())[1:]):
            continue  # The self-check has run these at other sizes.
        if all(len(tensor.shape) < 2 for tensor in inputs):
            continue
        reason = "" if known is not None else _held_size(original)
        reason = reason or next((g.held_size for g in converted.graphs if g.held_size), "")
        if not reason and changed:
            reason = (
                _compare_graph(converted, file, graph, number, progress) if check else NOT_COMPARED
            )
        if reason:
            return reason
    return ""


def _compare_graph(
    converted: Model,
    file: schema.File,
    graph: Graph,
    number: int,
    progress: Callable[[str], None],
) -> str:
    if has_state(graph):
        return "the model keeps a state, of the size of what it was made for"

    sizes = [tensor.shape for tensor in graph.inputs]
    values = sum(tensor.elements for op in graph.ops for tensor in op.outputs)

    def agrees(shapes: Shapes) -> bool | None:
        growth = max(map(_growth, shapes, sizes))
        if growth > 1 and values * growth > _MOST_VALUES:
            return None
        try:
            return agrees_at(shapes, converted, file, number, progress) or None
        except ConversionError:  # The two models differ.
            return False
        except ValueError:  # The converted file refuses these, as it does other channels.
            return None

    return find_fixed_sizes(sizes, agrees) or find_fixed_larger(sizes, agrees)


def _growth(shape: tuple[int, ...], size: tuple[int, ...]) -> float:
    """Returns the factor by which the number of an input's values grows."""
    return math.prod(shape) / max(1, math.prod(size))


def held_output(model: Model) -> str:
    """Names an operator that holds the size of its output as a number.

    Results need not show it: the largest value of an image, say, is often that of a larger image,
    too.
    """
    for op in (op for graph in model.graphs for op in graph.ops):
        size = op.input(_SIZE_INPUTS.get(op.kind, len(op.inputs)))
        if size is not None and size.is_constant:
            return f"{op.kind} '{op.name}' holds the size of its output as a number"
    return ""


def _held_size(model: Model) -> str:
    """Names an operator that holds a size as a number, as a model for other sizes would not."""
    for op in (op for graph in model.graphs for op in graph.ops):
        if op.kind in _BROADCASTING and any(map(_is_image, op.inputs)):
            return f"{op.kind} '{op.name}' holds a constant image of one size"
    return held_output(model)


def _is_image(tensor: Tensor | None) -> bool:
    """Tells whether it is a constant with different values for pixels."""
    return tensor is not None and tensor.is_constant and any(n > 1 for n in tensor.shape[1:-1])


def mark_fixed_sizes(model: Model, reason: str) -> None:
    """Writes into a file that the sizes of its inputs are fixed, and why."""
    if not reason:
        return
    kept = [entry for entry in model.extra.metadata if entry[0] not in _NAMES]
    mark = np.frombuffer(reason.encode(), np.uint8)
    model.extra.metadata = [*kept, (FIXED_SIZES, mark)]
