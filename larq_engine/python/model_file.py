"""Reads a model and makes sure that no host crashes on it.

What makes a file illegal is the library's to say, which the benchmark binary asks too.
"""

import os
from mmap import mmap
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from larq_engine.python import library, whole_files

# The content of a file, in bytes or whatever gives its memory (mmap, an array), or its path.
ModelSource: TypeAlias = (
    bytes | bytearray | memoryview | mmap | npt.NDArray[np.uint8] | str | os.PathLike[str]
)


def read_model(model: ModelSource) -> bytes:
    """Returns the bytes of a whole TensorFlow Lite model given as bytes or as the path of a file.

    Raises:
        TypeError: `model` is neither.
        FileNotFoundError: There is no such file.
        ValueError: The bytes are not a TensorFlow Lite model, or a damaged one; the path is empty.
    """
    if isinstance(model, (str, os.PathLike)):
        name, content = f"model '{os.fspath(model)}'", read_file(model)
    else:
        name, content = "model", _bytes_of(model)
    if problem := library.check_model(content):
        raise ValueError(f"{name} ({len(content)} bytes): {problem}")
    return content


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Returns what is in a model's file, of whatever kind.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: The path is empty.
    """
    if not os.fspath(path):
        raise ValueError("model: expected a path, got an empty one")
    return whole_files.read_file(path, f"model '{os.fspath(path)}'", "check the path")


def _bytes_of(model: Any) -> bytes:
    try:
        return bytes(model) if isinstance(model, bytes) else memoryview(model).tobytes()
    except TypeError:
        raise TypeError(
            "model: expected the bytes of a .tflite file or its path, "
            f"got {type(model).__name__}; of an open file pass file.read(), and convert other "
            "models first"
        ) from None
