"""Finds problems of a library for macOS or Windows, which Linux cannot load."""

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lief

# Numbers of Mach-O's code signature, as in <mach-o/codesign.h>; they are big-endian.
_EMBEDDED_SIGNATURE = 0xFADE0CC0
_CODE_DIRECTORY = 0xFADE0C02
_AD_HOC = 2
_SHA256 = 2

# zig's linker exports these names, which the system's C++ library has as well: both call malloc.
# The last two are the linker's own.
_CPP_OPERATORS = ("__Znw", "__Zna", "__Zdl", "__Zda", "__mh_dylib_header", "___dso_handle")

lief.logging.disable()  # it reports empty tables as errors

_WINDOWS_LIBRARIES = ("KERNEL32.dll", "api-ms-win-crt-")  # of Windows 10 and newer


@dataclass(frozen=True)
class Found:
    """The exports of a library, and its problems."""

    exports: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()


def look_at_macos(file: Path, minimum: tuple[int, int]) -> Found:
    """Checks a library; `minimum` is the oldest macOS that its wheel's tag promises."""
    fat = lief.MachO.parse(str(file))
    library = fat.at(0) if fat is not None and len(fat) == 1 else None
    if library is None:
        return Found(problems=("is no library for one CPU of macOS",))
    names = (str(symbol.name) for symbol in library.exported_symbols)
    exports = frozenset(name[1:] for name in names if not name.startswith(_CPP_OPERATORS))
    return Found(exports, tuple(_macos_problems(file, library, minimum)))


def look_at_windows(file: Path) -> Found:
    library = lief.PE.parse(str(file))
    if library is None:
        return Found(problems=("is no library for Windows",))
    table = library.get_export()
    exports = frozenset(str(entry.name) for entry in table.entries) if table else frozenset()
    return Found(exports, tuple(_windows_problems(library)))


def _macos_problems(
    file: Path, library: lief.MachO.Binary, minimum: tuple[int, int]
) -> Iterator[str]:
    if library.header.cpu_type != lief.MachO.Header.CPU_TYPE.ARM64:
        yield f"is for another CPU than arm64: {library.header.cpu_type}"
    if library.header.file_type != lief.MachO.Header.FILE_TYPE.DYLIB:
        yield f"is no library but {library.header.file_type}"
    own, *needed = [command.name for command in library.libraries]
    if own != f"@rpath/{file.name}":
        yield f"install name: expected @rpath/{file.name}, got {own}"
    if needed != ["/usr/lib/libSystem.B.dylib"]:
        yield f"needs {needed}; expected libSystem alone"
    built_for = library.build_version
    if built_for is None or tuple(built_for.minos[:2]) != minimum:
        yield f"system: expected {minimum} or newer, got {built_for and built_for.minos}"
    yield from _signature_problems(file, library)


def _signature_problems(file: Path, library: lief.MachO.Binary) -> Iterator[str]:
    """Finds problems of the ad-hoc signature, without which Macs run no code for arm64."""
    signature = library.code_signature if library.has_code_signature else None
    if signature is None:
        yield "has no code signature"
        return
    content = file.read_bytes()
    start = signature.data_offset
    magic, _, count = struct.unpack_from(">III", content, start)
    if magic != _EMBEDDED_SIGNATURE:
        yield f"code signature: expected {_EMBEDDED_SIGNATURE:#x}, got {magic:#x}"
        return
    offsets = [struct.unpack_from(">II", content, start + 12 + 8 * i)[1] for i in range(count)]
    directories = [
        start + offset
        for offset in offsets
        if struct.unpack_from(">I", content, start + offset)[0] == _CODE_DIRECTORY
    ]
    if not directories:
        yield "code signature: has no directory of hashes"
    for directory in directories:
        flags, hashes, _, _, slots, limit = struct.unpack_from(">6I", content, directory + 12)
        size, kind, _, page_bits = struct.unpack_from(">4B", content, directory + 36)
        if not flags & _AD_HOC:
            yield "code signature: expected one without a name (ad hoc)"
        if kind != _SHA256 or limit != start:
            yield f"code signature: expected SHA-256 of {start} bytes, got {kind} of {limit}"
            continue
        page = 1 << page_bits
        pages = [content[at : min(at + page, limit)] for at in range(0, limit, page)]
        signed = [content[directory + hashes + size * i :][:size] for i in range(slots)]
        if [hashlib.sha256(part).digest() for part in pages] != signed:
            yield "code signature: is not of these bytes"


def _windows_problems(library: lief.PE.Binary) -> Iterator[str]:
    if library.header.machine != lief.PE.Header.MACHINE_TYPES.AMD64:
        yield f"is for another machine than x86-64: {library.header.machine}"
    if not library.header.has_characteristic(lief.PE.Header.CHARACTERISTICS.DLL):
        yield "is no library but a program"
    kinds = lief.PE.OptionalHeader.DLL_CHARACTERISTICS
    for kind in (kinds.DYNAMIC_BASE, kinds.HIGH_ENTROPY_VA, kinds.NX_COMPAT):
        if not library.optional_header.has(kind):
            yield f"lacks {kind.name}"
    needed = sorted(str(module.name) for module in library.imports)
    others = [name for name in needed if not name.startswith(_WINDOWS_LIBRARIES)]
    if others:
        yield f"needs {others}; expected Windows' own alone"
