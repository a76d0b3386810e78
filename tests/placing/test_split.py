"""Compares layers on two devices with trying all sets of layers and all channels."""

import itertools
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from larq_engine.placing import split as splitting
from larq_engine.placing.place_profile import place_profile
from larq_engine.placing.placement import Placement
from larq_engine.placing.profile import Profile
from larq_engine.placing.profile_file import parse_profile
from tests.placing.profiles import encoded, fields

_MEMORY = {"cpu": "host", "cuda": "cuda"}


def _random_profile(rng: random.Random, count: int) -> Profile:
    """Makes a residual network on two devices of similar speed, with runs that they fuse."""
    content = fields()
    content["values"] = [
        {"id": n, "name": f"v{n}", "bytes": {"1": rng.choice((32, 320, 3200))}, "kind": "inner"}
        for n in range(count + 1)
    ]
    content["values"][0]["kind"], content["values"][-1]["kind"] = "input", "output"
    content["ops"] = [
        {"id": n, "node": n, "op": "LceBconv2d", "inputs": [n, *rng.sample(range(n), n % 2)]}
        | {"outputs": [n + 1]}
        for n in range(count)
    ]
    latency = rng.choice((0, 1e-6))
    for link in content["links"]:
        link["seconds"], link["bytes_per_second"] = latency, 1e9
    alone = {(op, device): rng.uniform(1, 20) * 1e-6 for op in range(count) for device in _MEMORY}
    runs = {
        (tuple(range(first, first + 2)), device): rng.uniform(0.5, 1)
        for device in _MEMORY
        for first in rng.sample(range(count - 1), 1)
    }
    measured = {((op,), device): seconds for (op, device), seconds in alone.items()}
    measured |= {
        (run, device): part * sum(alone[op, device] for op in run)
        for (run, device), part in runs.items()
    }
    content["measurements"] = [
        {"ops": [*ops], "batch": 1, "device": device, "threads": 1, "kernel": f"of_{device}"}
        | {"seconds": {"median": seconds}, "joules": 1e-6}
        for (ops, device), seconds in measured.items()
    ]
    content["totals"] = []
    return parse_profile(encoded(content))


def _total(
    known: Profile, devices: Sequence[str], shares: Sequence[tuple[str, float] | None]
) -> float:
    """Returns an assignment's seconds; a share is a second device and its part of the channels."""
    measured = {(m.ops, m.device): m.seconds.median for m in known.measurements}

    def move(size: float) -> float:
        return known.links[0].seconds + size / 1e9

    seconds = 0.0
    there = {(value.id, "host") for value in known.values if value.kind == "input"}
    for op, device, share in zip(known.ops, devices, shares, strict=True):
        computing = [device] if share is None else [device, share[0]]
        for value, memory in itertools.product(op.inputs, map(_MEMORY.get, computing)):
            if (value, memory) not in there:
                there.add((value, memory))
                seconds += move(known.values[value].bytes[1])
        times = [measured[(op.id,), computer] for computer in computing]
        if share is None:
            seconds += times[0]
        else:
            seconds += max(times[0] * (1 - share[1]), times[1] * share[1])
            seconds += move(known.values[op.outputs[0]].bytes[1] * share[1])
        there |= {(value, _MEMORY[device]) for value in op.outputs}
    if _MEMORY[devices[-1]] != "host":
        output = known.ops[-1].outputs[0]
        seconds += 0 if (output, "host") in there else move(known.values[output].bytes[1])
    for (ops, device), fused in measured.items():
        if len(ops) > 1 and all(devices[op] == device and shares[op] is None for op in ops):
            seconds -= max(0.0, sum(measured[(op,), device] for op in ops) - fused)
    return seconds


def _tried(known: Profile, devices: Sequence[str], channels: Sequence[int]) -> Iterator[float]:
    other = {"cpu": "cuda", "cuda": "cpu"}
    options = [
        [None, *((other[device], 1 - first / count) for first in range(32, count, 32))]
        for device, count in zip(devices, channels, strict=True)
    ]
    for shares in itertools.product(*options):
        yield _total(known, devices, shares)


def _shares(placement: Placement) -> list[tuple[str, float] | None]:
    splits = [op.split for op in placement.ops]
    return [split and (split.device, 1 - split.channels / split.of) for split in splits]


@pytest.mark.parametrize("part", range(10))
def test_equals_trying_all_sets_and_channels(part: int) -> None:
    found = 0
    for seed in range(part * 20, part * 20 + 20):
        rng = random.Random(seed)
        known = _random_profile(rng, 4)
        channels = [rng.choice((16, 32, 48, 64, 100, 128)) for _ in known.ops]
        placement = place_profile(known, channels=dict(enumerate(channels)))
        devices = [op.device for op in placement.ops]
        best = min(_tried(known, devices, channels))
        assert placement.seconds == pytest.approx(best), seed
        assert _total(known, devices, _shares(placement)) == pytest.approx(best), seed
        moves = sum(move.seconds for move in placement.moves)
        assert placement.seconds <= sum(op.seconds for op in placement.ops) + moves + 1e-12
        found += sum(op.split is not None for op in placement.ops)
    assert found >= 10


def test_too_many_that_depend_on_each_other_are_added_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes = set()
    for seed in range(40):
        known = _random_profile(random.Random(seed), 4)
        channels = dict.fromkeys(range(4), 128)
        best = place_profile(known, channels=channels)
        with monkeypatch.context() as patch:
            patch.setattr(splitting, "_SETS", 1)
            placement = place_profile(known, channels=channels)
        devices = [op.device for op in placement.ops]
        assert placement.seconds == pytest.approx(_total(known, devices, _shares(placement)))
        without = place_profile(known).seconds
        assert best.seconds <= placement.seconds * (1 + 1e-9) <= without * (1 + 2e-9)
        notes.add(placement.way.partition("on two devices: ")[2])
        if any(_shares(best)):
            assert "all sets of layers tried" in best.way
    assert notes == {"", "some layers added one by one"}


def test_no_more_layers_are_split_than_the_plug_in_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    known = _random_profile(random.Random(4), 8)
    channels = dict.fromkeys(range(8), 1024)
    assert sum(map(bool, _shares(place_profile(known, channels=channels)))) > 1
    monkeypatch.setattr(splitting, "_MAX_SPLITS", 1)
    assert sum(map(bool, _shares(place_profile(known, channels=channels)))) <= 1


def _small() -> dict[str, Any]:
    """Returns a profile whose second operator takes 0.2 ms on the CPU and 0.3 ms on the GPU."""
    content = fields()
    content["measurements"] = content["measurements"][:2] + content["measurements"][3:]
    content["measurements"][2]["seconds"]["median"] = 3e-4
    return content


def test_what_is_shared_is_told() -> None:
    known = parse_profile(encoded(_small()))
    placement = place_profile(known, channels={1: 128})
    # The input's move takes 1.5 us; computing takes 75 us there and 150 us here; the way back 1.01
    # us.
    split = placement.ops[1].split
    assert split is not None
    assert (split.device, split.channels, split.of) == ("cuda", 96, 128)
    assert placement.ops[1].seconds == pytest.approx(1.5e-4)
    assert placement.seconds == pytest.approx(1e-5 + 1.5e-4 + 1.5e-6 + 1.01e-6)
    assert split.saved == pytest.approx(5e-5 - 1.5e-6 - 1.01e-6)
    assert [(move.value, move.target, move.bytes) for move in placement.moves] == [
        ("mid", "cuda", 500),
        ("out", "host", 10),
    ]
    assert placement.option == "3:cpu,4:cpu:of cpu@96+cuda:of cuda"
    whole = {other.device: other.more for other in placement.ops[1].elsewhere}
    assert whole["cpu"] == pytest.approx(split.saved)
    assert whole["cuda"] == pytest.approx(3e-4 + 1.04e-6 - 1.5e-4 - 1.01e-6)
    text = "32 of 128 channels at the same time on engine, GPU, which saves 47.5 µs in all"
    assert text in str(placement) and text in placement.ops[1].reason
    assert "of cpu+of cuda" in str(placement)
    read = json.loads(placement.to_json())["ops"]
    assert [op["split"] for op in read] == [None, vars(split)]
    beside = {other.name: other.seconds for other in placement.alternatives}
    assert beside["each layer on one device"] == pytest.approx(2.1e-4)


@pytest.mark.parametrize("names", [("cpu", "host"), ("cpu", "pi5")])
def test_only_the_engines_two_devices_share_a_layer(names: tuple[str, str]) -> None:
    content = _small() | {"totals": []}
    renamed = dict(zip(("cpu", "cuda"), names, strict=True))
    for entry in content["devices"]:
        entry["name"] = renamed[entry["name"]]
    for entry in content["measurements"]:
        entry["device"] = renamed[entry["device"]]
    placement = place_profile(parse_profile(encoded(content)), channels={1: 128})
    assert not any(_shares(placement))


def test_what_is_not_split() -> None:
    known = parse_profile(encoded(_small()))
    assert not any(_shares(place_profile(known)))
    assert not any(_shares(place_profile(known, channels={1: 32})))
    assert not any(_shares(place_profile(known, channels={1: 128}, devices=["cpu"])))


@pytest.mark.parametrize("arguments", [{"objective": "energy"}, {"objective": "edp"}])
def test_where_energy_counts_no_layer_is_split(arguments: dict[str, Any]) -> None:
    content = _small()
    for entry in content["measurements"]:
        entry["joules"] = 1.0 if entry["device"] == "cpu" else 3.0
    for link in content["links"]:
        link["joules_per_byte"] = 1e-9
    known = parse_profile(encoded(content))
    channels = {1: 128}
    assert not any(_shares(place_profile(known, channels=channels, **arguments)))
    assert not any(_shares(place_profile(known, channels=channels, max_energy=100)))
    placement = place_profile(known, channels=channels)
    assert placement.joules == pytest.approx(1 + 0.75 + 0.75 + 500e-9 + 10e-9)
