"""Checks statements.md, which says which of larq's and LCE's tests we cover, and by which of ours.

Our tests that it names must exist, and the sums of larq's table must be right.
"""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PAGE = (TESTS / "statements.md").read_text()


def test_the_tests_are_there():
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 50
    for path, name in named:
        assert re.search(rf"^def {name}\(", (TESTS / path).read_text(), re.MULTILINE), (path, name)


def test_the_sums_are_right():
    table = PAGE.split("## LCE")[0]
    rows = re.findall(r"^\| (.+?) \| (\d+) \| (\d+) \|", table, re.MULTILINE)
    *counted, total = [(int(stated), int(covered)) for _, stated, covered in rows]
    assert tuple(map(sum, zip(*counted, strict=True))) == total
    left_out = sum(map(int, re.findall(r"^- `\w+`, (\d+):", table, re.MULTILINE)))
    assert total[0] - total[1] == left_out
