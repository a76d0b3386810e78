"""Finds out what the numbers of a module's slices mean for images of other sizes.

A negative number counts from the end, and torch.export keeps it. A number that a module computes
from a size, as in x.narrow(2, 1, x.shape[2] - 2), looks like any other in the export. Running the
module at a dozen other sizes tells the two apart. It also finds numbers that depend on a size in
another way, as in x[:, :, : x.shape[2] // 2]. The module is watched as it runs, which takes a
hundredth of the time of an export. It is exported if the slices that it runs are not those of the
export.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.other_sizes import all_other_shapes
from larq_engine.converter.torch_reader.exporting import Resized
from larq_engine.converter.torch_reader.nodes import kind, layer_name, shape
from larq_engine.converter.torch_reader.watching import is_layout, watch

_SLICE = "aten.slice.Tensor"
_OPEN = 2**31 - 1  # Larger numbers are PyTorch's way to write that there is no end.


@dataclass(frozen=True)
class Slice:
    """A part of a dimension, as in Python.

    Attributes:
        begin: The first place; a negative number counts from the end.
        end: The place behind the last; a negative number counts from the end, None is the end.
        step: The distance from one place to the next.
    """

    begin: int
    end: int | None
    step: int

    def at(self, size: int) -> tuple[int, int, int]:
        """Returns begin, end and step in a dimension of this size."""
        begin, end, step = slice(self.begin, self.end, self.step).indices(size)
        return begin, max(begin, end), step


@dataclass(frozen=True)
class _Cut:
    """The numbers of a slice, and the size of the dimension that it cuts."""

    numbers: Slice
    size: int


@dataclass(frozen=True)
class Slices:
    """The slices of a module.

    Attributes:
        known: The meaning of the slices, by the names of their nodes.
        held: The layers of slices that a file of other sizes would need in another form: their
            numbers depend on a size in another way, or they take all of the example.
    """

    known: dict[str, Slice]
    held: tuple[str, ...]


def read_slices(module: Any, resized: Resized) -> Slices:
    """Reads the slices of a graph.

    Args:
        module: The exported module, whose graph is read.
        resized: The same module at other sizes.
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
    layers = {node.name: layer_name(node) for node in module.graph.nodes}
    return Slices(found, tuple(layers[name] for name in (*unknown, *hidden)))


def _cuts(module: Any) -> dict[str, _Cut]:
    """Returns the numbers of a graph's slices, by the names of their nodes."""
    nodes = [node for node in module.graph.nodes if kind(node) == _SLICE]
    return {node.name: _read(shape(node.args[0]) or (), node.args) for node in nodes}


def _read(sizes: Sequence[int], args: Sequence[Any]) -> _Cut:
    """Reads the arguments of aten.slice on a tensor of these sizes."""
    dimension, begin, end, step = [*args[1:], *[None] * 4][:4]
    end = None if end is None or end >= _OPEN else end
    return _Cut(Slice(begin or 0, end, step or 1), int(sizes[dimension or 0]))


def _has_numbers(numbers: Slice) -> bool:
    """Tells whether a slice has numbers that the module may have computed."""
    return numbers.begin > 0 or (numbers.end is not None and numbers.end > 0)


def _at_other_sizes(resized: Resized) -> list[dict[str, _Cut]]:
    """Returns the export's slices at all other sizes at which the operators are the same."""
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
    """Returns the places of an export's slices among the slices that the module runs.

    The module also runs slices that the export lacks, as in a circular pad, which is one operator
    of the export. So the places are known only if there is a single way to find the slices in their
    order.
    """
    first, last = _search(cuts, among), _search(cuts[::-1], among[::-1])
    if len(first) < len(cuts) or first != [len(among) - 1 - place for place in reversed(last)]:
        return None
    return first


def _search(cuts: Sequence[_Cut], among: Sequence[_Cut]) -> list[int]:
    """Returns the first place of each in turn, behind the previous place, until one is missing."""
    places = list[int]()
    for place, cut in enumerate(among):
        if len(places) < len(cuts) and cut == cuts[len(places)]:
            places.append(place)
    return places


@dataclass(frozen=True)
class _Watched:
    """The operators that a module runs, by name, and its slices, both in order."""

    operators: list[str]
    cuts: list[_Cut]


def _watched(resized: Resized, shapes: Sequence[tuple[int, ...]]) -> _Watched | None:
    """Returns what the module runs; None if it does not run on such inputs."""
    found = _Watched([], [])

    def note(name: str, args: tuple[Any, ...]) -> None:
        if not is_layout(name):
            found.operators.append(name)
        if name == _SLICE:
            found.cuts.append(_read(args[0].shape, args))

    try:
        watch(resized, shapes, note)
    except Exception:  # A module may do anything with other sizes.
        return None
    return found


def _is_far_larger(shape: tuple[int, ...], size: tuple[int, ...]) -> bool:
    """Tells whether an input is so much larger that the module may lack time and memory."""
    return math.prod(shape) > 4 * math.prod(size)


def _meaning(cut: _Cut, others: Sequence[_Cut]) -> Slice | None:
    """Returns the slice that takes the same as the module's at all sizes; None if none does.

    Each of its numbers is the module's own, counts from the end, or is left open.
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
    """Tells whether a slice cuts a dimension whose size differs in images of other sizes."""
    sizes = [cuts[name].size for cuts in others if name in cuts]
    return not sizes or sizes != [size] * len(sizes)


def _takes_all(size: int, meant: Slice) -> bool:
    """Tells whether a slice takes all of the example, but not of every other size.

    The file need not have any operator for it.
    """
    return meant.at(size) == (0, size, 1) and meant.at(2 * size + 1) != (0, 2 * size + 1, 1)
