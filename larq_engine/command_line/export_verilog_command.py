"""`larq-engine export-verilog` writes binary layers of a .tflite file as hardware."""

import argparse
from pathlib import Path
from typing import Any

from larq_engine.command_line.files import check_folder, check_is_tflite
from larq_engine.python.text_table import printable


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "export-verilog",
        help="write binary layers as Verilog for FPGAs: a pipeline of pixels",
        description="Writes a run of binary layers of a .tflite file as a folder of synthesizable "
        "Verilog-2005: a pipeline with valid and ready, an AXI4-Stream wrapper, a test bench with "
        "the engine's results, and a design for a board that tests itself. Prints what each layer "
        "takes (docs/fpga.md).",
    )
    parser.set_defaults(run=_run)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tflite file")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FOLDER", help="the folder to write"
    )
    parser.add_argument(
        "--layers",
        metavar="A:B",
        help="the operators A to B - 1, as `larq-engine inspect` numbers them (default: the run "
        "with the most binary products)",
    )
    parser.add_argument(
        "--target",
        default="ecp5-85k",
        metavar="CHIP",
        help="ecp5-25k, ecp5-45k or ecp5-85k (default)",
    )
    parser.add_argument(
        "--clock", type=int, default=100, metavar="MHZ", help="the clock (default: 100)"
    )
    parser.add_argument(
        "--fold",
        default="auto",
        metavar="N",
        help="cycles in which each layer computes a pixel; auto takes the fewest with which all "
        "layers fit the chip (default)",
    )
    parser.add_argument(
        "--area",
        type=float,
        default=0.6,
        metavar="SHARE",
        help="the share of the chip's LUTs that auto may take (default: 0.6)",
    )
    parser.add_argument(
        "--watts",
        type=float,
        metavar="W",
        help="what the chip takes while it runs these layers; gives device.json joules",
    )
    parser.add_argument(
        "--prefix",
        default="model",
        metavar="NAME",
        help="begins the names of files and modules (default: model)",
    )


def _run(arguments: argparse.Namespace) -> None:
    model, output = arguments.model, arguments.output
    check_is_tflite(model)
    check_folder(output)
    from larq_engine.fpga.api import export_verilog

    exported = export_verilog(
        model,
        layers=arguments.layers,
        target=arguments.target,
        clock=arguments.clock,
        fold=arguments.fold,
        area=arguments.area,
        watts=arguments.watts,
        prefix=arguments.prefix,
    )
    exported.save(output)
    print(exported.report)
    print()
    print(printable(f"{output}: {len(exported.files)} files; begin with README.md"))
