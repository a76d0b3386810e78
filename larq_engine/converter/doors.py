"""The front doors: a row for each kind of model that can be converted.

The public functions, `larq-engine convert` and errors take from these rows what a door takes. The
readers import frameworks, so a row imports its reader only when it reads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from larq_engine.converter.float_file import FloatFile
from larq_engine.converter.options import Options
from larq_engine.python.extras import pip_install
from larq_engine.python.whole_files import is_stream, is_tflite

# Options that every door takes.
COMMON_OPTIONS = (
    *("target", "compatibility", "representative_dataset", "max_output_error"),
    *("check", "verbose"),
)

_FILE_TYPES = ("inference_input_type", "inference_output_type")
_ORDER_AND_SIGNS = ("channels_last", "sign_of_zero")

_FIRST_BYTES = 8

Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Door:
    """A front door.

    Attributes:
        name: The name of its models in help texts.
        takes: What the command takes, in help texts and errors.
        function: The name of its public function, which is in api.py.
        extra: The packages that it needs, as an extra of pyproject.toml.
        before_install: What to install before these packages.
        own_options: The options of its function, without those of every door.
        file_options: Options of reading a file that the function does not have.
        suffixes: The endings of its files, in lower case.
        begins: Tells whether a file that begins with these bytes is one of its files.
        other_suffixes: Endings of files that are not enough, and `remedy` says why.
        load: Makes the first arguments of the function from a path and the option `unsafe`.
        read: Makes a float file from the first arguments of the function.
    """

    name: str
    takes: str
    function: str
    extra: str
    before_install: str = ""
    own_options: tuple[str, ...]
    file_options: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    begins: Callable[[bytes], bool] = lambda start: False
    other_suffixes: tuple[str, ...] = ()
    remedy: str = ""
    load: Callable[[Path, bool], tuple[Any, ...]] = lambda path, unsafe: (path,)
    read: Callable[[tuple[Any, ...], Options, Progress], FloatFile]

    @property
    def options(self) -> tuple[str, ...]:
        """The options of its function."""
        return (*self.own_options, *COMMON_OPTIONS)

    @property
    def install(self) -> str:
        """Says how to install what it needs."""
        return self.before_install + pip_install(self.extra)


def _load_keras(path: Path, unsafe: bool) -> tuple[Any, ...]:
    from larq_engine.converter.keras_files import load_keras

    return (load_keras(path, unsafe=unsafe),)


def _read_keras(source: tuple[Any, ...], options: Options, progress: Progress) -> FloatFile:
    from larq_engine.converter.keras import keras_to_tflite
    from larq_engine.converter.keras_3 import keras_3_to_tflite
    from larq_engine.converter.keras_checks import keras_version

    (model,) = source
    is_keras_3 = keras_version(type(model)) == 3
    return FloatFile(keras_3_to_tflite(model) if is_keras_3 else keras_to_tflite(model))


KERAS = Door(
    name="Keras",
    takes="a .h5 or .keras file",
    function="convert_keras_model",
    extra="converter",
    own_options=(*_FILE_TYPES, "experimental_default_int8_range"),
    file_options=("unsafe",),
    suffixes=(".h5", ".keras"),
    begins=lambda start: start == b"\x89HDF\r\n\x1a\n",
    load=_load_keras,
    read=_read_keras,
)


def _read_saved_model(source: tuple[Any, ...], options: Options, progress: Progress) -> FloatFile:
    from larq_engine.converter.keras import saved_model_to_tflite

    (folder,) = source
    keys = options.signature_keys
    return FloatFile(saved_model_to_tflite(folder, keys, unsafe=options.unsafe))


SAVED_MODEL = Door(
    name="SavedModel",
    takes="the folder of a SavedModel",
    function="convert_saved_model",
    extra="converter",
    own_options=(
        *_FILE_TYPES,
        *("experimental_default_int8_range", "signature_keys", "unsafe"),
    ),
    read=_read_saved_model,
)


def is_saved_model(folder: Path) -> bool:
    """Tells whether a folder has the file that makes it a SavedModel."""
    return any((folder / name).exists() for name in ("saved_model.pb", "saved_model.pbtxt"))


TFLITE = Door(
    name=".tflite",
    takes="a .tflite file",
    function="convert_tflite",
    extra="litert",
    own_options=_FILE_TYPES,
    suffixes=(".tflite",),
    begins=is_tflite,
    read=lambda source, options, progress: FloatFile(*source),
)


def _begins_as_onnx(start: bytes) -> bool:
    """Tells whether a file begins as ONNX models do: the format's version, then another field."""
    # In protobuf's coding, field 1 is a number below 128; then comes a text (fields 2 to 4 and 6),
    # a number (5), or a message (7, 8).
    return start[:1] == b"\x08" and start[1:2] < b"\x80" and start[2:3] in _ONNX_FIELDS


_ONNX_FIELDS = (b"\x12", b"\x1a", b"\x22", b"\x28", b"\x32", b"\x3a", b"\x42")


def _read_onnx(source: tuple[Any, ...], options: Options, progress: Progress) -> FloatFile:
    from larq_engine.converter.onnx_reader.reader import onnx_to_tflite

    (model,) = source
    return onnx_to_tflite(model, options)


ONNX = Door(
    name="ONNX",
    takes="an .onnx file",
    function="convert_onnx",
    extra="onnx",
    own_options=(*_FILE_TYPES, *_ORDER_AND_SIGNS),
    suffixes=(".onnx",),
    begins=_begins_as_onnx,
    read=_read_onnx,
)


def _load_torch(path: Path, unsafe: bool) -> tuple[Any, ...]:
    from larq_engine.converter.torch_reader.python_files import call_function

    named = split_function(path)
    assert named is not None
    return call_function(*named)


def _read_torch(source: tuple[Any, ...], options: Options, progress: Progress) -> FloatFile:
    from larq_engine.converter.torch_reader.reader import torch_to_tflite

    module, example_inputs = source
    return torch_to_tflite(module, example_inputs, options, progress)


TORCH = Door(
    name="PyTorch",
    takes="FILE.py:FUNCTION for PyTorch",
    function="convert_torch",
    extra="torch",
    # Without this index, pip takes PyTorch's build for CUDA, which is gigabytes larger.
    before_install="pip install torch --index-url https://download.pytorch.org/whl/cpu, then ",
    own_options=(*_ORDER_AND_SIGNS, "open_batch"),
    # Programs, and weights without the module that they belong to.
    other_suffixes=(".py", ".pt", ".pth"),
    remedy="write a function that returns the module with its weights, and example inputs",
    load=_load_torch,
    read=_read_torch,
)


def split_function(model: Path) -> tuple[Path, str] | None:
    """Splits FILE.py:FUNCTION; returns None for other paths."""
    file, colon, function = str(model).rpartition(":")
    if not colon or not file.endswith(".py"):
        return None
    return Path(file), function


DOORS = (KERAS, SAVED_MODEL, TFLITE, ONNX, TORCH)


def find_door(model: Path) -> Door | None:
    """Finds the door of a folder or file by its name, or else by its first bytes."""
    if model.is_dir():
        return SAVED_MODEL
    if is_stream(model):
        return None  # nobody may ever write to a pipe
    suffix = model.suffix.lower()
    for door in DOORS:
        if suffix in door.suffixes:
            return door
    if not model.is_file():
        return None
    with model.open("rb") as opened:
        start = opened.read(_FIRST_BYTES)
    return next((door for door in DOORS if door.begins(start)), None)


def doors_with(option: str) -> list[Door]:
    """Returns the doors that have an option."""
    return [door for door in DOORS if option in (*door.options, *door.file_options)]


def refuse_option(option: str, door: Door, flag: str = "") -> str:
    """Says that a door does not have an option, or a flag of the command, and which doors do."""
    names = " or ".join(other.name for other in doors_with(option))
    return f"{flag or option}: for {names} only, not for {door.name}"
