"""Lines of the documents are no longer than those of the code."""

from pathlib import Path

import pytest

from tests.docs.documents import DOCUMENTS, ROOT, without_code

_MOST = 100
# Lines that cannot be broken: rows of tables, headings, pictures.
_WHOLE = ("|", "#", "![")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_lines_are_short(document: Path) -> None:
    lines = without_code(document).splitlines()
    long = [line for line in lines if len(line) > _MOST and not line.lstrip().startswith(_WHOLE)]
    assert long == []
