"""Placements of profiles equal trying all: batches, threads, kernels, device files."""

import dataclasses
import itertools
import json
import random
from typing import Any

import pytest

from larq_engine.placing.costs import choose_devices, costs_of
from larq_engine.placing.device_file import (
    apply_device,
    parse_device,
    read_device,
    shipped_devices,
)
from larq_engine.placing.place_profile import place_profile
from larq_engine.placing.profile import Measurement, Profile, Timing
from larq_engine.placing.profile_file import parse_profile
from larq_engine.placing.unplaced import find_unplaced
from larq_engine.profiling.noise import Noise
from tests.placing.profiles import encoded, fields, profile


def _random_profile(seed: int) -> Profile:
    """Makes a residual network on a CPU with two kernels and threads, the host and a GPU."""
    rng = random.Random(seed)
    content = fields()
    count, batches = 4, (1, 8)

    def sizes(size: int) -> dict[str, int]:
        return {str(batch): size * batch for batch in batches}

    content["values"] = [
        {"id": n, "name": f"v{n}", "bytes": sizes(rng.randint(1, 9) * 100), "kind": "inner"}
        for n in range(count + 1)
    ]
    content["values"][0]["kind"], content["values"][-1]["kind"] = "input", "output"
    content["ops"] = [
        {"id": n, "node": n, "op": "LceBconv2d", "macs": sizes(1000), "outputs": [n + 1]}
        | {"inputs": [n] if n < 2 else [n, n - 1]}
        for n in range(count)
    ]
    content["devices"].insert(1, {"name": "host", "title": "LiteRT", "memory": "host"})
    for link in content["links"]:
        link["joules_per_byte"] = 1e-9
    content["measurements"] = [
        {"ops": [op], "batch": batch, "device": device, "threads": threads, "kernel": kernel}
        | {"seconds": {"median": rng.uniform(1, 9) * 1e-6 * batch**0.8}}
        | {"joules": rng.uniform(1, 9) * 1e-6 * batch}
        for op in range(count)
        for batch in batches
        for device, kernel, threads in (
            ("cpu", "a", 1),
            ("cpu", "b", 1),
            ("cpu", "a", 2),
            ("host", None, 1),
            ("host", None, 2),
            ("cuda", "g", 1),
        )
    ]
    content["totals"] = []
    return parse_profile(encoded(content))


def _tried(known: Profile, batch: int, threads: int) -> list[tuple[float, float]]:
    """Returns seconds and joules of all assignments, each device with its fastest kernel."""

    def fastest(op: int, device: str) -> Measurement:
        number = 1 if device == "cuda" else threads
        return min(
            (
                entry
                for entry in known.measurements
                if (entry.ops, entry.batch, entry.device, entry.threads)
                == ((op,), batch, device, number)
            ),
            key=lambda entry: entry.seconds.median,
        )

    found = []
    for devices in itertools.product(("cpu", "host", "cuda"), repeat=len(known.ops)):
        entries = [fastest(op, device) for op, device in enumerate(devices)]
        seconds = sum(entry.seconds.median for entry in entries)
        joules = sum(entry.joules or 0 for entry in entries)
        places = ["gpu" if device == "cuda" else "ram" for device in devices]
        for value in known.values:
            home = "ram" if value.id == 0 else places[value.id - 1]
            wanted = {places[op.id] for op in known.ops if value.id in op.inputs}
            if value.kind == "output":
                wanted.add("ram")
            for _ in wanted - {home}:
                seconds += 1e-6 + value.bytes[batch] / 1e9
                joules += 1e-9 * value.bytes[batch]
        found.append((seconds, joules))
    return found


@pytest.mark.parametrize("seed", range(10))
def test_equals_trying_all_batches_threads_and_devices(seed: int) -> None:
    known = _random_profile(seed)
    runs = {
        (batch, threads): _tried(known, batch, threads) for batch in (1, 8) for threads in (1, 2)
    }
    least = min((min(runs[run])[0] / run[0], run) for run in runs)
    placement = place_profile(known, batch="auto")
    assert (placement.batch, placement.threads) == least[1]
    assert placement.seconds / placement.batch == pytest.approx(least[0])
    assert placement.bound is None
    placement = place_profile(known, batch=8, threads=2)
    assert placement.seconds == pytest.approx(min(runs[8, 2])[0])
    product = min(one * other for one, other in runs[8, 1])
    placement = place_profile(known, batch=8, threads=1, objective="edp")
    assert placement.cost == pytest.approx(product)
    limit = sorted(joules for _, joules in runs[8, 1])[40]
    placement = place_profile(known, batch=8, threads=1, max_energy=limit)
    expected = min(seconds for seconds, joules in runs[8, 1] if joules <= limit)
    assert placement.seconds == pytest.approx(expected)
    assert placement.joules is not None and placement.joules <= limit * (1 + 1e-9)


def test_energy_takes_the_kernel_of_least_energy() -> None:
    known = _random_profile(3)
    placement = place_profile(known, objective="energy", batch=1, threads=1, devices=["cpu"])
    for op, placed in enumerate(placement.ops):
        entries = [
            entry
            for entry in known.measurements
            if (entry.ops, entry.batch, entry.device, entry.threads) == ((op,), 1, "cpu", 1)
        ]
        best = min(entries, key=lambda entry: entry.joules or 0)
        assert (placed.kernel, placed.joules) == (best.kernel, best.joules)


@pytest.mark.parametrize("arguments", [{"max_energy": 1.0}, {"objective": "edp"}])
def test_kernels_of_unknown_energy_do_not_count_where_it_does(arguments: dict[str, Any]) -> None:
    content = fields()
    singles = [entry for entry in content["measurements"] if len(entry["ops"]) == 1]
    for entry in singles:
        entry["joules"] = 0.01
    faster = [{**entry, "kernel": "fast", "joules": None} for entry in singles]
    for entry in faster:
        entry["seconds"] = {"median": entry["seconds"]["median"] / 2}
    content["measurements"] += faster
    known = parse_profile(encoded(content))
    placement = place_profile(known, devices=["cpu"], **arguments)
    assert {op.kernel for op in placement.ops} == {"of cpu"}
    assert placement.joules == pytest.approx(0.02)
    assert {op.kernel for op in place_profile(known, devices=["cpu"]).ops} == {"fast"}


def test_the_table_moves_no_cursor() -> None:
    content = fields()
    for value in content["values"]:
        value["name"] += "\x1b[2J\n"
    for entry in (content["devices"][1], *content["measurements"]):
        for key in ("name", "device", "kernel"):
            if key in entry and entry[key] != "cpu":
                entry[key] += "\x1b[2J\n"
    lines = str(place_profile(parse_profile(encoded(content)))).split("\n")
    assert any(line.startswith("move ") for line in lines)
    assert all(line.isprintable() for line in lines)


def test_fused_runs_count_where_they_are_whole() -> None:
    placement = place_profile(profile(), devices=["cpu"])
    assert placement.seconds == pytest.approx(2e-4)  # the run's time, not the sum of its operators
    placement = place_profile(profile())
    # On the GPU the second operator takes 10 us, the move there 1.5 us and the move back 1.04 us.
    assert placement.seconds == pytest.approx(1e-5 + 1e-5 + 1.5e-6 + 1.04e-6)
    assert [op.device for op in placement.ops] == ["cpu", "cuda"]
    assert [(move.value, move.target) for move in placement.moves] == [
        ("mid", "cuda"),
        ("out", "host"),
    ]


def test_runs_that_overlap_are_counted_once() -> None:
    content = fields()
    whole = content["measurements"][2]
    content["measurements"].append({**whole, "kernel": "another", "seconds": {"median": 1.5e-4}})
    known = parse_profile(encoded(content))
    costs = costs_of(known, 1, 1, choose_devices(known, ["cpu"]))
    assert [gain.saved for gain in costs.seconds.gains] == [pytest.approx(6e-5)]


def test_what_else_would_cost_stands_beside() -> None:
    placement = place_profile(profile())
    alternatives = {other.name: other.seconds for other in placement.alternatives}
    assert alternatives["all on engine, CPU"] == pytest.approx(2e-4)
    assert alternatives[
        "all on engine, GPU; the operators that it lacks, where each is fastest"
    ] == pytest.approx(placement.seconds)
    greedy = 1e-5 + (1.5e-6 + 1e-5 + 1.04e-6)
    assert alternatives["greedy, each layer moving its own (HEP-BNN)"] == pytest.approx(greedy)
    assert "not measured on engine, GPU" in placement.ops[0].reason
    other = placement.ops[1].elsewhere[0]
    assert other.more == pytest.approx(2e-4 - placement.seconds)


def test_a_prediction_is_on_the_scale_of_what_the_whole_model_took() -> None:
    """Sums of rows were 8 % above the model's measured time: the gain must not change by that."""
    content = fields()
    content["totals"][0]["seconds"] = {"median": 1.5e-4}  # the rows' sum is 2e-4
    placement = place_profile(parse_profile(encoded(content)))
    assert placement.seconds < 1.5e-4  # the sum of rows, as files have it
    alone = place_profile(parse_profile(encoded(content)), devices=["cpu"])
    assert alone.gain == 1  # the engine's own choice gains nothing on itself
    assert alone.expected(alone.seconds) == pytest.approx(1.5e-4)
    assert placement.gain == pytest.approx(2e-4 / placement.seconds)
    assert placement.expected(placement.seconds) * placement.gain == pytest.approx(1.5e-4)
    first = str(placement).splitlines()[0]
    assert first.endswith("x as fast as without a placement (150 µs, measured)")
    assert f"{placement.gain:.2f}x" in first


def test_what_the_engine_left_to_the_host_is_the_hosts_in_the_whole_model() -> None:
    """A row of the engine that was timed only cut out is not part of the measured whole model."""
    content = fields()
    content["devices"].append({"name": "host", "title": "LiteRT 2.3.0 with XNNPACK"})
    content["devices"][2]["memory"] = "host"
    content["measurements"] = [content["measurements"][1], *content["measurements"][:1]]
    engine = content["measurements"][1]
    content["measurements"].append({**engine, "device": "host", "seconds": {"median": 3e-5}})
    known = find_unplaced(parse_profile(encoded(content)), 1, 1)
    assert known is not None and known.rows == pytest.approx(2.1e-4)
    engine["cut_seconds"] = 2e-5
    known = find_unplaced(parse_profile(encoded(content)), 1, 1)
    assert known is not None and known.rows == pytest.approx(2.3e-4)
    assert (known.device, known.seconds) == ("cpu", 2.1e-4)


def test_without_a_whole_model_sums_are_told_as_sums() -> None:
    content = fields()
    del content["totals"]
    placement = place_profile(parse_profile(encoded(content)))
    assert placement.gain is None
    assert placement.expected(placement.seconds) == placement.seconds
    assert "as the sums of operators' times" in str(placement)


def test_a_busy_machine_is_told_with_the_placement() -> None:
    noise = Noise()
    noise.add(wall_ns=1000, cpu_ns=500)
    busy = dataclasses.replace(profile(), machine={"noise": str(noise)})
    assert str(place_profile(busy)).endswith(
        "busy machine: the profile's times are doubtful (NOISY: time held off the core 50.0 %)"
    )
    assert "busy" not in str(place_profile(profile()))


def test_greedy_pays_moves_between_layers_of_one_device() -> None:
    content = fields()
    content["measurements"][0]["device"] = "cuda"
    placement = place_profile(parse_profile(encoded(content)), devices=["cuda"])
    alternatives = {other.name: other.seconds for other in placement.alternatives}
    moves = 2e-6 + 1.04e-6  # of the input and the output
    assert placement.seconds == pytest.approx(2e-5 + moves)
    greedy = alternatives["greedy, each layer moving its own (HEP-BNN)"]
    assert greedy == pytest.approx(placement.seconds + 2 * 1.5e-6)


def test_json_and_table_tell_the_same() -> None:
    placement = place_profile(profile(), engine="1.2.3")
    read = json.loads(placement.to_json())
    assert read["larq_engine_placement"] == 1
    assert read["model"]["sha256"] == "ab" * 32
    assert [(op["node"], op["device"], op["kernel"]) for op in read["ops"]] == [
        (3, "cpu", "of cpu"),
        (4, "cuda", "of cuda"),
    ]
    for op in read["ops"]:
        assert op["device"] in str(placement)
    assert "proven the best" in str(placement)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"objective": "speed"}, "expected one of latency, throughput, energy, edp, got 'speed'"),
        ({"batch": 4}, r"batch: expected one of the profile's \(1\), got 4"),
        ({"threads": 4}, r"threads: expected one of the profile's \(1\), got 4"),
        ({"devices": ["tpu"]}, r"expected some of the profile's \(cpu, cuda\), got 'tpu'"),
        (
            {"devices": ["cuda"]},
            r"LceQuantize \(node 3\): expected its time on one of cuda, got none",
        ),
        ({"objective": "energy"}, "expected a profile with joules, got one without"),
        ({"max_energy": 1.0}, "expected a profile with joules, got one without"),
    ],
)
def test_says_what_cannot_be(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        place_profile(profile(), **arguments)


def test_one_gpu_is_placed_on_as_models_run_on_one() -> None:
    content = fields()
    content["devices"].append({**content["devices"][1], "name": "cuda:1"})
    content["measurements"].append({**content["measurements"][3], "device": "cuda:1"})
    known = parse_profile(encoded(content))
    with pytest.raises(ValueError, match=r"devices: expected one GPU at most, .* got cuda, cuda:1"):
        place_profile(known)
    assert place_profile(known, devices=["cpu", "cuda:1"]).option.endswith("4:cuda:of cuda")


def test_too_little_energy_is_told() -> None:
    with pytest.raises(ValueError, match="max_energy: expected at most 1e-09, got at least"):
        place_profile(_random_profile(1), max_energy=1e-9)
    with pytest.raises(ValueError, match="objective latency or throughput, got energy"):
        place_profile(_random_profile(1), max_energy=1, objective="energy")


def _device() -> dict[str, Any]:
    return {
        "larq_engine_device": 1,
        "device": {"name": "board", "title": "a board", "memory": "board"},
        "source": "made up",
        "links": [
            {"from": a, "to": b, "seconds": 1e-6, "bytes_per_second": 1e9}
            for a, b in (("host", "board"), ("board", "host"))
        ],
        "classes": [
            {"ops": ["LceBconv2d"], "seconds": 1e-6, "seconds_per_mac": 1e-9, "source": "counted"},
            {"ops": ["*"], "seconds_per_byte": 1e-9, "watts": 2.0, "source": "guessed"},
        ],
        "missing": [],
    }


def test_a_device_file_adds_a_device() -> None:
    added = apply_device(profile(), parse_device(encoded(_device())))
    found = {m.ops: m for m in added.measurements if m.device == "board"}
    assert found[(1,)].seconds == Timing(pytest.approx(2e-6))
    assert (found[(1,)].joules, found[(1,)].source) == (None, "counted")
    assert found[(0,)].seconds == Timing(pytest.approx(1.5e-6))
    assert found[(0,)].joules == pytest.approx(3e-6)
    assert [op.device for op in place_profile(added).ops] == ["board", "board"]


def test_device_files_that_do_not_fit_are_told() -> None:
    device = parse_device(encoded(_device()))
    with pytest.raises(ValueError, match="2 named 'board'"):
        apply_device(apply_device(profile(), device), device)
    with pytest.raises(ValueError, match="a device has the memory 'board', got none"):
        apply_device(profile(), dataclasses.replace(device, links=()))
    with pytest.raises(ValueError, match="classes: expected at least one"):
        parse_device(encoded({**_device(), "classes": []}))
    with pytest.raises(ValueError, match="it lacks its latencies"):
        nothing = {**_device(), "classes": [], "missing": ["its latencies"]}
        apply_device(profile(), parse_device(encoded(nothing)))
    with pytest.raises(ValueError, match="another JSON file"):
        parse_device(encoded(fields()))


@pytest.mark.parametrize("name", shipped_devices())
def test_shipped_devices_are_whole(name: str) -> None:
    device = read_device(name)
    assert device.source
    if not device.classes:
        assert device.missing
        return
    added = apply_device(profile(), device)
    placement = place_profile(added, devices=["cpu", device.device.name])
    assert placement.bound is None
