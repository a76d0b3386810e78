"""Reads a model and makes sure that no host crashes on it.

What makes a file illegal is the library's to say, which the benchmark binary asks too.
"""

import os
from pathlib import Path

from larq_engine.python import library


def read_model(model: bytes | bytearray | memoryview | str | os.PathLike[str]) -> bytes:
    """Returns the bytes of a whole TensorFlow Lite model given as bytes or as the path of a file.

    Raises:
        TypeError: `model` is neither.
        FileNotFoundError: There is no such file.
        ValueError: The bytes are not a TensorFlow Lite model, or a damaged one; the path is empty.
    """
    if isinstance(model, (bytes, bytearray, memoryview)):
        name, content = "model", bytes(model)
    elif isinstance(model, (str, os.PathLike)):
        if not os.fspath(model):
            raise ValueError("model: expected a path, got an empty one")
        name, content = f"model '{os.fspath(model)}'", Path(model).read_bytes()
    else:
        raise TypeError(
            "model: expected the bytes of a .tflite file or its path, "
            f"got {type(model).__name__}; of an open file pass file.read(), and convert other "
            "models first"
        )
    if problem := library.check_model(content):
        raise ValueError(f"{name} ({len(content)} bytes): {problem}")
    return content
