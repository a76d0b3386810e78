"""Writes signs in the one form that every step behind this knows.

A sign of x, +1 for 0, becomes sign(sign(x) + 0.5), or sign(sign(x) - 0.5) if it is -1 for 0.
litert_torch moves channels past these operators, and the converter reads them. torch.sign itself
has three values. What becomes of 0 is said by the module (x.sign() + (x == 0), a mask, a choice),
by the weights, of which none may be 0, or by the option sign_of_zero.
"""

from dataclasses import dataclass, replace
from typing import Any

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.torch_reader.folding import Constants
from larq_engine.converter.torch_reader.nodes import (
    Node,
    kind,
    module_name,
    shape,
    source_line,
)
from larq_engine.converter.torch_reader.packages import import_torch
from larq_engine.converter.torch_reader.three_values import SignFinder

_SHIFT = 0.5
_NAMED = 8  # places in a message

_SIGNS = ("aten.sgn.default", "aten.sign.default")
_COMPARISONS = tuple(
    f"aten.{name}.{of}" for name in ("ge", "gt", "le", "lt") for of in ("Scalar", "Tensor")
)


@dataclass(frozen=True)
class Jump:
    """Where the module, as it was exported, goes from one value to another at once.

    Attributes:
        node: The name of the node that does.
        value: The name of the node whose sign it gives; "" for a comparison, whose inputs tell.
        zero: What it is for 0, if the module says something else.
    """

    node: str
    value: str = ""
    zero: float | None = None


def write_signs(module: Any, sign_of_zero: str) -> tuple[dict[str, Jump], tuple[str, ...]]:
    """Rewrites the signs in a graph.

    Returns:
        What jumps, by the names of the nodes in the graph; remarks for the report.

    Raises:
        ConversionError: A sign has three values, and nothing says what becomes of 0.
    """
    graph = module.graph
    constants = Constants(module)
    finder = SignFinder(constants)
    jumps: dict[str, Jump] = {}
    # From the last to the first: of (x >= 0) * 2 - 1, the whole is the sign.
    for node in reversed(list(graph.nodes)):
        found = finder.find(node) if kind(node) and node.users else None
        if found is None or found.x is None or shape(found.x) != shape(node):
            continue
        negative, zero, positive = found.values
        if zero in (-1.0, 1.0) and {negative, positive} == {-1.0, 1.0}:
            _replace(graph, node, found.x, zero, positive, jumps)
    graph.eliminate_dead_code()
    three_valued = [
        node
        for node in graph.nodes
        if kind(node) in _SIGNS and not is_ours(node) and _may_be_zero(node, constants)
    ]
    remarks = _choose(graph, three_valued, sign_of_zero, jumps)
    graph.eliminate_dead_code()
    module.recompile()
    jumps |= {node.name: Jump(node.name) for node in graph.nodes if kind(node) in _COMPARISONS}
    left = {node.name for node in graph.nodes}
    return {name: jump for name, jump in jumps.items() if name in left}, remarks


def _choose(
    graph: Any, three_valued: list[Node], sign_of_zero: str, jumps: dict[str, Jump]
) -> tuple[str, ...]:
    if not three_valued:
        return ()
    places = list(dict.fromkeys(module_name(node) for node in three_valued))
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    where = ", ".join(places[:_NAMED]) + more
    if sign_of_zero == "error":
        line = source_line(three_valued[0])
        raise ConversionError(
            f"torch.sign in {where}{f' ({line})' if line else ''}: expected a sign of two values, "
            'got one that gives 0 for 0; choose with sign_of_zero="+1" or sign_of_zero="-1" '
            "(--sign-of-zero), or write torch.where(x >= 0, 1.0, -1.0) in the module"
        )
    for node in three_valued:
        _replace(graph, node, node.args[0], float(sign_of_zero), 1.0, jumps)
        made, jump = jumps.popitem()
        jumps[made] = replace(jump, zero=float(sign_of_zero))
    return (f"torch.sign(0) is {sign_of_zero} here and 0 in PyTorch, in {where}.",)


def _replace(
    graph: Any, node: Node, x: Node, zero: float, positive: float, jumps: dict[str, Jump]
) -> None:
    """Puts `positive` where x > 0, its negative where x < 0, and `zero` in the place of a node."""
    aten = import_torch().ops.aten
    steps: list[tuple[Any, tuple[float, ...]]] = [
        (aten.sign.default, ()),
        (aten.add.Tensor, (_SHIFT * zero * positive,)),
        (aten.sign.default, ()),
    ]
    if positive < 0:
        steps.append((aten.neg.default, ()))
    made = x
    with graph.inserting_before(node):
        for target, numbers in steps:
            made = graph.call_function(target, (made, *numbers))
            made.meta = {**node.meta, _OURS: True}
    node.replace_all_uses_with(made)
    jumps[made.name] = Jump(node.name, x.name)


_OURS = "larq_engine_sign"


def is_ours(node: Node) -> bool:
    """Whether a node is, or is on the way to, a sign that was written here."""
    return _OURS in node.meta


def _may_be_zero(node: Node, constants: Constants) -> bool:
    x = node.args[0]
    return not constants.is_constant(x) or bool((constants.value(x) == 0).any())
