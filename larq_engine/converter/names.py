"""Names tensors after the layers that they belong to, so that every tool shows the layers.

In a file of MeliusNet22, TensorFlow's own names took most of the bytes beside the weights.
"""

import re
from dataclasses import replace

from larq_engine.converter import schema
from larq_engine.converter.graph import Graph, Model, Op
from larq_engine.converter.layer_names import name_layer, name_tensor

# Names that TensorFlow gives an output if it knows only that a function returns it.
_NAMELESS = re.compile(r"(?:(?:Stateful)?PartitionedCall|Identity)(?:_\d+)?(?::\d+)?")


def find_output_layers(model: Model) -> None:
    """Records the layers of outputs if neither their names nor their operators tell them.

    The layer of such an output is its name in the signature: Keras names outputs after its last
    layers. Operators with weights are left out, as a batch norm behind one can be the last layer.
    """
    for name, output in schema.signature_outputs(model):
        op = output.producer
        if op is None or op.known.weights is not None or name_layer(op) != output.name:
            continue
        if _NAMELESS.fullmatch(output.name):
            output.layer = output.layer or name


def find_layers(graph: Graph) -> None:
    """Records each operator's layer, before rules change the names and operators that tell it."""
    for op in graph.ops:
        known = (made.layer for made in op.outputs if made.layer)
        op.layer = next(known, "") or name_layer(op)


def write_names(graph: Graph) -> None:
    """Names the outputs of operators after their layers.

    Inputs of the graph keep their names, and so do its outputs, except those that
    `find_output_layers` has found. Constants lose their names. If an operator makes an output of
    the graph, one of its constants is named after the layer, as the output cannot be.
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
    """Returns the name, followed by a number if it is used already."""
    found, number = name, 0
    while found in used:
        number += 1
        found = f"{name}_{number}"
    used.add(found)
    return found


def _name_constant(op: Op) -> None:
    """Names a copy of the first constant, as other operators may read the constant, too."""
    for index, given in enumerate(op.inputs):
        if given is not None and given.is_constant:
            copy = replace(given, name=name_tensor(op.layer, op.kind), consumers=[op])
            if given.recipe is not None:
                copy.recipe = replace(given.recipe, outputs=[copy])
            given.consumers.remove(op)
            op.inputs[index] = copy
            return
