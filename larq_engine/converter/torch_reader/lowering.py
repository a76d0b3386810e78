"""Makes a float .tflite file of a graph, with names of modules for its tensors.

litert_torch names operators after the modules that they are in, and exports its input once more. So
each node of the graph becomes a module of its own here, whose name leads back to the node.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from larq_engine.converter import schema
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Graph, Model, Op, Tensor
from larq_engine.converter.layer_names import name_tensor
from larq_engine.converter.torch_reader.exporting import Exported
from larq_engine.converter.torch_reader.nodes import Node, kind, layer_name, shape
from larq_engine.converter.torch_reader.numbers import (
    pad_by_numbers,
    slice_to_ends,
    transpose_single_channels,
)
from larq_engine.converter.torch_reader.packages import import_litert_torch, import_torch
from larq_engine.converter.torch_reader.slices import Slice
from larq_engine.converter.weights import WEIGHTED_KINDS

# The name of a node's module, as litert_torch writes it into names of tensors.
_STEP = re.compile(r"_(node\d+);")

# Nodes that become operators with weights.
_WEIGHTED = re.compile(r"aten\.(conv|linear|addmm|mm|bmm|matmul|baddbmm|_convolution)")


@dataclass(frozen=True)
class Lowered:
    """A float model made by litert_torch.

    Attributes:
        content: The bytes of the .tflite file.
        model: The same file, parsed.
        nodes: For each tensor that comes from one node of the export, the name of that node.
        channels_last: Whether inputs and outputs have their channels last.
        has_other_numbers: Whether the file has numbers that may be sizes: numbers of slices that
            are not known to be the module's, or indices.
    """

    content: bytes
    model: Model
    nodes: dict[Tensor, str]
    channels_last: bool
    has_other_numbers: bool


def lower(exported: Exported, channels_last: bool, slices: Mapping[str, Slice]) -> Lowered:
    """Makes the file.

    Args:
        exported: The exported module.
        channels_last: Whether inputs and outputs have their channels last.
        slices: The meaning of the module's slices, by the names of nodes.

    Raises:
        ConversionError: litert_torch fails.
    """
    torch, litert_torch = import_torch(), import_litert_torch()
    nodes = [node for node in exported.rewritten.graph.nodes if node.op == "call_function"]
    steps = {f"node{number}": node for number, node in enumerate(nodes)}
    whole = _make_whole(torch, exported.rewritten, steps, channels_last)
    inputs = tuple(
        channels_to(tensor, last=True) if channels_last else tensor for tensor in exported.inputs
    )
    try:
        with torch.no_grad():
            content = litert_torch.convert(whole, inputs).model_content()
    except Exception as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ConversionError(f"litert_torch cannot convert the module: {lines[0]}") from error
    model = schema.read(content)
    graph = model.graphs[0]
    found = {tensor: _nodes_in(tensor.name, steps) for op in graph.ops for tensor in op.outputs}
    (end,) = (node for node in exported.rewritten.graph.nodes if node.op == "output")
    outputs = torch.utils._pytree.tree_leaves(end.args)
    _name_tensors(graph, found, outputs)
    _name_ends(model, graph, exported)
    pad_by_numbers(graph)
    transpose_single_channels(graph)
    named = _slices(graph, found, outputs, slices)
    unknown = slice_to_ends(graph, named, slices.values())
    return Lowered(
        schema.write(model),
        model,
        _nodes_of_tensors(torch, found),
        channels_last,
        bool(unknown) or any(op.kind in ("GATHER", "GATHER_ND") for op in graph.ops),
    )


def channels_to(tensor: Any, *, last: bool) -> Any:
    """Returns a tensor with its channels moved from dimension 1 to the end, or back."""
    if tensor.ndim < 3:
        return tensor
    return tensor.movedim(1, -1) if last else tensor.movedim(-1, 1)


def _unfold(torch: Any, node: Node) -> Any:
    """Returns Tensor.unfold in operators whose numbers are the same for every batch."""
    given, dimension, size, step = node.args
    sizes = shape(given)
    if not sizes:
        return node.target
    axis = dimension % len(sizes)
    windows = (sizes[axis] - size) // step + 1
    places = torch.arange(windows)[:, None] * step + torch.arange(size)

    def unfold(x: Any, *_numbers: Any) -> Any:
        values = x.index_select(axis, places.flatten())
        return values.unflatten(axis, (windows, size)).movedim(axis + 1, -1)

    return unfold


def _target(torch: Any, node: Node) -> Any:
    """Returns what computes a node in the form that litert_torch lowers best."""
    return _unfold(torch, node) if kind(node) == "aten.unfold.default" else node.target


def _make_whole(torch: Any, graph_module: Any, steps: dict[str, Node], channels_last: bool) -> Any:
    names = {node: name for name, node in steps.items()}

    class Step(torch.nn.Module):  # type: ignore[misc]
        def __init__(self, target: Any) -> None:
            super().__init__()
            self.target = target

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return self.target(*args, **kwargs)

    class Run(torch.fx.Interpreter):  # type: ignore[misc]
        def __init__(self, made: Any) -> None:
            super().__init__(graph_module, garbage_collect_values=False)
            self.made = made

        def run_node(self, node: Any) -> Any:
            if node.op != "call_function":
                return super().run_node(node)
            args, kwargs = self.fetch_args_kwargs_from_env(node)
            return self.made[names[node]](*args, **kwargs)

    class Whole(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.graph_module = graph_module
            self.steps = torch.nn.ModuleDict(
                {name: Step(_target(torch, node)) for name, node in steps.items()}
            )
            for part in (self, self.steps, *self.steps.values()):
                part.training = False

        def forward(self, *inputs: Any) -> Any:
            if channels_last:
                inputs = tuple(channels_to(tensor, last=False) for tensor in inputs)
            outputs = torch.utils._pytree.tree_leaves(Run(self.steps).run(*inputs))
            if channels_last:
                outputs = [channels_to(tensor, last=True) for tensor in outputs]
            return tuple(outputs)

    return Whole()


def _nodes_in(name: str, steps: dict[str, Node]) -> list[Node]:
    return list(dict.fromkeys(steps[step] for step in _STEP.findall(name) if step in steps))


def _nodes_of_tensors(torch: Any, found: dict[Tensor, list[Node]]) -> dict[Tensor, str]:
    """Returns the nodes whose results tensors are, by name, where it is known.

    A comparison that has changed places with a reshape has the reshape's name, too. Its result is
    the only one of truth values.
    """
    names = {}
    for tensor, parts in found.items():
        if len(parts) > 1 and tensor.dtype == "BOOL":
            parts = [node for node in parts if _dtype(node) is torch.bool]
        if len(parts) == 1:
            names[tensor] = parts[0].name
    return names


def _dtype(node: Node) -> Any:
    return getattr(node.meta.get("val"), "dtype", None)


def _slices(
    graph: Graph,
    found: dict[Tensor, list[Node]],
    outputs: list[Node],
    slices: Mapping[str, Slice],
) -> dict[Tensor, Slice]:
    """Returns the meaning of slices by their tensors; outputs are found by their nodes."""
    nodes = {tensor: parts[0] for tensor, parts in found.items() if len(parts) == 1}
    nodes |= {t: n for t, n in zip(graph.outputs, outputs, strict=True) if not found.get(t)}
    return {tensor: slices[node.name] for tensor, node in nodes.items() if node.name in slices}


def _name_tensors(graph: Graph, found: dict[Tensor, list[Node]], outputs: list[Node]) -> None:
    """Names results of operators, and weights of operators that make outputs, after modules."""
    made_last = dict(zip(graph.outputs, outputs, strict=True))
    for op in graph.ops:
        parts = found[op.output]
        if not parts and op.output in made_last:
            parts = _back_to_weights(made_last[op.output])  # Its own name is that of the output.
        if op.kind in WEIGHTED_KINDS:
            parts = [node for node in parts if _is_weighted(node)] or parts
        if not parts:
            continue
        layer = layer_name(parts[0])
        for tensor in op.outputs:
            tensor.name = name_tensor(layer, op.kind)
        if op.kind in WEIGHTED_KINDS:
            _name_weights(op, layer)


def _is_weighted(node: Node) -> bool:
    return bool(_WEIGHTED.match(str(node.target)))


def _back_to_weights(node: Node) -> list[Node]:
    """Returns a node and those before it, back to an operator with weights if it is a chain."""
    chain = [node]
    while not _is_weighted(chain[-1]):
        given = [other for other in chain[-1].all_input_nodes if other.op == "call_function"]
        if len(given) != 1:
            return [node]
        chain += given
    return chain


def _name_weights(op: Op, layer: str) -> None:
    for tensor in op.inputs[1:]:
        if tensor is not None and tensor.is_constant:
            tensor.name = name_tensor(layer, op.kind)


def _name_ends(model: Model, graph: Graph, exported: Exported) -> None:
    for names, tensors in (
        (exported.input_names, graph.inputs),
        (exported.output_names, graph.outputs),
    ):
        for name, tensor in zip(names, tensors, strict=True):
            tensor.name = name
    model.extra.signatures = [
        (
            "serving_default",
            0,
            list(zip(exported.input_names, graph.inputs, strict=True)),
            list(zip(exported.output_names, graph.outputs, strict=True)),
        )
    ]
