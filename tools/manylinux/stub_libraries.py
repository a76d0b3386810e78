"""Makes the libraries that a wheel's plug-in is linked with, in place of this machine's glibc.

    stub_libraries.py COMPILER FOLDER

A library that is linked with today's glibc asks for today's symbol versions, and runs nowhere
older. A stub has the names of the compiler's glibc and no code: each name in the newest version
that glibc 2.28 had, in the library that had it then. Names that glibc 2.28 lacked are missing, so
using one fails to link.
"""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

NEWEST = (2, 28)

# glibc 2.32 to 2.34 moved libraries into libc, where their names have an old and a new version.
# Other names with both (librt's, libresolv's) are left out: the plug-in uses none of them. What
# starts a program has two versions as well, and was always in libc (constructors.cc).
MOVED = {
    "libc": re.compile(r"__libc_start_main$"),
    "libpthread": re.compile(r"(__)?(pthread|sem)_"),
    "libdl": re.compile(r"dl[a-z]"),
}

# Stub: (soname, the files whose names it has). The loader's names are in the stub of libc, which
# needs the loader: so the plug-in need not name a file whose name differs by architecture.
LOADERS = ("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld-linux-armhf.so.3")
STUBS = {
    "libc": ("libc.so.6", ["libc.so.6", *LOADERS]),
    "libm": ("libm.so.6", ["libm.so.6"]),
    "libpthread": ("libpthread.so.0", ["libc.so.6"]),
    "libdl": ("libdl.so.2", ["libc.so.6"]),
}

SYMBOL = re.compile(
    r" (?P<kind>FUNC|IFUNC|OBJECT) +(GLOBAL|WEAK) +DEFAULT +\d+"
    r" (?P<name>\w+)@@?(?P<version>GLIBC_2[.\d]+)$",
    re.MULTILINE,
)


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.removeprefix("GLIBC_").split("."))


def symbols(path: str) -> dict[str, tuple[str, list[str]]]:
    """Returns {name: (kind, its versions in ascending order)}."""
    listing = subprocess.run(
        ["readelf", "-W", "--dyn-syms", path], check=True, capture_output=True, text=True
    ).stdout
    kinds: dict[str, str] = {}
    versions: dict[str, list[str]] = defaultdict(list)
    for match in SYMBOL.finditer(listing):
        kinds[match["name"]] = match["kind"]
        versions[match["name"]].append(match["version"])
    return {name: (kinds[name], sorted(versions[name], key=number)) for name in kinds}


def home(name: str, versions: list[str]) -> str | None:
    """Returns the stub that has a name of libc.so.6; None if no stub has it."""
    if number(versions[-1]) <= NEWEST:
        return "libc"
    return next((stub for stub, moved in MOVED.items() if moved.match(name)), None)


def assembly(chosen: list[tuple[str, str, str]]) -> tuple[str, str]:
    """Returns the source of a library with each (name, kind, version), and its version script."""
    lines = [".data"]
    for i, (name, kind, version) in enumerate(chosen):
        lines += [
            f".globl s{i}",
            f".type s{i}, %{'object' if kind == 'OBJECT' else 'function'}",
            f"s{i}: .byte 0",
            f".size s{i}, 1",
            f".symver s{i}, {name}@@@{version}",
        ]
    nodes = sorted({version for _, _, version in chosen}, key=number)
    return "\n".join(lines) + "\n", "".join(f"{node} {{ }};\n" for node in nodes)


def main(compiler: str, folder: Path) -> None:
    for stub, (soname, sources) in STUBS.items():
        chosen = []
        for source in sources:
            path = subprocess.run(
                [compiler, f"-print-file-name={source}"], check=True, capture_output=True, text=True
            ).stdout.strip()
            if not Path(path).is_absolute():  # the compiler has no such file
                continue
            for name, (kind, versions) in symbols(path).items():
                old = [version for version in versions if number(version) <= NEWEST]
                if old and (source != "libc.so.6" or home(name, versions) == stub):
                    chosen.append((name, kind, old[-1]))
        if not chosen:
            sys.exit(f"error: {compiler} has no {sources[0]} of glibc with symbols of {NEWEST}")
        code, script = assembly(chosen)
        (folder / f"{stub}.s").write_text(code)
        (folder / f"{stub}.map").write_text(script)
        command = [compiler, "-shared", "-nostdlib", f"-Wl,-soname,{soname}"]
        command += [f"-Wl,--version-script,{folder / stub}.map", f"{folder / stub}.s"]
        subprocess.run([*command, "-o", folder / f"{stub}.so"], check=True)


main(sys.argv[1], Path(sys.argv[2]))
