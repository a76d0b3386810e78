"""Recognizes the files of models, also of those that must be converted before they run."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from larq_engine.python.whole_files import is_tflite

# Bytes at the beginning of a file that tell its kind.
FIRST_BYTES = 8


@dataclass(frozen=True)
class ModelKind:
    """A kind of model.

    Attributes:
        name: The name of the framework or format.
        function: The name of the public function that converts it.
        suffixes: The endings of its files, in lower case.
        parts: Endings of files that hold a part of such a model, such as its weights.
        begins: Tells whether a file that begins with these bytes is one of its files.
    """

    name: str
    function: str
    suffixes: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    begins: Callable[[bytes], bool] = lambda start: False


# In protobuf's coding, these begin a text (fields 2 to 4 and 6), a number (5), or a message (7, 8).
_ONNX_FIELDS = (b"\x12", b"\x1a", b"\x22", b"\x28", b"\x32", b"\x3a", b"\x42")


def _begins_as_onnx(start: bytes) -> bool:
    """Tells whether a file begins as ONNX models do: the format's version, then another field."""
    # Field 1 is a number below 128.
    return start[:1] == b"\x08" and start[1:2] < b"\x80" and start[2:3] in _ONNX_FIELDS


KERAS = ModelKind(
    "Keras",
    "convert_keras_model",
    suffixes=(".h5", ".keras"),
    begins=lambda start: start == b"\x89HDF\r\n\x1a\n",
)
SAVED_MODEL = ModelKind("SavedModel", "convert_saved_model")
TFLITE = ModelKind(".tflite", "convert_tflite", suffixes=(".tflite",), begins=is_tflite)
ONNX = ModelKind("ONNX", "convert_onnx", suffixes=(".onnx",), begins=_begins_as_onnx)
TORCH = ModelKind("PyTorch", "convert_torch", parts=(".pt", ".pth"))

_KINDS = (KERAS, SAVED_MODEL, TFLITE, ONNX, TORCH)


def is_saved_model(folder: Path) -> bool:
    """Tells whether a folder has the file that makes it a SavedModel."""
    return any((folder / name).exists() for name in ("saved_model.pb", "saved_model.pbtxt"))


def find_by_suffix(path: Path) -> ModelKind | None:
    """Finds the kind of a whole model by the ending of its file's name."""
    return next((kind for kind in _KINDS if path.suffix.lower() in kind.suffixes), None)


def find_by_content(start: bytes) -> ModelKind | None:
    """Finds the kind of a whole model by the first bytes of its file."""
    return next((kind for kind in _KINDS if kind.begins(start[:FIRST_BYTES])), None)


def describe_other_kind(path: Path | None, content: bytes) -> str:
    """Says what to do with a model that is no .tflite file; "" if its kind is not known.

    Args:
        path: Its file; None if only the content was given.
        content: Its content; not even the beginning is one of a .tflite file.
    """
    suffix = "" if path is None else path.suffix.lower()
    kind = None if path is None else find_by_suffix(path)
    kind = kind or next((kind for kind in _KINDS if suffix in kind.parts), None)
    kind = kind or find_by_content(content)
    if kind is None or kind is TFLITE:
        return ""
    return f"expected a .tflite file, got a model of {kind.name}; {convert_first(kind)}"


def convert_first(kind: ModelKind) -> str:
    """Says how to make a .tflite file of a model."""
    return f"convert it first, with larq_engine.{kind.function}"
