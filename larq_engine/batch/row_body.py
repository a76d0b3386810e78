"""Reads a row from the body of a request: a .npy file of numpy.save, or numbers in JSON."""

import io
import json
import math
from typing import Any

import numpy as np

from larq_engine.python.tensors import Array

_FORMAT: Any = np.lib.format
_READERS = {(1, 0): _FORMAT.read_array_header_1_0, (2, 0): _FORMAT.read_array_header_2_0}


def read_row(body: bytes) -> Array:
    """Reads the array: JSON if the body begins as JSON does, else a .npy file.

    Raises:
        ValueError: The body is neither.
    """
    # A .npy file begins with the byte 0x93, so with none of these.
    return _read_json(body) if body.lstrip()[:1] in _JSON_BEGINS else _read_npy(body)


_JSON_BEGINS = tuple(bytes([byte]) for byte in b'[-0123456789{"tfnNI')


def _read_json(body: bytes) -> Array:
    expected = "body: expected numbers in JSON, lists in lists as the row's shape is"
    # In an array of texts, NumPy gives each text the memory of the longest one.
    if b'"' in body:
        raise ValueError(f"{expected}, got texts or an object; send json.dumps(row.tolist())")
    try:
        array = np.asarray(json.loads(body))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{expected}, got something else ({error})") from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{expected}, got null, an object or too large a number")
    return array


def _read_npy(body: bytes) -> Array:
    """Reads the array in place; nothing that a stranger writes makes it take more memory."""
    file = io.BytesIO(body)
    try:
        shape, is_fortran, dtype = _READERS[_FORMAT.read_magic(file)](file)
    except Exception as error:  # Readers may raise anything on a stranger's bytes.
        raise ValueError(
            f"body: expected a .npy file, as numpy.save writes it, or nested lists in JSON, got "
            f"{len(body)} bytes of something else ({error})"
        ) from error
    values = len(body) - file.tell()
    sizes = [int(size) for size in shape]  # A header may have True among the sizes.
    if dtype.hasobject or math.prod(shape) * dtype.itemsize != values or min(shape, default=0) < 0:
        raise ValueError(
            f"body: expected the values of an array of the shape {shape}, {dtype}, got {values} "
            "bytes; send one whole file, of numbers"
        )
    try:
        array = np.frombuffer(body, dtype, offset=file.tell())
        return array.reshape(sizes, order="F" if is_fortran else "C")
    except ValueError as error:
        raise ValueError(
            f"body: expected an array that NumPy can read, got one of which it says: {error}"
        ) from error
