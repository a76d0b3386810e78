"""Removes sums that are only needed for gradients: (s - x).detach() + x is s.

The rounding of such a sum is not part of the model. It would make binary weights differ in the last
bit.
"""

from typing import Any

from larq_engine.converter.torch_reader.folding import is_repeatable
from larq_engine.converter.torch_reader.nodes import (
    JOINED,
    PLAIN_SIGNS,
    Node,
    copied,
    is_node,
    kind,
    shape,
)

_SUMS = ("aten.add.Tensor", "aten.sub.Tensor", "aten.neg.default")


def remove_straight_through(module: Any) -> None:
    """Replaces each sum in which all terms but one cancel by that one, if a term is detached."""
    graph = module.graph
    _join_equals(graph)
    order = {node: number for number, node in enumerate(graph.nodes)}
    for node in list(graph.nodes):
        if kind(node) in _SUMS:
            left = _left_over(node, order)
            if left is not None and shape(left) == shape(node):
                node.replace_all_uses_with(left)
    graph.eliminate_dead_code()
    module.recompile()


def _join_equals(graph: Any) -> None:
    """Joins nodes that compute the same: clamp(x).detach() and clamp(x) are two nodes."""
    first: dict[str, Node] = {}
    for node in list(graph.nodes):
        # Signs of three values are not joined, as each may get its own value for 0.
        if node.op == "call_function" and is_repeatable(node) and kind(node) not in PLAIN_SIGNS:
            equal = first.setdefault(f"{node.target} {node.args} {node.kwargs}", node)
            if equal is not node:
                equal.meta[JOINED] = (*equal.meta.get(JOINED, ()), node.name)
                node.replace_all_uses_with(equal)
                graph.erase_node(node)


def _left_over(top: Node, order: dict[Node, int]) -> Node | None:
    """Returns the one term of a sum that no other term cancels.

    Terms are expanded from the last node to the first, so that a term has met all its equals when
    it is expanded. Copies are expanded like sums.
    """
    counts: dict[Node, int] = {top: 1}
    detached = cancelled = False
    closed: list[Node] = []
    while True:
        open_terms = [node for node in counts if node not in closed]
        if cancelled and detached and len(counts) == 1:
            (left,) = counts
            return copied(left) if counts[left] == 1 else None
        if not open_terms:
            return None
        node = max(open_terms, key=order.__getitem__)
        terms = _open(node)
        if terms is None:
            closed.append(node)
            continue
        detached = detached or kind(node) == "aten.detach.default"
        count = counts.pop(node)
        for factor, term in terms:
            counts[term] = counts.get(term, 0) + factor * count
            if counts[term] == 0:
                del counts[term]
                cancelled = True


def _open(node: Node) -> list[tuple[int, Node]] | None:
    if copied(node) is not node:
        return [(1, node.args[0])]
    if kind(node) not in _SUMS or node.kwargs.get("alpha", 1) != 1:
        return None
    if not all(is_node(value) for value in node.args):
        return None
    if kind(node) == "aten.neg.default":
        return [(-1, node.args[0])]
    return [(1, node.args[0]), (-1 if kind(node) == "aten.sub.Tensor" else 1, node.args[1])]
