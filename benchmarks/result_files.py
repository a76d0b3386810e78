"""Reads the files that the benchmarks write with --json."""

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
