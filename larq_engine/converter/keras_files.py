"""Loads the Keras models that people keep in files, larq's layers included."""

import contextlib
import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.keras import import_tensorflow
from larq_engine.converter.keras_checks import keras_version
from larq_engine.converter.quiet import quiet_tensorflow


def load_keras(path: str | os.PathLike[str]) -> Any:
    """Returns the model of a .h5 or .keras file.

    Raises:
        FileNotFoundError: There is no such file.
        ConversionError: It is no file of Keras 2, or holds no whole model that it can load.
        ImportError: TensorFlow or its Keras 2 is not installed.
    """
    file = Path(path)
    what = f"model '{file}'"
    if not file.is_file():
        raise FileNotFoundError(f"{what}: expected a .h5 or .keras file, got none; check the path")
    if "tensorflow" not in sys.modules:
        # Read once, when TensorFlow is imported; larq cannot be imported with Keras 3.
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    keras = _import_keras()
    _check_content(what, file)
    try:
        with quiet_tensorflow():
            return keras.models.load_model(file, compile=False)
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        raise ConversionError(
            f"{what}: Keras cannot load it: {error}; for a model with layers or functions of your "
            "own build it in Python, load its weights and call convert_keras_model"
        ) from error


def _import_keras() -> Any:
    """Returns Keras 2, knowing larq's layers if larq is installed."""
    tf = import_tensorflow()
    try:
        keras = tf.keras if keras_version(tf.keras.Model) == 2 else _import_tf_keras()
    except ImportError as error:
        raise ImportError(
            f"Keras 2: larq builds on it, and it is not installed ({error}); "
            'pip install "larq-engine[converter]"'
        ) from error
    try:
        import larq  # noqa: F401, it registers its layers by name
    except ModuleNotFoundError as error:
        if error.name != "larq":
            raise
    except AttributeError as error:
        raise ImportError(
            "larq: expected Keras 2 as tf.keras, got Keras 3; set TF_USE_LEGACY_KERAS=1 in the "
            "environment before TensorFlow is imported"
        ) from error
    return keras


def _import_tf_keras() -> Any:
    import tf_keras

    return tf_keras


def _check_content(what: str, file: Path) -> None:
    version, whole = _read_facts(what, file)
    if version.startswith("3."):
        raise ConversionError(
            f"{what}: expected a file of Keras 2, which larq builds on, got Keras {version}; "
            "load it in Keras 3, write it with model.export('folder'), and convert that folder, a "
            "SavedModel"
        )
    if not whole:
        raise ConversionError(
            f"{what}: expected a whole model, got weights only; build the model, load them "
            "(model.load_weights) and call convert_keras_model, or save the model with model.save"
        )


def _read_facts(what: str, file: Path) -> tuple[str, bool]:
    """The version of the Keras that wrote the file, and whether it holds more than weights."""
    import h5py

    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            if "metadata.json" in archive.namelist():
                return str(json.loads(archive.read("metadata.json"))["keras_version"]), True
    elif h5py.is_hdf5(file):
        with contextlib.suppress(OSError), h5py.File(file) as content:  # it may be cut off
            return str(content.attrs.get("keras_version", "")), "model_config" in content.attrs
    raise ConversionError(
        f"{what}: expected a file that Keras wrote (.h5 or .keras), got another or a damaged one; "
        "copy it again, or give the folder of a SavedModel or a .tflite file by its own name"
    )
