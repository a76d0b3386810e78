"""`larq-engine example` writes a small model to try hosts, programs and devices with."""

import argparse
from pathlib import Path
from typing import Any

from larq_engine.command_line.files import check_destination
from larq_engine.python import units
from larq_engine.python.text_table import printable
from larq_engine.python.whole_files import write_files


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "example",
        help="write a small converted model, to try things with",
        description="Writes a small converted model with random weights. It makes 10 scores of an "
        "image of 96x96x3 floats.",
    )
    parser.set_defaults(run=_run)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="OUT.tflite",
        help="the .tflite file to write",
    )


def _run(arguments: argparse.Namespace) -> None:
    from larq_engine.converter.example import example_model

    output = arguments.output
    check_destination("output", output)
    converted = example_model()
    write_files({output: bytes(converted)})
    print(printable(f"{output}: {units.size(len(converted))}"))
