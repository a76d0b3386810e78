"""How quiet the machine was, told as the benchmarks tell it.

A run is noisy when it was kept off the core for more than a few percent of the time, or when a
fixed piece of work took changing times from round to round.
"""

import hashlib
import time

import numpy as np

# As of the benchmarks.
_LIMIT = 0.03

_WORK = bytes(1 << 20)


class Noise:
    """Collects what tells of noise."""

    def __init__(self) -> None:
        self._wall = 0
        self._cpu = 0
        self._work: list[int] = []

    def add(self, wall_ns: int, cpu_ns: int) -> None:
        """Notes the times of work in one thread."""
        self._wall += wall_ns
        self._cpu += cpu_ns

    def do_fixed_work(self) -> None:
        """Once a round: the same work each time, on one core."""
        start = time.perf_counter_ns()
        hashlib.sha256(_WORK).digest()
        self._work.append(time.perf_counter_ns() - start)

    def measures(self) -> dict[str, float]:
        """Shares of the time, by what they are."""
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
