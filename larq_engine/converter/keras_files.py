"""Loads the Keras models that people keep in files, with layers of larq and larq_engine.keras."""

import contextlib
import json
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.keras import import_tensorflow
from larq_engine.converter.keras_checks import check_keras_3_backend, keras_version
from larq_engine.converter.quiet import quiet_tensorflow
from larq_engine.python.extras import pip_install


def load_keras(path: str | os.PathLike[str]) -> Any:
    """Returns the model of a .h5 or .keras file.

    Raises:
        FileNotFoundError: There is no such file.
        ConversionError: Keras did not write it, or it holds no whole model that Keras can load.
        ImportError: TensorFlow or the Keras that it needs is not installed.
        ValueError: It is of Keras 3, which was imported with another backend than TensorFlow.
    """
    file = Path(path)
    what = f"model '{file}'"
    if not file.is_file():
        raise FileNotFoundError(f"{what}: expected a .h5 or .keras file, got none; check the path")
    if "tensorflow" not in sys.modules:
        # Read once, when TensorFlow is imported; larq cannot be imported with Keras 3.
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    import_tensorflow()
    keras = _import_keras_3() if _read_version(what, file).startswith("3.") else _import_keras()
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


def _import_keras_3() -> Any:
    """Returns Keras 3 with TensorFlow as its backend, knowing the layers of larq_engine.keras."""
    with _keras_backend("tensorflow"):
        import larq_engine.keras  # noqa: F401, it registers its layers by name
    import keras

    check_keras_3_backend(keras.backend.backend())
    return keras


@contextlib.contextmanager
def _keras_backend(name: str) -> Iterator[None]:
    """Sets the backend that Keras 3 takes if it is imported in this block."""
    before = os.environ.get("KERAS_BACKEND")
    os.environ["KERAS_BACKEND"] = name
    try:
        yield
    finally:
        del os.environ["KERAS_BACKEND"]
        if before is not None:
            os.environ["KERAS_BACKEND"] = before


def _import_keras() -> Any:
    """Returns Keras 2, knowing larq's layers if larq is installed."""
    tf = import_tensorflow()
    try:
        keras = tf.keras if keras_version(tf.keras.Model) == 2 else _import_tf_keras()
    except ImportError as error:
        raise ImportError(
            f"Keras 2: larq builds on it, and it is not installed ({error}); "
            f"{pip_install('converter')}"
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


def _read_version(what: str, file: Path) -> str:
    """The version of the Keras that wrote a whole model."""
    version, whole = _read_facts(what, file)
    if not whole:
        raise ConversionError(
            f"{what}: expected a whole model, got weights only; build the model, load them "
            "(model.load_weights) and call convert_keras_model, or save the model with model.save"
        )
    return version


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
