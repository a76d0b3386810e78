"""From samples to the rows of a profile.

A row of the engine is what its operators took within a whole model. The host has no clock for each
of its operators, so each is cut out and timed as well, and what the host took in the model is
divided in that proportion. An operator that a device only had cut out is scaled as the host's are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from larq_engine.placing import profile_file as file
from larq_engine.profiling.column import CPU, HOST
from larq_engine.profiling.whole import Way, WholeTimes


@dataclass(frozen=True)
class Key:
    """What a row is of."""

    ops: tuple[int, ...]
    device: str
    threads: int
    times: int
    kernel: str | None


@dataclass(frozen=True)
class Row:
    """What it takes; `cut` are the seconds of it cut out, where it was."""

    key: Key
    seconds: file.Timing
    cut: float | None


@dataclass(frozen=True)
class Share:
    """How a whole model's time divides: what each device took, beside the whole.

    Attributes:
        total: The whole, as measured.
        rows: The seconds of the rows that make it up, transfers included.
        cut: The same with the host's operators as each takes cut out.
        missing: Operators that no row has.
    """

    total: file.Total
    rows: float
    cut: float
    missing: tuple[int, ...]

    @property
    def percent(self) -> float:
        """How far the rows' sum is from the whole."""
        return self._difference(self.rows)

    @property
    def percent_cut(self) -> float:
        """How far it is with the host's operators cut out."""
        return self._difference(self.cut)

    def _difference(self, seconds: float) -> float:
        return 100 * (seconds / self.total.seconds.median - 1)


def summarize(samples: Sequence[float], base: float = 0.0) -> file.Timing:
    """Median, quartiles and how many, less what is in all of them."""
    low, median, high = np.maximum(np.percentile(samples, [25, 50, 75]) - base, 0.0)
    return file.Timing(float(median), float(low), float(high), len(samples))


class Rows:
    """All rows, each once.

    Args:
        wholes: The whole models; an operator's row comes from the first that has it.
        cut: What was timed cut out of the model.
        is_right: The rows whose results were compared, and found right.
    """

    def __init__(
        self,
        wholes: Sequence[WholeTimes],
        cut: Mapping[Key, file.Timing],
        is_right: set[Key],
    ) -> None:
        self._wholes = wholes
        self._cut = cut
        self.rows: dict[Key, Row] = {}
        for whole in wholes:
            for ops, kernel in whole.layout.groups.items():
                device = _device_of(ops, whole)
                key = _key(whole.way, ops, device, kernel)
                if key in is_right and key not in self.rows:
                    timing = summarize(whole.groups[ops])
                    self.rows[key] = Row(key, timing, None)
        for key, timing in cut.items():
            if key not in self.rows:
                seconds = _scale(timing, self._factor(key))
                self.rows[key] = Row(key, seconds, timing.median)

    def _factor(self, key: Key) -> float:
        """What an operator takes in the model, beside what it takes cut out."""
        if key.device not in (CPU, HOST):
            return 1.0  # A GPU has a clock of its own, there too.
        for whole in self._wholes:
            way = whole.way
            if (way.column.threads, way.times) != (key.threads, key.times) or way.column.is_gpu:
                continue
            if not set(key.ops) <= set(whole.layout.left):
                continue
            timings = [self._cut.get(_key(way, (op,), HOST)) for op in whole.layout.left]
            total = sum(timing.median for timing in timings if timing is not None)
            # An operator without a time is somewhere in what is left.
            if None in timings or not total:
                return 1.0
            return float(np.median(whole.rest)) / total
        return 1.0

    def share(self, whole: WholeTimes, total: file.Total, links: Sequence[file.Link]) -> Share:
        """Adds up the rows that a whole model is made of."""
        way, layout = whole.way, whole.layout
        column = way.column
        moves = sum(
            link.seconds_of(size)
            for size, there in layout.moved
            for link in links
            if column.device == (link.target if there else link.source)
        )
        wanted = [
            _key(way, ops, _device_of(ops, whole), kernel) for ops, kernel in layout.groups.items()
        ]
        wanted += [_key(way, (op,), HOST) for op in layout.left]
        found = [self.rows[key] for key in wanted if key in self.rows]
        return Share(
            total,
            moves + sum(row.seconds.median for row in found),
            moves + sum(row.seconds.median if row.cut is None else row.cut for row in found),
            tuple(sorted(op for key in wanted if key not in self.rows for op in key.ops)),
        )


def _device_of(ops: tuple[int, ...], whole: WholeTimes) -> str:
    """Who runs a group, as the request calls it."""
    return CPU if whole.layout.taken[ops[0]] == CPU else whole.way.column.device


def _key(way: Way, ops: tuple[int, ...], device: str, kernel: str | None = None) -> Key:
    return Key(ops, device, way.column.threads, way.times, kernel)


def _scale(timing: file.Timing, factor: float) -> file.Timing:
    assert timing.q1 is not None and timing.q3 is not None
    return file.Timing(timing.median * factor, timing.q1 * factor, timing.q3 * factor, timing.runs)
