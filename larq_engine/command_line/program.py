"""Chooses the sub-command, and turns its exceptions into one line and an exit code."""

import argparse
import codecs
import difflib
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from larq_engine import __version__
from larq_engine.command_line import (
    about_command,
    accelerator_command,
    convert_command,
    example_command,
    export_c_command,
    export_verilog_command,
    export_web_command,
    export_weights_command,
    inspect_command,
    place_command,
    profile_command,
    report_command,
)
from larq_engine.python.text_table import printable

# A shell's exit code for a program that Ctrl-C ended.
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; `argv` is without the program's name.

    Returns:
        0, or 1 if a model, a conversion or a file is at fault.

    Raises:
        SystemExit: With code 2 for arguments that make no sense, 0 for --help and --version.
    """
    arguments = _make_parser().parse_args(argv)
    _print_all_letters()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            arguments.run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has seen enough (`larq-engine inspect MODEL
        # head`). Python flushes once more at its end, which must not fail then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ImportError, OSError, ValueError) as error:
        print(f"larq-engine: error: {_describe(error)}", file=sys.stderr)
        return 1
    except MemoryError:
        print(f"larq-engine: error: {_describe_memory(arguments)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


def _print_all_letters() -> None:
    """Makes the output replace letters that its encoding lacks, such as the µ of microseconds."""

    def replace(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        return ("u" if error.object[error.start] == "µ" else "?"), error.start + 1

    codecs.register_error("larq_engine", replace)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="larq_engine")


class _Parser(argparse.ArgumentParser):
    """A parser that refuses unknown arguments itself.

    argparse leaves that to the main parser, which shows neither the usage of the sub-command nor
    which argument is wrong."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        namespace, unknown = super().parse_known_args(args, namespace)
        # Values of an unknown option are left over too, and are not the mistake.
        options = [argument.partition("=")[0] for argument in unknown if argument.startswith("-")]
        if options:
            near = difflib.get_close_matches(options[0], self._option_string_actions, n=1)
            advice = f"did you mean {near[0]}?" if near else "--help lists the options"
            self.error(f"unknown option {options[0]}; {advice}")
        if unknown:
            self.error(f"unexpected arguments: {' '.join(unknown)}")
        return namespace, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Checks choices; argparse would list the valid ones in Python's spelling."""
        choices = list(map(str, action.choices or ()))
        if not choices or value in (action.choices or ()):
            return
        near = difflib.get_close_matches(str(value), choices, n=1)
        advice = f"; did you mean {near[0]}?" if near else ""
        raise argparse.ArgumentError(
            action, f"expected one of {', '.join(choices)}, got {value}{advice}"
        )


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="larq-engine",
        description="Converts binarized models, shows what is in them, measures them and places "
        "their operators on devices.",
        epilog="`larq-engine COMMAND --help` lists the options of a command.",
    )
    parser.add_argument("--version", action="version", version=f"larq-engine {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (
        convert_command,
        inspect_command,
        profile_command,
        place_command,
        report_command,
        export_weights_command,
        export_c_command,
        export_verilog_command,
        export_web_command,
        example_command,
        accelerator_command,
        about_command,
    ):
        command.add_parser(commands)
    return parser


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Shows a warning in one line, without the place in the code where it was raised."""
    print(f"larq-engine: warning: {printable(str(message))}", file=sys.stderr)


def _describe(error: Exception) -> str:
    """Returns the error in one line."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"'{error.filename}': {error.strerror}" if error.filename else error.strerror
    return "; ".join(filter(None, (printable(line.strip()) for line in text.splitlines())))


def _describe_memory(arguments: argparse.Namespace) -> str:
    """Says which file needed too much memory; Python's error says nothing."""
    files = [vars(arguments).get(name) for name in ("model", "profile")]
    named = printable("".join(f"'{path}': " for path in files if path is not None))
    return (
        f"{named}expected memory enough for it, got less; give the process more, or check where "
        "the file comes from: a small one may say that it is huge"
    )
