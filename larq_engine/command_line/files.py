"""Model files to read and results to write: what a path is, and writing whole files or none."""

import enum
import os
import uuid
from collections.abc import Mapping
from pathlib import Path


class ModelKind(enum.Enum):
    """What a model can be given as."""

    KERAS = enum.auto()
    SAVED_MODEL = enum.auto()
    TFLITE = enum.auto()


_SUFFIXES = {".h5": ModelKind.KERAS, ".keras": ModelKind.KERAS, ".tflite": ModelKind.TFLITE}


def find_kind(model: Path) -> ModelKind:
    """Tells what a model is by its name.

    Raises:
        ValueError: There is nothing of that name, or something else.
    """
    if model.is_dir():
        return ModelKind.SAVED_MODEL
    kind = _SUFFIXES.get(model.suffix.lower())
    if kind is None or not model.is_file():
        got = f"a file that ends in '{model.suffix}'" if model.exists() else "nothing of that name"
        raise ValueError(
            f"model '{model}': expected a .h5 or .keras file, the folder of a SavedModel or a "
            f".tflite file, got {got}; check the path"
        )
    return kind


def check_destination(what: str, path: Path, *others: Path) -> None:
    """Finds out before long work whether a file can be written, without writing it.

    Args:
        what: What the file is, for the message.
        path: The file.
        *others: Files that it must not overwrite.

    Raises:
        ValueError: The file cannot be written there.
    """
    file = Path(os.path.realpath(path))
    problem = ""
    if not file.parent.is_dir():
        problem = f"an existing folder, got '{file.parent}'; make it first"
    elif not os.access(file.parent, os.W_OK):
        problem = f"a folder to write in, got '{file.parent}'; choose another"
    elif file.exists() and not file.is_file():
        problem = "the name of a file, got something else of that name; choose another name"
    elif any(file == Path(os.path.realpath(other)) for other in others):
        problem = "a file of its own, got the model or another output; choose another name"
    if problem:
        raise ValueError(f"{what} '{path}': expected {problem}")


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
