"""Reads costs of devices that this machine lacks: measured or counted, by class of operators.

The file is JSON like a profile's. A class has a constant cost of an operator, a cost of each
multiplication and a cost of each byte that is read or written. An operator costs the constant and
the larger of the other two. The first class that names the operator counts; `*` names all
operators. An operator that the device cannot compute is in no class.

A file for one model has layers in place of classes, or beside them: the cost of nodes of its graph,
alone or of several that follow each other, and the area that one takes of the device's.
"""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from larq_engine.placing.json_fields import Fields, load_object
from larq_engine.placing.profile import Device, Link, Measurement, Op, Profile, Timing
from larq_engine.placing.profile_checks import check_profile
from larq_engine.placing.profile_file import read_device_part, read_link

VERSION = 1

_SHIPPED = Path(__file__).parent / "devices"


@dataclass(frozen=True)
class OpClass:
    """Costs of the operators of one class."""

    ops: tuple[str, ...]
    seconds: float
    seconds_per_mac: float
    seconds_per_byte: float
    watts: float | None
    threads: int
    source: str


@dataclass(frozen=True)
class LayerCost:
    """Cost of a node of one model, or of several in one go, for a batch of 1."""

    nodes: tuple[int, ...]
    seconds: float
    joules: float | None
    area: int | None
    source: str


@dataclass(frozen=True)
class DeviceFile:
    """Contents of a device's file."""

    device: Device
    source: str
    links: tuple[Link, ...]
    classes: tuple[OpClass, ...]
    missing: tuple[str, ...]  # what was looked for and not found
    layers: tuple[LayerCost, ...] = ()
    sha256: str | None = None  # of the model that has the layers


def shipped_devices() -> list[str]:
    """Returns the names of the files that come with the package."""
    return sorted(path.stem for path in _SHIPPED.glob("*.json"))


def read_device(path: str | os.PathLike[str]) -> DeviceFile:
    """Reads a device's file: one that comes with the package, by its name, or any other.

    Raises:
        OSError: There is no such file, or it cannot be read.
        ValueError: It is no device's file.
    """
    shipped = os.fspath(path) in shipped_devices()
    file = _SHIPPED / f"{os.fspath(path)}.json" if shipped else Path(path)
    if not file.exists():
        raise FileNotFoundError(
            f"device file '{os.fspath(path)}': expected a file, or one of "
            f"{', '.join(shipped_devices())}, got nothing of that name; check the path"
        )
    return parse_device(file.read_bytes(), f"device file '{os.fspath(path)}'")


def parse_device(content: bytes, name: str = "device file") -> DeviceFile:
    """Reads a device's file; `name` is for errors.

    Raises:
        ValueError: It is no device's file.
    """
    advice = f"take one of {', '.join(shipped_devices())} as an example"
    fields = load_object(content, name, "larq_engine_device", VERSION, advice)
    read = DeviceFile(
        read_device_part(fields.part("device")),
        fields.text("source"),
        tuple(map(read_link, fields.parts("links", required=False))),
        tuple(map(_read_class, fields.parts("classes"))),
        fields.texts("missing"),
        tuple(map(_read_layer, fields.parts("layers", required=False))),
        fields.part("model").text("sha256") if fields.has("layers") else None,
    )
    if read.device.area is not None and any(
        layer.area is None for layer in read.layers if len(layer.nodes) == 1
    ):
        raise ValueError(
            f"{name}: layers: expected the area of each node alone, as the device has one, got "
            "layers without"
        )
    if read.device.area is not None and read.classes:
        raise ValueError(f"{name}: classes: expected none with an area, which they do not have")
    if not read.classes and not read.missing and not read.layers:
        raise ValueError(f"{name}: classes: expected at least one, got none")
    return read


def _read_class(fields: Fields) -> OpClass:
    return OpClass(
        ops=fields.texts("ops"),
        seconds=fields.optional_amount("seconds") or 0.0,
        seconds_per_mac=fields.optional_amount("seconds_per_mac") or 0.0,
        seconds_per_byte=fields.optional_amount("seconds_per_byte") or 0.0,
        watts=fields.optional_amount("watts"),
        threads=fields.optional_count("threads", least=1) or 1,
        source=fields.text("source"),
    )


def _read_layer(fields: Fields) -> LayerCost:
    return LayerCost(
        nodes=fields.counts("nodes"),
        seconds=fields.amount("seconds"),
        joules=fields.optional_amount("joules"),
        area=fields.optional_count("area"),
        source=fields.text("source"),
    )


def apply_device(profile: Profile, added: DeviceFile) -> Profile:
    """Returns the profile with the device added, for each of the profile's batches.

    Raises:
        ValueError: A device of that name is there, its memory has no links, or the file has
            no costs.
    """
    name = f"device '{added.device.name}'"
    if not added.classes and not added.layers:
        raise ValueError(
            f"{name}: expected costs of classes of operators, got a file without them; it lacks "
            f"{'; '.join(added.missing)}; add classes to a copy of it"
        )
    if added.sha256 is not None and added.sha256 != profile.model.sha256:
        raise ValueError(
            f"{name}: expected the layers of the profile's model, sha256 {profile.model.sha256}, "
            f"got those of {added.sha256}; export that model again"
        )
    known = {(link.source, link.target) for link in profile.links}
    links = [link for link in added.links if (link.source, link.target) not in known]
    measurements = [
        measurement
        for op in profile.ops
        for batch in profile.batches()
        if (measurement := _measurement(profile, op, batch, added)) is not None
    ]
    measurements += _of_layers(profile, added)
    result = replace(
        profile,
        devices=(*profile.devices, added.device),
        links=(*profile.links, *links),
        measurements=(*profile.measurements, *measurements),
    )
    check_profile(result, name)
    return result


def _of_layers(profile: Profile, added: DeviceFile) -> list[Measurement]:
    """Returns the costs of layers whose nodes the profile has."""
    ids = {op.node: op.id for op in profile.ops}
    name, threads = added.device.name, min(profile.threads(), default=1)
    return [
        Measurement(
            ops=tuple(ids[node] for node in layer.nodes),
            batch=1,
            device=name,
            threads=threads,
            kernel=None,
            seconds=Timing(layer.seconds),
            joules=layer.joules,
            source=layer.source,
            area=layer.area,
        )
        for layer in added.layers
        if all(node in ids for node in layer.nodes)
    ]


def _measurement(profile: Profile, op: Op, batch: int, added: DeviceFile) -> Measurement | None:
    of_op = next((found for found in added.classes if op.op in found.ops or "*" in found.ops), None)
    if of_op is None:
        return None
    moved = sum(profile.values[value].bytes[batch] for value in {*op.inputs, *op.outputs})
    work = op.macs.get(batch, 0) * of_op.seconds_per_mac
    seconds = of_op.seconds + max(work, moved * of_op.seconds_per_byte)
    return Measurement(
        ops=(op.id,),
        batch=batch,
        device=added.device.name,
        threads=of_op.threads,
        kernel=None,
        seconds=Timing(seconds),
        joules=None if of_op.watts is None else of_op.watts * seconds,
        source=of_op.source,
    )
