"""Links of the documents lead somewhere: to files of the project, and to titles in them."""

import re
from pathlib import Path

import pytest

from tests.docs.documents import DOCUMENTS, ROOT, without_code

_LINK = re.compile(r"\]\(([^()\s]+(?:\([^()\s]*\))?)\)")
_TITLE = re.compile(r"^#+ +(.*)$", re.MULTILINE)
_FULL_LINK = re.compile(r"(?<!!)\[([^\[\]]+)\]\(([^()\s]+)\)")
# Texts that do not say where a link leads.
_EMPTY_TEXT = re.compile(r"[\w/.]+\.md|here|how|link|more|this", re.IGNORECASE)


def anchors(document: Path) -> set[str]:
    """Returns what links may have behind `#`: titles in lower case, with dashes for spaces."""
    titles = _TITLE.findall(without_code(document))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def find_broken(document: Path) -> list[str]:
    """Returns links to places of the project that do not exist."""
    broken = []
    for link in _LINK.findall(without_code(document)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (document.parent / name) if name else document
        found = target.exists() and (not anchor or anchor in anchors(target))
        if not found:
            broken.append(link)
    return broken


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_links_hold(document: Path) -> None:
    assert find_broken(document) == []


def test_each_page_is_linked() -> None:
    """Nobody finds a page that no other page leads to."""
    linked = {
        (document.parent / link.partition("#")[0]).resolve()
        for document in DOCUMENTS
        for link in _LINK.findall(without_code(document))
        if not re.match(r"[a-z]+:", link)
    }
    pages = {document for document in DOCUMENTS if document.is_relative_to(ROOT / "docs")}
    assert pages - linked == set()


def test_broken_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "there.md").write_text("# A title, with `signs`!\n\n```\n# no title\n```\n")
    links = ["there.md", "there.md#a-title-with-signs", "https://example.org/x", "#here"]
    broken = ["gone.md", "there.md#no-title", "#gone"]
    document = tmp_path / "document.md"
    document.write_text("# Here\n" + "".join(f"[x]({link})\n" for link in links + broken))
    assert find_broken(document) == broken


def find_silent(document: Path) -> list[str]:
    """Returns texts of links that say nothing of the page that they lead to."""
    texts = (" ".join(text.split()) for text, _ in _FULL_LINK.findall(without_code(document)))
    return [text for text in texts if _EMPTY_TEXT.fullmatch(text)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_texts_of_links_say_where_they_lead(document: Path) -> None:
    assert find_silent(document) == []


def test_silent_links_are_found(tmp_path: Path) -> None:
    document = tmp_path / "document.md"
    texts = ["docs/from_onnx.md", "Here", "how"]
    kept = ["From ONNX", "examples/cpp", "how a release is made", "below"]
    document.write_text("".join(f"[{text}](there.md) " for text in texts + kept))
    assert find_silent(document) == texts
