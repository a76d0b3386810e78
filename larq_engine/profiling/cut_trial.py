"""Operators that are cut out of the model and timed by themselves.

Before each sample the caches are brought to where they are in the middle of a model: weights as far
away as those of all other operators push them, what an operator reads as near as one leaves it that
has just made it.
"""

from dataclasses import dataclass, field

from larq_engine.profiling.column import Runner, seconds_of
from larq_engine.python.library import TRANSFER
from larq_engine.python.tensors import Array

_SAMPLES = 2  # of a visit


@dataclass
class CutTrial:
    """A cut and its times.

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

    def visit(self) -> None:
        """One run without a sample, then those that count."""
        self.runner.feed()
        self.runner.time_ns()
        for _ in range(_SAMPLES):
            self.others.sum()
            self.runner.prepare()
            if self.on_device:
                steps = self.runner.read_steps()
                own = (seconds_of(step) for step in steps if step["op"] != TRANSFER)
                self.seconds.append(sum(own, start=0.0))
            else:
                self.seconds.append(self.runner.time_ns() / 1e9)
