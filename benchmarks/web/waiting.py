"""Tells how long programs waited for a core: a benchmark is noisy if that is long."""

from __future__ import annotations

from pathlib import Path

_PROC = Path("/proc")


def nanoseconds_waited(ancestor: int, proc: Path = _PROC) -> int:
    """Returns how long the threads of a process' descendants could run, but had no core.

    Threads that have ended are not counted.
    """
    return sum(
        _waited(thread / "schedstat")
        for process in descendants(ancestor, proc)
        for thread in (proc / str(process) / "task").glob("*")
    )


def descendants(ancestor: int, proc: Path = _PROC) -> set[int]:
    """Returns the processes that a process started, and those that they started."""
    children: dict[int, list[int]] = {}
    for status in proc.glob("[0-9]*/stat"):
        try:
            text = status.read_text()
        except OSError:
            continue  # it ended meanwhile
        # The program's name, in parentheses, may have spaces and parentheses.
        parent = int(text.rpartition(")")[2].split()[1])
        children.setdefault(parent, []).append(int(status.parent.name))
    found: set[int] = set()
    left = [ancestor]
    while left:
        below = children.get(left.pop(), [])
        found.update(below)
        left.extend(below)
    return found


def _waited(schedstat: Path) -> int:
    try:
        _, waited, _ = schedstat.read_text().split()
    except OSError:
        return 0  # it ended meanwhile
    return int(waited)
