"""Loads Keras models from files, with the layers of larq and larq_engine.keras."""

import contextlib
import json
import os
import sys
import textwrap
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from larq_engine.converter.archives import check_archive, check_unpacked
from larq_engine.converter.doors import KERAS
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.keras import import_tensorflow
from larq_engine.converter.keras_checks import check_keras_3_backend, keras_version
from larq_engine.converter.keras_code import find_code, refuse_code
from larq_engine.converter.quiet import quiet_tensorflow

_MOST_LETTERS = 500

# Readers of archives and of JSON raise these on damaged files. zipfile raises NotImplementedError
# for a method of compression that it does not know.
_DAMAGES = (
    *(KeyError, NotImplementedError, OSError, RuntimeError, ValueError),
    *(zipfile.BadZipFile, zlib.error),
)


def load_keras(path: str | os.PathLike[str], *, unsafe: bool = False) -> Any:
    """Returns the model of a .h5 or .keras file.

    Args:
        path: The file.
        unsafe: Whether code in the file may run: Lambdas, and names that import modules.

    Raises:
        FileNotFoundError: There is no such file.
        ConversionError: Keras did not write it, it holds no whole model that Keras can load, or it
            holds code.
        ImportError: TensorFlow or the Keras that it needs is not installed.
        ValueError: It is of Keras 3, which was imported with another backend than TensorFlow.
    """
    file = Path(path)
    what = f"model '{file}'"
    if not file.is_file():
        raise FileNotFoundError(f"{what}: expected a .h5 or .keras file, got none; check the path")
    if "tensorflow" not in sys.modules:
        # TensorFlow reads it once, when it is imported; larq cannot be imported with Keras 3.
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    import_tensorflow()
    facts = _read_facts(what, file)
    is_keras_3 = facts.version.startswith("3.")
    keras = _import_keras_3() if is_keras_3 else _import_keras()
    if not unsafe:
        registered = keras.saving.get_registered_object
        refuse_code(what, find_code(facts.config, lambda name: registered(name) is not None))
    try:
        with quiet_tensorflow():
            return keras.models.load_model(file, compile=False, safe_mode=not unsafe)
    except (ImportError, MemoryError):
        raise
    except Exception as error:
        raise ConversionError(
            f"{what}: Keras cannot load it: {_essence(str(error))}; for a model with layers or "
            "functions of your own build it in Python, load its weights and call "
            "convert_keras_model"
        ) from error


def _essence(message: str) -> str:
    """Returns the message of the innermost exception.

    Each exception around it adds the configuration of the layer or model that it is about.
    """
    return textwrap.shorten(message.rpartition("Exception encountered: ")[2], _MOST_LETTERS)


def _import_keras_3() -> Any:
    """Returns Keras 3, with TensorFlow as its backend and the layers of larq_engine.keras."""
    with _keras_backend("tensorflow"):
        import larq_engine.keras  # noqa: F401, it registers its layers by name
    import keras

    check_keras_3_backend(keras.backend.backend())
    return keras


@contextlib.contextmanager
def _keras_backend(name: str) -> Iterator[None]:
    """Sets the backend that Keras 3 uses if it is imported in this block."""
    before = os.environ.get("KERAS_BACKEND")
    os.environ["KERAS_BACKEND"] = name
    try:
        yield
    finally:
        del os.environ["KERAS_BACKEND"]
        if before is not None:
            os.environ["KERAS_BACKEND"] = before


def _import_keras() -> Any:
    """Returns Keras 2, with larq's layers if larq is installed."""
    tf = import_tensorflow()
    try:
        keras = tf.keras if keras_version(tf.keras.Model) == 2 else _import_tf_keras()
    except ImportError as error:
        raise ImportError(
            f"Keras 2: larq builds on it, and it is not installed ({error}); {KERAS.install}"
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


@dataclass(frozen=True)
class _Facts:
    """The version of Keras that wrote a file, and the configuration of the model in it."""

    version: str
    config: Any


def _read_facts(what: str, file: Path) -> _Facts:
    import h5py

    # This is how Keras tells them apart. If it were done otherwise, a file could be checked as one
    # format and loaded as the other.
    try:
        if file.name.endswith(".keras") and zipfile.is_zipfile(file):
            return _read_archive(what, file)
        if h5py.is_hdf5(file):
            return _read_hdf5(what, file)
    except ConversionError:
        raise
    except _DAMAGES as error:
        raise _damaged(what, f"another or a damaged one ({error})") from error
    raise _damaged(what, "another or a damaged one")


def _read_archive(what: str, file: Path) -> _Facts:
    import h5py

    with zipfile.ZipFile(file) as archive:
        check_archive(archive, file.stat().st_size)
        names = archive.namelist()
        missing = [name for name in ("metadata.json", "config.json") if name not in names]
        if not any(name.startswith("model.weights.") for name in names):
            missing.append("model.weights.h5")
        if missing:
            raise _damaged(what, f"an archive without {missing[0]}")
        metadata, config = (
            json.loads(archive.read(name)) for name in ("metadata.json", "config.json")
        )
        for name in names:
            if name.endswith(".h5"):
                with archive.open(name) as member, h5py.File(member, "r") as content:
                    _check_arrays(what, content, file)
    version = metadata.get("keras_version") if isinstance(metadata, dict) else None
    if not isinstance(version, str) or not isinstance(config, dict):
        raise _damaged(what, "metadata.json or config.json with other content than Keras writes")
    return _Facts(version, config)


def _read_hdf5(what: str, file: Path) -> _Facts:
    import h5py

    with h5py.File(file) as content:
        config, version = (content.attrs.get(name) for name in ("model_config", "keras_version"))
        if config is None:
            raise ConversionError(
                f"{what}: expected a whole model, got weights only; build the model, load them "
                "(model.load_weights) and call convert_keras_model, or save the model with "
                "model.save"
            )
        _check_arrays(what, content, file)
    if not isinstance(config, (str, bytes)):
        raise _damaged(what, "a model_config that is no text")
    return _Facts(str(version or ""), json.loads(config))


def _check_arrays(what: str, content: Any, file: Path) -> None:
    sizes, outside = _look_through(content)
    check_unpacked(sum(sizes), file.stat().st_size)
    if outside:
        raise _damaged(what, f"{outside[0]!r}, which is in another file")


def _look_through(content: Any) -> tuple[list[int], list[str]]:
    """Returns the bytes of each array, and the names of what is stored in other files."""
    import h5py

    sizes, outside = [], []

    def look(name: str, found: Any) -> None:
        if isinstance(found, h5py.Dataset):
            sizes.append(found.size * found.dtype.itemsize if found.size else 0)
            if found.external or found.is_virtual:
                outside.append(name)
            return
        links = ((key, found.get(key, getlink=True)) for key in found)
        outside.extend(
            f"{name}/{key}" for key, link in links if isinstance(link, h5py.ExternalLink)
        )

    look("", content)
    content.visititems(look)
    return sizes, outside


def _damaged(what: str, found: str) -> ConversionError:
    return ConversionError(
        f"{what}: expected a file that Keras wrote (.h5 or .keras), got {found}; copy it again, or "
        "give the folder of a SavedModel or a .tflite file by its own name"
    )
