"""Times a whole model on a device, and its parts.

The engine's operators are timed by the engine's clock. The rest of the wall time is the host's.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from larq_engine.profiling.network import Cut
from larq_engine.profiling.run_config import RunConfig, Runner, join_kernels, seconds_of
from larq_engine.python import library
from larq_engine.python.library import TRANSFER

# Runs of a visit. The first runs find caches, threads and branch predictor in another model's
# state.
_WARM_UPS = 3
_SAMPLES = 3
_WARM_UP_SECONDS = 0.05


@dataclass(frozen=True)
class ModelRun:
    """One way to run a whole model.

    Attributes:
        config: The device, threads and kernel that run it.
        fuse: Whether the engine's operators run together where they can; else they run one by one.
        times: The multiple of the declared batch.
    """

    config: RunConfig
    fuse: bool
    times: int


@dataclass
class Layout:
    """The device of each operator, and the operators that run together.

    Attributes:
        groups: Operators that the engine runs in one go, with their kernels; many groups have one
            operator.
        taken: The device of each operator that the engine took.
        left: The operators that it left to the host.
        moved: The bytes of each transfer, and whether it goes to the device.
    """

    groups: dict[tuple[int, ...], str | None] = field(default_factory=dict)
    taken: dict[int, str] = field(default_factory=dict)
    left: tuple[int, ...] = ()
    moved: list[tuple[int, bool]] = field(default_factory=list)

    @property
    def runs(self) -> list[tuple[int, ...]]:
        """Returns the groups of more than one operator."""
        return sorted(ops for ops in self.groups if len(ops) > 1)


def lay_out(runner: Runner) -> Layout:
    """Reads from a run of a whole model which device computed what."""
    layout = Layout()
    device = runner.config.device.partition(":")[0]
    for step in runner.steps:
        if step["op"] == TRANSFER:
            layout.moved.append((step["bytes"], step["device"] == device))
    for ops, steps in _groups_of(runner, runner.steps).items():
        layout.taken.update(dict.fromkeys(ops, steps[0]["device"]))
        layout.groups[ops] = join_kernels(steps)
    layout.left = tuple(op for op in runner.cut.ops if op not in layout.taken)
    return layout


def placement_of(cut: Cut, layout: Layout) -> str:
    """Returns the option `placement` that gives the engine the same operators, one by one."""
    node_of = dict(zip(cut.ops, cut.nodes, strict=True))
    return ",".join(f"{node_of[op]}:{device}" for op, device in sorted(layout.taken.items()))


def _groups_of(
    runner: Runner, steps: Iterable[Mapping[str, Any]]
) -> dict[tuple[int, ...], list[Mapping[str, Any]]]:
    op_of = dict(zip(runner.cut.nodes, runner.cut.ops, strict=True))
    return group_steps(op_of, steps)


def group_steps(
    op_of: Mapping[int, int], steps: Iterable[Mapping[str, Any]]
) -> dict[tuple[int, ...], list[Mapping[str, Any]]]:
    """Groups steps by the operators that they compute; `op_of` has the operator of each node."""
    found: dict[int, list[Mapping[str, Any]]] = {}
    for step in steps:
        if step["op"] != TRANSFER:
            found.setdefault(step["group"], []).append(step)
    groups = {}
    for together in found.values():
        ops = tuple(sorted(op_of[node] for node in library.nodes_of(together) & op_of.keys()))
        if ops:
            groups[ops] = together
    return groups


@dataclass
class WholeTimes:
    """Samples of a whole model's times.

    Attributes:
        model_run: How the model is run.
        layout: Which device computes what.
        seconds: Samples of the whole.
        groups: Samples of the operators that the engine runs in one go.
        rest: Samples of the time that is left for the host.
    """

    model_run: ModelRun
    layout: Layout
    seconds: list[float] = field(default_factory=list)
    groups: dict[tuple[int, ...], list[float]] = field(default_factory=dict)
    rest: list[float] = field(default_factory=list)


class WholeTrial:
    """A whole model to be timed."""

    def __init__(self, model_run: ModelRun, runner: Runner) -> None:
        self.runner = runner
        self.times = WholeTimes(model_run, lay_out(runner))

    def visit(self) -> None:
        """Runs the model as users do, and then with the engine's clock on."""
        self.runner.feed()
        begun = time.perf_counter()
        for number in range(_WARM_UPS):
            if not number or time.perf_counter() - begun < _WARM_UP_SECONDS:
                self.runner.time_ns()
        self.times.seconds += [self.runner.time_ns() / 1e9 for _ in range(_SAMPLES)]
        self.runner.read_steps()
        wall, steps = self.runner.time_steps(_SAMPLES)
        for ops, together in _groups_of(self.runner, steps).items():
            self.times.groups.setdefault(ops, []).append(sum(map(seconds_of, together)))
        self.times.rest.append(max(0.0, wall - sum(map(seconds_of, steps))))
