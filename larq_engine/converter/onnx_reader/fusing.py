"""Float layers take in what is behind them, as TensorFlow's own converter lets them.

Products and sums of each channel, which batch norms are, become part of weights and biases, and
relu the layer's own. Layers of binary weights are left to the converter, which does it exactly.
"""

import numpy as np

from larq_engine.converter.graph import Array, Graph, Op, Tensor
from larq_engine.converter.layer_names import name_tensor
from larq_engine.converter.schema import ACTIVATION
from larq_engine.converter.signs import NotBinary
from larq_engine.converter.weights import channel_axis, scales

_LAYERS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


def fuse(graph: Graph) -> None:
    for layer in [op for op in graph.ops if op.kind in _LAYERS]:
        weights = layer.inputs[1]
        if weights is None or weights.data is None or _are_binary(layer, weights.data):
            continue
        while _take_in(graph, layer):
            pass


def _are_binary(layer: Op, weights: Array) -> bool:
    by_channel = np.moveaxis(weights, channel_axis(layer, weights.ndim), 0)
    return not isinstance(scales(by_channel), NotBinary)


def _take_in(graph: Graph, layer: Op) -> bool:
    """Takes in the only operator that reads a layer's result, if it can."""
    if not graph.only_use(layer.output) or not layer.output.consumers:
        return False
    if layer.options.fusedActivationFunction != ACTIVATION["NONE"]:
        return False
    (reader,) = layer.output.consumers
    changed = _with(layer, reader)
    if changed:
        # The layer makes what its reader made; nothing else reads what it made before.
        before, result = layer.output, reader.output
        layer.outputs, result.producer, before.producer = [result], layer, None
        graph.discard(reader)
        _name(graph, layer)
    return changed


def _name(graph: Graph, layer: Op) -> None:
    """Lets the result tell the layer, or the weights if it is an output and has a name."""
    told = layer.output if graph.is_internal(layer.output) else layer.inputs[1]
    assert told is not None
    told.name = name_tensor(layer.layer, layer.kind)


def _with(layer: Op, reader: Op) -> bool:
    if reader.kind in ("RELU", "RELU6", "RELU_N1_TO_1"):
        layer.options.fusedActivationFunction = ACTIVATION[reader.kind]
        return True
    numbers = _numbers(layer, reader)
    weights, bias = layer.inputs[1], layer.input(2)
    if numbers is None or weights is None or weights.data is None:
        return False
    biases = np.zeros(numbers.shape, np.float32) if bias is None else bias.data
    if biases is None:
        return False
    if reader.kind == "ADD":
        biases = biases + numbers
    else:
        along = [1] * weights.data.ndim
        along[channel_axis(layer, weights.data.ndim)] = -1
        _set(layer, 1, weights.data * numbers.reshape(along))
        biases = biases * numbers
    _set(layer, 2, biases)
    return True


def _numbers(layer: Op, reader: Op) -> Array | None:
    """What a product or sum has for each channel of a layer."""
    if reader.kind not in ("ADD", "MUL") or reader.output.shape != layer.output.shape:
        return None
    others = [x for x in reader.inputs if x is not layer.output]
    data = others[0].data if len(others) == 1 and others[0] is not None else None
    channels = layer.output.shape[-1]
    if data is None or data.shape not in ((), (1,), (channels,)):
        return None
    return np.broadcast_to(data, (channels,))


def _set(layer: Op, index: int, data: Array) -> None:
    old = layer.inputs[index]
    new = Tensor("", data.shape, "FLOAT32", data=np.ascontiguousarray(data, np.float32))
    if old is not None:
        old.consumers.remove(layer)
    layer.inputs[index] = new
    new.consumers.append(layer)
