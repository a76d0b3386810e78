"""Times candidates in rounds, so that a change of clock or load affects all of them.

Each round visits every candidate. It begins one config later than the round before.
"""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from larq_engine.profiling.noise import Noise

# A group that takes long is visited this number of times.
_MIN_VISITS = 3


class Trial(Protocol):
    """A candidate that is timed."""

    def visit(self) -> None:
        """Warms up and takes some samples."""


@dataclass
class TrialGroup:
    """The trials of a config, in the order of the model."""

    trials: Sequence[Trial]
    one_thread: bool
    spent: float = 0.0
    visits: int = 0

    def is_done(self, limit: float) -> bool:
        """Tells whether the group has had its time."""
        return self.spent > limit and self.visits >= _MIN_VISITS


def measure_groups(
    groups: Sequence[TrialGroup],
    rounds: int,
    limit: float,
    noise: Noise,
    progress: Callable[[], None],
) -> None:
    """Fills the trials with samples.

    Args:
        groups: The groups to measure.
        rounds: The number of rounds.
        limit: Seconds after which a group is done.
        noise: Collects what the machine did.
        progress: A function that is called after each group of each round.
    """
    was_enabled = gc.isenabled()
    gc.disable()  # Collections would add to some of the times.
    try:
        for number in range(rounds):
            noise.do_fixed_work()
            first = number % max(len(groups), 1)
            for group in [*groups[first:], *groups[:first]]:
                if not group.is_done(limit):
                    _visit(group, noise)
                progress()
    finally:
        if was_enabled:
            gc.enable()


def _visit(group: TrialGroup, noise: Noise) -> None:
    begun, wall, cpu = time.perf_counter(), time.perf_counter_ns(), time.process_time_ns()
    for trial in group.trials:
        trial.visit()
    if group.one_thread:
        noise.add(time.perf_counter_ns() - wall, time.process_time_ns() - cpu)
    group.spent += time.perf_counter() - begun
    group.visits += 1
