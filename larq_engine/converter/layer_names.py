"""Finds the name that Keras gives a layer in the names of tensors in a file.

In files that this converter writes, a tensor is called "layer:OPERATOR" (names.py). In other files,
names are those of TensorFlow's operators, with the scopes in which they were made:
"model/block/conv/QuantConv2D".

The plug-in reads names in the same way, in C++ (runtime/ops/layer_name.cc): it names layers in
programs without Python, and this file those of graphs that no host has loaded. Of constants the
plug-in reads names of this converter alone. tests/converter/test_names.py holds both to the same
words, and tests/common/layer_names.txt both to the same layers.
"""

import re

from larq_engine.converter.graph import Op
from larq_engine.converter.lce_ops import unpacking
from larq_engine.converter.weights import WEIGHTED_KINDS

# Beginnings of the names that TensorFlow gives operators of layers with weights.
_WEIGHTED = (
    "BatchMatMul",
    "BiasAdd",
    "Conv",
    "Depthwise",
    "Einsum",
    "MatMul",
    "QuantConv",
    "QuantDense",
    "QuantDepthwise",
    "QuantSeparable",
    "Tensordot",
    "conv",
    "depthwise",
    "einsum",
    "separable",
)

# Scopes that TensorFlow's functions and larq's quantizers open within a layer's own scope.
_INNER_SCOPES = {
    "Conv1D",
    "Conv2D",
    "Conv3D",
    "MatMul",
    "QuantConv1D",
    "QuantConv2D",
    "QuantConv3D",
    "Tensordot",
    "approx_sign",
    "batchnorm",
    "dorefa_quantizer",
    "einsum",
    "magnitude_aware_sign",
    "moments",
    "ste_heaviside",
    "ste_sign",
    "ste_tern",
    "swish_sign",
}

# An inner scope that is also Keras' name for such layers.
_SEPARABLE = "separable_conv2d"

_OWN_NAME = re.compile(r"(.+):[A-Za-z]\w*")


def name_tensor(layer: str, kind: str) -> str:
    """Returns the name of an operator's output, from which `name_layer` finds the layer again."""
    return f"{layer}:{kind}"


def name_layer(op: Op) -> str:
    """Returns the layer that an operator belongs to, or the name of its output if none is found.

    The output's name comes first. The output of the last layer may be named after the model; then
    the names of constants are used. They come second because layers with equal constants share
    them.
    """
    given = [tensor for tensor in op.inputs if tensor is not None]
    constants = [tensor.name for tensor in given if tensor.is_constant or unpacking(tensor)]
    for name in [op.name, *constants]:
        own = _OWN_NAME.fullmatch(name)
        if own is not None:
            return own.group(1)
    found = [_read_path(name) for name in [op.name, *constants]]
    if op.kind in WEIGHTED_KINDS:
        named = next((layer for layer, weighted in found if layer and weighted), None)
        if named is not None:
            return named
    return found[0][0] or op.name


def _read_path(name: str) -> tuple[str, bool]:
    """Returns the layer in a name of TensorFlow's, or "", and whether the layer has weights.

    The converter joins the names of merged operators with ';'. The name of the operator with
    weights is used, else the last name that has a layer.
    """
    parts = [part.split("/") for part in reversed(name.split(";")) if "/" in part]
    paths = [(path, _layer_end(path)) for path in parts]
    for path, end in paths:
        if any(step.startswith(_WEIGHTED) for step in path[end:]):
            return _join(path, end), True
    # LCE cuts names off, so the last name may lack its layer.
    path, end = next(((p, e) for p, e in paths if e > 1), paths[0] if paths else ([], 0))
    return _join(path, end), False


def _layer_end(path: list[str]) -> int:
    """Returns the number of parts of a path that name the layer; the last part is the operator."""
    end = len(path) - 1
    if end > 2:
        scope = re.sub(r"_\d+$", "", path[end - 1])
        separable = scope == _SEPARABLE and path[end].startswith("depthwise")
        if scope in _INNER_SCOPES or separable:
            end -= 1
    return end


def _join(path: list[str], end: int) -> str:
    """Joins the path without its first part, which is the model's name."""
    return "/".join(path[1:end] or path[:end])
