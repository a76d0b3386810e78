"""Makes the rows of a profile from samples.

A row of the engine has the time of its operators within a whole model. The host has no clock for
single operators, so each of its operators is also cut out and timed, and the host's time within the
model is divided in proportion to these times. A device's operator that was only timed cut out is
scaled by the same factor as the host's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from larq_engine.placing.profile import Link, Measurement, Timing, Total
from larq_engine.profiling.whole import ModelRun, WholeTimes
from larq_engine.python.devices import CPU, HOST


@dataclass(frozen=True)
class Key:
    """Identity of a row: operators, device, threads, multiple of the declared batch, and kernel."""

    ops: tuple[int, ...]
    device: str
    threads: int
    times: int
    kernel: str | None


@dataclass(frozen=True)
class Share:
    """Compares a whole model's time with the sum of its rows.

    Attributes:
        total: The whole model, as measured.
        rows: The seconds of the rows that make up the model, including transfers.
        cut: The same sum with the times of the host's operators cut out.
        missing: Operators that have no row.
    """

    total: Total
    rows: float
    cut: float
    missing: tuple[int, ...]

    @property
    def percent(self) -> float:
        """Returns by how many percent the rows' sum differs from the whole."""
        return self._difference(self.rows)

    @property
    def percent_cut(self) -> float:
        """Returns the same with the times of the host's operators cut out."""
        return self._difference(self.cut)

    def _difference(self, seconds: float) -> float:
        return 100 * (seconds / self.total.seconds.median - 1)


def summarize(samples: Sequence[float], base: float = 0.0) -> Timing:
    """Returns median, quartiles and number of the samples, each less `base`."""
    low, median, high = np.maximum(np.percentile(samples, [25, 50, 75]) - base, 0.0)
    return Timing(float(median), float(low), float(high), len(samples))


class Rows:
    """The rows of a profile, each once.

    Args:
        model_times: Times of runs of the whole model, one for each configuration. An operator's row
            comes from the first that has it.
        cut: Times of operators that were cut out of the model.
        verified_keys: Keys of the rows whose results were compared and found right.
        batch_of: The batch of each multiple of the declared one.
    """

    def __init__(
        self,
        model_times: Sequence[WholeTimes],
        cut: Mapping[Key, Timing],
        verified_keys: set[Key],
        batch_of: Mapping[int, int],
    ) -> None:
        self._model_times = model_times
        self._cut = cut
        self._batch_of = batch_of
        self.rows: dict[Key, Measurement] = {}
        for whole in model_times:
            for ops, kernel in whole.layout.groups.items():
                device = _device_of(ops, whole)
                key = _key(whole.model_run, ops, device, kernel)
                if key in verified_keys and key not in self.rows:
                    self.rows[key] = self._row(key, summarize(whole.groups[ops]), None)
        for key, timing in cut.items():
            if key not in self.rows:
                seconds = _scale(timing, self._factor(key))
                self.rows[key] = self._row(key, seconds, timing.median)

    def _row(self, key: Key, seconds: Timing, cut: float | None) -> Measurement:
        return Measurement(
            ops=key.ops,
            batch=self._batch_of[key.times],
            device=key.device,
            threads=key.threads,
            kernel=key.kernel,
            seconds=seconds,
            cut_seconds=cut,
        )

    def _factor(self, key: Key) -> float:
        """Returns the ratio of an operator's time in the model to its time cut out."""
        if key.device not in (CPU, HOST):
            return 1.0  # A GPU's own clock also times operators that are cut out.
        for whole in self._model_times:
            model_run = whole.model_run
            if (model_run.config.threads, model_run.times) != (
                key.threads,
                key.times,
            ) or model_run.config.is_gpu:
                continue
            if not set(key.ops) <= set(whole.layout.left):
                continue
            timings = [self._cut.get(_key(model_run, (op,), HOST)) for op in whole.layout.left]
            total = sum(timing.median for timing in timings if timing is not None)
            # The rest of the model includes operators without a time of their own.
            if None in timings or not total:
                return 1.0
            return float(np.median(whole.rest)) / total
        return 1.0

    def share(self, whole: WholeTimes, total: Total, links: Sequence[Link]) -> Share:
        """Adds up the rows that a whole model is made of."""
        model_run, layout = whole.model_run, whole.layout
        config = model_run.config
        moves = sum(
            link.seconds_of(size)
            for size, there in layout.moved
            for link in links
            if config.device == (link.target if there else link.source)
        )
        wanted = [
            _key(model_run, ops, _device_of(ops, whole), kernel)
            for ops, kernel in layout.groups.items()
        ]
        wanted += [_key(model_run, (op,), HOST) for op in layout.left]
        found = [self.rows[key] for key in wanted if key in self.rows]
        return Share(
            total,
            moves + sum(row.seconds.median for row in found),
            moves
            + sum(r.seconds.median if r.cut_seconds is None else r.cut_seconds for r in found),
            tuple(sorted(op for key in wanted if key not in self.rows for op in key.ops)),
        )


def _device_of(ops: tuple[int, ...], whole: WholeTimes) -> str:
    """Returns the device that runs a group, as the request names it."""
    return CPU if whole.layout.taken[ops[0]] == CPU else whole.model_run.config.device


def _key(model_run: ModelRun, ops: tuple[int, ...], device: str, kernel: str | None = None) -> Key:
    return Key(ops, device, model_run.config.threads, model_run.times, kernel)


def _scale(timing: Timing, factor: float) -> Timing:
    assert timing.q1 is not None and timing.q3 is not None
    return Timing(timing.median * factor, timing.q1 * factor, timing.q3 * factor, timing.runs)
