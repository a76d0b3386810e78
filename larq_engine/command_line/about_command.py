"""`larq-engine about` prints versions, and what of this machine can be used."""

import argparse
from typing import Any


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "about",
        help="show versions, hosts, the CPU's kernels and GPUs",
        description="Shows the versions of the package and of the installed hosts, the kernels "
        "that this CPU runs, and the GPUs, or why none can be used. Add what it prints when you "
        "report a fault.",
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from larq_engine.python.about import about

    print(about())
