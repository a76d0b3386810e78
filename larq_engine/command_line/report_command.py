"""`larq-engine report` shows a profile and a placement as tables, a page, plots or overlays."""

import argparse
from pathlib import Path
from typing import Any

from larq_engine.command_line.files import check_destination
from larq_engine.python.text_table import printable_lines
from larq_engine.python.whole_files import write_files


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "report",
        help="show a profile, and a placement beside it",
        description="Shows a profile, and a placement if one is named. Prints tables, or writes "
        "the files that options name in place of them.",
    )
    parser.set_defaults(run=_run, usage_error=parser.error)
    parser.add_argument(
        "profile",
        type=Path,
        metavar="PROFILE",
        help="a file that `larq-engine profile` or larq_benchmark_model wrote",
    )
    parser.add_argument(
        "--model",
        type=Path,
        metavar="MODEL",
        help="the .tflite file, if larq_benchmark_model wrote PROFILE",
    )
    parser.add_argument(
        "--placement",
        type=Path,
        metavar="FILE",
        help="what `larq-engine place` wrote: the placed model, or the JSON file beside it",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write a page (.html), which needs no other file and no network",
    )
    parser.add_argument(
        "--batch",
        type=int,
        metavar="N",
        help="samples at once, one of the profile's numbers (default: the placement's, or the "
        "smallest)",
    )
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="threads, one of the profile's numbers (default: the placement's, or the smallest)",
    )
    parser.add_argument(
        "--device-file",
        action="append",
        default=[],
        metavar="FILE",
        help="a device file that the placement was made with, as for `larq-engine place`; may be "
        "repeated",
    )
    parser.add_argument(
        "--plots",
        type=Path,
        metavar="DIR",
        help="write the drawings to this existing folder, as SVG files",
    )
    parser.add_argument(
        "--png", action="store_true", help="with --plots: PNG files too; needs matplotlib"
    )
    parser.add_argument(
        "--overlay",
        type=Path,
        metavar="FILE",
        help="write the operators' times as node data (JSON) for Google's model-explorer",
    )
    parser.add_argument(
        "--trace",
        type=Path,
        metavar="FILE",
        help="write one run, made of median times, as a trace (JSON) for Perfetto or "
        "chrome://tracing",
    )


def _run(arguments: argparse.Namespace) -> None:
    if arguments.png and arguments.plots is None:
        arguments.usage_error("--png: expected --plots DIR beside it, got none; name a folder")
    from larq_engine.reporting.api import report

    made = report(
        arguments.profile,
        arguments.placement,
        batch=arguments.batch,
        threads=arguments.threads,
        device_files=arguments.device_file,
        model=arguments.model,
    )
    wanted = {
        "output": (arguments.output, made.to_html),
        "overlay": (arguments.overlay, made.to_overlay),
        "trace": (arguments.trace, made.to_trace),
    }
    asked = {name: entry for name, entry in wanted.items() if entry[0] is not None}
    given = (arguments.profile, arguments.model, arguments.placement)
    read = [path for path in given if path is not None]
    for name, (path, _) in asked.items():
        others = [other for key, (other, _) in asked.items() if key != name]
        check_destination(name, path, *read, *others)
    page = arguments.output
    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise ValueError(
            f"output '{page}': expected the name of a page, got another; name it {page.stem}.html"
        )
    contents = {path: make() for path, make in asked.values()}
    if arguments.plots is not None:
        check_destination("plots", arguments.plots / "graph.svg")
        for kind in ("svg", "png") if arguments.png else ("svg",):
            contents |= {
                arguments.plots / name: content for name, content in made.to_plots(kind).items()
            }
    if not contents:
        print(made)
        return
    write_files(contents)
    print(printable_lines(f"wrote {path}" for path in contents))
