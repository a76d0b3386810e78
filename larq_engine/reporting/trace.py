"""Writes one run as a trace, for Perfetto and chrome://tracing.

Nothing was recorded: a profile has medians, which the trace puts one after the other in the order
of execution. The file says so.
"""

import json
from collections.abc import Iterator
from typing import Any

from larq_engine.placing.profile import Measurement
from larq_engine.reporting import tables
from larq_engine.reporting.study import Move, OpStudy, Study

_NOTE = (
    "made from the medians of a profile: operators one after the other in the order of execution, "
    "each alone or in the fused run that was measured, transfers before their first reader; "
    "nothing was recorded"
)
_MICRO = 1e6
_PROCESS = 1


def format_trace(study: Study) -> bytes:
    """Returns the bytes of the file, in the trace event format."""
    content = {
        "traceEvents": _Trace(study).events(),
        "displayTimeUnit": "ms",
        "otherData": {"note": _NOTE, **dict(tables.facts(study))},
    }
    return f"{json.dumps(content, indent=1)}\n".encode()


class _Trace:
    def __init__(self, study: Study) -> None:
        self._study = study
        self._now = 0.0
        self._events: list[dict[str, Any]] = []
        # Numbers of rows, from the top: one for each device and each pair of memories.
        self._rows: dict[str, int] = {}
        self._middle_of: dict[int | None, tuple[str, float]] = {}  # row and time of each operator

    def events(self) -> list[dict[str, Any]]:
        for device in self._study.profile.devices:
            self._row(device.called)
        for event in self._steps():
            self._take(event)
        for move in self._study.moves:
            if not move.readers:
                self._move(move)
        names = [
            {
                "ph": "M",
                "name": "thread_name",
                "pid": _PROCESS,
                "tid": number,
                "args": {"name": row},
            }
            for row, number in self._rows.items()
        ]
        title = f"{self._study.profile.model.name} ({_NOTE})"
        process = {"ph": "M", "name": "process_name", "pid": _PROCESS, "args": {"name": title}}
        return [process, *names, *self._events]

    def _steps(self) -> Iterator[list[OpStudy]]:
        """Yields operators that run together: a measured run if all of it is on its device."""
        ops = self._study.ops
        first = 0
        while first < len(ops):
            run = self._run_from(first)
            length = 1 if run is None else len(run.ops)
            yield list(ops[first : first + length])
            first += length

    def _run_from(self, first: int) -> Measurement | None:
        """Returns the longest fused run of consecutive operators from here that saves time."""
        ops = self._study.ops
        runs = [
            entry
            for entry in ops[first].fused
            if entry.device == ops[first].device
            and entry.ops == tuple(range(first, first + len(entry.ops)))
            and all(ops[op].is_whole and ops[op].device == entry.device for op in entry.ops)
            and entry.seconds.median < self._alone(entry.ops)
        ]
        return max(runs, key=lambda entry: len(entry.ops), default=None)

    def _alone(self, run: tuple[int, ...]) -> float:
        chosen = [self._study.ops[op].chosen for op in run]
        return sum(entry.seconds.median for entry in chosen if entry is not None)

    def _take(self, step: list[OpStudy]) -> None:
        positions = {op.op.id for op in step}
        moves = [
            move for move in self._study.moves if move.readers and move.readers[0] in positions
        ]
        # Parts of the step's own output are moved after it.
        ends = [(move, self._move(move)) for move in moves if move.producer not in positions]
        run = self._run_from(step[0].op.id) if len(step) > 1 else step[0].chosen
        if step[0].device is None or run is None:
            return
        device = self._study.called(step[0].device)
        duration = run.seconds.median
        middle = (device, self._now + duration / 2)
        self._middle_of |= {op.op.id: middle for op in step}
        begin = self._now
        split = step[0].split
        for row in [device] + ([] if split is None else [self._study.called(split.device)]):
            self._now = begin
            self._slice(
                row,
                " + ".join(f"{op.op.node} {op.op.op}" for op in step),
                duration,
                {
                    "layers": ", ".join(op.op.layer for op in step),
                    "kernel": run.kernel,
                    "reasons": [op.reason for op in step],
                },
            )
        for move, end in ends:
            self._flow(move, end, middle)
        for move in moves:
            if move.producer in positions:
                self._move(move)

    def _move(self, move: Move) -> tuple[str, float]:
        """Adds a move; returns row and time of its middle."""
        row = tables.way(move.source, move.target)
        duration = move.seconds or 0.0
        middle = (row, self._now + duration / 2)
        self._slice(row, move.value.name, duration, {"bytes": move.size})
        if move.producer in self._middle_of:
            self._flow(move, self._middle_of[move.producer], middle)
        return middle

    def _slice(self, row: str, name: str, duration: float, about: dict[str, Any]) -> None:
        self._events.append(
            {
                "ph": "X",
                "name": name,
                "cat": "transfer" if "bytes" in about else "operator",
                "pid": _PROCESS,
                "tid": self._row(row),
                "ts": self._now * _MICRO,
                "dur": duration * _MICRO,
                "args": about,
            }
        )
        self._now += duration

    def _flow(self, move: Move, begin: tuple[str, float], end: tuple[str, float]) -> None:
        """Adds an arrow, whose ends are bound to the slices at these times."""
        number = len(self._events)
        for phase, (row, time) in (("s", begin), ("f", end)):
            event = {
                "ph": phase,
                "name": move.value.name,
                "cat": "flow",
                "id": number,
                "pid": _PROCESS,
                "tid": self._row(row),
                "ts": time * _MICRO,
            }
            self._events.append({**event, "bp": "e"} if phase == "f" else event)

    def _row(self, name: str) -> int:
        return self._rows.setdefault(name, len(self._rows) + 1)
