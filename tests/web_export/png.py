"""Writes PNG files, so that tests need no package for pictures."""

import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

_TRUE_COLOUR = 2  # red, green and blue


def write_png(path: Path, pixels: npt.NDArray[np.uint8]) -> None:
    """Writes pixels, [line, column, channel], of red, green and blue."""
    height, width, _ = pixels.shape
    head = struct.pack(">IIBBBBB", width, height, 8, _TRUE_COLOUR, 0, 0, 0)
    # Each line begins with its filter, of which 0 is none.
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts))


def _chunk(kind: bytes, content: bytes) -> bytes:
    checked = kind + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))
