"""Reads and writes the JSON of results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WRONG_RESULT = "WRONG RESULT"  # beginning of the reason for a case without a time


def read_results(file: Path) -> dict[str, Any]:
    """Reads what a benchmark wrote.

    Raises:
        OSError: The file cannot be read; the message names it.
        ValueError: It holds no results.
    """
    try:
        content = json.loads(file.read_text())
    except ValueError as error:
        raise ValueError(f"{file}: expected JSON that a benchmark wrote: {error}") from error
    if not isinstance(content, dict) or not content.get("results"):
        raise ValueError(f"{file}: expected JSON that a benchmark wrote, got no results")
    return content


def as_lines(content: dict[str, Any], levels: int = 1) -> str:
    """Writes JSON with a line for each result, so that a change of one is a change of a line.

    Args:
        content: The object to write.
        levels: How many levels of objects have a line for each member.
    """
    return _as_lines(content, levels, "") + "\n"


def _as_lines(value: Any, levels: int, margin: str) -> str:
    inner = margin + " "
    if isinstance(value, dict) and levels:
        members = [f"{json.dumps(k)}: {_as_lines(v, levels - 1, inner)}" for k, v in value.items()]
        return f"{{\n{inner}" + f",\n{inner}".join(members) + f"\n{margin}}}"
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        items = [json.dumps(item) for item in value]
        return f"[\n{inner}" + f",\n{inner}".join(items) + f"\n{margin}]"
    return json.dumps(value)
