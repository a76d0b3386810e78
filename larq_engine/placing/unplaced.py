"""The model without a placement: its measured time is the scale of all predictions.

A prediction is a sum of a profile's rows. Such a sum is not what a whole model takes: the clock
around each operator takes time, and threads and caches find another state. So the same sum is made
for the model as a device runs it without a placement, which was measured as a whole. What it was
off by there, it is off by for other placements too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from larq_engine.placing.costs import Costs, costs_of, measured_at
from larq_engine.placing.problem import cost_of
from larq_engine.placing.profile_file import Device, Profile, Total

_HOST = "host"


@dataclass(frozen=True)
class Unplaced:
    """The model without a placement, where that is fastest. Seconds are of one batch."""

    device: str
    rows: float  # the sum of its rows, as predictions are
    seconds: float  # measured

    @property
    def scale(self) -> float:
        """What the sum of a placement's rows is multiplied by."""
        return self.seconds / self.rows


@dataclass(frozen=True)
class Verified:
    """The placed model and the same without a placement, which ran in turns.

    Attributes:
        seconds: The median of the placed model, of one batch.
        unplaced_seconds: The same without a placement.
        lowest: How many times as fast the placed one was in the round where it gained least.
        highest: The same of the round where it gained most.
    """

    seconds: float
    unplaced_seconds: float
    lowest: float
    highest: float

    @property
    def gain(self) -> float:
        """How many times as fast the placed one is."""
        return self.unplaced_seconds / self.seconds

    @property
    def certainty(self) -> str:
        """What is sure of the gain."""
        if self.lowest <= 1 <= self.highest:
            return "no sure difference"
        return "faster" if self.gain > 1 else "SLOWER: keep the model as it was"

    @property
    def text(self) -> str:
        """One sentence."""
        return (
            f"{self.gain:.2f}x as fast as without a placement ({self.lowest:.2f}x to "
            f"{self.highest:.2f}x in single rounds: {self.certainty}); measured in turns"
        )


def find_unplaced(profile: Profile, batch: int, threads: int) -> Unplaced | None:
    """The fastest of the engine's devices; None where no whole model was measured."""
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
    """The whole model on a device, as measured; one with one number of threads has it for all."""
    totals = [total for total in profile.totals if total.device == device and total.batch == batch]
    if len({total.threads for total in totals}) == 1:
        return totals[0]
    return next((total for total in totals if total.threads == threads), None)


def _devices_of(profile: Profile, device: Device, costs: Costs) -> Sequence[int] | None:
    """Where the operators are: on the device those that it took, which were timed in the model."""
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
