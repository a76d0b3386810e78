"""`larq-engine accelerator` lets LiteRT's own tools find the engine."""

import argparse
from pathlib import Path
from typing import Any

from larq_engine.python.accelerator import link_accelerator


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "accelerator",
        help="let LiteRT's tools, such as benchmark_litert_model, find the engine",
        description="Puts a link to the plug-in into a folder, by the name that LiteRT looks for. "
        "Give LiteRT's tools this folder as --runtime_path, and ask them for the GPU (--use_gpu), "
        "also on a machine without one: LiteRT takes other engines only as a GPU's. The engine "
        "computes on a GPU if there is one and it is expected to be faster, else on the CPU.",
    )
    parser.set_defaults(run=_run)
    parser.add_argument(
        "folder", type=Path, metavar="FOLDER", help="an existing folder, to put the link into"
    )


def _run(arguments: argparse.Namespace) -> None:
    print(link_accelerator(arguments.folder))
