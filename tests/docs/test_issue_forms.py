"""Forms for issues have the parts that the tracker reads."""

from pathlib import Path

import pytest

from tests.docs.documents import ROOT

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.md"))


def test_there_are_forms() -> None:
    assert len(FORMS) >= 3


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_a_form_names_itself(form: Path) -> None:
    empty, head, text = form.read_text().split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert not empty
    assert fields.keys() == {"name", "about", "labels"}
    assert text.strip()
