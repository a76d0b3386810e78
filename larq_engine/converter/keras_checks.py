"""Checks a Keras model before TensorFlow is asked to convert it. Needs no TensorFlow."""

import os
import sys
from collections.abc import Iterator
from typing import Any

_FLOAT_TYPES_REFUSED = ("float16", "bfloat16", "float64")


def check_keras_model(model: Any) -> None:
    """Raises an error that says what is wrong with the model, and what to do about it.

    Raises:
        TypeError: It is no model at all.
        ValueError: It is a path, or a model of another type than float32 or without shapes.
    """
    if isinstance(model, (str, os.PathLike)):
        raise ValueError(
            f"model: expected a Keras model, got the path {os.fspath(model)!r}; load it first "
            "(tf.keras.models.load_model), or call convert_saved_model for the folder of a "
            "SavedModel and convert_tflite for a .tflite file"
        )
    if keras_version(type(model)) is None:
        raise TypeError(f"model: expected a Keras model, got {_describe(model)}")
    name = f"model '{model.name}'"
    _check_precision(model, name)
    if not model.built or (is_keras_2(model) and model.save_spec() is None):
        raise ValueError(
            f"{name}: expected a model that knows the shapes of its inputs, got one without "
            "known ones; give it an Input layer, or call it once on data"
        )


def check_keras_3_backend(backend: str) -> None:
    """Raises ValueError if Keras 3 computes with another backend than TensorFlow."""
    if backend != "tensorflow":
        raise ValueError(
            f"Keras 3: expected the backend tensorflow, whose converter writes .tflite files, got "
            f"{backend}; save the model (model.save('model.keras')) and run `larq-engine convert "
            "model.keras`, or load it in a process with KERAS_BACKEND=tensorflow"
        )


def check_eager(executing_eagerly: bool) -> None:
    """Raises RuntimeError if TensorFlow 1's graph mode is on."""
    if not executing_eagerly:
        raise RuntimeError(
            "TensorFlow: expected eager execution, got the graph mode of TensorFlow 1; convert in "
            "a process that does not call tf.compat.v1.disable_eager_execution"
        )


def keras_version(kind: type) -> int | None:
    """Returns the major version of Keras that a model's class comes from; None for other classes.

    It reads names only, so that no Keras is imported to find out that the class is not of that
    Keras.
    """
    for base in kind.__mro__:
        package = base.__module__.split(".")[0]
        if base.__name__ == "Model" and package == "tf_keras":
            return 2
        if base.__name__ == "Model" and package == "keras":
            return int(sys.modules["keras"].__version__.split(".")[0])
    return None


def is_keras_2(model: Any) -> bool:
    """Tells whether it is a model of Keras 2."""
    return keras_version(type(model)) == 2


def _describe(thing: Any) -> str:
    if isinstance(thing, type):
        made = "model" if keras_version(thing) else "object"
        return f"the class {thing.__name__}; make a {made} of it first"
    if isinstance(thing, (bytes, bytearray)):
        return f"{type(thing).__name__}; call convert_tflite for the content of a .tflite file"
    return (
        f"{type(thing).__name__}; save what is no Keras model with tf.saved_model.save and call "
        "convert_saved_model"
    )


def _check_precision(model: Any, name: str) -> None:
    remedy = (
        "TensorFlow Lite kernels of this kind compute in float32; build the model under "
        'tf.keras.mixed_precision.set_global_policy("float32") and load its weights (set_weights)'
    )
    policy = model.dtype_policy.name
    if policy != "float32":
        raise ValueError(f"{name}: expected the dtype policy float32, got {policy}; {remedy}")
    for layer in model.submodules if is_keras_2(model) else _layers(model):
        used = getattr(layer, "compute_dtype", None)
        if used in _FLOAT_TYPES_REFUSED:
            raise ValueError(
                f"{name}: layer '{layer.name}': expected it to compute in float32, got {used}; "
                f"{remedy}"
            )


def _layers(model: Any) -> Iterator[Any]:
    """Yields the layers of a model of Keras 3, including those of models inside it."""
    for layer in model.layers:
        yield layer
        if keras_version(type(layer)):
            yield from _layers(layer)
