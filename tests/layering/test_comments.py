"""Comments and docstrings begin with their subject or their verb.

A comment that begins with "Of" or "That" hangs in the air: the reader has to find out of what.
"""

import subprocess
from pathlib import Path

import pytest

from tests.layering.comments import comments_of

_ROOT = Path(__file__).resolve().parents[2]
_OPENINGS = {"Of", "That", "Where", "Whether", "Which", "What", "How", "Why", "Who", "Whose", "As"}
_KINDS = (
    "*.py",
    "*.pyi",
    "*.cc",
    "*.S",
    "*.h",
    "*.hpp",
    "*.cu",
    "*.inc",
    "*.bzl",
    "*BUILD",
    "*.sh",
    "Makefile",
    "*.cmake",
)


def _dangling(file: Path, text: str) -> list[str]:
    found = [(number, line) for number, line in comments_of(file, text) if line.strip()]
    return [f"{file}:{number}: {line}" for number, line in found if line.split()[0] in _OPENINGS]


def _sources() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *_KINDS],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [Path(name) for name in listed.stdout.split() if (_ROOT / name).is_file()]


def test_comments_do_not_begin_with_a_dangling_word() -> None:
    sources = _sources()
    found = [line for file in sources for line in _dangling(file, (_ROOT / file).read_text())]
    assert sources
    assert not found, "\n".join(["begin these with a subject or a verb:", *found])


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.cc", "int a;  // of all\n\n// Of each row.\n// Of no row.\nint b;\n", [3]),
        ("a.h", "// Returns it.\n\n//   Whether it is.\n", [3]),
        ("BUILD", "# What is there.\n", [1]),
        (
            "a.py",
            '"""That of a row."""\n\n\ndef f():\n    """Of rows."""\n    # As told.\n',
            [1, 5, 6],
        ),
        ("a.py", 'TEXT = """\n# Of no comment\n"""\n', []),
        ("a.py", "# Offers a row.\n", []),
    ],
)
def test_the_openings_are_found(name: str, text: str, lines: list[int]) -> None:
    assert [int(line.split(":")[1]) for line in _dangling(Path(name), text)] == lines
