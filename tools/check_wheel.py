"""Fails if a wheel's libraries need more than its tag promises: check_wheel.py WHEEL...

It prints what each library needs, and asks libraries for this machine for their version.
"""

import ctypes
import platform
import re
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from check_program import MACHINES
from elf import read_elf
from glibc import glibc_problems, newest_needed
from other_systems import look_at_macos, look_at_windows


@dataclass(frozen=True)
class Library:
    """A library, with what is expected of it.

    Attributes:
        path: The library's path in the wheel.
        exports: The pattern that the names of its exports match.
        must_export: Names that the library must export, because hosts or the plug-in look for them.
        version: The name of the export that returns its version.
        largest: A size in bytes that it must stay below.
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
        2_400_000,  # The README says about 2 MB; 2,191,000 are used on x86-64.
    ),
    Library(
        "larq_engine/liblarq_engine_cuda.so",
        r"larq_engine_cuda_(image|version)$",
        frozenset({"larq_engine_cuda_image", "larq_engine_cuda_version"}),
        "larq_engine_cuda_version",
        # The kernels for seven chips, and PTX, are 1,572,000 compressed, and nine times that
        # otherwise. The rest, the C++ runtime and padding, is 102,000 on x86-64 and slightly more
        # on ARM.
        1_800_000,
    ),
)
ROOT = Path(__file__).parents[1]
# Files for C and C++ programs, of pages, and of devices.
OTHER_FILES = {
    *(str(file.relative_to(ROOT)) for file in ROOT.glob("larq_engine/placing/devices/*.json")),
    *(str(file.relative_to(ROOT)) for file in ROOT.glob("larq_engine/web_export/page/*")),
    "larq_engine/cmake/larq_engine-config-version.cmake",
    "larq_engine/cmake/larq_engine-config.cmake",
    "larq_engine/reporting/page.css",
    "larq_engine/reporting/page.html",
    "larq_engine/reporting/page.js",
    "larq_engine/runtime/larq_engine.h",
    "larq_engine/runtime/larq_engine_model.h",
    "larq_engine/runtime/larq_engine_model.hpp",
    "larq_engine/runtime/litert_abi.h",
    *(
        f"larq_engine/web_export/engine/dist/{name}.js"
        for name in ("helper", "helper_node", "index", "node", "worker", "worker_node")
    ),
    *(
        f"larq_engine/web_export/engine/wasm/larq_engine{kind}.wasm"
        for kind in ("", "_plain", "_threads")
    ),
}
# The files of `larq-engine export-web` stay below so many bytes, as the wheel compresses them.
WEB_EXPORT, WEB_EXPORT_BYTES = "larq_engine/web_export/", 1_200_000
SCRIPTS = f"{WEB_EXPORT}engine/dist/"
WHEEL = re.compile(
    r"larq_engine-(?P<version>[^-]+)-py3-none-manylinux_(?P<major>\d+)_(?P<minor>\d+)_(?P<machine>x86_64|aarch64|armv7l)\.whl"
)
ELSEWHERE = re.compile(
    r"larq_engine-[^-]+-py3-none-(macosx_(?P<major>\d+)_(?P<minor>\d+)_arm64|win_amd64)\.whl"
)
# Machines for which NVIDIA has no driver, so the plug-in is their only library.
WITHOUT_GPUS = ("armv7l",)


def problems(wheel: Path) -> list[str]:
    elsewhere = ELSEWHERE.fullmatch(wheel.name)
    if elsewhere:
        return problems_elsewhere(wheel, elsewhere)
    tag = WHEEL.fullmatch(wheel.name)
    if tag is None:
        return [f"name: expected {WHEEL.pattern} or {ELSEWHERE.pattern}"]
    limit = (int(tag["major"]), int(tag["minor"]))
    libraries = LIBRARIES[:1] if tag["machine"] in WITHOUT_GPUS else LIBRARIES
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        files = set(archive.namelist())
        found = file_problems(files, {library.path for library in libraries})
        found += web_export_problems(archive)
        print(f"{wheel.name}: {wheel.stat().st_size} bytes")
        for library in libraries:
            if library.path in files:
                file = Path(archive.extract(library.path, folder))
                said = problems_of_library(library, file, tag["machine"], limit)
                if not said and tag["machine"] == platform.machine():
                    said = version_problems(library, file, tag["version"])
                found += [f"{file.name}: {problem}" for problem in said]
    return found


def file_problems(files: set[str], libraries: set[str]) -> list[str]:
    native = {name for name in files if name.endswith((".dll", ".dylib", ".so"))}
    found = [f"lacks {name}" for name in sorted((OTHER_FILES | libraries) - files)]
    return found + [f"has {name}" for name in sorted(native - libraries)]


def web_export_problems(archive: zipfile.ZipFile) -> list[str]:
    sizes = {i.filename: i.compress_size for i in archive.infolist()}
    total = sum(size for name, size in sizes.items() if name.startswith(WEB_EXPORT))
    more = {name for name in sizes if name.startswith(SCRIPTS)} - OTHER_FILES
    found = [f"{SCRIPTS}: expected bundles, got {min(more)}"] if more else []
    if total >= WEB_EXPORT_BYTES:
        found.append(f"{WEB_EXPORT}: expected less than {WEB_EXPORT_BYTES} bytes, got {total}")
    return found


def problems_elsewhere(wheel: Path, tag: re.Match[str]) -> list[str]:
    """Returns the problems of a wheel for macOS or Windows, whose only library is the plug-in."""
    plug_in = LIBRARIES[0]
    name = "liblarq_engine.dylib" if tag["major"] else "larq_engine.dll"
    path = f"larq_engine/{name}"
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        files = set(archive.namelist())
        print(f"{wheel.name}: {wheel.stat().st_size} bytes")
        lacking = file_problems(files, {path}) + web_export_problems(archive)
        if path not in files:
            return lacking
        file = Path(archive.extract(path, folder))
        size = file.stat().st_size
        print(f"  {name}: {size} bytes, never loaded on this system")
        if tag["major"]:
            found = look_at_macos(file, (int(tag["major"]), int(tag["minor"])))
        else:
            found = look_at_windows(file)
    said = [*found.problems, *export_problems(plug_in, found.exports)]
    if size >= 1.3 * plug_in.largest:  # it contains a C++ library
        said.append(f"size: expected less than {1.3 * plug_in.largest:.0f} bytes, got {size}")
    return lacking + [f"{name}: {problem}" for problem in said]


def export_problems(library: Library, exports: frozenset[str]) -> list[str]:
    found = [f"exports {name}" for name in sorted(exports) if not re.match(library.exports, name)]
    return found + [f"does not export {name}" for name in sorted(library.must_export - exports)]


def problems_of_library(
    library: Library, file: Path, machine: str, limit: tuple[int, int]
) -> list[str]:
    size = file.stat().st_size
    try:
        elf = read_elf(file)
    except ValueError as error:
        return [str(error)]
    print(
        f"  {file.name}: {size} bytes, needs {' '.join(sorted(elf.needed))} of glibc"
        f" {'.'.join(map(str, newest_needed(elf)))}"
    )

    found = []
    if elf.soname != file.name:
        found.append(f"has no soname {file.name}")
    if elf.machine != MACHINES[machine]:
        found.append(f"is for another machine than {machine}")
    if size >= library.largest:
        found.append(f"size: expected less than {library.largest} bytes, got {size}")
    if not elf.is_stripped:
        found.append("is not stripped")
    found += glibc_problems(elf, limit)
    return found + export_problems(library, elf.exports)


def version_problems(library: Library, file: Path, version: str) -> list[str]:
    tell = getattr(ctypes.CDLL(str(file)), library.version)
    tell.restype = ctypes.c_char_p
    found = tell().decode()
    return [] if found == version else [f"{library.version}: expected {version}, got {found}"]


failed = False
for argument in sys.argv[1:]:
    for problem in problems(Path(argument)):
        print(f"error: {argument}: {problem}", file=sys.stderr)
        failed = True
sys.exit(failed)
