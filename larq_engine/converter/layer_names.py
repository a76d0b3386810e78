"""What Keras calls a layer, out of the names that tensors have in a file.

In files that this converter writes a tensor is called "layer:OPERATOR" (names.py). Elsewhere names
are those of operators in TensorFlow, with the scopes that they were made in:
"model/block/conv/QuantConv2D". The plug-in reads them in the same way (runtime/layer_name.cc), and
tests/common/layer_names.txt holds both to that.
"""

import re

from larq_engine.converter.graph import Op
from larq_engine.converter.lce_ops import unpacking
from larq_engine.converter.weights import WEIGHTED_KINDS

# How operators of layers with weights are called in TensorFlow, at the start of their names.
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

# Scopes that TensorFlow's functions and larq's quantizers open within a layer's own.
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

# One that is also what Keras calls such layers.
_SEPARABLE = "separable_conv2d"

_OWN_NAME = re.compile(r"(.+):[A-Za-z]\w*")


def name_tensor(layer: str, kind: str) -> str:
    """The name of what an operator of a layer makes, from which the layer can be told again."""
    return f"{layer}:{kind}"


def name_layer(op: Op) -> str:
    """The layer that an operator belongs to; without a trace of it, what it makes.

    Its result tells. That of the last layer may be named after the model, and then constants tell.
    They come second, as layers with equal constants share them.
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
    """The layer in a name of TensorFlow's, or "", and whether it is one with weights.

    The converter joins the names of operators that it merges with ';'. The operator with weights
    among them counts, else the last that says anything.
    """
    parts = [part.split("/") for part in reversed(name.split(";")) if "/" in part]
    paths = [(path, _layer_end(path)) for path in parts]
    for path, end in paths:
        if any(step.startswith(_WEIGHTED) for step in path[end:]):
            return _join(path, end), True
    # LCE cuts names, and what is left of the last may be less than a layer.
    path, end = next(((p, e) for p, e in paths if e > 1), paths[0] if paths else ([], 0))
    return _join(path, end), False


def _layer_end(path: list[str]) -> int:
    """How many steps of a path lead to the layer; the last is the operator."""
    end = len(path) - 1
    if end > 2:
        scope = re.sub(r"_\d+$", "", path[end - 1])
        separable = scope == _SEPARABLE and path[end].startswith("depthwise")
        if scope in _INNER_SCOPES or separable:
            end -= 1
    return end


def _join(path: list[str], end: int) -> str:
    """The first name is the model's."""
    return "/".join(path[1:end] or path[:end])
