"""Finds out what kind of model a path is, and whether a result can be written to a path."""

import enum
import os
from pathlib import Path

from larq_engine.placing.json_fields import is_model
from larq_engine.python.whole_files import is_stream


class ModelKind(enum.Enum):
    """The kinds of models that can be given."""

    KERAS = enum.auto()
    SAVED_MODEL = enum.auto()
    TFLITE = enum.auto()
    ONNX = enum.auto()
    TORCH = enum.auto()


# First bytes of files, for those whose names do not tell their kind.
_HDF5 = b"\x89HDF\r\n\x1a\n"
_FIRST_BYTES = 8

_SUFFIXES = {
    ".h5": ModelKind.KERAS,
    ".keras": ModelKind.KERAS,
    ".onnx": ModelKind.ONNX,
    ".tflite": ModelKind.TFLITE,
}


# Names of programs, and of weights without the module that they belong to.
_OF_TORCH = (".py", ".pt", ".pth")


def find_kind(model: Path) -> ModelKind:
    """Tells what a model is by its name, or else by its content.

    Raises:
        ValueError: Nothing has that name, or it is no model.
    """
    if model.is_dir():
        return _check_folder(model)
    if split_function(model) is not None:
        return ModelKind.TORCH
    if not model.exists():
        raise ValueError(
            f"model '{model}': expected a file or folder, got nothing of that name; check the path"
        )
    if model.is_file():
        kind = _SUFFIXES.get(model.suffix.lower()) or _kind_of_content(model)
        if kind is not None:
            return kind
    remedy = (
        "write a function that returns the module with its weights, and example inputs"
        if model.suffix.lower() in _OF_TORCH
        else "check the path"
    )
    raise ValueError(
        f"model '{model}': expected a .h5 or .keras file, the folder of a SavedModel, a .tflite or "
        f"an .onnx file, or FILE.py:FUNCTION for PyTorch, got something else; {remedy}"
    )


def check_is_tflite(model: Path) -> None:
    """Raises ValueError if a model is no .tflite file."""
    if find_kind(model) is not ModelKind.TFLITE:
        raise ValueError(
            f"model '{model}': expected a .tflite file, got another kind of model; make one with "
            f"`larq-engine convert {model} -o OUT.tflite`"
        )


def split_function(model: Path) -> tuple[Path, str] | None:
    """Splits FILE.py:FUNCTION; returns None for other paths."""
    file, colon, function = str(model).rpartition(":")
    if not colon or not file.endswith(".py"):
        return None
    return Path(file), function


def _check_folder(folder: Path) -> ModelKind:
    if not any((folder / name).exists() for name in ("saved_model.pb", "saved_model.pbtxt")):
        raise ValueError(
            f"model '{folder}': expected the folder of a SavedModel, with saved_model.pb in it, "
            "got another folder; check the path"
        )
    return ModelKind.SAVED_MODEL


def _kind_of_content(file: Path) -> ModelKind | None:
    with file.open("rb") as opened:
        start = opened.read(_FIRST_BYTES)
    if is_model(start):
        return ModelKind.TFLITE
    if begins_as_onnx(start):
        return ModelKind.ONNX
    return ModelKind.KERAS if start == _HDF5 else None


def begins_as_onnx(start: bytes) -> bool:
    """Tells whether a file begins as ONNX models do: the format's version, then another field."""
    # In protobuf's coding, field 1 is a number below 128; then comes a text (fields 2 to 4 and 6),
    # a number (5), or a message (7, 8).
    return start[:1] == b"\x08" and start[1:2] < b"\x80" and start[2:3] in _ONNX_FIELDS


_ONNX_FIELDS = (b"\x12", b"\x1a", b"\x22", b"\x28", b"\x32", b"\x3a", b"\x42")


def check_destination(what: str, path: Path, *others: Path) -> None:
    """Finds out before long work whether a file can be written, without writing it.

    Args:
        what: The name of the file's purpose, for the message.
        path: The file; also a pipe or a device, which is written to.
        *others: Files that it must not overwrite.

    Raises:
        ValueError: The file cannot be written there.
    """
    if is_stream(path):
        return
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
