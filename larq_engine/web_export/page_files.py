"""Collects the files of pages: those that a page's first script needs, and no others."""

import gzip
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

from larq_engine.reporting.palette import style_sheet

_HERE = Path(__file__).parent
_PARTS = ("engine", "page")

# Pages run a model in one thread, and never ask for what more threads need.
_FOR_THREADS = ("engine/dist/helper.js", "engine/wasm/larq_engine_threads.wasm")

# A page loads one module, and this one only in browsers that lack SIMD.
_OTHER_MODULE = "engine/wasm/larq_engine_plain.wasm"

# Scripts name in these forms the modules that they import, workers and WebAssembly modules.
_NAMES = re.compile(
    r'^(?:im|ex)port\b[^;]*?"(\.[^"]+)"|new URL\(\s*"(\.[^"]+)",\s*import\.meta\.url',
    re.MULTILINE,
)

# A server must compress these to save bytes; pictures and models would not shrink.
_COMPRESSED = (".css", ".html", ".js", ".json", ".svg", ".wasm")


def shared_files() -> dict[str, bytes]:
    """Returns the content of all files that pages share, by their paths on a page's server."""
    paths = [path for part in _PARTS for path in (_HERE / part).rglob("*") if path.is_file()]
    files = {path.relative_to(_HERE).as_posix(): path.read_bytes() for path in sorted(paths)}
    colours = style_sheet().encode()
    return files | {"page/page.css": colours + b"\n\n" + files["page/page.css"]}


def needed_files(files: Mapping[str, bytes], *names: str) -> dict[str, bytes]:
    """Returns the files of these names, and all that scripts among them lead to.

    Raises:
        FileNotFoundError: The engine for browsers was not built, or not all of it.
    """
    found: dict[str, bytes] = {}
    todo = list(names)
    while todo:
        name = todo.pop()
        if name in found or name in _FOR_THREADS:
            continue
        if name not in files:
            raise FileNotFoundError(
                f"engine for browsers: expected the file '{_HERE / name}', got nothing of that "
                "name; build it with `make web` in a clone of larq_engine, or install a wheel, "
                "which has it"
            )
        found[name] = files[name]
        if name.endswith(".js"):
            named = (a or b for a, b in _NAMES.findall(files[name].decode()))
            todo += [posixpath.normpath(posixpath.join(posixpath.dirname(name), n)) for n in named]
    return dict(sorted(found.items()))


def sent_bytes(files: Mapping[str, bytes]) -> int:
    """Returns how many bytes a server that compresses with gzip sends a browser of today."""
    return sum(
        len(gzip.compress(content, mtime=0)) if name.endswith(_COMPRESSED) else len(content)
        for name, content in files.items()
        if name != _OTHER_MODULE
    )
