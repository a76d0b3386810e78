"""A fault that is planted into a kernel, and what has to find it."""

from dataclasses import dataclass

CRASH = "the program ended by a signal"


@dataclass
class Fault:
    name: str
    file: str
    line: str
    instead: str
    found_by: str
