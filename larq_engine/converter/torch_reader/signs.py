"""Rewrites signs in the one form that all later steps know.

A sign of x that is +1 for 0 becomes sign(sign(x) + 0.5). A sign that is -1 for 0 becomes
sign(sign(x) - 0.5). litert_torch can move channels past these operators, and the converter
recognises them.

torch.sign has three values: it is 0 for 0. If the module turns this 0 into +1 or -1, as x.sign() +
(x == 0) does, the whole expression is rewritten. If it does not, signs of weights of which some are
0 are rewritten as the option sign_of_zero says. All other signs of three values stay as they are
here: third_values.py rewrites them in the file.
"""

from dataclasses import dataclass, replace
from typing import Any

from larq_engine.converter.options import SignOfZero
from larq_engine.converter.third_values import PlainSign, third_value_error
from larq_engine.converter.torch_reader.folding import Constants
from larq_engine.converter.torch_reader.nodes import (
    JOINED,
    PLAIN_SIGNS,
    Node,
    kind,
    module_name,
    shape,
    source_line,
)
from larq_engine.converter.torch_reader.packages import import_torch
from larq_engine.converter.torch_reader.three_values import SignFinder

_SHIFT = 0.5

_COMPARISONS = tuple(
    f"aten.{name}.{of}"
    for name in ("eq", "ge", "gt", "le", "lt", "ne")
    for of in ("Scalar", "Tensor")
)
# Operators that jump from one whole number to the next.
_ROUNDINGS = tuple(f"aten.{name}.default" for name in ("round", "floor", "ceil", "trunc"))
_CAST = "aten._to_copy.default"


@dataclass(frozen=True)
class Jump:
    """A place where the exported module jumps from one value to another.

    Attributes:
        node: The name of the node that jumps.
        value: The name of the node that is 0 at the jump. It is "" for a comparison or a rounding,
            where the inputs show how far the jump is.
        zero: The value for 0 in the file, if it differs from the module's.
        negated: Whether the file has the negative of the module's sign.
        layer: The name of the sign's layer in `sign_of_zero`.
        rounds: Whether the node jumps from one whole number to the next.
    """

    node: str
    value: str = ""
    zero: float | None = None
    negated: bool = False
    layer: str = ""
    rounds: bool = False


@dataclass(frozen=True)
class Signs:
    """The result of rewriting the signs of a graph.

    Attributes:
        jumps: The jumps, by the names of nodes in the graph.
        plain: The jumps that are signs of three values, by the same names.
        constants: For each sign of weights whose value for 0 was changed, the new value.
    """

    jumps: dict[str, Jump]
    plain: dict[str, PlainSign]
    constants: dict[PlainSign, float]


def rewrite_signs(module: Any, sign_of_zero: SignOfZero) -> Signs:
    """Rewrites the signs in a module's graph.

    Raises:
        ConversionError: A sign of weights has three values, and no value was chosen for 0.
        ValueError: `sign_of_zero` names a layer that has no such sign.
    """
    graph = module.graph
    constants = Constants(module)
    finder = SignFinder(constants)
    joined = {node.name: node.meta.get(JOINED, ()) for node in graph.nodes}
    jumps: dict[str, Jump] = {}
    # Goes from the last to the first: in (x >= 0) * 2 - 1, the whole expression is the sign.
    for node in reversed(list(graph.nodes)):
        found = finder.find(node) if kind(node) and node.users else None
        if found is None or found.x is None or shape(found.x) != shape(node):
            continue
        negative, zero, positive = found.values
        if zero in (-1.0, 1.0) and {negative, positive} == {-1.0, 1.0}:
            made = _replace(graph, node, found.x, zero, positive)
            jumps[made.name] = Jump(node.name, found.x.name, negated=positive < 0)
    graph.eliminate_dead_code()
    plain = [node for node in graph.nodes if kind(node) in PLAIN_SIGNS and not is_ours(node)]
    sign_of_zero.check_layers(map(module_name, plain))
    chosen = _choose_for_weights(graph, plain, constants, sign_of_zero)
    graph.eliminate_dead_code()
    module.recompile()
    for node in graph.nodes:
        jump = _other_jump(node)
        if jump is not None:
            jumps[node.name] = jump
    remaining = {node.name: node for node in graph.nodes}
    three_valued = {
        node.name: _plain_sign(node)
        for node in plain
        if node.name in remaining and not constants.is_constant(node)
    }
    jumps |= {name: Jump(name, remaining[name].args[0].name) for name in three_valued}
    jumps = {name: jump for name, jump in jumps.items() if name in remaining}
    # The module still has the nodes that were joined.
    jumps |= {
        f"joined {name}": replace(jump, node=name)
        for jump in jumps.values()
        for name in joined.get(jump.node, ())
    }
    return Signs(jumps, three_valued, chosen)


def _other_jump(node: Node) -> Jump | None:
    """Returns the jump of a comparison, a rounding, or a cast of floats to integers or booleans."""
    if kind(node) in (*_COMPARISONS, *_ROUNDINGS):
        return Jump(node.name, rounds=kind(node) in _ROUNDINGS)
    if kind(node) != _CAST or not node.args[0].meta["val"].is_floating_point():
        return None
    dtype = node.meta["val"].dtype
    if dtype.is_floating_point:
        return None
    if dtype == import_torch().bool:
        return Jump(node.name, node.args[0].name)
    return Jump(node.name, rounds=True)


def _choose_for_weights(
    graph: Any, plain: list[Node], constants: Constants, sign_of_zero: SignOfZero
) -> dict[PlainSign, float]:
    """Chooses the sign of weights that are 0; there is no choice if no weight is negative."""
    chosen: dict[PlainSign, float] = {}
    for node in plain:
        if not constants.is_constant(node):
            continue
        x, sign = constants.value(node.args[0]), _plain_sign(node)
        zeros = int((x == 0).sum())
        if not zeros or not bool((x < 0).any()):
            continue
        zero = sign_of_zero.of(sign.layer)
        if zero is None:
            raise third_value_error(sign, f"{zeros} of {x.numel()} constants")
        _replace(graph, node, node.args[0], zero, 1.0)
        chosen[sign] = zero
    return chosen


def _plain_sign(node: Node) -> PlainSign:
    line = source_line(node)
    return PlainSign(
        f"torch.sign in '{module_name(node)}'{f' ({line})' if line else ''}",
        module_name(node),
        "write torch.where(x >= 0, 1.0, -1.0) in the module",
    )


def _replace(graph: Any, node: Node, x: Node, zero: float, positive: float) -> Node:
    """Replaces a node by `positive` where x > 0, its negative where x < 0, and `zero` at 0.

    Returns:
        The node of the sign. A negation may follow, which its readers can take in.
    """
    aten = import_torch().ops.aten
    steps: list[tuple[Any, tuple[float, ...]]] = [
        (aten.sign.default, ()),
        (aten.add.Tensor, (_SHIFT * zero * positive,)),
        (aten.sign.default, ()),
    ]
    if positive < 0:
        steps.append((aten.neg.default, ()))
    made = [x]
    with graph.inserting_before(node):
        for target, numbers in steps:
            made.append(graph.call_function(target, (made[-1], *numbers)))
            made[-1].meta = {**node.meta, _OURS: True}
    node.replace_all_uses_with(made[-1])
    return made[3]


_OURS = "larq_engine_sign"


def is_ours(node: Node) -> bool:
    """Tells whether a node is part of a sign that was written here."""
    return _OURS in node.meta
