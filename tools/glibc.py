"""Tells which glibc a library or a program needs, by the versions of names that it looks for."""

import re
import sys

from elf import Elf

# The oldest glibc that what is released runs with, as the tags of wheels for Linux say.
OLDEST = (2, 28)
# Libraries that glibc brings; on no other does a released file depend.
LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"}


def newest_needed(elf: Elf) -> tuple[int, ...]:
    return max(map(glibc_version, elf.versions), default=(0,))


def glibc_problems(elf: Elf, limit: tuple[int, int]) -> list[str]:
    """Returns what glibc of this version lacks."""
    asked = {name for name in elf.imports if "@" in name}
    # Some versions have no symbol: GLIBC_ABI_DT_RELR asks for a loader that knows packed
    # relocations.
    without_symbol = elf.versions - {name.split("@")[1] for name in asked}
    others = sorted(elf.needed - LIBRARIES)
    found = [f"needs {others}; expected none but {sorted(LIBRARIES)}"] if others else []
    for name in sorted(asked):
        if glibc_version(name.split("@")[1]) > limit:
            found.append(f"refers to {name}, which is newer than the tag's glibc {limit}")
    for name in sorted(without_symbol):
        if glibc_version(name) > limit:
            found.append(f"needs version {name}, which is newer than the tag's glibc {limit}")
    return found


def glibc_version(name: str) -> tuple[int, ...]:
    """Returns a version's number. Other libraries' versions count as newest, and are refused."""
    number = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)+)", name)
    return tuple(map(int, number[1].split("."))) if number else (sys.maxsize,)
