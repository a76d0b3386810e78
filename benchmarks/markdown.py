"""Markdown that programs write into pages: tables, and the text between two marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Returns the lines of a table."""
    lines = [titles, ["---"] * len(titles), *rows]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def replace_between(page: str, begin: str, end: str, made: str) -> str:
    """Returns the page with other text between two marks.

    Raises:
        ValueError: A mark is missing, or is there more than once.
    """
    for mark in (begin, end):
        if page.count(mark) != 1:
            raise ValueError(f"expected the line '{mark}' once, got {page.count(mark)}")
    before, rest = page.split(begin)
    return f"{before}{begin}\n\n{made}\n\n{end}{rest.split(end)[1]}"
