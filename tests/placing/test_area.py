"""Placements on a device with an area equal trying all: no operators beyond it are taken."""

import itertools
import json
import random
from typing import Any

import pytest

from larq_engine.placing.device_file import apply_device, parse_device
from larq_engine.placing.place_profile import place_profile
from larq_engine.placing.placement_file import read_placement
from larq_engine.placing.profile import Profile
from larq_engine.placing.profile_file import format_profile, parse_profile
from tests.placing.profiles import encoded, fields

_COUNT = 5
_DEVICES = ("cpu", "cuda", "fpga")
_MEMORIES = {"cpu": "host", "cuda": "cuda", "fpga": "fpga"}
_LINK = {"seconds": 1e-6, "bytes_per_second": 1e9, "joules_per_byte": 1e-9}


def _chip(seed: int, area: int) -> dict[str, Any]:
    """Returns a chip that computes all operators, most runs in one go, and takes area for each."""
    rng = random.Random(seed)
    layers: list[dict[str, Any]] = [
        {"nodes": [op], "seconds": rng.uniform(1, 5) * 1e-6, "joules": rng.uniform(1, 5) * 1e-6}
        | {"area": rng.randint(1, 9) * 100, "source": "drawn"}
        for op in range(_COUNT)
    ]
    for first, last in itertools.combinations(range(_COUNT), 2):
        if rng.random() < 0.8:
            share = rng.uniform(0.3, 1)
            layers.append(
                {"nodes": list(range(first, last + 1)), "source": "drawn"}
                | {
                    key: share * sum(layer[key] for layer in layers[first : last + 1])
                    for key in ("seconds", "joules")
                }
            )
    ends = (("host", "fpga"), ("fpga", "host"))
    return {
        "larq_engine_device": 1,
        "device": {"name": "fpga", "title": "a chip", "memory": "fpga", "area": area},
        "source": "drawn",
        "links": [{"from": source, "to": target, **_LINK} for source, target in ends],
        "classes": [],
        "missing": [],
        "model": {"sha256": "ab" * 32},
        "layers": layers,
    }


def _profile(seed: int) -> Profile:
    """Returns a chain on a CPU and a GPU."""
    rng = random.Random(seed)
    content = fields()
    content["values"] = [
        {"id": n, "name": f"v{n}", "bytes": {"1": rng.randint(1, 9) * 100}, "kind": "inner"}
        for n in range(_COUNT + 1)
    ]
    content["values"][0]["kind"], content["values"][-1]["kind"] = "input", "output"
    content["ops"] = [
        {"id": n, "node": n, "op": "LceBconv2d", "macs": {"1": 1}, "inputs": [n]}
        | {"outputs": [n + 1]}
        for n in range(_COUNT)
    ]
    content["links"] = [
        {"from": source, "to": target, **_LINK}
        for source, target in (("host", "cuda"), ("cuda", "host"))
    ]
    content["measurements"] = [
        {"ops": [op], "batch": 1, "device": device, "threads": 1, "kernel": None}
        | {"seconds": {"median": rng.uniform(1, 9) * 1e-6}, "joules": rng.uniform(1, 9) * 1e-6}
        for op in range(_COUNT)
        for device in ("cpu", "cuda")
    ]
    content["totals"] = []
    return parse_profile(encoded(content))


def _savings(chip: dict[str, Any]) -> dict[tuple[int, int], tuple[float, float]]:
    """Returns what runs save; one that the file lacks saves what its fastest two parts do."""
    known = {(entry["nodes"][0], entry["nodes"][-1] + 1): entry for entry in chip["layers"]}
    saved = {}
    for length in range(1, _COUNT + 1):
        for first in range(_COUNT - length + 1):
            end = first + length
            if (first, end) in known:
                whole = [
                    sum(known[op, op + 1][key] for op in range(first, end)) - known[first, end][key]
                    for key in ("seconds", "joules")
                ]
                saved[first, end] = whole[0], whole[1]
            else:
                saved[first, end] = max(
                    tuple(map(sum, zip(saved[first, at], saved[at, end], strict=True)))
                    for at in range(first + 1, end)
                )
    return saved


def _tried(known: Profile, chip: dict[str, Any]) -> list[tuple[float, float, int]]:
    """Returns seconds, joules and area of all assignments."""
    entries = {(entry.ops, entry.device): entry for entry in known.measurements}
    singles = chip["layers"][:_COUNT]
    saved = _savings(chip)
    found = []
    for devices in itertools.product(_DEVICES, repeat=_COUNT):
        one = [entries[(op,), device] for op, device in enumerate(devices)]
        seconds = sum(entry.seconds.median for entry in one)
        joules = sum(entry.joules or 0 for entry in one)
        first = 0
        for device, group in itertools.groupby(devices):
            length = len(list(group))
            if device == "fpga":
                seconds -= saved[first, first + length][0]
                joules -= saved[first, first + length][1]
            first += length
        places = ["host", *(_MEMORIES[device] for device in devices), "host"]
        for value, (source, target) in enumerate(itertools.pairwise(places)):
            # From one device's memory to another's by way of the host's.
            steps = 0 if source == target else 1 + ("host" not in (source, target))
            seconds += steps * (1e-6 + known.values[value].bytes[1] / 1e9)
            joules += steps * 1e-9 * known.values[value].bytes[1]
        area = sum(singles[op]["area"] for op, device in enumerate(devices) if device == "fpga")
        found.append((seconds, joules, area))
    return found


@pytest.mark.parametrize("area", [150, 800, 1500, 9000])
@pytest.mark.parametrize("seed", range(10))
def test_equals_trying_all(seed: int, area: int) -> None:
    chip = _chip(seed, area)
    known = apply_device(_profile(seed), parse_device(json.dumps(chip).encode()))
    tried = [costs for costs in _tried(known, chip) if costs[2] <= area]
    for objective, place in (("latency", 0), ("energy", 1)):
        placement = place_profile(known, objective=objective)
        assert placement.cost == pytest.approx(min(costs[place] for costs in tried))
        assert placement.area is not None and placement.area <= area
        assert placement.bound is None
        assert f"area: {placement.area} of {area}" in str(placement)


def test_a_profile_and_a_placement_keep_the_area(tmp_path) -> None:
    chip = _chip(1, 1500)
    known = apply_device(_profile(1), parse_device(json.dumps(chip).encode()))
    read = parse_profile(format_profile(known))
    assert read == known
    placement = place_profile(read)
    (tmp_path / "placement.json").write_text(placement.to_json())
    again = read_placement(tmp_path / "placement.json", known)
    assert (again.area, again.most_area) == (placement.area, 1500)


@pytest.mark.parametrize("arguments", [{"objective": "edp"}, {"max_energy": 1.0}])
def test_one_limit_is_enough(arguments) -> None:
    known = apply_device(_profile(1), parse_device(json.dumps(_chip(1, 900)).encode()))
    with pytest.raises(ValueError, match="with 'fpga', whose area is a limit already"):
        place_profile(known, **arguments)


def test_layers_of_another_model_are_refused() -> None:
    chip = _chip(1, 900) | {"model": {"sha256": "cd" * 32}}
    with pytest.raises(ValueError, match=r"got those of cdcd.*; export that model again"):
        apply_device(_profile(1), parse_device(json.dumps(chip).encode()))
