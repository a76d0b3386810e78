"""Changes a SavedModel where TensorFlow's converter would not keep what it computes.

The converter turns a Pad and a convolution with a stride into "same" padding if that is equal for
the model's image size. It is not equal for other sizes. The converter leaves PadV2 alone, which is
Pad with a value.

The converter keeps a PlaceholderWithDefault, and has no convolution for values whose sizes it
leaves open. Here such a placeholder only ever holds its default, so it is written as an Identity.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")


def prepare(folder: str) -> None:
    """Changes the graphs of the SavedModel in a folder."""
    from tensorflow.core.protobuf.saved_model_pb2 import SavedModel

    path = Path(folder) / "saved_model.pb"
    saved = SavedModel.FromString(path.read_bytes())
    for meta_graph in saved.meta_graphs:
        for nodes, is_function in _node_lists(meta_graph.graph_def):
            _keep_pads(nodes, is_function)
            _close_placeholders(nodes)
    path.write_bytes(saved.SerializeToString())


def _node_lists(graph: Any) -> Iterator[tuple[Any, bool]]:
    yield graph.node, False
    for function in graph.library.function:
        yield function.node_def, True


def _close_placeholders(nodes: Any) -> None:
    """Replaces each PlaceholderWithDefault by an Identity."""
    found = [node for node in nodes if node.op == "PlaceholderWithDefault"]
    for node in found:
        node.op = "Identity"
        node.attr["T"].type = node.attr["dtype"].type
        del node.attr["dtype"], node.attr["shape"]
    if found:
        # These shapes were inferred from the placeholders; absent ones are inferred anew.
        for node in nodes:
            node.attr.pop("_output_shapes", None)


def _keep_pads(nodes: Any, is_function: bool) -> None:
    """Replaces each Pad before a convolution with a stride by a PadV2 with the value 0."""
    from tensorflow.core.framework.types_pb2 import DT_FLOAT

    padded = {
        node.input[0].split(":")[0]
        for node in nodes
        if node.op in _CONVOLUTIONS and max(node.attr["strides"].list.i) > 1
    }
    for node in [node for node in nodes if node.op == "Pad" and node.name in padded]:
        if node.attr["T"].type != DT_FLOAT:
            continue
        zero = nodes.add()
        zero.name = f"{node.name}/zero"
        zero.op = "Const"
        zero.attr["dtype"].type = DT_FLOAT
        zero.attr["value"].tensor.dtype = DT_FLOAT
        zero.attr["value"].tensor.tensor_shape.SetInParent()
        zero.attr["value"].tensor.float_val.append(0.0)
        node.op = "PadV2"
        # Control inputs, which are only waited for, come behind all tensors.
        node.input.insert(2, f"{zero.name}:output:0" if is_function else zero.name)
