"""Calls tensors by the layers that they belong to, so that every tool shows those.

TensorFlow's own names were most of what a file of MeliusNet22 had beside its weights.
"""

from dataclasses import replace

from larq_engine.converter.graph import Graph, Op
from larq_engine.converter.layer_names import name_layer, name_tensor


def find_layers(graph: Graph) -> None:
    """Notes each operator's layer, before rules change what tells it."""
    for op in graph.ops:
        op.layer = name_layer(op)


def write_names(graph: Graph) -> None:
    """Names what operators make after their layers; inputs and outputs of the graph keep theirs.

    Constants lose their names. One of each operator that makes an output gets another, which tells
    the layer in the output's place.
    """
    kept = {*graph.inputs, *graph.outputs}
    used = {tensor.name for tensor in kept}
    for op in graph.ops:
        for given in op.inputs:
            if given is not None and given.is_constant and given not in kept:
                given.name = ""
        for made in op.outputs:
            if made not in kept:
                made.name = _unused(name_tensor(op.layer, op.kind), used)
    for op in graph.ops:
        if any(made in kept for made in op.outputs):
            _name_constant(op)


def _unused(name: str, used: set[str]) -> str:
    """The name, with a number behind it from the second time on."""
    found, number = name, 0
    while found in used:
        number += 1
        found = f"{name}_{number}"
    used.add(found)
    return found


def _name_constant(op: Op) -> None:
    """Names a copy of the first constant, as other operators may read the constant too."""
    for index, given in enumerate(op.inputs):
        if given is not None and given.is_constant:
            copy = replace(given, name=name_tensor(op.layer, op.kind), consumers=[op])
            if given.recipe is not None:
                copy.recipe = replace(given.recipe, outputs=[copy])
            given.consumers.remove(op)
            op.inputs[index] = copy
            return
