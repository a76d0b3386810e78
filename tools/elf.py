"""Reads facts about libraries with binutils' readelf, which knows all machines."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Elf:
    """Facts about a library.

    Attributes:
        machine: The machine in readelf's words, such as AArch64.
        soname: The library's own name; "" if there is none.
        needed: Names of the libraries that this library needs.
        imports: Names that it looks for in these libraries, such as memcpy@GLIBC_2.14.
        exports: Names that other programs and libraries may look for in this library.
        versions: Versions of other libraries' interfaces, such as GLIBC_2.14. May include versions
            that no imported symbol uses.
        alignments: Alignments of the segments that are loaded, in bytes.
        is_stripped: Whether symbols that only a debugger needs are absent.
    """

    machine: str
    soname: str
    needed: frozenset[str]
    imports: frozenset[str]
    exports: frozenset[str]
    versions: frozenset[str]
    alignments: tuple[int, ...]
    is_stripped: bool


_READELF_OPTIONS = (
    *("--file-header", "--program-headers", "--sections"),
    *("--dynamic", "--dyn-syms", "--version-info"),
)


def read_elf(library: Path) -> Elf:
    """Reads a library; raises ValueError if the file is not a library."""
    done = subprocess.run(
        ["readelf", "--wide", *_READELF_OPTIONS, library],
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
