"""Times operators that are cut out of the model.

Before each sample the caches are brought to their state within a model: weights are as far away as
the weights of all other operators push them, and an operator's inputs are as near as the operator
that has just made them leaves them.
"""

from dataclasses import dataclass, field

from larq_engine.profiling.run_config import Runner, seconds_of
from larq_engine.python.library import TRANSFER
from larq_engine.python.tensors import Array

_SAMPLES = 2  # of a visit


@dataclass
class CutTrial:
    """A cut and its times.

    Attributes:
        runner: The cut that is run.
        on_device: Whether the device's own clock counts, which leaves transfers out.
        others: Memory of the size of the other operators' weights, which is read between samples.
        seconds: The measured times, one for each sample.
    """

    runner: Runner
    on_device: bool
    others: Array
    seconds: list[float] = field(default_factory=list)

    def visit(self) -> None:
        """Runs once without a sample, then takes the samples."""
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
