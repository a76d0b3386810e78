"""`larq-engine export-c` writes a .tflite file as C for microcontrollers."""

import argparse
from pathlib import Path
from typing import Any

from larq_engine.command_line.files import check_folder, check_is_tflite
from larq_engine.python.text_table import printable


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "export-c",
        help="write a model as C for microcontrollers, without heap or library",
        description="Writes a .tflite file as a folder of C99: the model as constants and a plan "
        "of calls, the kernels that it needs, and files for make, CMake, PlatformIO, Arduino and "
        "ESP-IDF. Prints what each layer takes of flash and memory (docs/microcontrollers.md).",
    )
    parser.set_defaults(run=_run)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tflite file")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FOLDER", help="the folder to write"
    )
    parser.add_argument(
        "--prefix",
        default="model",
        metavar="NAME",
        help="begins the names of files, functions and constants (default: model)",
    )
    parser.add_argument(
        "--arena",
        type=_bytes,
        metavar="BYTES",
        help="the most memory that a run may take: layers are computed in strips of lines where "
        "they must be, or an error says which one needs more",
    )


def _bytes(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected a number of bytes, such as 16384, got {text}")
    return int(text)


def _run(arguments: argparse.Namespace) -> None:
    model, output = arguments.model, arguments.output
    check_is_tflite(model)
    check_folder(output)
    from larq_engine.micro.api import export_c

    exported = export_c(model, prefix=arguments.prefix, arena=arguments.arena)
    exported.save(output)
    print(exported.report)
    print()
    print(printable(f"{output}: {len(exported.files)} files; begin with {arguments.prefix}.h"))
