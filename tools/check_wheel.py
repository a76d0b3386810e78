"""Fails if a wheel's library needs more than its tag promises: check_wheel.py WHEEL...

Prints what each needs. Reads the library with binutils' readelf, which knows all machines.
"""

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LIBRARY = "larq_engine/liblarq_engine.so"
# What C and C++ programs need beside it.
DEVELOPERS_FILES = {
    "larq_engine/runtime/larq_engine.h",
    "larq_engine/cmake/larq_engine-config.cmake",
}
WHEEL = re.compile(
    r"larq_engine-[^-]+-py3-none-manylinux_(?P<major>\d+)_(?P<minor>\d+)_(?P<machine>x86_64|aarch64)\.whl"
)
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"}
EXPORTS = re.compile(r"(larq_engine|tflite_plugin)_|LiteRtAcceleratorImpl$")
LARGEST = 1_200_000  # bytes, of which 100,000 are what drives GPUs


def problems(wheel: Path) -> list[str]:
    tag = WHEEL.fullmatch(wheel.name)
    if tag is None:
        return [f"name: expected {WHEEL.pattern}"]
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        library = archive.extract(LIBRARY, folder)
        missing = DEVELOPERS_FILES - set(archive.namelist())
        size = Path(library).stat().st_size
        shown = ["--file-header", "--sections", "--dynamic", "--dyn-syms", "--version-info"]
        elf = subprocess.run(
            ["readelf", "--wide", *shown, library],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | {"LC_ALL": "C"},
        ).stdout

    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", elf))
    symbols = re.findall(
        r"^ +\d+: \S+ +\S+ \w+ +(?:GLOBAL|WEAK) +\w+ +(\w+) (\S+)", elf, re.MULTILINE
    )
    asked = {name for section, name in symbols if section == "UND" and "@" in name}
    exported = {name for section, name in symbols if section != "UND"}
    # Some have no symbol: GLIBC_ABI_DT_RELR asks for a loader that knows packed relocations.
    versions = set(re.findall(r"^ +\w+: +Name: (\S+) +Flags:", elf, re.MULTILINE))
    without_symbol = versions - {name.split("@")[1] for name in asked}
    limit = (int(tag["major"]), int(tag["minor"]))
    newest = max(map(glibc_version, versions), default=(0,))
    print(
        f"{wheel.name}: {size} bytes, needs {' '.join(sorted(needed))} of glibc"
        f" {'.'.join(map(str, newest))}"
    )

    found = [f"lacks {name}" for name in sorted(missing)]
    if "Library soname: [liblarq_engine.so]" not in elf:
        found.append("the library has no soname liblarq_engine.so")
    if f"Machine:                           {MACHINES[tag['machine']]}" not in elf:
        found.append(f"the library is for another machine than {tag['machine']}")
    if size >= LARGEST:
        found.append(f"size: expected less than {LARGEST} bytes, got {size}")
    if ".symtab" in elf:
        found.append("the library is not stripped")
    if needed - LIBRARIES:
        found.append(f"needs {needed - LIBRARIES}; expected nothing but {LIBRARIES}")
    for name in sorted(asked):
        if glibc_version(name.split("@")[1]) > limit:
            found.append(f"refers to {name}, which is newer than the tag's glibc {limit}")
    for name in sorted(without_symbol):
        if glibc_version(name) > limit:
            found.append(f"needs version {name}, which is newer than the tag's glibc {limit}")
    for name in sorted(exported):
        if not EXPORTS.match(name):
            found.append(f"exports {name}")
    if not exported:
        found.append("exports nothing")
    return found


def glibc_version(name: str) -> tuple[int, ...]:
    """No other library's versions can be kept: they count as newer than all."""
    number = re.fullmatch(r"GLIBC_(\d+(?:\.\d+)+)", name)
    return tuple(map(int, number[1].split("."))) if number else (sys.maxsize,)


failed = False
for argument in sys.argv[1:]:
    for problem in problems(Path(argument)):
        print(f"error: {argument}: {problem}", file=sys.stderr)
        failed = True
sys.exit(failed)
