"""Finds out what the numbers of a module's slices mean for images of other sizes.

A negative number counts from the end, and torch.export keeps it. What a module computes from a
size, as in x.narrow(2, 1, x.shape[2] - 2), is a number like any other in what is exported. The
module at a larger size tells the two apart.
"""

from dataclasses import dataclass
from typing import Any

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.other_sizes import larger_shapes
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


def read_slices(module: Any, resized: Resized) -> dict[str, Slice]:
    """The slices of a graph, by the names of their nodes.

    Args:
        module: The graph's.
        resized: The same at other sizes.
    """
    nodes = [node for node in module.graph.nodes if kind(node) == "aten.slice.Tensor"]
    found = {node.name: _read(node) for node in nodes}
    numbers = [node for node in nodes if _has_numbers(found[node.name])]
    larger = _larger(resized) if numbers else {}
    for node in numbers:
        found[node.name] = _compared(node, larger.get(node.name, node))
    return found


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


def _larger(resized: Resized) -> dict[str, Node]:
    """The nodes of the module at a larger size; none if it has others there."""
    shapes = [tuple(tensor.shape) for tensor in resized.exported.inputs]
    for others in larger_shapes(shapes):
        try:
            graph_module = resized.graph(others)
        except ConversionError:
            continue
        if graph_module is not None and resized.has_same_nodes(graph_module):
            return {node.name: node for node in graph_module.graph.nodes}
    return {}


def _compared(node: Node, larger: Node) -> Slice:
    """Numbers that grow as the size does count from the end.

    Where the size is the same, an end that is reached is open.
    """
    here, there = _read(node), _read(larger)
    size, more = _size(node), _size(larger) - _size(node)

    def number(ours: int, theirs: int) -> int:
        return ours - size if more and ours > 0 and theirs - ours == more else ours

    end = here.end
    if end is not None and there.end is not None:
        end = number(end, there.end) or None
    if not more and end is not None and end >= size:
        end = None
    return Slice(number(here.begin, there.begin), end, here.step)
