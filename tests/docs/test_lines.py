"""Lines of the documents are as short as those of the code, and pages can be read in one go."""

from pathlib import Path

import pytest

from tests.docs.documents import DOCUMENTS, ROOT, without_code

_MAX_LENGTH = 100
# Lines that cannot be broken: rows of tables, headings, pictures.
_UNBROKEN = ("|", "#", "![")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_lines_are_short(document: Path) -> None:
    lines = without_code(document).splitlines()
    long = [
        line
        for line in lines
        if len(line) > _MAX_LENGTH and not line.lstrip().startswith(_UNBROKEN)
    ]
    assert long == []


# More than a quarter of an hour of reading; tables and code are looked into, not read.
_MOST_WORDS = 2500


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_pages_are_short(document: Path) -> None:
    lines = without_code(document).splitlines()
    words = [word for line in lines if not line.lstrip().startswith("|") for word in line.split()]
    assert len(words) <= _MOST_WORDS
