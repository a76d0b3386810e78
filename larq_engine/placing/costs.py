"""Turns a profile into numbers: the cost of each operator on each device, and of moving values.

A device's best kernel counts: the one of least time or, where energy is to be least, of least
energy. A device that was profiled with one number of threads only, such as a GPU, costs the same
with any number.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from larq_engine.placing.problem import HOST, Array, Gain, Problem, ProblemValue, cost_of
from larq_engine.placing.profile import HOST_MEMORY, Device, Link, Measurement, Profile

# Savings below this are differences of equal sums, in seconds or joules.
_NOTHING = 1e-15


@dataclass(frozen=True)
class Routes:
    """Costs of moving values between memories, indexed [from, to]. An unknown cost is infinite."""

    seconds: Array
    seconds_per_byte: Array
    joules_per_byte: Array

    def seconds_of(self, size: float, source: int, target: int) -> float:
        """Returns the seconds that moving one value of `size` bytes takes."""
        if source == target:
            return 0.0
        per_byte = float(self.seconds_per_byte[source, target])
        return float(self.seconds[source, target]) + size * per_byte


@dataclass(frozen=True)
class Costs:
    """Costs of one batch and one number of threads."""

    batch: int
    threads: int
    devices: tuple[Device, ...]
    memories: tuple[str, ...]
    measured: tuple[tuple[Measurement | None, ...], ...]  # [operator][device], of the best kernel
    routes: Routes
    seconds: Problem
    joules: Problem  # infinite where not known
    area: Problem | None = None  # None if no device has one

    @property
    def most_area(self) -> int | None:
        """The area that operators may take; None if no device has a limit."""
        return next((device.area for device in self.devices if device.area is not None), None)

    def area_of(self, devices: Sequence[int]) -> int | None:
        """Returns the area that operators take on these devices."""
        return None if self.area is None else round(cost_of(self.area, devices))

    def fits(self, devices: Sequence[int]) -> bool:
        """Tells whether the operators on a device with an area fit it."""
        area, most = self.area_of(devices), self.most_area
        return area is None or most is None or area <= most


def choose_devices(profile: Profile, names: Sequence[str] | None) -> tuple[Device, ...]:
    """Returns the devices of these names in the profile's order, or all devices without names.

    Raises:
        ValueError: The profile has no such device.
    """
    known = [device.name for device in profile.devices]
    names = [names] if isinstance(names, str) else names
    for name in names or ():
        if name not in known:
            raise ValueError(
                f"devices: expected some of the profile's ({', '.join(known)}), got '{name}'; "
                "profile the model there, or add a device file"
            )
    return tuple(device for device in profile.devices if not names or device.name in names)


class _Run(NamedTuple):
    """Operators that a device fuses, and what fusing them saves."""

    ops: tuple[int, ...]
    seconds: float
    joules: float


def costs_of(
    profile: Profile,
    batch: int,
    threads: int,
    devices: tuple[Device, ...],
    least_energy: bool = False,
    needs_joules: bool = False,
) -> Costs:
    """Returns the costs of a batch with a number of threads.

    Args:
        profile: The measured costs.
        batch: One of the profile's batches.
        threads: One of the profile's numbers of threads.
        devices: The devices that may be used.
        least_energy: Whether the best kernel is that of least energy, not of least time.
        needs_joules: Whether only kernels whose joules are known count.
    """
    memories = tuple(dict.fromkeys([HOST_MEMORY, *(device.memory for device in devices)]))
    count = len(profile.ops)
    found: list[list[Measurement | None]] = [[None] * len(devices) for _ in range(count)]
    runs: list[Gain] = []
    runs_joules: list[Gain] = []

    def joules_of(entry: Measurement) -> float:
        return np.inf if entry.joules is None else entry.joules

    def key(entry: Measurement) -> float:
        return joules_of(entry) if least_energy else entry.seconds.median

    for number, device in enumerate(devices):
        entries = measured_at(profile, device, batch, threads)
        for entry in entries:
            if len(entry.ops) == 1 and (entry.joules is not None or not needs_joules):
                known = found[entry.ops[0]][number]
                if known is None or key(entry) < key(known):
                    found[entry.ops[0]][number] = entry
        gained = []
        for entry in entries:
            alone = [found[op][number] for op in sorted(entry.ops)]
            if len(alone) > 1 and None not in alone:
                parts = [part for part in alone if part is not None]
                seconds = sum(part.seconds.median for part in parts) - entry.seconds.median
                joules = sum(map(joules_of, parts)) - joules_of(entry)
                # An unknown saving counts as none, and so does a run that fusing made slower.
                joules = max(0.0, joules) if np.isfinite(joules) else 0.0
                gained.append(_Run(tuple(sorted(entry.ops)), max(0.0, seconds), joules))
        is_chip = device.area is not None
        for run in _of_intervals(gained) if is_chip else _nested(gained, least_energy):
            runs.append(Gain(run.ops, number, run.seconds))
            runs_joules.append(Gain(run.ops, number, run.joules))

    def of(entry: Measurement | None, cost: str) -> float:
        if cost == "area":
            return 0 if entry is None else entry.area or 0
        if entry is None:
            return np.inf
        return joules_of(entry) if cost == "joules" else entry.seconds.median

    def table(cost: str) -> Array:
        values = [[of(entry, cost) for entry in row] for row in found]
        return np.array(values, dtype=np.float64).reshape(count, len(devices))

    routes = _routes(profile.links, memories)
    sizes = np.array([value.bytes[batch] for value in profile.values], dtype=np.float64)
    memory_of = tuple(memories.index(device.memory) for device in devices)
    values = _values(profile)
    with np.errstate(invalid="ignore"):
        moves = routes.seconds + sizes[:, None, None] * routes.seconds_per_byte
        moved = np.nan_to_num(sizes[:, None, None] * routes.joules_per_byte, posinf=np.inf)
    return Costs(
        batch,
        threads,
        devices,
        memories,
        tuple(map(tuple, found)),
        routes,
        Problem(memory_of, table("seconds"), values, moves, tuple(runs)),
        Problem(memory_of, table("joules"), values, moved, tuple(runs_joules)),
        Problem(memory_of, table("area"), values, np.zeros_like(moves), _no_gains(runs))
        if any(device.area is not None for device in devices)
        else None,
    )


def _no_gains(runs: Sequence[Gain]) -> tuple[Gain, ...]:
    return tuple(Gain(run.ops, run.device, 0.0) for run in runs)


def measured_at(profile: Profile, device: Device, batch: int, threads: int) -> list[Measurement]:
    """Returns a device's measurements with this batch, and with these threads if it has several."""
    entries = [entry for entry in profile.measurements if entry.device == device.name]
    numbers = {entry.threads for entry in entries}
    own = numbers.pop() if len(numbers) == 1 else threads
    return [entry for entry in entries if entry.batch == batch and entry.threads == own]


def _values(profile: Profile) -> tuple[ProblemValue, ...]:
    producers = {value: op.id for op in profile.ops for value in op.outputs}
    readers: dict[int, list[int]] = {value.id: [] for value in profile.values}
    for op in profile.ops:
        for value in dict.fromkeys(op.inputs):
            readers[value].append(op.id)
    return tuple(
        ProblemValue(producers.get(value.id, -1), tuple(readers[value.id]), value.kind == "output")
        for value in profile.values
    )


def _nested(gained: Iterable[_Run], by_joules: bool) -> list[_Run]:
    """Returns what each run saves beyond the runs inside of it.

    Where two runs overlap and neither is inside of the other, the one that saves more counts.
    """
    kept: list[_Run] = []
    for run in sorted(gained, key=lambda run: (-(run.joules if by_joules else run.seconds), run)):
        ops = set(run.ops)
        if all(
            not ops & set(other.ops) or ops < set(other.ops) or ops > set(other.ops)
            for other in kept
        ):
            kept.append(run)
    more: list[_Run] = []
    for run in sorted(kept, key=lambda run: len(run.ops)):
        inside = [other for other in more if set(other.ops) < set(run.ops)]
        seconds = run.seconds - sum(other.seconds for other in inside)
        joules = run.joules - sum(other.joules for other in inside)
        more.append(_Run(run.ops, max(0.0, seconds), max(0.0, joules)))
    return [run for run in more if run.seconds or run.joules]


def _of_intervals(gained: Iterable[_Run]) -> list[_Run]:
    """Returns savings that add up to what each run of neighbours saves, whatever lies around it.

    A chip's file has most runs, and they overlap. A run that it lacks saves what its best parts do.
    The saving of a run is the sum over all runs within it, so some of these may be negative.
    """
    known = {
        (run.ops[0], run.ops[-1]): np.array([run.seconds, run.joules])
        for run in gained
        if run.ops == tuple(range(run.ops[0], run.ops[-1] + 1))
    }
    count = 1 + max((last for _, last in known), default=-1)
    saved = np.zeros((count + 1, count + 1, 2))
    for length in range(2, count + 1):
        for first in range(count - length + 1):
            last = first + length - 1
            parts = [
                saved[first, middle] + saved[middle + 1, last] for middle in range(first, last)
            ]
            best = max(parts, key=lambda part: float(part[0]))
            saved[first, last] = known.get((first, last), best)
    found = []
    for first, last in itertools.combinations(range(count), 2):
        own = saved[first, last] - saved[first + 1, last] - saved[first, last - 1]
        own = own + (saved[first + 1, last - 1] if last - first > 1 else 0)
        if np.abs(own).max() > _NOTHING:
            found.append(_Run(tuple(range(first, last + 1)), float(own[0]), float(own[1])))
    return found


def _routes(links: Sequence[Link], memories: Sequence[str]) -> Routes:
    """Returns the costs of moving over a link or, without one, over two links through the host."""
    size = len(memories)
    tables = np.full((3, size, size), np.inf)
    for memory in range(size):
        tables[:, memory, memory] = 0.0
    for link in links:
        if link.source in memories and link.target in memories and link.source != link.target:
            joules = np.inf if link.joules_per_byte is None else link.joules_per_byte
            tables[:, memories.index(link.source), memories.index(link.target)] = (
                link.seconds,
                1 / link.bytes_per_second,
                joules,
            )
    for source in range(size):
        for target in range(size):
            if np.isinf(tables[0, source, target]):
                tables[:, source, target] = tables[:, source, HOST] + tables[:, HOST, target]
    return Routes(*tables)
