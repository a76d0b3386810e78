"""Gathers the pages of the site: `python tools/docs_site.py FOLDER`; `make docs` builds it.

The documents are written for readers of the repository. On the site, a link leads to another page
or to a picture; of a link to a file that the site does not have, only the path is left. Two pages
are made here: one of the Python package's names, and one of the command line.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import sys
from pathlib import Path

import larq_engine
from larq_engine.command_line import main as larq_engine_command

ROOT = Path(__file__).resolve().parent.parent

# Documents of the repository, with their names on the site.
PAGES = {
    ROOT / "README.md": "index.md",
    **{page: page.name for page in sorted((ROOT / "docs").glob("*.md"))},
    **{page: f"decisions/{page.name}" for page in sorted((ROOT / "docs/decisions").glob("*.md"))},
    **{ROOT / f"{name}.md": f"{name.lower()}.md" for name in ("ARCHITECTURE", "CHANGELOG")},
    **{ROOT / f"{name}.md": f"{name.lower()}.md" for name in ("CONTRIBUTING", "SECURITY")},
}
PICTURES = ROOT / "docs" / "images"
WORKER = ROOT / "tools" / "iframe-worker.js"
STYLE = ROOT / "tools" / "site.css"
# The start of the live page, to which a card leads; tools/live_page.py adds what it runs.
LIVE_PAGE = ROOT / "web" / "live" / "index.html"

# Modules that are imported by themselves, whose names the page has beside the package's own.
MODULES = {
    "larq_engine.batch": ("Predictor",),
    "larq_engine.keras.layers": (),
    "larq_engine.keras.quantizers": (),
    "larq_engine.keras.optimizers": (),
    "larq_engine.testing": ("Interpreter",),
    "larq_engine.tflite": ("Interpreter",),
}
COMMANDS = (
    *("convert", "inspect", "profile", "place", "report"),
    *("export-weights", "export-c", "export-verilog", "export-web"),
    *("example", "about", "accelerator"),
)

# Pages that the first page shows as cards, with what a reader finds there; it has them before its
# first heading below the title.
CARDS = (
    ("Your first model", "tutorial.md", "Train, convert and run a small network."),
    ("Try it here", "live/index.html", "Draw a digit, speak a word, measure this browser."),
    ("Convert a model", "converter.md", "From Keras, PyTorch, ONNX, a SavedModel or `.tflite`."),
    ("Make it fast", "designing.md", "Rules for networks that are fast, and why."),
    ("Find what takes time", "profile.md", "Each operator's time, on each device."),
    ("Run it on a device", "deployment.md", "Raspberry Pi, Android, programs in C and C++."),
    ("Get help", "troubleshooting.md", "Messages, and what to do about each."),
)

_BLOCK = re.compile(r"^(```.*?^```)$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^()\s]+)\)")


def gather(folder: Path) -> None:
    """Writes all pages to a folder, replacing its contents."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for source, name in PAGES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        page = page_of(source)
        if name == "index.md":
            introduction, heading, rest = page.partition("\n## ")
            page = f"{introduction}\n{cards()}{heading}{rest}"
        (folder / name).write_text(page)
    shutil.copytree(PICTURES, folder / PICTURES.name)
    for file in (WORKER, STYLE):
        shutil.copy(file, folder)
    (folder / "live").mkdir()
    shutil.copy(LIVE_PAGE, folder / "live")
    (folder / "api.md").write_text(api_page())
    (folder / "command_line.md").write_text(command_line_page())


def page_of(source: Path) -> str:
    """Returns the document with links as they are on the site."""
    parts = _BLOCK.split(source.read_text())
    parts[::2] = [_LINK.sub(lambda link: _relink(source, link), part) for part in parts[::2]]
    return "".join(parts)


def _relink(source: Path, link: re.Match[str]) -> str:
    mark, text, address = link.groups()
    if re.match(r"[a-z]+:", address) or address.startswith("#"):
        return link[0]
    name, hash_, anchor = address.partition("#")
    target = Path(os.path.normpath(source.parent / name))
    here = os.path.dirname(PAGES[source])
    if target in PAGES:
        return f"{mark}[{text}]({os.path.relpath(PAGES[target], here)}{hash_}{anchor})"
    if target.is_relative_to(PICTURES):
        picture = target.relative_to(PICTURES.parent)
        return f"{mark}[{text}]({os.path.relpath(picture, here)})"
    path = target.relative_to(ROOT).as_posix()
    return f"`{path}`" if path.endswith(text.strip("`")) else f"{text} (`{path}`)"


def cards() -> str:
    items = (f"-   **[{title}]({page})**\n\n    {text}\n" for title, page, text in CARDS)
    return '<div class="grid cards" markdown>\n\n' + "\n".join(items) + "\n</div>\n"


def api_page() -> str:
    """Returns the names of the package; the site's builder reads their texts from the sources."""
    lines = ["# Python", ""]
    lines += [f"::: larq_engine.{name}\n" for name in larq_engine.__all__ if name[0] != "_"]
    for module, names in MODULES.items():
        lines += [f"::: {module}.{name}\n" for name in names] or [f"::: {module}\n"]
    return "\n".join(lines)


def command_line_page() -> str:
    """Returns the output of `--help` for each command."""
    sections = ["# Command line\n"]
    for command in COMMANDS:
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
            larq_engine_command([command, "--help"])
        sections.append(f"## larq-engine {command}\n\n```\n{text.getvalue().rstrip()}\n```\n")
    return "\n".join(sections)


if __name__ == "__main__":
    gather(Path(sys.argv[1]))
