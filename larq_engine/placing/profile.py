"""Describes a profile: costs of each operator on each device, and of moving values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from larq_engine.placing.device_names import device_title, memory_title
from larq_engine.python.devices import HOST

# Name of the host program's memory: inputs come from there, and outputs end there.
HOST_MEMORY = "host"

KINDS = ("input", "output", "inner")

_NOISY = "NOISY"  # what the profiler says of a busy machine begins so


@dataclass(frozen=True)
class Timing:
    """Seconds of repeated runs; a device that only a file describes has just the median."""

    median: float
    q1: float | None = None
    q3: float | None = None
    runs: int | None = None


@dataclass(frozen=True)
class ModelIdentity:
    """Name of the profiled file; a published network has no digest, as it is no file."""

    name: str
    sha256: str | None = None
    bytes: int | None = None


@dataclass(frozen=True)
class Value:
    """A tensor that is no constant."""

    id: int
    name: str
    bytes: Mapping[int, int]  # by batch
    kind: str  # one of KINDS


@dataclass(frozen=True)
class Op:
    """An operator; its id is its position in the order of execution."""

    id: int
    node: int  # its number in the model's main graph
    op: str
    layer: str
    name: str
    macs: Mapping[int, int]  # by batch
    inputs: tuple[int, ...]  # values
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Device:
    """A device that computes, and the memory that it reads and writes."""

    name: str
    title: str
    memory: str
    area: int | None = None  # which its operators may take together; None: any number fits

    @property
    def called(self) -> str:
        """Returns the device's name for people."""
        return device_title(self.name, self.title)


@dataclass(frozen=True)
class Link:
    """Costs of moving bytes from one memory to another."""

    source: str
    target: str
    seconds: float
    bytes_per_second: float
    joules_per_byte: float | None = None

    @property
    def way(self) -> str:
        """Describes the direction of the link for people."""
        return f"{memory_title(self.source)} to {memory_title(self.target)}"

    def seconds_of(self, size: int) -> float:
        """Returns the seconds that moving one value of `size` bytes takes."""
        return self.seconds + size / self.bytes_per_second


@dataclass(frozen=True)
class Measurement:
    """Cost of an operator, or of a run of several that the device fuses, with a kernel."""

    ops: tuple[int, ...]
    batch: int
    device: str
    threads: int
    kernel: str | None
    seconds: Timing
    joules: float | None = None
    limit_seconds: float | None = None  # the physical floor
    source: str | None = None  # of costs that were not measured
    cut_seconds: float | None = None  # of the operators cut out of the model, if used
    area: int | None = None  # of one operator, on a device that has an area


@dataclass(frozen=True)
class Total:
    """Cost of the whole model: the device computes what it can, the host the rest."""

    batch: int
    device: str
    threads: int
    seconds: Timing
    joules: float | None = None


@dataclass(frozen=True)
class Profile:
    """Contents of a profile's file."""

    engine: str
    model: ModelIdentity
    values: tuple[Value, ...]
    ops: tuple[Op, ...]
    devices: tuple[Device, ...]
    links: tuple[Link, ...]
    measurements: tuple[Measurement, ...]
    totals: tuple[Total, ...] = ()
    machine: Mapping[str, Any] = field(default_factory=dict)  # for people
    energy: str = "not available"

    @property
    def busy(self) -> str:
        """Returns how the machine was disturbed while it measured; empty if it was quiet."""
        noise = str(self.machine.get("noise", ""))
        return noise if noise.startswith(_NOISY) else ""

    def called(self, device: str) -> str:
        """Returns a device's name for people."""
        return next((known.called for known in self.devices if known.name == device), device)

    def called_as_whole(self, device: str) -> str:
        """Returns the name for people of a whole model on a device, without a placement.

        The host has no binary operators, so the engine computes these for it.
        """
        called = self.called(device)
        hosted = {entry.ops for entry in self.measurements if entry.device == HOST}
        needs_engine = device == HOST and any((op.id,) not in hosted for op in self.ops)
        return f"{called} + engine for binary operators" if needs_engine else called

    def batches(self) -> list[int]:
        """Returns the batches for which anything was measured."""
        return sorted({measurement.batch for measurement in self.measurements})

    def threads(self) -> list[int]:
        """Returns the numbers of threads for which anything was measured."""
        return sorted({measurement.threads for measurement in self.measurements})
