"""What the rewriting asks of nodes of an exported graph. Needs no torch: operators have names."""

from typing import Any

Node = Any  # torch.fx.Node

# What gives its input on, as far as values go.
COPIES = ("aten.detach.default", "aten.alias.default", "aten.clone.default")

# Signs of three values.
PLAIN_SIGNS = ("aten.sgn.default", "aten.sign.default")

# In the meta of a node: the names of others that computed the same, before they were one.
JOINED = "larq_engine_joined"


def kind(node: Any) -> str:
    """The operator's name, as aten.add.Tensor; "" of what is no operator."""
    return str(node.target) if getattr(node, "op", "") == "call_function" else ""


def is_node(value: Any) -> bool:
    """Whether an argument is a node, not a number."""
    return hasattr(value, "all_input_nodes")


def copied(value: Any) -> Any:
    """What a chain of copies copies."""
    while kind(value) in COPIES:
        value = value.args[0]
    return value


def shape(node: Node) -> tuple[Any, ...] | None:
    """The shape of what a node makes, if that is one tensor."""
    value = node.meta.get("val")
    return tuple(value.shape) if hasattr(value, "shape") else None


def module_path(node: Node) -> str:
    """The path of the module that a node is in, as in "layer1.0.conv1"; "" of the outermost."""
    stack = node.meta.get("nn_module_stack") or {}
    return str(list(stack.values())[-1][0]) if stack else ""


def module_name(node: Node) -> str:
    """The module that a node is in, for messages."""
    path = module_path(node)
    return f"'{path}'" if path else "the module's own forward"


def source_line(node: Node) -> str:
    """Where a node was written, as in File "model.py", line 3; "" if that is not known."""
    lines = [line.strip() for line in (node.meta.get("stack_trace") or "").splitlines()]
    files = [line for line in lines if line.startswith("File ")]
    return files[-1].rsplit(", in", 1)[0] if files else ""


def add_node(graph: Any, like: Node, target: Any, *args: Any) -> Node:
    """Adds a call to a graph where it inserts, with what another node says of its place."""
    made = graph.call_function(target, args)
    made.meta = {**like.meta, "val": target(*map(_example, args))}
    return made


def _example(argument: Any) -> Any:
    """What an argument was when the graph was traced."""
    if isinstance(argument, list):
        return [*map(_example, argument)]
    return argument.meta["val"] if is_node(argument) else argument
