"""A row in the body of a request: a .npy file, as numpy.save writes it."""

import io
import math
from typing import Any

import numpy as np

from larq_engine.python.tensors import Array

_FORMAT: Any = np.lib.format
_READERS = {(1, 0): _FORMAT.read_array_header_1_0, (2, 0): _FORMAT.read_array_header_2_0}


def read_row(body: bytes) -> Array:
    """Reads the array, in place; nothing that a stranger writes makes it take more memory.

    Raises:
        ValueError: The body is no such file.
    """
    file = io.BytesIO(body)
    try:
        shape, is_fortran, dtype = _READERS[_FORMAT.read_magic(file)](file)
    except Exception as error:  # Whatever a reader of a stranger's bytes stumbles over.
        raise ValueError(
            f"body: expected a .npy file, as numpy.save writes it, got {len(body)} bytes of "
            f"something else ({error})"
        ) from error
    values = len(body) - file.tell()
    sizes = [int(size) for size in shape]  # A header may have True among them.
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
