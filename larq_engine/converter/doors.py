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
from larq_engine.python import model_kinds
from larq_engine.python.extras import pip_install
from larq_engine.python.model_kinds import ModelKind
from larq_engine.python.whole_files import is_stream

# Options that every door takes.
COMMON_OPTIONS = (
    *("target", "compatibility", "representative_dataset", "max_output_error"),
    *("inference_input_type", "inference_output_type"),
    *("check", "verbose"),
)

_ORDER_AND_SIGNS = ("channels_last", "sign_of_zero")

Progress = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Door:
    """A front door.

    Attributes:
        kind: Its models, whose function is in api.py.
        takes: What the command takes, in help texts and errors.
        extra: The packages that it needs, as an extra of pyproject.toml.
        before_install: What to install before these packages.
        own_options: The options of its function, without those of every door.
        file_options: Options of reading a file that the function does not have.
        other_suffixes: Endings of files that are not enough, and `remedy` says why.
        load: Makes the first arguments of the function from a path and the option `unsafe`.
        read: Makes a float file from the first arguments of the function.
    """

    kind: ModelKind
    takes: str
    extra: str
    before_install: str = ""
    own_options: tuple[str, ...]
    file_options: tuple[str, ...] = ()
    other_suffixes: tuple[str, ...] = ()
    remedy: str = ""
    load: Callable[[Path, bool], tuple[Any, ...]] = lambda path, unsafe: (path,)
    read: Callable[[tuple[Any, ...], Options, Progress], FloatFile]

    @property
    def name(self) -> str:
        """The name of its models in help texts."""
        return self.kind.name

    @property
    def function(self) -> str:
        """The name of its public function."""
        return self.kind.function

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
    kind=model_kinds.KERAS,
    takes="a .h5 or .keras file",
    extra="converter",
    own_options=("experimental_default_int8_range",),
    file_options=("unsafe",),
    load=_load_keras,
    read=_read_keras,
)


def _read_saved_model(source: tuple[Any, ...], options: Options, progress: Progress) -> FloatFile:
    from larq_engine.converter.keras import saved_model_to_tflite

    (folder,) = source
    keys = options.signature_keys
    return FloatFile(saved_model_to_tflite(folder, keys, unsafe=options.unsafe))


SAVED_MODEL = Door(
    kind=model_kinds.SAVED_MODEL,
    takes="the folder of a SavedModel",
    extra="converter",
    own_options=("experimental_default_int8_range", "signature_keys", "unsafe"),
    read=_read_saved_model,
)


TFLITE = Door(
    kind=model_kinds.TFLITE,
    takes="a .tflite file",
    extra="litert",
    own_options=(),
    read=lambda source, options, progress: FloatFile(*source),
)


def _read_onnx(source: tuple[Any, ...], options: Options, progress: Progress) -> FloatFile:
    from larq_engine.converter.onnx_reader.reader import onnx_to_tflite

    (model,) = source
    return onnx_to_tflite(model, options)


ONNX = Door(
    kind=model_kinds.ONNX,
    takes="an .onnx file",
    extra="onnx",
    own_options=_ORDER_AND_SIGNS,
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
    kind=model_kinds.TORCH,
    takes="FILE.py:FUNCTION for PyTorch",
    extra="torch",
    # Without this index, pip takes PyTorch's build for CUDA, which is gigabytes larger.
    before_install="pip install torch --index-url https://download.pytorch.org/whl/cpu, then ",
    own_options=(*_ORDER_AND_SIGNS, "open_batch"),
    # Programs, and weights without the module that they belong to.
    other_suffixes=(".py", *model_kinds.TORCH.parts),
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
    kind = model_kinds.find_by_suffix(model)
    if kind is None and model.is_file():
        with model.open("rb") as opened:
            kind = model_kinds.find_by_content(opened.read(model_kinds.FIRST_BYTES))
    return next((door for door in DOORS if door.kind is kind), None)


def doors_with(option: str) -> list[Door]:
    """Returns the doors that have an option."""
    return [door for door in DOORS if option in (*door.options, *door.file_options)]


def refuse_option(option: str, door: Door, flag: str = "") -> str:
    """Says that a door does not have an option, or a flag of the command, and which doors do."""
    names = " or ".join(other.name for other in doors_with(option))
    return f"{flag or option}: for {names} only, not for {door.name}"
