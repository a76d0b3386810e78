"""The site has all documents, and links between its pages hold."""

import re
from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.docs.test_links import find_broken
from tools.docs_site import COMMANDS, PAGES, gather


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    gather(folder)
    return folder


def test_each_page_is_in_the_menu_once(site: Path) -> None:
    menu = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    assert sorted(re.findall(r"[\w-]+\.md", menu)) == sorted(
        page.name for page in site.glob("*.md")
    )


def test_links_between_pages_hold(site: Path) -> None:
    broken = {page.name: find_broken(page) for page in sorted(site.glob("*.md"))}
    assert {name: links for name, links in broken.items() if links} == {}


def test_what_the_site_does_not_have_is_a_path(site: Path) -> None:
    """Links to files that the site lacks become paths, and links between its pages stay."""
    contributing = (site / "contributing.md").read_text()
    assert "`larq_engine/kernels/bgemm.h`" in contributing
    assert "](converter_internals.md#adding-a-rule)" in contributing
    assert set(PAGES.values()) <= {page.name for page in site.iterdir()}


def test_each_command_is_described(site: Path) -> None:
    text = (site / "command_line.md").read_text()
    for command in COMMANDS:
        assert f"usage: larq-engine {command} " in text
