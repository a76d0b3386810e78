"""Finds out what the numbers of a module's slices mean for images of other sizes.

A negative number counts from the end, and torch.export keeps it. What a module computes from a
size, as in x.narrow(2, 1, x.shape[2] - 2), is a number like any other in what is exported. The
module at a dozen other sizes tells the two apart, and numbers that follow from a size in a third
way, as in x[:, :, : x.shape[2] // 2]. It is watched as it runs, which takes a hundredth of the time
of an export; it is exported where the two do not have the same slices.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.other_sizes import all_other_shapes
from larq_engine.converter.torch_reader.exporting import Resized
from larq_engine.converter.torch_reader.nodes import kind, shape
from larq_engine.converter.torch_reader.watching import is_layout, watch

_SLICE = "aten.slice.Tensor"
_OPEN = 2**31 - 1  # Larger numbers are how PyTorch writes that there is no end.


@dataclass(frozen=True)
class Slice:
    """A part of a dimension, as Python has it.

    Attributes:
        begin: Where it begins; if it is negative, so far from the end.
        end: What it does not reach, likewise; None if it reaches the end.
        step: How far the next one is.
    """

    begin: int
    end: int | None
    step: int

    def at(self, size: int) -> tuple[int, int, int]:
        """Returns its begin, end and step in a dimension of this size."""
        begin, end, step = slice(self.begin, self.end, self.step).indices(size)
        return begin, max(begin, end), step


@dataclass(frozen=True)
class _Cut:
    """What a slice takes, and the size of the dimension that it cuts."""

    numbers: Slice
    size: int


@dataclass(frozen=True)
class Slices:
    """The slices of a module.

    Attributes:
        known: What they mean, by the names of their nodes.
        held: The names of those that a file of other sizes would need in another form: their
            numbers follow from a size in another way, or they take all of the example.
    """

    known: dict[str, Slice]
    held: tuple[str, ...]


def read_slices(module: Any, resized: Resized) -> Slices:
    """Reads the slices of a graph.

    Args:
        module: The graph's.
        resized: The same at other sizes.
    """
    cuts = _cuts(module)
    found = {name: cut.numbers for name, cut in cuts.items()}
    numbers = [name for name, cut in cuts.items() if _has_numbers(cut.numbers)]
    takes_all = any(_takes_all(cut.size, cut.numbers) for cut in cuts.values())
    others = _at_other_sizes(resized) if numbers or takes_all else []
    unknown = []
    for name in numbers:
        meant = _meaning(cuts[name], [there[name] for there in others if name in there])
        if meant is None:
            unknown.append(name)
        found[name] = meant or found[name]
    hidden = [
        name
        for name, cut in cuts.items()
        if _takes_all(cut.size, found[name]) and _may_vary(name, cut.size, others)
    ]
    return Slices(found, (*unknown, *hidden))


def _cuts(module: Any) -> dict[str, _Cut]:
    """Returns what the slices of a graph take, by the names of their nodes."""
    nodes = [node for node in module.graph.nodes if kind(node) == _SLICE]
    return {node.name: _read(shape(node.args[0]) or (), node.args) for node in nodes}


def _read(sizes: Sequence[int], args: Sequence[Any]) -> _Cut:
    """Reads what aten.slice is given; the sizes are those of its tensor."""
    dimension, begin, end, step = [*args[1:], *[None] * 4][:4]
    end = None if end is None or end >= _OPEN else end
    return _Cut(Slice(begin or 0, end, step or 1), int(sizes[dimension or 0]))


def _has_numbers(numbers: Slice) -> bool:
    """Returns whether a slice has numbers that the module may have computed."""
    return numbers.begin > 0 or (numbers.end is not None and numbers.end > 0)


def _at_other_sizes(resized: Resized) -> list[dict[str, _Cut]]:
    """Returns the export's slices at each other size at which the module has the same operators."""
    found = []
    sizes = [tuple(tensor.shape) for tensor in resized.exported.inputs]
    cuts = _cuts(resized.exported.original)
    here = _watched(resized, sizes)
    places = None if here is None else _find_places([*cuts.values()], here.cuts)
    for shapes in all_other_shapes(sizes):
        if any(map(_is_far_larger, shapes, sizes)):
            continue
        there = None if places is None else _watched(resized, shapes)
        if here and places is not None and there and there.operators == here.operators:
            taken = (there.cuts[place] for place in places)
            found.append(dict(zip(cuts, taken, strict=True)))
            continue
        try:
            graph_module = resized.graph(shapes)
        except ConversionError:
            continue
        if graph_module is not None and resized.has_same_nodes(graph_module):
            found.append(_cuts(graph_module))
    return found


def _find_places(cuts: Sequence[_Cut], among: Sequence[_Cut]) -> list[int] | None:
    """Returns where the slices of an export are among those that the module runs.

    It runs others too, as in a circular pad, which is one operator of the export. There must be one
    way only to find them in their order.
    """
    first, last = _search(cuts, among), _search(cuts[::-1], among[::-1])
    if len(first) < len(cuts) or first != [len(among) - 1 - place for place in reversed(last)]:
        return None
    return first


def _search(cuts: Sequence[_Cut], among: Sequence[_Cut]) -> list[int]:
    """Returns the first place of each, behind that of the one before, as far as they are found."""
    places = list[int]()
    for place, cut in enumerate(among):
        if len(places) < len(cuts) and cut == cuts[len(places)]:
            places.append(place)
    return places


@dataclass(frozen=True)
class _Watched:
    """What a module runs: the names of its operators, and its slices, in their order."""

    operators: list[str]
    cuts: list[_Cut]


def _watched(resized: Resized, shapes: Sequence[tuple[int, ...]]) -> _Watched | None:
    """Returns what the module runs; None if it does not run with such inputs."""
    found = _Watched([], [])

    def note(name: str, args: tuple[Any, ...]) -> None:
        if not is_layout(name):
            found.operators.append(name)
        if name == _SLICE:
            found.cuts.append(_read(args[0].shape, args))

    try:
        watch(resized, shapes, note)
    except Exception:  # A module may do anything with sizes that are not its own.
        return None
    return found


def _is_far_larger(shape: tuple[int, ...], size: tuple[int, ...]) -> bool:
    """Returns whether an input has so many values that the module may lack time and memory."""
    return math.prod(shape) > 4 * math.prod(size)


def _meaning(cut: _Cut, others: Sequence[_Cut]) -> Slice | None:
    """Returns the slice that takes the same as the module's at all sizes; None if none does.

    Its numbers are the module's, count from the end, or are left open.
    """
    here, size = cut.numbers, cut.size
    begins = [here.begin, here.begin - size] if here.begin > 0 else [here.begin]
    ends: list[int | None] = [here.end]
    if here.end is not None and here.end > 0:
        ends = [None, here.end] if here.end >= size else [here.end, here.end - size]
    for begin in begins:
        for end in ends:
            meant = Slice(begin, end, here.step)
            if all(meant.at(there.size) == there.numbers.at(there.size) for there in others):
                return meant
    return None


def _may_vary(name: str, size: int, others: Sequence[Mapping[str, _Cut]]) -> bool:
    """Returns whether a slice cuts a dimension that has another size in images of other sizes."""
    sizes = [cuts[name].size for cuts in others if name in cuts]
    return not sizes or sizes != [size] * len(sizes)


def _takes_all(size: int, meant: Slice) -> bool:
    """Returns whether a slice takes all of the example, but not of every other size.

    Nothing in the file need be left of it.
    """
    return meant.at(size) == (0, size, 1) and meant.at(2 * size + 1) != (0, 2 * size + 1, 1)
