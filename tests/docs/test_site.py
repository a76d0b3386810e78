"""The site has all documents, and links between its pages hold."""

import re
from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.docs.test_links import find_broken
from tools.docs_site import CARDS, COMMANDS, PAGES, gather


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    gather(folder)
    return folder


def test_each_page_is_in_the_menu_once(site: Path) -> None:
    """The index of the decisions stands in the menu for all of them."""
    menu = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    pages = [*(page.name for page in site.glob("*.md")), "decisions/index.md"]
    assert sorted(re.findall(r"[\w/-]+\.md", menu)) == sorted(pages)


def test_links_between_pages_hold(site: Path) -> None:
    broken = {str(page): find_broken(page) for page in sorted(site.rglob("*.md"))}
    assert {name: links for name, links in broken.items() if links} == {}


def test_what_the_site_does_not_have_is_a_path(site: Path) -> None:
    """Links to files that the site lacks become paths, and links between its pages stay."""
    contributing = (site / "contributing.md").read_text()
    assert "`larq_engine/kernels/binary/bgemm.h`" in contributing
    assert "](converter_internals.md#adding-a-rule)" in contributing
    decision = (site / "decisions" / "0019-cuda-is-opened-not-linked.md").read_text()
    assert "](../gpu.md)" in decision
    assert "- `larq_engine/runtime/cuda/driver.h`" in decision
    assert set(PAGES.values()) <= {str(page.relative_to(site)) for page in site.rglob("*.md")}


def test_the_first_page_shows_cards(site: Path) -> None:
    start = (site / "index.md").read_text().partition("\n## ")[0]
    assert '<div class="grid cards" markdown>' in start
    assert all(f"**[{title}]({page})**" in start for title, page, _ in CARDS)


def test_each_command_is_described(site: Path) -> None:
    text = (site / "command_line.md").read_text()
    for command in COMMANDS:
        assert f"usage: larq-engine {command} " in text
