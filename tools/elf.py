"""What a library says of itself, by binutils' readelf, which knows all machines."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Elf:
    """A library.

    Attributes:
        machine: In readelf's words, as AArch64.
        soname: "" if there is none.
        needed: Names of libraries.
        imports: Names that it looks for in them, as memcpy@GLIBC_2.14.
        exports: Names that others may look for in it.
        versions: Of other libraries' interfaces, as GLIBC_2.14. Some are no symbol's.
        alignments: Of the segments that are loaded, in bytes.
        is_stripped: Whether there are no symbols that only a debugger needs.
    """

    machine: str
    soname: str
    needed: frozenset[str]
    imports: frozenset[str]
    exports: frozenset[str]
    versions: frozenset[str]
    alignments: tuple[int, ...]
    is_stripped: bool


_SHOWN = (
    *("--file-header", "--program-headers", "--sections"),
    *("--dynamic", "--dyn-syms", "--version-info"),
)


def read_elf(library: Path) -> Elf:
    """Raises ValueError if the file is no library."""
    done = subprocess.run(
        ["readelf", "--wide", *_SHOWN, library],
        capture_output=True,
        text=True,
        env=os.environ | {"LC_ALL": "C"},
    )
    text = done.stdout

    def found(pattern: str) -> list[str]:
        return re.findall(pattern, text, re.MULTILINE)

    machine = found(r"^ +Machine: +(.*)$")
    if done.returncode or not machine:
        raise ValueError("expected a shared library, got something else")
    symbols = re.findall(
        r"^ +\d+: \S+ +\S+ \w+ +(?:GLOBAL|WEAK) +\w+ +(\w+) (\S+)", text, re.MULTILINE
    )
    return Elf(
        machine=machine[0],
        soname="".join(found(r"Library soname: \[(.*)\]")),
        needed=frozenset(found(r"\(NEEDED\).*\[(.*)\]")),
        imports=frozenset(name for section, name in symbols if section == "UND"),
        exports=frozenset(name for section, name in symbols if section != "UND"),
        versions=frozenset(found(r"^ +\w+: +Name: (\S+) +Flags:")),
        alignments=tuple(int(size, 16) for size in found(r"^ +LOAD .* (0x[0-9a-f]+)$")),
        is_stripped=".symtab" not in text,
    )
