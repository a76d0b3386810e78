"""The functions that users call: they take a model and return the bytes of a .tflite file."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from larq_engine.converter.conversion import convert
from larq_engine.converter.converted_model import ConvertedModel
from larq_engine.converter.doors import (
    KERAS,
    ONNX,
    SAVED_MODEL,
    TFLITE,
    TORCH,
    Door,
    find_door,
    refuse_option,
)
from larq_engine.converter.onnx_reader.file import OnnxSource
from larq_engine.converter.options import Options
from larq_engine.converter.report import ConversionReport
from larq_engine.python.model_file import ModelSource


def convert_keras_model(
    model: Any,
    *,
    inference_input_type: Any = "float32",
    inference_output_type: Any = "float32",
    target: str = "arm",
    experimental_default_int8_range: tuple[float, float] | None = None,
    representative_dataset: Any = None,
    max_output_error: float | None = None,
    compatibility: str = "larq_engine",
    check: bool = True,
    verbose: int = 0,
) -> ConvertedModel:
    """Converts a Keras model, of Keras 2 (`tf_keras`, which Larq needs) or Keras 3.

    Args:
        model: A built model. A batch size that it leaves open (None) becomes 1.
        inference_input_type: float32, or int8 for models whose inputs are quantized to int8.
        inference_output_type: The same of outputs.
        target: "arm" for all CPUs, "fpga" for hardware (binary wherever it can be, also where a
            CPU is faster in float), "microcontroller" for chips that compute with integers alone
            (int8 wherever there is a form, with `representative_dataset`), or "xcore" for XMOS's
            tools.
        experimental_default_int8_range: Quantizes everything between binary layers to int8 with
            this one range, to try the speed of int8; the results mean nothing.
        representative_dataset: Some hundred samples of what the model will see. With them, layers
            that are not binary become int8, with the ranges that the samples show. Give an iterable
            of samples, or a function that returns one. A sample is a list with an array for every
            input, or a dictionary from input name to array. For several signatures give a
            dictionary from signature to such samples.
        max_output_error: The largest error that int8 may cause in an output on these samples, such
            as 0.02: the root mean square of the differences, divided by that of the output. The
            layers that cause most of it stay in float.
        compatibility: "larq_engine", or "lce" for a file that LCE 0.16.0 runs too.
        check: Run the converted and the float model on random inputs and compare them.
        verbose: If 1, show the progress from the start; if 0, only in a terminal, and only when it
            takes long.

    Returns:
        The content of the .tflite file; its attribute `report` says what became of each layer.

    Raises:
        ConversionError: The model cannot be converted, or the result is wrong.
        ValueError: An argument is not one of those above.
        TypeError: `model` is no Keras model.
        ImportError: TensorFlow is not installed.
    """
    return _convert(KERAS, (model,), locals())


def convert_saved_model(
    saved_model_dir: str | os.PathLike[str],
    *,
    signature_keys: Sequence[str] | None = None,
    inference_input_type: Any = "float32",
    inference_output_type: Any = "float32",
    target: str = "arm",
    experimental_default_int8_range: tuple[float, float] | None = None,
    representative_dataset: Any = None,
    max_output_error: float | None = None,
    compatibility: str = "larq_engine",
    check: bool = True,
    verbose: int = 0,
    unsafe: bool = False,
) -> ConvertedModel:
    """Converts a SavedModel.

    Args:
        saved_model_dir: The path of the folder.
        signature_keys: The names of the signatures to convert; "serving_default" if None. Files of
            several signatures are for hosts' signature runners; `Interpreter` runs files of one.
        unsafe: Convert it even if it holds Python functions, or operators that reach files.

    Everything else is as for `convert_keras_model`.
    """
    return _convert(SAVED_MODEL, (saved_model_dir,), locals())


def convert_tflite(
    model: ModelSource,
    *,
    inference_input_type: Any = "float32",
    inference_output_type: Any = "float32",
    representative_dataset: Any = None,
    max_output_error: float | None = None,
    target: str = "arm",
    compatibility: str = "larq_engine",
    check: bool = True,
    verbose: int = 0,
) -> ConvertedModel:
    """Converts a .tflite file of float operators, given as its path or content.

    It needs no TensorFlow. Shapes stay as the file has them; a batch size that it leaves open stays
    open. Everything else is as for `convert_keras_model`.
    """
    return _convert(TFLITE, (model,), locals())


def convert_onnx(
    model: OnnxSource,
    *,
    channels_last: bool = False,
    sign_of_zero: str | Mapping[str, str] = "error",
    inference_input_type: Any = "float32",
    inference_output_type: Any = "float32",
    representative_dataset: Any = None,
    max_output_error: float | None = None,
    target: str = "arm",
    compatibility: str = "larq_engine",
    check: bool = True,
    verbose: int = 0,
) -> ConvertedModel:
    """Converts an ONNX model, also with the quantizers of QONNX, given as its path or content.

    It needs the package `onnx` and no TensorFlow. A batch size that the model leaves open stays
    open.

    Args:
        channels_last: Whether the .tflite file's inputs and outputs of 3 and 4 dimensions have
            their channels last. If False, they are as in the ONNX model, and the file transposes
            them.
        sign_of_zero: What ONNX's operator Sign gives for 0 in the file: "+1" or "-1". "error"
            leaves it 0, as ONNX defines it, and raises where a binary layer would read that 0. For
            single layers give a dictionary from names, or patterns, to these: {"act1": "+1",
            "block.*": "-1"}. Signs of what cannot be negative stay 0 and 1.

    Everything else is as for `convert_keras_model`.
    """
    return _convert(ONNX, (model,), locals())


def convert_torch(
    module: Any,
    example_inputs: Any,
    *,
    channels_last: bool = False,
    sign_of_zero: str | Mapping[str, str] = "error",
    open_batch: bool = False,
    inference_input_type: Any = "float32",
    inference_output_type: Any = "float32",
    representative_dataset: Any = None,
    max_output_error: float | None = None,
    target: str = "arm",
    compatibility: str = "larq_engine",
    check: bool = True,
    verbose: int = 0,
) -> ConvertedModel:
    """Converts a PyTorch module in evaluation mode.

    Args:
        module: A torch.nn.Module that torch.export can trace, in float32 and on the CPU.
        example_inputs: A tensor, or a tuple of the tensors that forward takes. The file has their
            shapes.
        channels_last: Whether the file's inputs and outputs of three dimensions and more have their
            channels last. If False, they have PyTorch's order, and the file transposes them.
        sign_of_zero: What torch.sign gives for 0 in the file: "+1" or "-1". "error" leaves it 0, as
            PyTorch defines it, and raises where a binary layer would read that 0. For single
            layers give a dictionary from names of modules, or patterns, to these: {"act1": "+1",
            "block.*": "-1"}. Signs of what cannot be negative stay 0 and 1.
        open_batch: Leave the first dimension of inputs and outputs open, for any number of samples.
        check: Run the file on the example inputs and on random ones, and compare it with the module
            and with the float model.

    Everything else is as for `convert_keras_model`.
    """
    return _convert(TORCH, (module, example_inputs), locals())


def conversion_report(
    model: Any,
    *,
    check: bool = False,
    unsafe: bool = False,
    signature_keys: Sequence[str] | None = None,
    channels_last: bool = False,
    sign_of_zero: str | Mapping[str, str] = "error",
    inference_input_type: Any = "float32",
    inference_output_type: Any = "float32",
    target: str = "arm",
    experimental_default_int8_range: tuple[float, float] | None = None,
    representative_dataset: Any = None,
    max_output_error: float | None = None,
    compatibility: str = "larq_engine",
    verbose: int = 0,
) -> ConversionReport:
    """Says what a conversion would make of each layer.

    Args:
        model: A Keras model, a .h5 or .keras file, the folder of a SavedModel, a .tflite file's
            path or content, the path of an .onnx file, or a ConvertedModel, which has its report.
        check: Compare the converted with the float model, too.
        unsafe: Let code that a .h5 or .keras file or a SavedModel holds run.

    Everything else is as for the function that converts such a model: `convert_keras_model`,
    `convert_saved_model`, `convert_tflite` or `convert_onnx`.
    """
    options = {name: value for name, value in locals().items() if name != "model"}
    given = [name for name, value in options.items() if name != "check" and _is_given(name, value)]
    if isinstance(model, ConvertedModel):
        if check or given:
            raise ValueError(
                "conversion_report: expected no options with a converted model, whose report is "
                "there already; give the unconverted model"
            )
        return model.report
    is_path = isinstance(model, (str, os.PathLike))
    door = KERAS
    if is_path:
        door = (find_door(Path(model)) if os.fspath(model) else None) or TFLITE
    elif isinstance(model, (bytes, bytearray, memoryview)):
        door = TFLITE
    for name in given:
        if name not in (*door.options, "unsafe"):
            raise TypeError(f"conversion_report: {refuse_option(name, door)}")
    return _convert(door, door.load(model, unsafe) if is_path else (model,), options).report


def _is_given(name: str, value: Any) -> bool:
    """Tells whether an option has another value than its default."""
    default = getattr(Options, name)
    return value is not default and not (isinstance(value, str) and value == default)


def _convert(door: Door, source: tuple[Any, ...], arguments: Mapping[str, Any]) -> ConvertedModel:
    """Converts with the options among the arguments of a public function, by name."""
    return convert(door, source, Options(**{name: arguments[name] for name in door.options}))
