"""Queries on nodes of an exported graph. Needs no torch, as operators are known by name."""

from typing import Any

Node = Any  # torch.fx.Node

# Operators that return their input with the same values.
COPIES = ("aten.detach.default", "aten.alias.default", "aten.clone.default")

# Signs with three values.
PLAIN_SIGNS = ("aten.sgn.default", "aten.sign.default")

# Key in the meta of a node: names of other nodes that computed the same and were joined to it.
JOINED = "larq_engine_joined"


def kind(node: Any) -> str:
    """Returns the operator's name, such as aten.add.Tensor; "" if it is no operator."""
    return str(node.target) if getattr(node, "op", "") == "call_function" else ""


def is_node(value: Any) -> bool:
    """Tells whether an argument is a node, not a number."""
    return hasattr(value, "all_input_nodes")


def copied(value: Any) -> Any:
    """Returns the value at the start of a chain of copies."""
    while kind(value) in COPIES:
        value = value.args[0]
    return value


def shape(node: Node) -> tuple[Any, ...] | None:
    """Returns the shape of a node's result, if that is one tensor."""
    value = node.meta.get("val")
    return tuple(value.shape) if hasattr(value, "shape") else None


def module_path(node: Node) -> str:
    """Returns the path of a node's module, such as "layer1.0.conv1"; "" for the outermost."""
    stack = node.meta.get("nn_module_stack") or {}
    return str(list(stack.values())[-1][0]) if stack else ""


def layer_name(node: Node) -> str:
    """Returns what a node is called in messages and files: its module's path, else its own name."""
    return module_path(node) or str(node.name)


def module_name(node: Node) -> str:
    """Returns what a node's module is called in messages and options.

    The outermost module has no path, so it is called by its class.
    """
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if not stack:
        return "the module"
    return module_path(node) or str(stack[0][1]).rpartition(".")[2]


def source_line(node: Node) -> str:
    """Returns the place in the source, such as File "model.py", line 3; "" if it is not known."""
    lines = [line.strip() for line in (node.meta.get("stack_trace") or "").splitlines()]
    files = [line for line in lines if line.startswith("File ")]
    return files[-1].rsplit(", in", 1)[0] if files else ""


def add_node(graph: Any, like: Node, target: Any, *args: Any) -> Node:
    """Adds a call where the graph inserts; it has the place in the source of another node."""
    made = graph.call_function(target, args)
    made.meta = {**like.meta, "val": target(*map(_example, args))}
    return made


def _example(argument: Any) -> Any:
    """Returns the value that an argument had when the graph was traced."""
    if isinstance(argument, list):
        return [*map(_example, argument)]
    return argument.meta["val"] if is_node(argument) else argument
