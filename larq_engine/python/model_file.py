"""Reads a model and makes sure that no host crashes on it.

The library decides which files are legal; the benchmark binary asks it too.
"""

import os
import struct
from mmap import mmap
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from larq_engine.python import library, whole_files
from larq_engine.python.model_kinds import (
    SAVED_MODEL,
    convert_first,
    describe_other_kind,
    is_saved_model,
)

# The content of a file as bytes or any object with a buffer (mmap, an array), or its path.
ModelSource: TypeAlias = (
    bytes | bytearray | memoryview | mmap | npt.NDArray[np.uint8] | str | os.PathLike[str]
)

# Name of the metadata that say why the inputs cannot have other sizes, except for the batch.
FIXED_SIZES = "larq_engine.fixed_sizes"

# Numbers of fields in the schema's tables.
_BUFFERS, _METADATA = 4, 6  # of a model
_NAME, _BUFFER = 0, 1  # of metadata
_DATA = 0  # of a buffer


def read_model(model: ModelSource) -> bytes:
    """Returns the bytes of a whole TensorFlow Lite model given as bytes or as the path of a file.

    Raises:
        TypeError: `model` is neither.
        FileNotFoundError: There is no such file.
        IsADirectoryError: The path is that of a folder.
        ValueError: The bytes are not a TensorFlow Lite model, or a damaged one; the path is empty.
    """
    path = None
    if isinstance(model, (str, os.PathLike)):
        path = Path(os.fsdecode(model))
        name, content = f"model '{os.fspath(model)}'", read_file(model)
    else:
        name, content = "model", _bytes_of(model)
    if problem := library.check_model(content):
        if not whole_files.is_tflite(content):
            problem = describe_other_kind(path, content) or problem
        raise ValueError(f"{name} ({len(content)} bytes): {problem}")
    return content


def read_metadata(content: bytes, name: str) -> str:
    """Returns a text in the metadata of a model that `read_model` returned; "" if it has none."""
    model = _follow(content, 0)
    buffers = _items(content, _field(content, model, _BUFFERS))
    for entry in _items(content, _field(content, model, _METADATA)):
        table = _follow(content, entry)
        if _bytes_at(content, _field(content, table, _NAME)) == name.encode():
            place = _field(content, table, _BUFFER)
            number = struct.unpack_from("<I", content, place)[0] if place else 0
            data = _field(content, _follow(content, buffers[number]), _DATA)
            return _bytes_at(content, data).decode(errors="replace")
    return ""


def _follow(content: bytes, place: int) -> int:
    """Returns the place to which the offset at a place leads."""
    return place + int(struct.unpack_from("<I", content, place)[0])


def _field(content: bytes, table: int, number: int) -> int:
    """Returns the place of a table's field; 0 if the table has none."""
    fields = table - struct.unpack_from("<i", content, table)[0]
    size = struct.unpack_from("<H", content, fields)[0]
    entry = 4 + 2 * number
    offset = struct.unpack_from("<H", content, fields + entry)[0] if entry < size else 0
    return table + offset if offset else 0


def _items(content: bytes, place: int) -> range:
    """Returns the places of the offsets in a field's vector."""
    if not place:
        return range(0)
    vector = _follow(content, place)
    count = struct.unpack_from("<I", content, vector)[0]
    return range(vector + 4, vector + 4 + 4 * count, 4)


def _bytes_at(content: bytes, place: int) -> bytes:
    """Returns the text or data of a field."""
    if not place:
        return b""
    vector = _follow(content, place)
    count = struct.unpack_from("<I", content, vector)[0]
    return content[vector + 4 : vector + 4 + count]


def read_file(path: str | os.PathLike[str]) -> bytes:
    """Returns the content of a model's file of any kind.

    Raises:
        FileNotFoundError: There is no such file.
        IsADirectoryError: The path is that of a folder.
        ValueError: The path is empty.
    """
    if not os.fspath(path):
        raise ValueError("model: expected a path, got an empty one")
    is_model = is_saved_model(Path(os.fsdecode(path)))
    advice = convert_first(SAVED_MODEL) if is_model else "check the path"
    return whole_files.read_file(path, f"model '{os.fspath(path)}'", advice)


def _bytes_of(model: Any) -> bytes:
    try:
        return bytes(model) if isinstance(model, bytes) else memoryview(model).tobytes()
    except TypeError:
        raise TypeError(
            "model: expected the bytes of a .tflite file or its path, "
            f"got {type(model).__name__}; of an open file pass file.read(), and convert other "
            "models first"
        ) from None
