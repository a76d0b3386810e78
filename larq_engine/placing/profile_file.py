"""Reads and writes a profile's file: costs of each operator on each device, and of moving values.

The file is one JSON object. Times are in seconds, energies in joules, sizes in bytes. Unknown keys
are ignored, so that later versions may add keys; a key that changes its meaning needs a new
version.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from larq_engine.placing.json_fields import Fields, load_object
from larq_engine.placing.profile import (
    KINDS,
    Device,
    Link,
    Measurement,
    ModelIdentity,
    Op,
    Profile,
    Timing,
    Total,
    Value,
)
from larq_engine.placing.profile_checks import check_profile
from larq_engine.python.whole_files import read_file, write_files

VERSION = 1

ADVICE = "write one with `larq-engine profile MODEL -o FILE`"


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
    fields = load_object(content, name, "larq_engine_profile", VERSION, ADVICE)
    model = fields.part("model")
    profile = Profile(
        engine=fields.text("engine"),
        model=ModelIdentity(
            model.text("name"), model.optional_text("sha256"), model.optional_count("bytes")
        ),
        values=tuple(_read_value(part) for part in fields.parts("values")),
        ops=tuple(_read_op(part) for part in fields.parts("ops")),
        devices=tuple(read_device_part(part) for part in fields.parts("devices")),
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
        "devices": [_device_fields(device) for device in profile.devices],
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


def _device_fields(device: Device) -> dict[str, Any]:
    return {key: value for key, value in vars(device).items() if key != "area" or value is not None}


def _link_fields(link: Link) -> dict[str, Any]:
    fields = dict(vars(link))
    return {"from": fields.pop("source"), "to": fields.pop("target"), **fields}


def _timed_fields(entry: Measurement | Total) -> dict[str, Any]:
    known = {key: value for key, value in vars(entry.seconds).items() if value is not None}
    fields = {**vars(entry), "seconds": known}
    return {
        key: value
        for key, value in fields.items()
        if value is not None or key not in ("source", "cut_seconds", "area")
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


def read_device_part(fields: Fields) -> Device:
    """Reads a device of a profile or of a device's file."""
    return Device(
        fields.text("name"),
        fields.text("title"),
        fields.text("memory"),
        fields.optional_count("area", least=1),
    )


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
        area=fields.optional_count("area"),
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
