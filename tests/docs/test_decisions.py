"""Each decision has a number, a date and a line in the index."""

import re

import pytest

from tests.docs.documents import ROOT

_FOLDER = ROOT / "docs" / "decisions"
_RECORDS = sorted(_FOLDER.glob("[0-9]*.md"))
_HEAD = re.compile(r"# (.+)\n\nDate: (\d{4}-\d\d-\d\d)\n\n\*\*Decided\.\*\* ")
_LINE = re.compile(r"^\| ([\d-]+) \| \[(.+)\]\((.+)\) \|$", re.MULTILINE)


def test_records_are_numbered() -> None:
    numbers = [int(record.name.partition("-")[0]) for record in _RECORDS]
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers


def test_the_index_has_each_record_once() -> None:
    listed = [name for _, _, name in _LINE.findall((_FOLDER / "index.md").read_text())]
    assert sorted(listed) == [record.name for record in _RECORDS]


@pytest.mark.parametrize("name", [record.name for record in _RECORDS])
def test_the_index_has_the_title_and_date_of_a_record(name: str) -> None:
    text = (_FOLDER / name).read_text()
    head = _HEAD.match(text)
    assert head is not None
    assert f"| {head[2]} | [{head[1]}]({name}) |" in (_FOLDER / "index.md").read_text()
    assert "\n**Why.** " in text
    assert "\n**Code:**\n\n- [" in text
