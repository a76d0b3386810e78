"""Fails if a wheel's libraries need more than its tag promises: check_wheel.py WHEEL...

Prints what each needs. Reads the libraries with binutils' readelf, which knows all machines, and
asks those for this machine for their version.
"""

import ctypes
import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Library:
    """What a library must be.

    Attributes:
        path: In the wheel.
        exports: What its exports must be named like.
        must_export: What others look for in it.
        version: The function that tells it, which is one of these.
        largest: Bytes, which it has fewer of.
    """

    path: str
    exports: str
    must_export: frozenset[str]
    version: str
    largest: int


LIBRARIES = (
    Library(
        "larq_engine/liblarq_engine.so",
        r"(larq_engine|tflite_plugin)_|LiteRtAcceleratorImpl$",
        frozenset(
            {
                "LiteRtAcceleratorImpl",
                "larq_engine_version",
                "tflite_plugin_create_delegate",
                "tflite_plugin_destroy_delegate",
            }
        ),
        "larq_engine_version",
        1_200_000,  # of which 100,000 are what drives GPUs
    ),
    Library(
        "larq_engine/liblarq_engine_cuda.so",
        r"larq_engine_cuda_(image|version)$",
        frozenset({"larq_engine_cuda_image", "larq_engine_cuda_version"}),
        "larq_engine_cuda_version",
        1_500_000,  # the kernels for seven chips, and PTX
    ),
)
ROOT = Path(__file__).parents[1]
# What C and C++ programs need beside them, what the report's page is made of, and devices.
OTHER_FILES = {
    *(str(file.relative_to(ROOT)) for file in ROOT.glob("larq_engine/placing/devices/*.json")),
    "larq_engine/cmake/larq_engine-config.cmake",
    "larq_engine/reporting/page.css",
    "larq_engine/reporting/page.html",
    "larq_engine/reporting/page.js",
    "larq_engine/runtime/larq_engine.h",
}
WHEEL = re.compile(
    r"larq_engine-(?P<version>[^-]+)-py3-none-manylinux_(?P<major>\d+)_(?P<minor>\d+)_(?P<machine>x86_64|aarch64)\.whl"
)
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0"}


def problems(wheel: Path) -> list[str]:
    tag = WHEEL.fullmatch(wheel.name)
    if tag is None:
        return [f"name: expected {WHEEL.pattern}"]
    limit = (int(tag["major"]), int(tag["minor"]))
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        files = set(archive.namelist())
        expected = OTHER_FILES | {library.path for library in LIBRARIES}
        found = [f"lacks {name}" for name in sorted(expected - files)]
        print(f"{wheel.name}: {wheel.stat().st_size} bytes")
        for library in LIBRARIES:
            if library.path in files:
                file = Path(archive.extract(library.path, folder))
                said = problems_of_library(library, file, tag["machine"], limit)
                if not said and tag["machine"] == platform.machine():
                    said = version_problems(library, file, tag["version"])
                found += [f"{file.name}: {problem}" for problem in said]
    return found


def problems_of_library(
    library: Library, file: Path, machine: str, limit: tuple[int, int]
) -> list[str]:
    size = file.stat().st_size
    shown = ["--file-header", "--sections", "--dynamic", "--dyn-syms", "--version-info"]
    elf = subprocess.run(
        ["readelf", "--wide", *shown, file],
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
    newest = max(map(glibc_version, versions), default=(0,))
    print(
        f"  {file.name}: {size} bytes, needs {' '.join(sorted(needed))} of glibc"
        f" {'.'.join(map(str, newest))}"
    )

    found = []
    if f"Library soname: [{file.name}]" not in elf:
        found.append(f"has no soname {file.name}")
    if f"Machine:                           {MACHINES[machine]}" not in elf:
        found.append(f"is for another machine than {machine}")
    if size >= library.largest:
        found.append(f"size: expected less than {library.largest} bytes, got {size}")
    if ".symtab" in elf:
        found.append("is not stripped")
    if needed - SYSTEM_LIBRARIES:
        found.append(f"needs {needed - SYSTEM_LIBRARIES}; expected none but {SYSTEM_LIBRARIES}")
    for name in sorted(asked):
        if glibc_version(name.split("@")[1]) > limit:
            found.append(f"refers to {name}, which is newer than the tag's glibc {limit}")
    for name in sorted(without_symbol):
        if glibc_version(name) > limit:
            found.append(f"needs version {name}, which is newer than the tag's glibc {limit}")
    for name in sorted(exported):
        if not re.match(library.exports, name):
            found.append(f"exports {name}")
    for name in sorted(library.must_export - exported):
        found.append(f"does not export {name}")
    return found


def version_problems(library: Library, file: Path, version: str) -> list[str]:
    tell = getattr(ctypes.CDLL(str(file)), library.version)
    tell.restype = ctypes.c_char_p
    told = tell().decode()
    return [] if told == version else [f"{library.version}: expected {version}, got {told}"]


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
