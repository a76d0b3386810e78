"""`larq-engine convert` makes a .tflite file of a model, and tells what became of each layer."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from larq_engine.command_line.files import check_destination, find_door, list_models
from larq_engine.converter.doors import Door, doors_with, refuse_option, split_function
from larq_engine.converter.options import ALL_LAYERS, COMPATIBILITIES, TARGETS, Options, SignOfZero
from larq_engine.python.text_table import printable
from larq_engine.python.whole_files import write_files

if TYPE_CHECKING:
    from larq_engine.converter.converted_model import ConvertedModel


_STDOUT = Path("-")

# Flags that are not the names of their options.
_FLAGS = {
    "check": "no-check",
    "experimental_default_int8_range": "default-int8-range",
    "signature_keys": "signature-key",
}


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
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
        help=f"{list_models()}: a function without arguments that returns a module and its example "
        "inputs",
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
        help=_help(
            "signature_keys",
            "the signature to convert (default: serving_default); may be repeated",
        ),
    )
    parser.add_argument(
        "--channels-last",
        action="store_true",
        help=_help(
            "channels_last",
            "put the channels of the file's inputs and outputs last, as Keras has them (default: "
            "the model's order)",
        ),
    )
    parser.add_argument(
        "--sign-of-zero",
        action="append",
        metavar="[LAYER=]VALUE",
        help=_help(
            "sign_of_zero",
            "what Sign (torch.sign) gives for 0 in the file, +1 or -1; in the model it gives 0, "
            "which no bit can be. error (default): refuse a model in which a binary layer would "
            "read that 0. With LAYER=, a name or a pattern such as 'block.*', it is for the signs "
            "of that layer; may be repeated",
        ),
    )
    parser.add_argument(
        "--open-batch",
        action="store_true",
        help=_help(
            "open_batch",
            "the file takes any number of samples at once (default: as many as the example inputs "
            "have)",
        ),
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
        default=Options.target,
        help="arm (default): for all CPUs, x86 too; fpga: binary wherever it can be, for "
        "export-verilog; microcontroller: int8 wherever it can be, for "
        "chips that compute with integers; xcore: for XMOS's tools",
    )
    parser.add_argument(
        "--compatibility",
        choices=COMPATIBILITIES,
        default=Options.compatibility,
        help="larq_engine (default), or lce: a file that Larq Compute Engine 0.16.0 runs too",
    )
    for end in ("input", "output"):
        parser.add_argument(
            f"--inference-{end}-type",
            choices=("float32", "int8"),
            default=Options.inference_input_type,
            help=f"the type of the file's {end}s (default: float32); int8 needs {end}s that the "
            "model, or an option below, quantizes to int8",
        )
    parser.add_argument(
        "--default-int8-range",
        type=float,
        nargs=2,
        dest="experimental_default_int8_range",
        metavar=("LO", "HI"),
        help=_help(
            "experimental_default_int8_range",
            "quantize all values between binary layers to int8 with this one range, such as -6 6, "
            "to try the speed of int8; the results mean nothing",
        ),
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
        help=_help(
            "unsafe",
            "run the code that the file holds, such as the Python of a Lambda layer (default: "
            "refuse such a file); for files of people whom you trust",
        ),
    )
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_const",
        const=1,
        default=Options.verbose,
        help="show each step as it begins (default: only on a terminal, after 3 seconds)",
    )


def _help(option: str, text: str) -> str:
    """Returns the help text of an option that not all doors have."""
    return f"{', '.join(door.name for door in doors_with(option))}: {text}"


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
    door = find_door(model)
    options = _read_options(door, arguments)
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
    converted = _convert(door, model, options)
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


def _read_options(door: Door, arguments: argparse.Namespace) -> dict[str, Any]:
    """Returns the options of a conversion, by name, and refuses those of other doors."""
    options = {field.name: getattr(arguments, field.name) for field in fields(Options)}
    int8_range = arguments.experimental_default_int8_range
    options["experimental_default_int8_range"] = int8_range and tuple(int8_range)
    for name, value in options.items():
        if value != getattr(Options, name) and name not in (*door.options, *door.file_options):
            arguments.usage_error(refuse_option(name, door, flag_of(name)))
    return options


def flag_of(option: str) -> str:
    """Returns the flag of an option of a conversion."""
    flag = _FLAGS.get(option) or option.replace("_", "-")
    return f"--{flag}"


def _read_sign_of_zero(arguments: argparse.Namespace) -> str | dict[str, str]:
    """Returns one value for all layers, or one each; a value without a layer is for the others."""
    given = arguments.sign_of_zero or ["error"]
    named = [text.rpartition("=") for text in given]
    layers = {layer if equals else ALL_LAYERS: value for layer, equals, value in named}
    try:
        SignOfZero.read(layers)
    except ValueError as error:
        arguments.usage_error(f"--sign-of-zero: {error}")
    return layers[ALL_LAYERS] if [*layers] == [ALL_LAYERS] else layers


def _check_stdout(arguments: argparse.Namespace) -> None:
    if arguments.report == _STDOUT:
        arguments.usage_error("-o and --report: not both on standard output")
    if sys.stdout.isatty():
        raise ValueError(
            "output '-': expected standard output to be a file or a pipe, got a terminal; add "
            "`> OUT.tflite`, or name the file with -o"
        )


def _convert(door: Door, model: Path, options: dict[str, Any]) -> "ConvertedModel":
    from larq_engine.converter import api

    if options["representative_dataset"] is not None:
        from larq_engine.converter.quantizer.samples import from_file

        options["representative_dataset"] = from_file(options["representative_dataset"])
    taken = {name: value for name, value in options.items() if name in door.options}
    convert: Callable[..., ConvertedModel] = getattr(api, door.function)
    return convert(*door.load(model, options["unsafe"]), **taken)
