"""Times candidates in rounds, so that a change of clock or load affects all of them.

Each round visits every candidate; the column to begin with moves on by one each round.
"""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from larq_engine.profiling.noise import Noise

# Number of visits after which a lane that takes long is done.
_ENOUGH = 3


class Trial(Protocol):
    """A candidate that is timed."""

    def visit(self) -> None:
        """Warms up and takes some samples."""


@dataclass
class Lane:
    """The trials of a column, in the order of the model."""

    trials: Sequence[Trial]
    one_thread: bool
    spent: float = 0.0
    visits: int = 0

    def is_done(self, limit: float) -> bool:
        """Tells whether the lane has had its time."""
        return self.spent > limit and self.visits >= _ENOUGH


def measure_lanes(
    lanes: Sequence[Lane], rounds: int, limit: float, noise: Noise, progress: Callable[[], None]
) -> None:
    """Fills the trials with samples.

    Args:
        lanes: The lanes to measure.
        rounds: The number of rounds.
        limit: Seconds after which a lane is done.
        noise: Collects what the machine did.
        progress: A function that is called after each lane of each round.
    """
    collects = gc.isenabled()
    gc.disable()  # It would be in some of the times.
    try:
        for number in range(rounds):
            noise.do_fixed_work()
            first = number % max(len(lanes), 1)
            for lane in [*lanes[first:], *lanes[:first]]:
                if not lane.is_done(limit):
                    _visit(lane, noise)
                progress()
    finally:
        if collects:
            gc.enable()


def _visit(lane: Lane, noise: Noise) -> None:
    begun, wall, cpu = time.perf_counter(), time.perf_counter_ns(), time.process_time_ns()
    for trial in lane.trials:
        trial.visit()
    if lane.one_thread:
        noise.add(time.perf_counter_ns() - wall, time.process_time_ns() - cpu)
    lane.spent += time.perf_counter() - begun
    lane.visits += 1
