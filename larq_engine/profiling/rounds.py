"""Times candidates in rounds, so that a change of clock or load meets all of them alike.

In each round every candidate is visited, in an order that moves on from column to column. A visit
begins with a run that is not timed. Before each of those that are, the caches are brought to where
they are in the middle of a model: weights as far away as those of all other operators push them,
what an operator reads as near as one leaves it that has just made it.
"""

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from larq_engine.profiling.column import Runner
from larq_engine.profiling.noise import Noise
from larq_engine.python.tensors import Array

_SAMPLES = 2  # of a visit

# A lane that takes long has had enough after this many samples of each of its trials.
_ENOUGH = 6


@dataclass
class Trial:
    """A candidate and its times.

    Attributes:
        runner: What is run.
        on_device: Whether the device's own clock counts: transfers are no part of it.
        others: As much memory as other operators' weights take, to be read in between.
        seconds: The samples.
    """

    runner: Runner
    on_device: bool
    others: Array
    seconds: list[float] = field(default_factory=list)

    def warm_up(self) -> None:
        """Runs once without a sample."""
        self.runner.feed()
        self.runner.time_ns()

    def run(self) -> None:
        """Takes one sample."""
        self.others.sum()
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
    """The trials of a column, in the order of the model."""

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
                    _visit(lane, noise)
                progress()
    finally:
        if collects:
            gc.enable()


def _visit(lane: Lane, noise: Noise) -> None:
    begun, wall, cpu = time.perf_counter(), time.perf_counter_ns(), time.process_time_ns()
    for trial in lane.trials:
        trial.warm_up()
        for _ in range(_SAMPLES):
            trial.run()
    if lane.one_thread:
        noise.add(time.perf_counter_ns() - wall, time.process_time_ns() - cpu)
    lane.spent += time.perf_counter() - begun
