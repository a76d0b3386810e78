"""Finds faults of a profile: parts that do not fit together."""

from collections.abc import Iterator, Sequence
from typing import Any

from larq_engine.placing.profile import HOST_MEMORY, Profile


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
    producer: dict[int, int] = {}
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
            if value in producer or profile.values[value].kind == "input":
                other = f"ops[{producer[value]}]" if value in producer else "the caller"
                yield f"{where}.outputs: expected values of its own, got {value}, made by {other}"
            producer[value] = op.id
    used = {value for op in profile.ops for value in op.inputs} | set(producer)
    for op in profile.ops:
        for value in op.inputs:
            if profile.values[value].kind == "input":
                continue
            where = f"ops[{op.id}].inputs: value {value}"
            if value not in producer:
                yield f"{where}: expected an operator that makes it, got none; the graph is cut"
            elif producer[value] >= op.id:
                yield (
                    f"{where}: expected to be made before, got made by ops[{producer[value]}]; the "
                    "graph has a cycle, or its operators are not in the order of execution"
                )
    for known in profile.values:
        if known.kind == "output" and known.id not in producer:
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
