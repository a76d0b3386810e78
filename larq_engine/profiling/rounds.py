"""Times candidates in rounds, so that a change of clock or load meets all of them alike.

A lane is what runs one after the other as in a model: a column's operators, its fused runs, or the
whole model. In each round every lane is passed a few times, in an order that moves on. The first
pass of a lane brings the caches to where they are when a model runs again and again, and is not
timed: weights are as far away as all others' weights push them.
"""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from larq_engine.profiling.column import Runner
from larq_engine.profiling.noise import Noise

_TIMED_PASSES = 2

# A lane that takes long has had enough after this many samples of each of its trials.
_ENOUGH = 6


@dataclass
class Trial:
    """A candidate and its times.

    Attributes:
        runner: What is run.
        on_device: Whether the device's own clock counts: transfers are no part of it.
        seconds: The samples.
    """

    runner: Runner
    on_device: bool
    seconds: list[float] = field(default_factory=list)

    def run(self) -> None:
        """Takes one sample."""
        self.runner.prepare()
        if not self.on_device:
            self.seconds.append(self.runner.time_ns() / 1e9)
            return
        self.seconds.append(sum_steps(self.runner.time_steps()))


def sum_steps(steps: Sequence[dict[str, Any]]) -> float:
    """The seconds of all steps but the transfers."""
    return sum(
        (
            step["total_ns"] / max(step["calls"], 1) / 1e9
            for step in steps
            if step["op"] != "TRANSFER"
        ),
        start=0.0,
    )


@dataclass
class Lane:
    """Trials that follow one another."""

    trials: list[Trial]
    one_thread: bool
    spent: float = 0.0

    def is_done(self, limit: float) -> bool:
        """Whether it has had its time."""
        return self.spent > limit and all(len(t.seconds) >= _ENOUGH for t in self.trials)


def measure_lanes(
    lanes: Sequence[Lane], rounds: int, limit: float, noise: Noise, progress: Callable[[], None]
) -> None:
    """Fills the trials with samples.

    Args:
        lanes: What to measure.
        rounds: How often each lane comes.
        limit: Seconds after which a lane rests.
        noise: Is told what the machine did.
        progress: Called after each lane of each round.
    """
    collects = gc.isenabled()
    gc.disable()  # It would be in some of the times.
    try:
        for number in range(rounds):
            noise.do_fixed_work()
            first = number % max(len(lanes), 1)
            for lane in [*lanes[first:], *lanes[:first]]:
                if not lane.is_done(limit):
                    _pass(lane, noise)
                progress()
    finally:
        if collects:
            gc.enable()


def _pass(lane: Lane, noise: Noise) -> None:
    begun = time.perf_counter()
    for trial in lane.trials:
        trial.runner.prepare()
        trial.runner.time_ns()
    for _ in range(_TIMED_PASSES):
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        for trial in lane.trials:
            trial.run()
        if lane.one_thread:
            noise.add(time.perf_counter_ns() - wall, time.process_time_ns() - cpu)
    lane.spent += time.perf_counter() - begun
