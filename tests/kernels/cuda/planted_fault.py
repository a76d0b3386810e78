"""A fault that is planted into a kernel, and what has to find it."""

from collections.abc import Mapping
from dataclasses import dataclass

CRASH = "the program ended by a signal"
WRONG_NUMBER = r"byte \d+ of output \d+ is"


@dataclass(frozen=True)
class Edit:
    """The edit of a line that makes a fault, and a pattern of the report that must follow."""

    line: str
    instead: str = ""
    found_by: str = WRONG_NUMBER


@dataclass(frozen=True)
class Fault:
    name: str
    file: str
    edit: Edit


def faults(edits: Mapping[str, Mapping[str, Edit]]) -> list[Fault]:
    """Returns the faults whose edits are given by file and name."""
    return [
        Fault(name, file, edit) for file, named in edits.items() for name, edit in named.items()
    ]
