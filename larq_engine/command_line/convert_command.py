"""`larq-engine convert` makes a .tflite file of a model, and tells what became of each layer."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from larq_engine.command_line.files import (
    ModelKind,
    check_destination,
    find_kind,
    split_function,
)
from larq_engine.python.text_table import printable
from larq_engine.python.whole_files import write_files

if TYPE_CHECKING:
    from larq_engine.converter.api import ConvertedModel


_STDOUT = Path("-")


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    from larq_engine.converter.options import COMPATIBILITIES, TARGETS

    parser = commands.add_parser(
        "convert",
        help="convert a model to a .tflite file",
        description="Converts a model to a .tflite file and says what became of each layer.",
    )
    parser.set_defaults(run=_run, usage_error=parser.error)
    parser.add_argument(
        "model",
        type=Path,
        metavar="MODEL",
        help="a .h5 or .keras file, the folder of a SavedModel, a .tflite or an .onnx file, or "
        "FILE.py:FUNCTION, a function without arguments that returns a PyTorch module and its "
        "example inputs",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="OUT.tflite",
        help="the .tflite file to write; - is standard output",
    )
    parser.add_argument(
        "--signature-key",
        action="append",
        dest="signature_keys",
        metavar="NAME",
        help="SavedModel: the signature to convert (default: serving_default); may be repeated",
    )
    parser.add_argument(
        "--channels-last",
        action="store_true",
        help="ONNX, PyTorch: put the channels of the file's inputs and outputs last, as Keras has "
        "them (default: the model's order)",
    )
    parser.add_argument(
        "--sign-of-zero",
        action="append",
        metavar="[LAYER=]VALUE",
        help="ONNX, PyTorch: what Sign (torch.sign) gives for 0 in the file, +1 or -1; in the "
        "model it gives 0, which no bit can be. error (default): refuse a model in which a binary "
        "layer would read that 0. With LAYER=, a name or a pattern such as 'block.*', it is for "
        "the signs of that layer; may be repeated",
    )
    parser.add_argument(
        "--open-batch",
        action="store_true",
        help="PyTorch: the file takes any number of samples at once (default: as many as the "
        "example inputs have)",
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write what became of each layer to this file too, as JSON; - prints the JSON in "
        "place of the table",
    )
    parser.add_argument(
        "--target",
        choices=TARGETS,
        default="arm",
        help="arm (default): for all CPUs, x86 too; xcore: for XMOS's tools",
    )
    parser.add_argument(
        "--compatibility",
        choices=COMPATIBILITIES,
        default="larq_engine",
        help="larq_engine (default), or lce: a file that Larq Compute Engine 0.16.0 runs too",
    )
    for end in ("input", "output"):
        parser.add_argument(
            f"--inference-{end}-type",
            choices=("float32", "int8"),
            default="float32",
            help=f"Keras, SavedModel, ONNX, .tflite: the type of the file's {end}s (default: "
            f"float32); int8 needs {end}s that the model, or an option below, quantizes to int8",
        )
    parser.add_argument(
        "--default-int8-range",
        type=float,
        nargs=2,
        metavar=("LO", "HI"),
        help="Keras, SavedModel: quantize all values between binary layers to int8 with this one "
        "range, such as -6 6, to try the speed of int8; the results mean nothing",
    )
    parser.add_argument(
        "--representative-dataset",
        type=Path,
        metavar="FILE",
        help="samples of what the model will see, a few hundred: a .npy file, or a .npz file with "
        "an array for each input, by its name; samples lie along the first axis. With the ranges "
        "that they show, layers that are not binary become int8",
    )
    parser.add_argument(
        "--max-output-error",
        type=_part,
        metavar="PART",
        help="with --representative-dataset: the largest error that int8 may cause in an output, "
        "as a part of the output: 0.02 is 2 %%. The layers that cause most of it stay in float",
    )
    parser.add_argument(
        "--no-check",
        dest="check",
        action="store_false",
        help="skip the check, which runs the file and the model on random inputs and compares "
        "their results",
    )
    parser.add_argument(
        "--unsafe",
        action="store_true",
        help="Keras, SavedModel: run the code that the file holds, such as the Python of a Lambda "
        "layer (default: refuse such a file); for files of people whom you trust",
    )
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="show each step as it begins (default: only on a terminal, after 3 seconds)",
    )


def _part(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected a number such as 0.02 for 2 %, got '{text}'"
        ) from None


def _run(arguments: argparse.Namespace) -> None:
    model, output, report = arguments.model, arguments.output, arguments.report
    arguments.sign_of_zero = _read_sign_of_zero(arguments)
    kind = find_kind(model)
    if kind in (ModelKind.TFLITE, ModelKind.ONNX) and arguments.default_int8_range is not None:
        arguments.usage_error("--default-int8-range: for a Keras model or SavedModel only")
    if kind is not ModelKind.SAVED_MODEL and arguments.signature_keys is not None:
        arguments.usage_error("--signature-key: for a SavedModel only")
    if kind not in (ModelKind.KERAS, ModelKind.SAVED_MODEL) and arguments.unsafe:
        arguments.usage_error("--unsafe: for a .h5 or .keras file or a SavedModel only")
    is_turned = arguments.channels_last or arguments.sign_of_zero != "error"
    if kind not in (ModelKind.ONNX, ModelKind.TORCH) and is_turned:
        arguments.usage_error(
            "--channels-last, --sign-of-zero: for an ONNX model or FILE.py:FUNCTION only"
        )
    if kind is ModelKind.TORCH:
        _check_torch(arguments)
    elif arguments.open_batch:
        arguments.usage_error("--open-batch: for FILE.py:FUNCTION only")
    named = split_function(model)
    source = model if named is None else named[0]
    to_stdout = output == _STDOUT
    if to_stdout:
        _check_stdout(arguments)
    else:
        check_destination("output", output, source)
    to_file = report not in (None, _STDOUT)
    if to_file:
        check_destination("report", report, source, output)
    converted = _convert(kind, arguments)
    contents: dict[Path, bytes] = {} if to_stdout else {output: converted}
    if to_file:
        contents[report] = converted.report.to_json().encode()
    write_files(contents)
    if to_stdout:
        sys.stdout.buffer.write(converted)
    # If the model or JSON goes to standard output, nothing else may.
    remarks = sys.stderr if _STDOUT in (output, report) else sys.stdout
    if report == _STDOUT:
        print(converted.report.to_json())
    else:
        print(converted.report, file=remarks)
    for path, content in contents.items():
        print(printable(f"wrote {path}: {len(content)} bytes"), file=remarks)


def _read_sign_of_zero(arguments: argparse.Namespace) -> str | dict[str, str]:
    """Returns one value for all layers, or one each; a value without a layer is for the others."""
    from larq_engine.converter.options import ALL_LAYERS, SignOfZero

    given = arguments.sign_of_zero or ["error"]
    named = [text.rpartition("=") for text in given]
    layers = {layer if equals else ALL_LAYERS: value for layer, equals, value in named}
    try:
        SignOfZero.read(layers)
    except ValueError as error:
        arguments.usage_error(f"--sign-of-zero: {error}")
    return layers[ALL_LAYERS] if [*layers] == [ALL_LAYERS] else layers


def _check_torch(arguments: argparse.Namespace) -> None:
    types = (arguments.inference_input_type, arguments.inference_output_type)
    if arguments.default_int8_range is not None or types != ("float32", "float32"):
        arguments.usage_error(
            "--default-int8-range, --inference-input-type, --inference-output-type: not for PyTorch"
        )


def _check_stdout(arguments: argparse.Namespace) -> None:
    if arguments.report == _STDOUT:
        arguments.usage_error("-o and --report: not both on standard output")
    if sys.stdout.isatty():
        raise ValueError(
            "output '-': expected standard output to be a file or a pipe, got a terminal; add "
            "`> OUT.tflite`, or name the file with -o"
        )


def _convert(kind: ModelKind, arguments: argparse.Namespace) -> "ConvertedModel":
    from larq_engine.converter import api

    options: dict[str, Any] = {
        "target": arguments.target,
        "compatibility": arguments.compatibility,
        "check": arguments.check,
        "verbose": int(arguments.verbose),
    }
    if arguments.representative_dataset is not None:
        from larq_engine.converter.quantizer.samples import from_file

        options["representative_dataset"] = from_file(arguments.representative_dataset)
    if arguments.max_output_error is not None:
        options["max_output_error"] = arguments.max_output_error
    if (named := split_function(arguments.model)) is not None:
        from larq_engine.converter.torch_reader.python_files import call_function

        module, example_inputs = call_function(*named)
        return api.convert_torch(
            module,
            example_inputs,
            channels_last=arguments.channels_last,
            sign_of_zero=arguments.sign_of_zero,
            open_batch=arguments.open_batch,
            **options,
        )
    options["inference_input_type"] = arguments.inference_input_type
    options["inference_output_type"] = arguments.inference_output_type
    if kind is ModelKind.TFLITE:
        return api.convert_tflite(arguments.model, **options)
    if kind is ModelKind.ONNX:
        options["channels_last"] = arguments.channels_last
        options["sign_of_zero"] = arguments.sign_of_zero
        return api.convert_onnx(arguments.model, **options)
    if arguments.default_int8_range is not None:
        options["experimental_default_int8_range"] = tuple(arguments.default_int8_range)
    if kind is ModelKind.SAVED_MODEL:
        keys = arguments.signature_keys
        return api.convert_saved_model(
            arguments.model, signature_keys=keys, unsafe=arguments.unsafe, **options
        )
    from larq_engine.converter.keras_files import load_keras

    return api.convert_keras_model(load_keras(arguments.model, unsafe=arguments.unsafe), **options)
