"""Exports the binary layers of a converted model as plain arrays, for hardware and other programs.

docs/weights.md says what the arrays mean, docs/operators.md what the operators compute.
"""

import io
import json
from typing import Any

import numpy as np

from larq_engine.converter import lce_ops, schema
from larq_engine.converter.activations import activation_name, fused_activation
from larq_engine.converter.graph import Array, Op, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.macs import count_macs, group_words
from larq_engine.converter.padding import NO_PADS, read_pads
from larq_engine.converter.weights import is_turned
from larq_engine.python.model_file import ModelSource

# Name of the array that lists the layers and the names of their arrays.
DESCRIPTION = "description"

_FORMAT = {"format": "larq_engine weights", "version": 1}
_TYPES = {"INT32": "bits", "FLOAT32": "float32", "INT8": "int8"}
_REMEDY = "the file is corrupted: re-convert the model"

# Names of options of builtin operators, along depth, height and width.
_STRIDES = ("strideD", "strideH", "strideW")
_DILATIONS = ("dilationDFactor", "dilationHFactor", "dilationWFactor")
_PADDINGS = {number: name for name, number in schema.PADDING.items()}


def export_weights(model: ModelSource) -> dict[str, Array]:
    """Returns the weights of a converted model's binary layers, and all else that defines them.

    Args:
        model: The content of a .tflite file, or its path.

    Returns:
        Arrays for `numpy.savez`: weights as +1 and -1 (int8), thresholds, multipliers, biases,
        scales; and "description", a JSON text in UTF-8 that lists the layers, with the names of
        their arrays, strides, padding and the like: `json.loads(bytes(arrays["description"]))`.

    Raises:
        ValueError: It is no model, it is damaged, or it has no layer with binary weights.
        FileNotFoundError: There is no such file.
    """
    arrays: dict[str, Array] = {}
    layers: list[dict[str, Any]] = []
    for number, graph in enumerate(schema.read(model).graphs):
        for index, op in enumerate(graph.ops):
            found = _find(op)
            if found is None:
                continue
            facts, own = found
            names = {role: f"layer{len(layers)}.{role}" for role in own}
            arrays |= {names[role]: array for role, array in own.items()}
            place = {"name": name_layer(op), "graph": number, "index": index}
            layers.append({**place, "operator": op.known.name, **facts, "arrays": names})
    if not layers:
        raise ValueError(
            "model: expected a layer with weights of one bit, got none; convert the model first "
            "(larq_engine.convert_tflite), and see what its report says of the layers"
        )
    text = json.dumps({**_FORMAT, "layers": layers}, indent=2)
    return {DESCRIPTION: np.frombuffer(text.encode(), np.uint8), **arrays}


def describe(arrays: dict[str, Array]) -> Any:
    """Returns the description as an object."""
    return json.loads(bytes(arrays[DESCRIPTION]))


def as_file(arrays: dict[str, Array]) -> bytes:
    """Returns the arrays as the content of a .npz file, compressed."""
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def _find(op: Op) -> tuple[dict[str, Any], dict[str, Array]] | None:
    """Returns the description and the arrays of an operator with binary weights."""
    if op.known.name == "LceBconv2d":
        return _binary(op)
    unpacked = [unpack for tensor in op.inputs if (unpack := lce_ops.unpacking(tensor))]
    return _weights_only(op, unpacked[0]) if unpacked else None


def _binary(op: Op) -> tuple[dict[str, Any], dict[str, Array]]:
    count_macs(op)  # Raises an error if shapes do not fit.
    image, filters = op.inputs[0], op.input(1)
    assert image is not None and filters is not None
    options = _Options(op)
    channels = options["channels_in"]
    words = group_words(op)
    assert words is not None
    group = channels * words[1] // words[0]
    pads = read_pads(options)
    bits_in, bits_weights = lce_ops.layer_bits(op)
    weights = lce_ops.unpack_odd(_constant(op, 1), group, bits_weights)
    facts = {
        "input": _tensor(image, channels),
        "output": _tensor(op.output, len(weights)),
        "groups": channels // group,
        "stride": [options["stride_height"], options["stride_width"]],
        "dilation": [options["dilation_height_factor"], options["dilation_width_factor"]],
        "padding": "SAME" if pads is None else "VALID" if pads == NO_PADS else pads,
        "pad_value": None if pads == NO_PADS else options["pad_values"],
        "depth": weights[0].size * lce_ops.largest(bits_in) * lce_ops.largest(bits_weights),
        "bits": [bits_in, bits_weights],
    }
    if op.output.dtype == "INT32":
        # Thresholds beyond these limits mean the same, but twice their value would not fit 32 bits.
        threshold = np.clip(_constant(op, 4), -1, facts["depth"])
        return facts, {"weights": weights, "threshold": threshold}
    facts["activation"] = activation_name(options["fused_activation_function"])
    own = {"weights": weights, "multiplier": _constant(op, 2), "bias": _constant(op, 3)}
    return facts, own


def _weights_only(op: Op, unpack: Op) -> tuple[dict[str, Any], dict[str, Array]]:
    """Returns description and arrays of a float layer whose weights are binary."""
    shape = unpack.output.shape
    flat = lce_ops.unpack_odd(_constant(unpack, 0), int(np.prod(shape)))
    known = op.known.weights
    source = op.input(known.data) if known is not None else op.inputs[0]
    facts: dict[str, Any] = {
        "input": None if source is None else _tensor(source),
        "output": _tensor(op.output),
        "scale_axis": _Options(unpack)["axis"],
    }
    for name, keys in (("stride", _STRIDES), ("dilation", _DILATIONS)):
        if sizes := [getattr(op.options, key) for key in keys if hasattr(op.options, key)]:
            facts[name] = sizes
    if hasattr(op.options, "padding"):
        facts["padding"] = _PADDINGS.get(op.options.padding)
    facts["activation"] = activation_name(fused_activation(op))
    facts["transposed"] = is_turned(op) if known is not None else False
    own = {"weights": flat.reshape(shape), "scale": _constant(unpack, 1)}
    bias = op.input(known.bias) if known is not None else None
    if bias is not None and bias.data is not None:
        own["bias"] = bias.data
    return facts, own


class _Options(dict[str, int]):
    """Options of an operator of ours. A missing option raises an error, as the file lacks it."""

    def __init__(self, op: Op) -> None:
        given = op.options if isinstance(op.options, dict) else {}
        super().__init__({key: value for key, value in given.items() if isinstance(value, int)})
        self._op = op

    def __missing__(self, key: str) -> int:
        raise ValueError(
            f"{self._op.kind} '{self._op.name}': expected a whole number as the option {key}, got "
            f"none; {_REMEDY}"
        )


def _constant(op: Op, position: int) -> Array:
    tensor = op.input(position)
    if tensor is None or tensor.data is None:
        raise ValueError(
            f"{op.kind} '{op.name}': input {position}: expected a constant, got none; {_REMEDY}"
        )
    return tensor.data


def _tensor(tensor: Tensor, channels: int | None = None) -> dict[str, Any]:
    """Describes a tensor; the shape of a tensor of bits is that of the values that they hold."""
    shape = list(tensor.signature or tensor.shape)
    dtype = _TYPES.get(tensor.dtype, tensor.dtype.lower())
    if dtype == "bits" and channels is not None:
        shape[-1] = channels
    facts: dict[str, Any] = {"tensor": tensor.name, "shape": shape, "type": dtype}
    if tensor.dtype == "INT8" and tensor.quantization is not None:
        facts["scale"] = list(tensor.quantization.scale)
        facts["zero_point"] = list(tensor.quantization.zero_point)
    return facts
