"""A whole model, run by a device, and what each of its parts takes there.

The engine's operators have its own clock. What is left of the wall's is the host's.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from larq_engine.profiling.column import Column, Runner, join_kernels, seconds_of
from larq_engine.profiling.network import Cut
from larq_engine.python import library
from larq_engine.python.library import TRANSFER

# Of a visit. Caches, threads and the branch predictor's memory are another model's at first.
_WARM_UPS = 3
_SAMPLES = 3
_WARM_UP_SECONDS = 0.05


@dataclass(frozen=True)
class Way:
    """How a whole model is run.

    Attributes:
        column: By whom.
        fuse: Whether the engine's operators run together where they can; else one by one.
        times: For how many times the declared batch.
    """

    column: Column
    fuse: bool
    times: int


@dataclass
class Layout:
    """Who computes what.

    Attributes:
        groups: Operators that the engine runs in one go, with their kernels; many are groups of
            one.
        taken: The device of each operator that the engine took.
        left: The operators that it left to the host.
        moved: The bytes of each transfer, and whether it leads to the device.
    """

    groups: dict[tuple[int, ...], str | None] = field(default_factory=dict)
    taken: dict[int, str] = field(default_factory=dict)
    left: tuple[int, ...] = ()
    moved: list[tuple[int, bool]] = field(default_factory=list)

    @property
    def runs(self) -> list[tuple[int, ...]]:
        """Groups of more than one."""
        return sorted(ops for ops in self.groups if len(ops) > 1)


def lay_out(runner: Runner) -> Layout:
    """Reads what a run of a whole model did."""
    layout = Layout()
    device = runner.column.device.partition(":")[0]
    for step in runner.steps:
        if step["op"] == TRANSFER:
            layout.moved.append((step["bytes"], step["device"] == device))
    for ops, steps in _groups(runner, runner.steps).items():
        layout.taken.update(dict.fromkeys(ops, steps[0]["device"]))
        layout.groups[ops] = join_kernels(steps)
    layout.left = tuple(op for op in runner.cut.ops if op not in layout.taken)
    return layout


def placement_of(cut: Cut, layout: Layout) -> str:
    """The option that gives the engine the same operators, one by one."""
    node_of = dict(zip(cut.ops, cut.nodes, strict=True))
    return ",".join(f"{node_of[op]}:{device}" for op, device in sorted(layout.taken.items()))


def _groups(
    runner: Runner, steps: Iterable[Mapping[str, Any]]
) -> dict[tuple[int, ...], list[Mapping[str, Any]]]:
    """The steps of each group, by the operators that they stand for."""
    op_of = dict(zip(runner.cut.nodes, runner.cut.ops, strict=True))
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
    """What a whole model takes.

    Attributes:
        way: How it is run.
        layout: Who computes what.
        seconds: Samples of the whole.
        groups: Samples of what the engine runs in one go.
        rest: Samples of what is left for the host.
    """

    way: Way
    layout: Layout
    seconds: list[float] = field(default_factory=list)
    groups: dict[tuple[int, ...], list[float]] = field(default_factory=dict)
    rest: list[float] = field(default_factory=list)


class WholeTrial:
    """A whole model that is timed."""

    def __init__(self, way: Way, runner: Runner) -> None:
        self.runner = runner
        self.times = WholeTimes(way, lay_out(runner))

    def visit(self) -> None:
        """Runs it as users do, and then with the engine's clock on."""
        self.runner.feed()
        begun = time.perf_counter()
        for number in range(_WARM_UPS):
            if not number or time.perf_counter() - begun < _WARM_UP_SECONDS:
                self.runner.time_ns()
        self.times.seconds += [self.runner.time_ns() / 1e9 for _ in range(_SAMPLES)]
        self.runner.read_steps()
        wall, steps = self.runner.time_steps(_SAMPLES)
        for ops, together in _groups(self.runner, steps).items():
            self.times.groups.setdefault(ops, []).append(sum(map(seconds_of, together)))
        self.times.rest.append(max(0.0, wall - sum(map(seconds_of, steps))))
