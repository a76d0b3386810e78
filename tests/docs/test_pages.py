"""The Python of the documents runs; pages.py says with what."""

from pathlib import Path

import pytest

from tests.docs import pages
from tests.docs.documents import DOCUMENTS, ROOT, blocks

_TUTORIAL = ROOT / "docs" / "tutorial.md"


def test_each_block_is_run_somewhere_or_it_is_said_why_not() -> None:
    groups = (pages.QUICK, pages.SLOW, pages.KERAS, pages.TORCH, pages.RAY, pages.WEB)
    run = [snippet.key for group in groups for snippet in group]
    found = [
        (str(document.relative_to(ROOT)), number)
        for document in DOCUMENTS
        if document != _TUTORIAL
        for number in range(len(blocks(document, "python")))
    ]
    assert sorted([*run, *pages.NOT_RUN]) == sorted(found)


@pytest.mark.parametrize("snippet", pages.QUICK, ids=str)
def test_python_of_a_page_runs(snippet: pages.Snippet, tmp_path: Path) -> None:
    pages.check(snippet, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("snippet", pages.SLOW, ids=str)
def test_python_that_measures_runs(snippet: pages.Snippet, tmp_path: Path) -> None:
    pages.check(snippet, tmp_path)
