"""`larq-engine convert`: a model becomes a .tflite file, and a table says what became of it."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from larq_engine.command_line.files import ModelKind, check_destination, find_kind
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
        help="a .h5 or .keras file, the folder of a SavedModel, a .tflite or an .onnx file",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="OUT.tflite",
        help="the file to write; - is standard output",
    )
    parser.add_argument(
        "--signature-key",
        action="append",
        dest="signature_keys",
        metavar="NAME",
        help="a signature of the SavedModel to convert (default: serving_default); may be repeated",
    )
    parser.add_argument(
        "--channels-last",
        action="store_true",
        help="ONNX: inputs and outputs have their channels last in the file",
    )
    parser.add_argument(
        "--sign-of-zero",
        choices=("error", "+1", "-1"),
        default="error",
        help="ONNX: what Sign gives for 0 where a binary layer reads it (default: error)",
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write what became of each layer as JSON; - prints that in place of the table",
    )
    parser.add_argument(
        "--target", choices=TARGETS, default="arm", help="arm: every CPU (default); xcore: XMOS"
    )
    parser.add_argument(
        "--compatibility",
        choices=COMPATIBILITIES,
        default="larq_engine",
        help="lce: only what Larq Compute Engine 0.16.0 can run",
    )
    for end in ("input", "output"):
        parser.add_argument(
            f"--inference-{end}-type",
            choices=("float32", "int8"),
            default="float32",
            help=f"type of the {end}s; int8 if the model quantizes them (default: float32)",
        )
    parser.add_argument(
        "--default-int8-range",
        type=float,
        nargs=2,
        metavar=("LO", "HI"),
        help="take this range for all values between binary layers, to try the speed of int8",
    )
    parser.add_argument(
        "--no-check",
        dest="check",
        action="store_false",
        help="do not run the result and compare it with the model",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="always show the progress")


def _run(arguments: argparse.Namespace) -> None:
    model, output, report = arguments.model, arguments.output, arguments.report
    kind = find_kind(model)
    if kind in (ModelKind.TFLITE, ModelKind.ONNX) and arguments.default_int8_range is not None:
        arguments.usage_error("--default-int8-range: for a Keras model or SavedModel only")
    if kind is not ModelKind.SAVED_MODEL and arguments.signature_keys is not None:
        arguments.usage_error("--signature-key: for a SavedModel only")
    is_turned = arguments.channels_last or arguments.sign_of_zero != "error"
    if kind is not ModelKind.ONNX and is_turned:
        arguments.usage_error("--channels-last, --sign-of-zero: for an ONNX model only")
    to_stdout = output == _STDOUT
    if to_stdout:
        _check_stdout(arguments)
    else:
        check_destination("output", output, model)
    to_file = report not in (None, _STDOUT)
    if to_file:
        check_destination("report", report, model, output)
    converted = _convert(kind, arguments)
    contents: dict[Path, bytes] = {} if to_stdout else {output: converted}
    if to_file:
        contents[report] = converted.report.to_json().encode()
    write_files(contents)
    if to_stdout:
        sys.stdout.buffer.write(converted)
    # Next to the model or JSON nothing else may be on standard output.
    remarks = sys.stderr if _STDOUT in (output, report) else sys.stdout
    if report == _STDOUT:
        print(converted.report.to_json())
    else:
        print(converted.report, file=remarks)
    for path, content in contents.items():
        print(f"wrote {path}: {len(content)} bytes", file=remarks)


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
        "inference_input_type": arguments.inference_input_type,
        "inference_output_type": arguments.inference_output_type,
        "target": arguments.target,
        "compatibility": arguments.compatibility,
        "check": arguments.check,
        "verbose": int(arguments.verbose),
    }
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
        return api.convert_saved_model(arguments.model, signature_keys=keys, **options)
    from larq_engine.converter.keras_files import load_keras

    return api.convert_keras_model(load_keras(arguments.model), **options)
