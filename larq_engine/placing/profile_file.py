"""Reads and writes a profile's file: costs of each operator on each device, and of moving values.

The file is one JSON object. Times are in seconds, energies in joules, sizes in bytes. Unknown keys
are ignored, so that later versions may add keys; a key that changes its meaning needs a new
version.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from larq_engine.placing.device_names import device_title, memory_title
from larq_engine.placing.json_fields import Fields, load_object
from larq_engine.python.whole_files import read_file, write_files

VERSION = 1

ADVICE = "write one with `larq-engine profile MODEL -o FILE`"

# Name of the host program's memory: inputs come from there, and outputs end there.
HOST_MEMORY = "host"

KINDS = ("input", "output", "inner")


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

    def called(self, device: str) -> str:
        """Returns a device's name for people."""
        return next((known.called for known in self.devices if known.name == device), device)

    def batches(self) -> list[int]:
        """Returns the batches for which anything was measured."""
        return sorted({measurement.batch for measurement in self.measurements})

    def threads(self) -> list[int]:
        """Returns the numbers of threads for which anything was measured."""
        return sorted({measurement.threads for measurement in self.measurements})


def read_profile(path: str | os.PathLike[str]) -> Profile:
    """Reads a profile.

    Raises:
        OSError: There is no such file, or it cannot be read.
        ValueError: It is no profile, or one whose parts do not fit.
    """
    name = f"profile '{os.fspath(path)}'"
    return parse_profile(read_file(path, name, ADVICE), name)


def parse_profile(content: bytes, name: str = "profile") -> Profile:
    """Reads a profile's bytes; `name` is for errors.

    Raises:
        ValueError: It is no profile, or one whose parts do not fit.
    """
    fields = load_object(
        content,
        name,
        "larq_engine_profile",
        VERSION,
        ADVICE,
    )
    model = fields.part("model")
    profile = Profile(
        engine=fields.text("engine"),
        model=ModelIdentity(
            model.text("name"), model.optional_text("sha256"), model.optional_count("bytes")
        ),
        values=tuple(_read_value(part) for part in fields.parts("values")),
        ops=tuple(_read_op(part) for part in fields.parts("ops")),
        devices=tuple(_read_device(part) for part in fields.parts("devices")),
        links=tuple(read_link(part) for part in fields.parts("links")),
        measurements=tuple(read_measurement(part) for part in fields.parts("measurements")),
        totals=tuple(_read_total(part) for part in fields.parts("totals", required=False)),
        machine=dict(fields.optional_map("machine")),
        energy=fields.optional_text("energy") or "not available",
    )
    check_profile(profile, name)
    return profile


def write_profile(profile: Profile, path: str | os.PathLike[str]) -> None:
    """Writes the whole file, or nothing.

    Raises:
        OSError: It cannot be written there.
        ValueError: The profile's parts do not fit.
    """
    write_files({Path(path): format_profile(profile)})


def format_profile(profile: Profile) -> bytes:
    """Returns the bytes of the file.

    Raises:
        ValueError: The profile's parts do not fit.
    """
    content = {
        "larq_engine_profile": VERSION,
        "engine": profile.engine,
        "model": vars(profile.model),
        "machine": profile.machine,
        "values": [vars(value) for value in profile.values],
        "ops": [vars(op) for op in profile.ops],
        "devices": [vars(device) for device in profile.devices],
        "links": [_link_fields(link) for link in profile.links],
        "measurements": [_timed_fields(entry) for entry in profile.measurements],
        "totals": [_timed_fields(entry) for entry in profile.totals],
        "energy": profile.energy,
    }
    # Names of files and tensors may be invalid UTF-8, which readers of JSON would refuse.
    encoded = _encode(content).encode(errors="replace")
    parse_profile(encoded)
    return encoded


def _encode(content: Mapping[str, Any]) -> str:
    """Formats a line for each entry of a list: people can read it, and tools can compare it."""
    lines = []
    for key, value in content.items():
        if isinstance(value, list) and value:
            entries = ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in value)
            lines.append(f"{json.dumps(key)}: [\n  {entries}\n ]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def _link_fields(link: Link) -> dict[str, Any]:
    fields = dict(vars(link))
    return {"from": fields.pop("source"), "to": fields.pop("target"), **fields}


def _timed_fields(entry: Measurement | Total) -> dict[str, Any]:
    known = {key: value for key, value in vars(entry.seconds).items() if value is not None}
    fields = {**vars(entry), "seconds": known}
    return {
        key: value
        for key, value in fields.items()
        if value is not None or key not in ("source", "cut_seconds")
    }


def _read_value(fields: Fields) -> Value:
    return Value(
        fields.count("id"),
        fields.text("name"),
        fields.by_batch("bytes"),
        fields.choice("kind", KINDS),
    )


def _read_op(fields: Fields) -> Op:
    return Op(
        id=fields.count("id"),
        node=fields.count("node"),
        op=fields.text("op"),
        layer=fields.optional_text("layer") or "",
        name=fields.optional_text("name") or "",
        macs=fields.by_batch("macs", required=False),
        inputs=fields.counts("inputs"),
        outputs=fields.counts("outputs"),
    )


def _read_device(fields: Fields) -> Device:
    return Device(fields.text("name"), fields.text("title"), fields.text("memory"))


def read_link(fields: Fields) -> Link:
    """Reads a link of a profile or of a device's file."""
    return Link(
        fields.text("from"),
        fields.text("to"),
        fields.amount("seconds"),
        fields.positive("bytes_per_second"),
        fields.optional_amount("joules_per_byte"),
    )


def read_measurement(fields: Fields) -> Measurement:
    """Reads a measurement of a profile or of a device's file."""
    return Measurement(
        ops=fields.counts("ops"),
        batch=fields.count("batch", least=1),
        device=fields.text("device"),
        threads=fields.count("threads", least=1),
        kernel=fields.optional_text("kernel"),
        seconds=_read_timing(fields.part("seconds")),
        joules=fields.optional_amount("joules"),
        limit_seconds=fields.optional_amount("limit_seconds"),
        source=fields.optional_text("source"),
        cut_seconds=fields.optional_amount("cut_seconds"),
    )


def _read_total(fields: Fields) -> Total:
    return Total(
        batch=fields.count("batch", least=1),
        device=fields.text("device"),
        threads=fields.count("threads", least=1),
        seconds=_read_timing(fields.part("seconds")),
        joules=fields.optional_amount("joules"),
    )


def _read_timing(fields: Fields) -> Timing:
    return Timing(
        fields.amount("median"),
        fields.optional_amount("q1"),
        fields.optional_amount("q3"),
        fields.optional_count("runs"),
    )


def check_profile(profile: Profile, name: str) -> None:
    """Raises a ValueError that begins with `name` if parts of the profile do not fit together."""
    for problem in _problems(profile):
        raise ValueError(f"{name}: {problem}")


def _problems(profile: Profile) -> Iterator[str]:
    if not profile.ops:
        yield "ops: expected at least one operator, got none; profile a whole model"
    yield from _problems_of_ids("values", [value.id for value in profile.values])
    yield from _problems_of_ids("ops", [op.id for op in profile.ops])
    yield from _problems_of_graph(profile)
    yield from _problems_of_devices(profile)
    yield from _problems_of_measurements(profile)


def _problems_of_ids(what: str, ids: Sequence[int]) -> Iterator[str]:
    for position, given in enumerate(ids):
        if given != position:
            yield (
                f"{what}[{position}].id: expected {position}, its position, got {given}; an entry "
                "is missing, or is there twice"
            )


def _problems_of_graph(profile: Profile) -> Iterator[str]:
    """Finds faults in the graph: operators must be in an order that can run, values made once."""
    count = len(profile.values)
    nodes: dict[int, int] = {}
    maker: dict[int, int] = {}
    for op in profile.ops:
        where = f"ops[{op.id}]"
        if op.node in nodes:
            yield (
                f"{where}.node: expected a node that no other operator is, got {op.node}, which is "
                f"ops[{nodes[op.node]}]; operators must not be there twice"
            )
        nodes[op.node] = op.id
        for value in (*op.inputs, *op.outputs):
            if value >= count:
                yield f"{where}: expected ids of {count} values, got {value}"
                return
        for value in op.outputs:
            if value in maker or profile.values[value].kind == "input":
                other = f"ops[{maker[value]}]" if value in maker else "the caller"
                yield f"{where}.outputs: expected values of its own, got {value}, made by {other}"
            maker[value] = op.id
    used = {value for op in profile.ops for value in op.inputs} | set(maker)
    for op in profile.ops:
        for value in op.inputs:
            if profile.values[value].kind == "input":
                continue
            where = f"ops[{op.id}].inputs: value {value}"
            if value not in maker:
                yield f"{where}: expected an operator that makes it, got none; the graph is cut"
            elif maker[value] >= op.id:
                yield (
                    f"{where}: expected to be made before, got made by ops[{maker[value]}]; the "
                    "graph has a cycle, or its operators are not in the order of execution"
                )
    for known in profile.values:
        if known.kind == "output" and known.id not in maker:
            yield f"values[{known.id}]: expected an operator that makes this output, got none"
        if known.kind == "inner" and known.id not in used:
            yield f"values[{known.id}]: expected an operator that knows it, got none"


def _problems_of_devices(profile: Profile) -> Iterator[str]:
    if not profile.devices:
        yield "devices: expected at least one, got none"
    names = [device.name for device in profile.devices]
    for name in names:
        if names.count(name) > 1:
            yield f"devices: expected one of each name, got {names.count(name)} named '{name}'"
    memories = {device.memory for device in profile.devices}
    pairs = [(link.source, link.target) for link in profile.links]
    for source, target in pairs:
        if pairs.count((source, target)) > 1:
            yield f"links: expected one from '{source}' to '{target}', got several"
    for memory in sorted(memories - {HOST_MEMORY}):
        for pair in ((HOST_MEMORY, memory), (memory, HOST_MEMORY)):
            if pair not in pairs:
                yield (
                    f"links: expected one from '{pair[0]}' to '{pair[1]}', as a device has the "
                    f"memory '{memory}', got none"
                )


def _problems_of_measurements(profile: Profile) -> Iterator[str]:
    if not profile.measurements:
        yield "measurements: expected at least one, got none; profile the model again"
    names = {device.name for device in profile.devices}
    seen: dict[tuple[Any, ...], int] = {}
    for number, entry in enumerate(profile.measurements):
        where = f"measurements[{number}]"
        yield from _problems_of_device(where, entry.device, names)
        if not entry.ops:
            yield f"{where}.ops: expected at least one operator, got none"
        for op in entry.ops:
            if op >= len(profile.ops):
                yield f"{where}.ops: expected ids of {len(profile.ops)} operators, got {op}"
        if len(set(entry.ops)) < len(entry.ops):
            yield f"{where}.ops: expected each operator once, got {list(entry.ops)}"
        key = (entry.ops, entry.batch, entry.device, entry.threads, entry.kernel)
        if key in seen:
            yield f"{where}: expected one of each, got the same as measurements[{seen[key]}]"
        seen[key] = number
    for number, total in enumerate(profile.totals):
        yield from _problems_of_device(f"totals[{number}]", total.device, names)
    for batch in profile.batches():
        for value in profile.values:
            if batch not in value.bytes:
                yield (
                    f"values[{value.id}].bytes: expected the bytes at batch {batch}, as there are "
                    f"measurements of it, got those at {sorted(value.bytes)}"
                )


def _problems_of_device(where: str, device: str, names: set[str]) -> Iterator[str]:
    if device not in names:
        known = ", ".join(sorted(names)) or "none"
        yield f"{where}.device: expected one of the devices ({known}), got '{device}'"
