"""Lays out tables as text, and as HTML for notebooks, and formats texts of such tables."""

import html
from collections.abc import Collection, Iterable, Sequence


def align_columns(
    titles: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[str]
) -> list[str]:
    """Returns the lines: titles, a rule, the rows; columns titled in `numbers` align right."""
    columns = []
    for index, title in enumerate(titles):
        cells = [printable(cell) for cell in (title, *(row[index] for row in rows))]
        width = max(map(len, cells))
        justify = str.rjust if title in numbers else str.ljust
        justified = [justify(cell, width) for cell in cells]
        columns.append([justified[0], "-" * width, *justified[1:]])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def counted(number: int, thing: str) -> str:
    """Returns a number and its noun, as "1 layer" or "2 layers"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def printable(text: str) -> str:
    """Returns one line that is safe for a terminal: names come from other people's files.

    Bytes that are no UTF-8, and letters that would move the cursor, change colours or turn the
    order of letters, become the replacement character.
    """
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def printable_lines(lines: Iterable[str]) -> str:
    """Joins lines, each of which is made printable."""
    return "\n".join(map(printable, lines))


def format_html(
    titles: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[str], summary: str
) -> str:
    """Returns a table with a line below; columns titled in `numbers` align right."""

    def line(tag: str, cells: Sequence[str]) -> str:
        sides = ("right" if title in numbers else "left" for title in titles)
        made = (
            f'<{tag} style="text-align: {side}">{html.escape(cell)}</{tag}>'
            for side, cell in zip(sides, cells, strict=True)
        )
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(line("td", row) for row in rows)
    head = line("th", titles)
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table><p>{html.escape(summary)}</p>"
