"""`larq-engine export-web` writes a .tflite file as a page that runs it in a browser."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from larq_engine.command_line.files import check_folder, check_is_tflite
from larq_engine.python import units
from larq_engine.python.text_table import printable
from larq_engine.python.whole_files import read_file
from larq_engine.web_export.input_kind import KINDS, MIDDLE, RATE


def add_parser(commands: Any) -> None:
    """Adds the sub-command."""
    parser = commands.add_parser(
        "export-web",
        help="write a model as a page that runs it in a browser",
        description="Writes a .tflite file as a folder with a page, the engine for browsers and "
        "the model. Any web server serves it, and nothing else is needed: pictures and sounds stay "
        "in the browser (docs/export_web.md).",
    )
    parser.set_defaults(run=_run)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tflite file")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FOLDER", help="the folder to write"
    )
    parser.add_argument("--title", default="", help="the page's heading (default: the file's name)")
    parser.add_argument(
        "--labels", type=Path, metavar="FILE", help="a text file with the name of a class per line"
    )
    parser.add_argument(
        "--input",
        choices=KINDS,
        help="what the page asks for (default: what the model's input looks like)",
    )
    for name, about in (("mean", "subtracted from"), ("std", "what then divides")):
        parser.add_argument(
            f"--{name}",
            type=_read_numbers,
            metavar="NUMBERS",
            help=f"{about} pixels of 0 to 255, one number or one for each channel, with commas "
            f"between them (default: {MIDDLE})",
        )
    parser.add_argument(
        "--rate",
        type=int,
        metavar="HZ",
        help=f"samples a second of the sounds that the model takes (default: {RATE})",
    )


def _run(arguments: argparse.Namespace) -> None:
    model, output = arguments.model, arguments.output
    check_is_tflite(model)
    check_folder(output)
    from larq_engine.web_export.api import export_web

    exported = export_web(
        model,
        title=arguments.title,
        labels=None if arguments.labels is None else _read_labels(arguments.labels),
        input=arguments.input,
        mean=arguments.mean,
        std=arguments.std,
        rate=arguments.rate,
    )
    exported.save(output)
    sent = units.size(exported.sent_bytes)
    print(
        printable(
            f"{output}: {len(exported.files)} files, {sent} where the server compresses; the page "
            f"asks for {exported.input_kind}"
        )
    )
    for guess in _guesses(arguments, exported.input_kind):
        print(f"guessed: {guess}")
    print(printable(f"to see it: python -m http.server --directory {output}"))


def _guesses(arguments: argparse.Namespace, kind: str) -> Iterator[str]:
    """Yields what no option said and no file tells; a wrong guess makes wrong answers."""
    if kind == "image" and arguments.mean is None:
        yield f"{MIDDLE} is subtracted from pixels of 0 to 255; --mean sets another number"
    if kind == "image" and arguments.std is None:
        yield f"then they are divided by {MIDDLE}; --std sets another number"
    if kind == "sound" and arguments.rate is None:
        yield f"{RATE} samples a second; --rate sets another number"


def _read_numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected numbers with commas between them, as in 0,0,0, got {text}"
        ) from None


def _read_labels(path: Path) -> list[str]:
    content = read_file(path, f"labels '{path}'", "check the path")
    try:
        return content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"labels '{path}': expected a text file in UTF-8, got other bytes at {error.start}; "
            "save it as UTF-8"
        ) from None
