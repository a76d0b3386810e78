"""The functions that users call: they take a model and return the bytes of a .tflite file."""

import dataclasses
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from larq_engine.converter import schema
from larq_engine.converter.attached import attach
from larq_engine.converter.calls import pass_constants
from larq_engine.converter.constants import restore_recipes
from larq_engine.converter.convert import finish, prepare_int8, rewrite
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Model
from larq_engine.converter.io_types import modify_integer_quantized_model_io_type
from larq_engine.converter.names import find_layers, find_output_layers, write_names
from larq_engine.converter.onnx_reader.file import OnnxSource
from larq_engine.converter.options import Options, check_int8_range, type_name
from larq_engine.converter.other_sizes import compare_sizes, mark_fixed_sizes
from larq_engine.converter.quantizer.islands import Ends
from larq_engine.converter.quantizer.limiting import check_limit
from larq_engine.converter.quantizer.quantize import Quantizer
from larq_engine.converter.report import ConversionReport, count_operators, report_layers
from larq_engine.converter.rules_int8 import quantize_ends
from larq_engine.converter.self_check import check_conversion
from larq_engine.converter.sharing import share_filters
from larq_engine.python import library
from larq_engine.python.model_file import ModelSource
from larq_engine.python.progress import progress_steps


class _ShortHelp(type):
    """Limits what `help` lists, which is what `dir` of a class returns: no methods of bytes."""

    def __dir__(cls) -> list[str]:
        return ["report"]


class ConvertedModel(bytes, metaclass=_ShortHelp):
    """The content of a .tflite file, to write or to give to an Interpreter.

    It is a `bytes` object with one more attribute.

    Attributes:
        report: A ConversionReport: what became of each layer.
    """

    report: ConversionReport

    def __new__(cls, content: bytes, report: ConversionReport) -> "ConvertedModel":
        model = super().__new__(cls, content)
        model.report = report
        return model

    def __repr__(self) -> str:
        return f"<ConvertedModel of {len(self)} bytes, layers: {self.report.summarize()}>"

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return ConvertedModel, (bytes(self), self.report)


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
        target: "arm" for all CPUs, or "xcore" for XMOS's tools.
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
    from larq_engine.converter.keras import keras_to_tflite
    from larq_engine.converter.keras_3 import keras_3_to_tflite
    from larq_engine.converter.keras_checks import keras_version

    is_keras_3 = keras_version(type(model)) == 3
    return _convert(
        lambda step: keras_3_to_tflite(model) if is_keras_3 else keras_to_tflite(model),
        types=(inference_input_type, inference_output_type),
        int8_range=experimental_default_int8_range,
        dataset=representative_dataset,
        max_output_error=max_output_error,
        options=Options(target, compatibility),
        check=check,
        verbose=verbose,
    )


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
    from larq_engine.converter.keras import saved_model_to_tflite

    return _convert(
        lambda step: saved_model_to_tflite(saved_model_dir, signature_keys, unsafe=unsafe),
        types=(inference_input_type, inference_output_type),
        int8_range=experimental_default_int8_range,
        dataset=representative_dataset,
        max_output_error=max_output_error,
        options=Options(target, compatibility),
        check=check,
        verbose=verbose,
    )


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
    return _convert(
        lambda step: model,
        types=(inference_input_type, inference_output_type),
        int8_range=None,
        dataset=representative_dataset,
        max_output_error=max_output_error,
        options=Options(target, compatibility),
        check=check,
        verbose=verbose,
    )


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
    from larq_engine.converter.onnx_reader.reader import OnnxFile, onnx_to_tflite

    read: list[OnnxFile] = []

    def make_source(step: Callable[[str], None]) -> ModelSource:
        read.append(
            onnx_to_tflite(
                model, ends_channels_last=channels_last, sign_of_zero=sign_of_zero, check=check
            )
        )
        return read[0].content

    converted = _convert(
        make_source,
        fixed_sizes=lambda: read[0].fixed_sizes,
        types=(inference_input_type, inference_output_type),
        int8_range=None,
        dataset=representative_dataset,
        max_output_error=max_output_error,
        options=Options(target, compatibility),
        check=check,
        verbose=verbose,
    )
    report = dataclasses.replace(converted.report, remarks=read[0].remarks)
    return ConvertedModel(converted, report)


def convert_torch(
    module: Any,
    example_inputs: Any,
    *,
    channels_last: bool = False,
    sign_of_zero: str | Mapping[str, str] = "error",
    open_batch: bool = False,
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
    from larq_engine.converter.torch_reader.reader import TorchModel, torch_to_tflite

    read: list[TorchModel] = []

    def make_source(step: Callable[[str], None]) -> ModelSource:
        read.append(
            torch_to_tflite(
                module,
                example_inputs,
                channels_last=channels_last,
                sign_of_zero=sign_of_zero,
                open_batch=open_batch,
                check=check,
                progress=step,
            )
        )
        return read[0].content

    converted = _convert(
        make_source,
        fixed_sizes=lambda: read[0].fixed_sizes,
        types=("float32", "float32"),
        int8_range=None,
        dataset=representative_dataset,
        max_output_error=max_output_error,
        options=Options(target, compatibility),
        check=check,
        verbose=verbose,
    )
    checks = [text for text in (read[0].compared, converted.report.self_check) if text]
    report = dataclasses.replace(
        converted.report, self_check=" ".join(checks), remarks=read[0].remarks
    )
    return ConvertedModel(converted, report)


def conversion_report(
    model: Any, *, check: bool = False, unsafe: bool = False, **options: Any
) -> ConversionReport:
    """Says what a conversion would make of each layer.

    Args:
        model: A Keras model, a .h5 or .keras file, the folder of a SavedModel, a .tflite file's
            path or content, the path of an .onnx file, or a ConvertedModel, which has its report.
        check: Compare the converted with the float model, too.
        unsafe: Let code that a .h5 or .keras file or a SavedModel holds run.
        **options: Arguments of the function that converts such a model: `convert_keras_model`,
            `convert_saved_model`, `convert_tflite` or `convert_onnx`.
    """
    if isinstance(model, ConvertedModel):
        if check or unsafe or options:
            raise ValueError(
                "conversion_report: expected no options with a converted model, whose report is "
                "there already; give the unconverted model"
            )
        return model.report
    convert: Callable[..., ConvertedModel] = convert_keras_model
    if isinstance(model, (str, os.PathLike)) and os.fspath(model).endswith((".h5", ".keras")):
        from larq_engine.converter.keras_files import load_keras

        model = load_keras(model, unsafe=unsafe)
    elif isinstance(model, (str, os.PathLike)) and os.path.isdir(model):
        convert, options["unsafe"] = convert_saved_model, unsafe
    elif isinstance(model, (str, os.PathLike)) and os.fspath(model).endswith(".onnx"):
        convert = convert_onnx
    elif isinstance(model, (bytes, bytearray, memoryview, str, os.PathLike)):
        convert = convert_tflite
    return convert(model, check=check, **options).report


def _convert(
    make_source: Callable[[Callable[[str], None]], ModelSource],
    *,
    types: tuple[Any, Any],
    int8_range: tuple[float, float] | None,
    dataset: Any,
    max_output_error: float | None,
    options: Options,
    check: bool,
    verbose: int,
    fixed_sizes: Callable[[], str | None] = lambda: None,
) -> ConvertedModel:
    """Converts a float .tflite file.

    Args:
        make_source: Makes the file, and calls its argument with each step as it begins.
        fixed_sizes: Called after `make_source`; returns what `compare_sizes` must know of the file.
    """
    input_type = type_name("inference_input_type", types[0])
    output_type = type_name("inference_output_type", types[1])
    if int8_range is not None:
        check_int8_range(int8_range)
    if int8_range is not None and dataset is not None:
        raise ValueError(
            "expected `representative_dataset` or `experimental_default_int8_range`, got both; "
            "leave out the range, which only shows how fast int8 would be"
        )
    if max_output_error is not None:
        check_limit(max_output_error, has_samples=dataset is not None)
    checked = fixed = ""
    quantizer: Quantizer | None = None
    options = dataclasses.replace(options, has_samples=dataset is not None)
    with progress_steps(verbose) as step:
        step("reading the model")
        file = schema.File(make_source(step))
        step("rewriting")
        model = file.model()
        pass_constants(model)
        find_output_layers(model)
        for graph in model.graphs:
            rewrite(graph, options)
            if dataset is not None:
                prepare_int8(graph, options)
        is_exact = int8_range is None and dataset is None
        if check and not is_exact:
            # int8 changes results, so the check compares the model as it is before it becomes int8.
            checked = check_conversion(model, file, step)
        if not is_exact:
            fixed = compare_sizes(model, file, check=check, known=fixed_sizes(), progress=step)
        if dataset is not None:
            ends = Ends(inputs=input_type == "int8", outputs=output_type == "int8")
            quantizer = Quantizer(model, dataset, ends, max_output_error, options, step)
            quantizer.quantize(compare=check)
        if int8_range is not None:
            step("quantizing")
            model = _quantize(model, int8_range)
        for graph in model.graphs:
            finish(graph, options)
        share_filters(model.graphs)
        if check and is_exact:
            checked = check_conversion(model, file, step)
        if is_exact:
            fixed = compare_sizes(model, file, check=check, known=fixed_sizes(), progress=step)
        mark_fixed_sizes(model, fixed)
        step("writing")
        for graph in model.graphs:
            write_names(graph)
        int8 = None if quantizer is None else quantizer.report()
        layers = report_layers(model.graphs, options)
        for graph in model.graphs:
            restore_recipes(graph)
        operators = count_operators(model.graphs)
        size = file.size
        written, attached = schema.write_view(model), model.extra.attached
        # All weights are in `written` now, and `bytes` and `attach` below each copy it. Operators
        # and tensors refer to each other, so only the garbage collector can free them.
        del model, graph, file, quantizer
        gc.collect()
        result = attach(bytes(written), attached)
        del written
        if (input_type, output_type) != ("float32", "float32"):
            result = modify_integer_quantized_model_io_type(result, input_type, output_type)
        _check_file(result)
    report = ConversionReport(layers, size, len(result), operators, checked, fixed, int8=int8)
    return ConvertedModel(result, report)


def _check_file(content: bytes) -> None:
    """Raises ConversionError if hosts could not run the file that was written."""
    if problem := library.check_model(content):
        raise ConversionError(
            f"the converted model ({len(content)} bytes) is one that hosts cannot run: {problem}. "
            "The converter is at fault: please report it with the model"
        )


def _quantize(model: Model, int8_range: tuple[float, float]) -> Model:
    from larq_engine.converter.keras import quantize_float_ops

    for graph in model.graphs:
        write_names(graph)
    quantized = schema.read(quantize_float_ops(schema.write(model), int8_range))
    # A file does not hold what the report says of a layer, so it is copied from the old graph.
    binary = [
        [op for graph in side.graphs for op in graph.ops if op.kind == "LceBconv2d"]
        for side in (model, quantized)
    ]
    for before, after in zip(*binary, strict=True):
        filters = [op.inputs[1] for op in (before, after)]
        assert len({tensor.shape for tensor in filters if tensor is not None}) == 1
        after.float_layer = before.float_layer
    for graph in quantized.graphs:
        find_layers(graph)
        quantize_ends(graph, int8_range)
    return quantized
