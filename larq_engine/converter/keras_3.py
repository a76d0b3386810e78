"""Converts models of Keras 3 to float .tflite files by way of Keras' own export to a SavedModel.

Then static shapes and the model's own pads are the same as for SavedModels. Keras' export to LiteRT
leaves the batch open and lets TensorFlow's converter turn pads into "same" padding.
"""

import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from larq_engine.converter import schema
from larq_engine.converter.keras import failing, signatures_to_tflite
from larq_engine.converter.keras_checks import check_keras_3_backend, check_keras_model
from larq_engine.converter.options import SIGNATURE
from larq_engine.converter.quiet import quiet_tensorflow


def keras_3_to_tflite(model: Any) -> bytes:
    """Converts a model of Keras 3 with TensorFlow as its backend.

    Raises:
        TypeError: It is no model.
        ValueError: It is one that cannot be converted as it is.
        ConversionError: Keras cannot export it, or TensorFlow's converter failed.
    """
    check_keras_model(model)
    check_keras_3_backend(sys.modules["keras"].backend.backend())
    what = f"model '{model.name}'"
    with tempfile.TemporaryDirectory() as folder:
        with (
            failing(what, "Keras cannot export it"),
            quiet_tensorflow(),
            contextlib.redirect_stdout(io.StringIO()),  # Keras prints there what it has written.
        ):
            model.export(folder)
        # Only a call tells the inputs of a subclassed model.
        inputs = [tensor.name for tensor in getattr(model, "inputs", None) or []]
        content = signatures_to_tflite(
            what, Path(folder), [SIGNATURE], inputs, _output_names(model)
        )
    return _with_layer_names(content)


def _output_names(model: Any) -> dict[str, str]:
    """Returns the names of a list of outputs, in order; as in Keras 2, those of the last layers."""
    names = getattr(model, "output_names", None) or []
    if not names and type(model).__name__ == "Sequential":
        names = [model.layers[-1].name]
    if isinstance(getattr(model, "output", None), dict):
        return {}
    exported = [f"output_{number}" for number in range(len(names))]
    return dict(zip(exported, names if len(set(names)) == len(names) else exported, strict=True))


def _with_layer_names(content: bytes) -> bytes:
    """Removes the number from each scope in the names of tensors.

    Keras 3 opens a layer's scope once to build it and again to call it. TensorFlow tells the two
    apart by a number that it appends to the layer's name, so the scope of each call has such a
    number.
    """
    model = schema.read(content)
    for graph in model.graphs:
        made = [tensor for op in graph.ops for tensor in (*op.inputs, *op.outputs)]
        for tensor in {id(tensor): tensor for tensor in made if tensor is not None}.values():
            tensor.name = ";".join(map(_without_numbers, tensor.name.split(";")))
    return schema.write(model)


def _without_numbers(name: str) -> str:
    *scopes, last = name.split("/")
    return "/".join([*(re.sub(r"_\d+$", "", scope) for scope in scopes), last])
