"""`larq-engine export-weights` writes the binary layers of a .tflite file as arrays."""

import argparse
from pathlib import Path
from typing import Any

from larq_engine.command_line.files import check_destination, check_is_tflite
from larq_engine.python import units
from larq_engine.python.text_table import align_columns, printable
from larq_engine.python.whole_files import write_files

_COLUMNS = ("layer", "operator", "weights", "output", "arrays")


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "export-weights",
        help="write binary weights and thresholds as arrays, for hardware of your own",
        description="Writes the weights of a .tflite file's binary layers as +1 and -1, with their "
        "thresholds, multipliers and biases, to a .npz file for NumPy. The array 'description' in "
        "it is JSON, and says each layer's strides, padding and arrays (docs/weights.md).",
    )
    parser.set_defaults(run=_run)
    parser.add_argument(
        "model", type=Path, metavar="MODEL", help="a .tflite file with binary layers"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="OUT.npz", help="the .npz file to write"
    )


def _run(arguments: argparse.Namespace) -> None:
    model, output = arguments.model, arguments.output
    check_is_tflite(model)
    check_destination("output", output, model)
    from larq_engine.converter.exported_weights import as_file, describe, export_weights

    arrays = export_weights(model)
    content = as_file(arrays)
    write_files({output: content})
    rows = [
        (
            layer["name"],
            layer["operator"],
            "x".join(map(str, arrays[layer["arrays"]["weights"]].shape)),
            layer["output"]["type"],
            ", ".join(layer["arrays"].values()),
        )
        for layer in describe(arrays)["layers"]
    ]
    print("\n".join(align_columns(_COLUMNS, rows, ())))
    print()
    print(printable(f"{output}: {units.size(len(content))}"))
