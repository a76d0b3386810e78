"""Joins operators of `out[mask] = number`, which PyTorch exports as NonZero and ScatterND.

The number of places depends on the values, so the operators in between have no form in a .tflite
file.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from larq_engine.converter.graph import Array
from larq_engine.converter.onnx_reader.file import STANDARD, Node, OnnxModel


def with_masks(model: OnnxModel) -> OnnxModel:
    """Returns the model with each such form as one operator, a ScatterND of out, mask, number."""
    makers = {name: node for node in model.nodes for name in node.outputs}
    nodes = [_masked(node, makers, model.constants) or node for node in model.nodes]
    pairs = zip(model.nodes, nodes, strict=True)
    left = [name for old, new in pairs if old is not new for name in old.inputs]
    return replace(model, nodes=tuple(_without(nodes, left, makers, model.outputs)))


def _masked(node: Node, makers: Mapping[str, Node], constants: Mapping[str, Array]) -> Node | None:
    if node.kind != "ScatterND" or node.domain != STANDARD or len(node.inputs) != 3:
        return None
    if node.attributes.get("reduction", "none") != "none":
        return None
    data, places, numbers = node.inputs
    mask = _before(_before(places, ["Transpose"], makers), ["NonZero"], makers)
    while before := _before(numbers, ["Expand", "Reshape"], makers):
        numbers = before
    if not mask or numbers not in constants or constants[numbers].size != 1:
        return None
    return replace(node, inputs=(data, mask, numbers))


def _before(name: str, kinds: Sequence[str], makers: Mapping[str, Node]) -> str:
    """Returns the input of the operator that makes a value, if it is of these kinds, else ""."""
    maker = makers.get(name)
    return maker.inputs[0] if maker is not None and maker.kind in kinds and maker.inputs else ""


def _without(
    nodes: Iterable[Node], left: list[str], makers: Mapping[str, Node], outputs: Iterable[str]
) -> list[Node]:
    """Returns the nodes without those that made only values that nothing reads any more."""
    kept = {id(node): node for node in nodes}
    readers = Counter(name for node in kept.values() for name in node.inputs)
    readers.update(outputs)
    while left:
        maker = makers.get(left.pop())
        if maker is not None and id(maker) in kept and not any(readers[o] for o in maker.outputs):
            del kept[id(maker)]
            readers.subtract(maker.inputs)
            left.extend(maker.inputs)
    return list(kept.values())
