"""Scales predictions by the model without a placement, whose time was measured.

A prediction is a sum of a profile's rows, and a whole model takes another time: the clock around
each operator takes time, and threads and caches are in another state. So the same sum is made for
the model as one device runs it without a placement, which was measured as a whole. The ratio of the
two corrects the sums of other placements too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from larq_engine.placing.costs import Costs, costs_of, measured_at
from larq_engine.placing.problem import cost_of
from larq_engine.placing.profile import Device, Profile, Total

_HOST = "host"


@dataclass(frozen=True)
class Unplaced:
    """The model without a placement, on its fastest device. Seconds are of one batch."""

    device: str
    rows: float  # the sum of its rows, made as predictions are
    seconds: float  # measured

    @property
    def scale(self) -> float:
        """Returns the factor that turns a placement's sum of rows into a prediction."""
        return self.seconds / self.rows


@dataclass(frozen=True)
class Verified:
    """Measured times of the placed model and of the same without a placement, run in turns.

    Attributes:
        seconds: The median of the placed model, of one batch.
        unplaced_seconds: The median of the model without a placement.
        lowest: How many times as fast the placed one was in the round where it gained least.
        highest: The same ratio in the round where it gained most.
    """

    seconds: float
    unplaced_seconds: float
    lowest: float
    highest: float

    @property
    def gain(self) -> float:
        """Returns how many times as fast the placed model is."""
        return self.unplaced_seconds / self.seconds

    @property
    def certainty(self) -> str:
        """Tells what is certain about the gain."""
        if self.lowest <= 1 <= self.highest:
            return "no sure difference"
        return "faster" if self.gain > 1 else "SLOWER: keep the model as it was"

    @property
    def text(self) -> str:
        """Describes the gain in one sentence."""
        return (
            f"{self.gain:.2f}x as fast as without a placement ({self.lowest:.2f}x to "
            f"{self.highest:.2f}x in single rounds: {self.certainty}); measured in turns"
        )


def find_unplaced(profile: Profile, batch: int, threads: int) -> Unplaced | None:
    """Finds the fastest of the engine's devices; None if no whole model was measured."""
    costs = costs_of(profile, batch, threads, profile.devices)
    found = []
    for device in profile.devices:
        total = total_of(profile, device.name, batch, threads)
        if device.name == _HOST or total is None or not total.seconds.median:
            continue
        devices = _devices_of(profile, device, costs)
        rows = None if devices is None else cost_of(costs.seconds, devices)
        if rows:
            found.append(Unplaced(device.name, rows, total.seconds.median))
    return min(found, key=lambda unplaced: unplaced.seconds, default=None)


def total_of(profile: Profile, device: str, batch: int, threads: int) -> Total | None:
    """Returns a device's whole-model time; a single number of threads serves for all numbers."""
    totals = [total for total in profile.totals if total.device == device and total.batch == batch]
    if len({total.threads for total in totals}) == 1:
        return totals[0]
    return next((total for total in totals if total.threads == threads), None)


def _devices_of(profile: Profile, device: Device, costs: Costs) -> Sequence[int] | None:
    """Returns the device of each operator: `device` for those that it timed within the model."""
    names = [other.name for other in profile.devices]
    entries = measured_at(profile, device, costs.batch, costs.threads)
    took = {
        op
        for entry in entries
        if entry.cut_seconds is None and entry.source is None
        for op in entry.ops
    }
    devices = []
    for op in profile.ops:
        able = [name for name, entry in zip(names, costs.measured[op.id], strict=True) if entry]
        wanted = [*([device.name] if op.id in took else []), _HOST, "cpu", device.name]
        chosen = next((name for name in wanted if name in able), None)
        if chosen is None:
            return None
        devices.append(names.index(chosen))
    return devices
