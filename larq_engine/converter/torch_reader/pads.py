"""Rewrites pads that repeat parts of an image, or that cut it, as slices of the image.

For these pads, litert_torch writes masks and bounds that fit only the example's size.
"""

from collections.abc import Sequence
from typing import Any

from larq_engine.converter.torch_reader.nodes import Node, add_node, kind, shape
from larq_engine.converter.torch_reader.packages import import_torch

_END = 2**63 - 1


def write_pads(module: Any) -> None:
    """Replaces circular pads, replicating pads wider than a pixel, and negative constant pads.

    litert_torch supports reflecting pads, and replicating pads of one pixel.
    """
    graph = module.graph
    for node in list(graph.nodes):
        if kind(node) not in ("aten.pad.default", "aten.constant_pad_nd.default"):
            continue
        x, pads, *rest = node.args
        mode = rest[0] if kind(node) == "aten.pad.default" and rest else "constant"
        writer = _Writer(graph, node)
        with graph.inserting_before(node):
            if mode == "constant" and min(pads) < 0:
                inner = writer.cut_off(x, pads)
                kept = [max(0, number) for number in pads]
                node.replace_all_uses_with(writer.add(node.target, inner, kept, *rest))
            elif min(pads) >= 0 and (mode == "circular" or (mode == "replicate" and max(pads) > 1)):
                node.replace_all_uses_with(writer.repeat(x, pads, is_circular=mode == "circular"))
    graph.eliminate_dead_code()
    module.recompile()


class _Writer:
    """Makes the replacement of a node."""

    def __init__(self, graph: Any, node: Node) -> None:
        self._graph = graph
        self._node = node

    def cut_off(self, x: Node, pads: Sequence[int]) -> Node:
        """Returns the part that negative pads leave."""
        for axis, left, right in _sides(x, pads):
            if left < 0 or right < 0:
                x = self._cut(x, axis, max(0, -left), right if right < 0 else _END)
        return x

    def repeat(self, x: Node, pads: Sequence[int], *, is_circular: bool) -> Node:
        for axis, left, right in _sides(x, pads):
            if is_circular:
                before = [self._cut(x, axis, -left, _END)] if left else []
                behind = [self._cut(x, axis, 0, right)] if right else []
            else:
                before = [self._cut(x, axis, 0, 1)] * left
                behind = [self._cut(x, axis, -1, _END)] * right
            if before or behind:
                x = self.add(import_torch().ops.aten.cat.default, [*before, x, *behind], axis)
        return x

    def add(self, target: Any, *args: Any) -> Node:
        return add_node(self._graph, self._node, target, *args)

    def _cut(self, x: Node, axis: int, begin: int, end: int) -> Node:
        return self.add(import_torch().ops.aten.slice.Tensor, x, axis, begin, end)


def _sides(x: Node, pads: Sequence[int]) -> list[tuple[int, int, int]]:
    """Returns the axes, the last one first, with the pads on both sides."""
    last = len(shape(x) or ()) - 1
    pairs = zip(pads[::2], pads[1::2], strict=True)
    return [(last - number, left, right) for number, (left, right) in enumerate(pairs)]
