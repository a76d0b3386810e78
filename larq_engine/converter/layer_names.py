"""What Keras calls a layer, out of the names that TensorFlow's converter leaves in a file."""

from larq_engine.converter.graph import Op

# How the last part of an operator's name in TensorFlow starts, for layers with weights.
_LAYER_OPERATORS = (
    "QuantConv",
    "Conv",
    "MatMul",
    "BiasAdd",
    "depthwise",
    "Depthwise",
    "separable",
    "Tensordot",
    "QuantDense",
)

# Layers of several operators put this between their name and those.
_SCOPES = ("separable_conv2d", "Tensordot")


def name_layer(op: Op) -> str:
    """The layer that an operator with weights computes; without a trace of it, the operator's name.

    The result of the last layer is named after the model, then weights and bias tell. They come
    second, as layers with equal constants share them.
    """
    tensors = [op.output, *op.inputs[1:]]
    names = [tensor.name for tensor in tensors if tensor is not None]
    found = (_find_layer(name) for name in names)
    return next(filter(None, found), names[0])


def _find_layer(name: str) -> str | None:
    """Of the names of operators in TensorFlow, which the converter joins with ';'."""
    for part in reversed(name.split(";")):
        path = part.split("/")
        for end in range(len(path) - 1, 0, -1):
            if path[end].startswith(_LAYER_OPERATORS):
                if end > 2 and path[end - 1] in _SCOPES:
                    end -= 1
                # The first name is the model's.
                return "/".join(path[1:end] or path[:end])
    return None
