"""Finds out what the numbers of a module's slices mean for images of other sizes.

A negative number counts from the end, and torch.export keeps it. What a module computes from a
size, as in x.narrow(2, 1, x.shape[2] - 2), is a number like any other in what is exported. The
module at a dozen other sizes tells the two apart, and numbers that follow from a size in a third
way, as in x[:, :, : x.shape[2] // 2].
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.other_sizes import all_other_shapes
from larq_engine.converter.torch_reader.exporting import Resized
from larq_engine.converter.torch_reader.nodes import Node, kind, shape

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
    nodes = [node for node in module.graph.nodes if kind(node) == "aten.slice.Tensor"]
    found = {node.name: _read(node) for node in nodes}
    numbers = [node for node in nodes if _has_numbers(found[node.name])]
    takes_all = any(_takes_all(node, found[node.name]) for node in nodes)
    others = _at_other_sizes(resized) if numbers or takes_all else []
    unknown = []
    for node in numbers:
        meant = _meaning(node, [nodes[node.name] for nodes in others if node.name in nodes])
        if meant is None:
            unknown.append(node.name)
        found[node.name] = meant or found[node.name]
    hidden = [
        node.name
        for node in nodes
        if _takes_all(node, found[node.name]) and _may_vary(node, others)
    ]
    return Slices(found, (*unknown, *hidden))


def _read(node: Node) -> Slice:
    begin, end, step = [*node.args[2:], None, None, None][:3]
    return Slice(begin or 0, None if end is None or end >= _OPEN else end, step or 1)


def _size(node: Node) -> int:
    """Returns the size of the dimension which a node cuts."""
    sizes = shape(node.args[0])
    assert sizes is not None
    return int(sizes[node.args[1] if len(node.args) > 1 else 0])


def _has_numbers(numbers: Slice) -> bool:
    """Returns whether a slice has numbers that the module may have computed."""
    return numbers.begin > 0 or (numbers.end is not None and numbers.end > 0)


def _at_other_sizes(resized: Resized) -> list[dict[str, Node]]:
    """Returns the module's nodes at each other size at which it runs and has the same ones."""
    found = []
    sizes = [tuple(tensor.shape) for tensor in resized.exported.inputs]
    for shapes in all_other_shapes(sizes):
        if any(map(_is_far_larger, shapes, sizes)):
            continue
        try:
            graph_module = resized.graph(shapes)
        except ConversionError:
            continue
        if graph_module is not None and resized.has_same_nodes(graph_module):
            found.append({node.name: node for node in graph_module.graph.nodes})
    return found


def _is_far_larger(shape: tuple[int, ...], size: tuple[int, ...]) -> bool:
    """Returns whether an input has so many values that the module may lack time and memory."""
    return math.prod(shape) > 4 * math.prod(size)


def _meaning(node: Node, others: Sequence[Node]) -> Slice | None:
    """Returns the slice that takes the same as the module's at all sizes; None if none does.

    Its numbers are the module's, count from the end, or are left open.
    """
    here, size = _read(node), _size(node)
    begins = [here.begin, here.begin - size] if here.begin > 0 else [here.begin]
    ends: list[int | None] = [here.end]
    if here.end is not None and here.end > 0:
        ends = [None, here.end] if here.end >= size else [here.end, here.end - size]
    for begin in begins:
        for end in ends:
            meant = Slice(begin, end, here.step)
            if all(meant.at(_size(there)) == _read(there).at(_size(there)) for there in others):
                return meant
    return None


def _may_vary(node: Node, others: Sequence[dict[str, Node]]) -> bool:
    """Returns whether a slice cuts a dimension that has another size in images of other sizes."""
    sizes = [_size(nodes[node.name]) for nodes in others if node.name in nodes]
    return not sizes or sizes != [_size(node)] * len(sizes)


def _takes_all(node: Node, meant: Slice) -> bool:
    """Returns whether a slice takes all of the example, but not of every other size.

    Nothing in the file need be left of it.
    """
    size = _size(node)
    return meant.at(size) == (0, size, 1) and meant.at(2 * size + 1) != (0, 2 * size + 1, 1)
