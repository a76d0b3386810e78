"""Forms of published networks through the converter's doors, a few of them in each run."""

import os
import random

import pytest

from larq_engine.converter import rules_binary
from tests.corpus.forms import FORMS
from tests.corpus.networks import doors_of, try_network

_ROWS = [(name, door) for name, form in FORMS.items() for door in doors_of(form)]
_PARTS = 3


@pytest.mark.parametrize("part", range(_PARTS))
def test_published_networks(part, full, monkeypatch):
    """Small layers stand for large ones."""
    monkeypatch.setattr(rules_binary, "_has_few_products", lambda layer: False)
    seed = int.from_bytes(os.urandom(3), "little")
    rows = _ROWS[part::_PARTS]
    found = [try_network(*row, seed) for row in (rows if full else [random.choice(rows)])]
    assert all(row.batches for row in found if not row.wrong)
    wrong = [
        f"{row}\n  to replay: python -m tests.corpus.networks --only '{row.name}' "
        f"--door '{row.door}' --seed {seed}"
        for row in found
        if row.wrong
    ]
    assert not wrong, "\n".join(wrong)
