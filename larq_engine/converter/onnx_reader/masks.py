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
    producers = {name: node for node in model.nodes for name in node.outputs}
    nodes = [_masked(node, producers, model.constants) or node for node in model.nodes]
    pairs = zip(model.nodes, nodes, strict=True)
    left = [name for old, new in pairs if old is not new for name in old.inputs]
    return replace(model, nodes=tuple(_without(nodes, left, producers, model.outputs)))


def _masked(
    node: Node, producers: Mapping[str, Node], constants: Mapping[str, Array]
) -> Node | None:
    if node.kind != "ScatterND" or node.domain != STANDARD or len(node.inputs) != 3:
        return None
    if node.attributes.get("reduction", "none") != "none":
        return None
    data, places, numbers = node.inputs
    mask = _before(_before(places, ["Transpose"], producers), ["NonZero"], producers)
    while before := _before(numbers, ["Expand", "Reshape"], producers):
        numbers = before
    if not mask or numbers not in constants or constants[numbers].size != 1:
        return None
    return replace(node, inputs=(data, mask, numbers))


def _before(name: str, kinds: Sequence[str], producers: Mapping[str, Node]) -> str:
    """Returns the input of the operator that makes a value, if it is of these kinds, else ""."""
    producer = producers.get(name)
    return (
        producer.inputs[0]
        if producer is not None and producer.kind in kinds and producer.inputs
        else ""
    )


def _without(
    nodes: Iterable[Node], left: list[str], producers: Mapping[str, Node], outputs: Iterable[str]
) -> list[Node]:
    """Returns the nodes without those that made only values that nothing reads any more."""
    kept = {id(node): node for node in nodes}
    readers = Counter(name for node in kept.values() for name in node.inputs)
    readers.update(outputs)
    while left:
        producer = producers.get(left.pop())
        if (
            producer is not None
            and id(producer) in kept
            and not any(readers[o] for o in producer.outputs)
        ):
            del kept[id(producer)]
            readers.subtract(producer.inputs)
            left.extend(producer.inputs)
    return list(kept.values())
