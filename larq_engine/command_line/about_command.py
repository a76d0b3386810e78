"""`larq-engine about`: versions, and what of this machine can be used."""

import argparse
from typing import Any


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "about",
        help="show versions, host runtimes, the CPU's kernels and GPUs",
        description="Shows versions, host runtimes, the CPU's kernels, and GPUs or why there is "
        "none that can be used. Reports of faults should have it.",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from larq_engine.python.about import about

    print(about())
