"""Reads a whole file, and writes whole files or none."""

import os
import uuid
from collections.abc import Mapping
from pathlib import Path


def read_file(path: str | os.PathLike[str], name: str, advice: str) -> bytes:
    """Returns a file's content; `name` and `advice` are for the error if there is no such file."""
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(
            f"{name}: expected a file, got nothing of that name; {advice}"
        ) from None


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Writes all files; if that fails, none, and files that were there stay as they were."""
    written: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            # A rename replaces a file in one step, within one folder.
            file = Path(os.path.realpath(path))
            temporary = file.with_name(f".larq-engine-{uuid.uuid4().hex}")
            written[temporary] = file
            temporary.write_bytes(content)
        for temporary, file in written.items():
            temporary.replace(file)
    finally:
        for temporary in written:
            temporary.unlink(missing_ok=True)
