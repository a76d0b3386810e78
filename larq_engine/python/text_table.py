"""Tables as text."""

from collections.abc import Collection, Sequence


def align_columns(
    titles: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[str]
) -> list[str]:
    """Returns the lines: titles, a rule, the rows; columns titled in `numbers` align right."""
    columns = []
    for index, title in enumerate(titles):
        cells = [title, *(row[index] for row in rows)]
        width = max(map(len, cells))
        justify = str.rjust if title in numbers else str.ljust
        justified = [justify(cell, width) for cell in cells]
        columns.append([justified[0], "-" * width, *justified[1:]])
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
