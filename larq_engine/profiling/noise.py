"""Tells how quiet the machine was, by the same rules as the benchmarks.

A run is noisy if it was kept off the core for more than a few percent of the time, or if a fixed
piece of work took different times from round to round.
"""

import hashlib
import time

import numpy as np

# The benchmarks have the same limit.
_LIMIT = 0.03

_WORK = bytes(1 << 20)


class Noise:
    """Collects measures of noise."""

    def __init__(self) -> None:
        self._wall = 0
        self._cpu = 0
        self._work: list[int] = []

    def add(self, wall_ns: int, cpu_ns: int) -> None:
        """Notes the wall and CPU times of work in one thread."""
        self._wall += wall_ns
        self._cpu += cpu_ns

    def do_fixed_work(self) -> None:
        """Times the same work on one core, once in each round."""
        start = time.perf_counter_ns()
        hashlib.sha256(_WORK).digest()
        self._work.append(time.perf_counter_ns() - start)

    def measures(self) -> dict[str, float]:
        """Returns each measure's share of the time, by the measure's name."""
        found = {}
        if len(self._work) > 1:
            low, median, high = np.percentile(self._work, [25, 50, 75])
            found["drift of fixed work"] = float((high - low) / median)
        if self._wall:
            found["time held off the core"] = max(0.0, 1 - self._cpu / self._wall)
        return found

    def __str__(self) -> str:
        measures = self.measures()
        if not measures:
            return "unknown: nothing measured"
        word = "NOISY" if any(value > _LIMIT for value in measures.values()) else "quiet"
        return f"{word}: " + ", ".join(f"{name} {100 * v:.1f} %" for name, v in measures.items())
