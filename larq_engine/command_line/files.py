"""Finds out what kind of model a path is, and whether a result can be written to a path."""

import os
from pathlib import Path

from larq_engine.converter import doors
from larq_engine.converter.doors import (
    DOORS,
    SAVED_MODEL,
    TFLITE,
    TORCH,
    Door,
    split_function,
)
from larq_engine.python.model_kinds import is_saved_model
from larq_engine.python.whole_files import is_stream


def find_door(model: Path) -> Door:
    """Finds the front door of a model by its name, or else by its content.

    Raises:
        ValueError: Nothing has that name, or it is no model.
    """
    door = _find_any_door(model)
    if door is not None:
        return door
    suffix = model.suffix.lower()
    remedies = (door.remedy for door in DOORS if suffix in door.other_suffixes)
    raise ValueError(
        f"model '{model}': expected {list_models()}, got something else; "
        f"{next(remedies, 'check the path')}"
    )


def _find_any_door(model: Path) -> Door | None:
    """Finds the front door; returns None if what has that name is no model."""
    if split_function(model) is not None and not model.is_dir():
        return TORCH
    if not model.exists():
        raise ValueError(
            f"model '{model}': expected a file or folder, got nothing of that name; check the path"
        )
    door = doors.find_door(model)
    if door is SAVED_MODEL and not is_saved_model(model):
        raise ValueError(
            f"model '{model}': expected the folder of a SavedModel, with saved_model.pb in it, "
            "got another folder; check the path"
        )
    return door


def list_models() -> str:
    """Lists what the command converts."""
    *others, last = (door.takes for door in DOORS)
    return f"{', '.join(others)}, or {last}"


def check_is_tflite(model: Path) -> None:
    """Raises ValueError if a model is no .tflite file."""
    door = _find_any_door(model)
    if door is None:
        raise ValueError(
            f"model '{model}': expected a .tflite file, got something else; check the path"
        )
    if door is not TFLITE:
        raise ValueError(
            f"model '{model}': expected a .tflite file, got another kind of model; make one with "
            f"`larq-engine convert {model} -o OUT.tflite`"
        )


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


def check_folder(folder: Path) -> None:
    """Raises ValueError, before long work, if a folder cannot be written."""
    above = Path(os.path.realpath(folder)).parent
    problem = ""
    if folder.exists() and not folder.is_dir():
        problem = "a folder, got something else of that name; choose another name"
    elif not above.is_dir():
        problem = f"an existing folder above it, got '{above}'; make it first"
    elif not os.access(folder if folder.exists() else above, os.W_OK):
        problem = "a place to write in; choose another"
    if problem:
        raise ValueError(f"output '{folder}': expected {problem}")
