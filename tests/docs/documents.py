"""Finds the project's documents and their blocks of code."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("docs/decisions/*.md")),
    *sorted(ROOT.glob("examples/**/*.md")),
]
_CODE = re.compile(r"^```(.*?)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks(document: Path, *languages: str) -> list[str]:
    """Returns the blocks of code in one of these languages; "" is for blocks that name none."""
    return [code for language, code in _CODE.findall(document.read_text()) if language in languages]


def without_code(document: Path) -> str:
    return _CODE.sub("", document.read_text())
