"""`larq-engine inspect` shows the contents of a .tflite file, and what the plug-in accelerates."""

import argparse
from pathlib import Path
from typing import Any

from larq_engine.command_line.files import check_destination, check_is_tflite
from larq_engine.python.whole_files import write_files


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "inspect",
        help="show what is in a .tflite file",
        description="Shows the operators of a .tflite file: their shapes, types and bytes, and "
        "whether the plug-in or the host runs them on this machine, and whether the model runs "
        "without a host. It opens the model to ask that, and runs nothing.",
    )
    parser.set_defaults(run=_run)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tflite file")
    parser.add_argument(
        "--json",
        metavar="FILE",
        nargs="?",
        const="-",
        help="write the same, and more, to this file too, as JSON; without FILE, or with -, print "
        "the JSON in place of the table",
    )


def _run(arguments: argparse.Namespace) -> None:
    model = arguments.model
    check_is_tflite(model)
    to_file = arguments.json not in (None, "-")
    if to_file:
        check_destination("json", Path(arguments.json), model)
    from larq_engine.command_line.facts_table import format_facts
    from larq_engine.command_line.model_facts import collect_facts, find_claims, why_host
    from larq_engine.python.model_file import read_model

    content = read_model(model)
    claims, why_unknown = None, ""
    try:
        claims = find_claims(content)
    except (ImportError, ValueError) as error:
        why_unknown = str(error)
    facts = collect_facts(content, claims, why_host(content))
    if arguments.json == "-":
        print(facts.to_json())
        return
    if to_file:
        write_files({Path(arguments.json): facts.to_json().encode()})
    print(format_facts(facts, why_unknown))
