"""Shows what a benchmark is doing."""

from __future__ import annotations

import sys


class Progress:
    """Shows the present stage on one line of a terminal, or each new stage on a line of a log."""

    def __init__(self) -> None:
        self._stage = ""

    def say(self, stage: str, detail: str = "") -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{stage} {detail}", end="", file=sys.stderr, flush=True)
        elif stage != self._stage:
            print(stage, file=sys.stderr, flush=True)
        self._stage = stage

    def end(self) -> None:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
