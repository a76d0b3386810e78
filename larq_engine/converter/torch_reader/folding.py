"""Evaluates in PyTorch what depends only on parameters: binary weights become constants."""

from typing import Any

from larq_engine.converter.torch_reader.nodes import Node, is_node
from larq_engine.converter.torch_reader.packages import import_torch


class Constants:
    """The values of nodes that depend only on parameters, buffers and numbers."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._values: dict[Node, Any] = {}
        self._is_constant: dict[Node, bool] = {}

    def is_constant(self, value: Any) -> bool:
        """Tells whether an argument of a node is known before the module runs."""
        if not is_node(value):
            return True
        if value not in self._is_constant:
            self._is_constant[value] = value.op == "get_attr" or (
                value.op == "call_function"
                and is_repeatable(value)
                and all(map(self.is_constant, value.all_input_nodes))
            )
        return self._is_constant[value]

    def value(self, node: Node) -> Any:
        """Returns the value of a constant node."""
        torch = import_torch()
        if node not in self._values:
            if node.op == "get_attr":
                self._values[node] = _attribute(self._module, node.target)
            else:
                args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), self.value)
                with torch.no_grad():
                    self._values[node] = node.target(*args, **kwargs)
        return self._values[node]


def fold_constants(module: Any) -> None:
    """Replaces each constant that other nodes read by a buffer."""
    torch = import_torch()
    graph, constants = module.graph, Constants(module)
    wanted = [
        node
        for node in graph.nodes
        if node.op == "call_function"
        and constants.is_constant(node)
        and not all(map(constants.is_constant, node.users))
    ]
    for number, node in enumerate(wanted):
        value = constants.value(node)
        if not isinstance(value, torch.Tensor):
            continue
        name = f"folded_{number}"
        module.register_buffer(name, value.detach().clone())
        with graph.inserting_before(node):
            folded = graph.get_attr(name)
        folded.meta = dict(node.meta)
        node.replace_all_uses_with(folded)
    graph.eliminate_dead_code()
    module.recompile()


def is_repeatable(node: Node) -> bool:
    """Tells whether an operator always gives the same result, and changes nothing."""
    torch = import_torch()
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return getattr(target, "__module__", "") == "_operator"
    return not target._schema.is_mutable and not any(
        tag in target.tags
        for tag in (torch.Tag.nondeterministic_seeded, torch.Tag.dynamic_output_shape)
    )


def _attribute(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name)
    return module
