"""Calls tensors by the layers that they belong to, so that every tool shows those.

TensorFlow's own names were most of what a file of MeliusNet22 had beside its weights.
"""

import re
from dataclasses import replace

from larq_engine.converter import schema
from larq_engine.converter.graph import Graph, Model, Op
from larq_engine.converter.layer_names import name_layer, name_tensor

# What TensorFlow calls an output of which it knows nothing more than that a function returns it.
_NAMELESS = re.compile(r"(?:(?:Stateful)?PartitionedCall|Identity)(?:_\d+)?(?::\d+)?")


def find_output_layers(model: Model) -> None:
    """Notes the layers of outputs that neither their names tell nor the operators that make them.

    They are what signatures call the outputs: Keras calls them after its last layers. A layer with
    weights need not be the last: a batch norm behind it can be a part of it.
    """
    for name, output in schema.signature_outputs(model):
        op = output.producer
        if op is None or op.known.weights is not None or name_layer(op) != output.name:
            continue
        if _NAMELESS.fullmatch(output.name):
            output.layer = output.layer or name


def find_layers(graph: Graph) -> None:
    """Notes each operator's layer, before rules change what tells it."""
    for op in graph.ops:
        known = (made.layer for made in op.outputs if made.layer)
        op.layer = next(known, "") or name_layer(op)


def write_names(graph: Graph) -> None:
    """Names what operators make after their layers.

    Inputs of the graph keep their names, and so do outputs but for those of `find_output_layers`.
    Constants lose their names. One of each operator that makes an output gets another, which tells
    the layer in the output's place.
    """
    kept = {*graph.inputs, *(output for output in graph.outputs if not output.layer)}
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
