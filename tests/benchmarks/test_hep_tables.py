"""The tables of a made-up profile, against sums by hand."""

from typing import Any

import pytest

from benchmarks.gpu import hep_placements
from benchmarks.placing import hep_tables
from benchmarks.placing.hep_tables import Configuration
from larq_engine.placing.profile import Profile
from larq_engine.placing.profile_file import parse_profile
from tests.placing.profiles import encoded, fields

# Milliseconds at a batch of 2: pooling, then two convolutions. The GPU cannot pool, and one of its
# two kernels refuses the last layer.
_MS: list[tuple[list[int], str, str | None, float]] = [
    ([0], "host", None, 1),
    ([0], "cpu", "pooling", 2),
    ([1], "cpu", "good", 8),
    ([1], "cpu", "slow", 10),
    ([2], "cpu", "good", 8),
    ([2], "cpu", "slow", 6),
    ([0, 1], "cpu", "slow", 9),
    ([1], "cuda", "hep_x", 3),
    ([2], "cuda", "hep_x", 4),
    ([1], "cuda", "hep_y", 2),
]
# A value takes 0.1 ms to move and 1 us for each byte.
_BYTES = (1000, 2000, 500, 40)


@pytest.fixture
def profile() -> Profile:
    content: dict[str, Any] = fields()
    kinds = ("input", "inner", "inner", "output")
    content["values"] = [
        {"id": number, "name": f"v{number}", "bytes": {"2": size}, "kind": kinds[number]}
        for number, size in enumerate(_BYTES)
    ]
    content["ops"] = [
        {
            "id": number,
            "node": number,
            "op": "LceBconv2d" if number else "MAX_POOL_2D",
            "layer": f"layer{number}",
            "name": f"v{number + 1}",
            "macs": {"2": 3_000_000} if number else {},
            "inputs": [number],
            "outputs": [number + 1],
        }
        for number in range(3)
    ]
    content["devices"].append({"name": "host", "title": "a host", "memory": "host"})
    content["links"] = [
        {"from": a, "to": b, "seconds": 1e-4, "bytes_per_second": 1e6, "joules_per_byte": None}
        for a, b in (("host", "cuda"), ("cuda", "host"))
    ]
    content["measurements"] = [
        {
            "ops": ops,
            "batch": 2,
            "device": device,
            "threads": 1,
            "kernel": kernel,
            "seconds": {"median": ms / 1e3},
            "joules": None,
        }
        for ops, device, kernel, ms in _MS
    ]
    content["totals"] = []
    content["machine"]["noise"] = "quiet"
    return parse_profile(encoded(content))


@pytest.mark.parametrize(
    ("device", "kernel", "ops", "moves"),
    [
        ("cpu", None, (2, 8, 6), 0),
        ("cpu", "good", (2, 8, 8), 0),
        ("cpu", "slow", (2, 10, 6), 0),
        # Values go to the GPU and back once: 0.1 ms + 2000 us, 0.1 ms + 40 us.
        ("cuda", None, (1, 2, 4), 2.24),
        ("cuda", "hep_x", (1, 3, 4), 2.24),
        ("cuda", "hep_y", (1, 2, float("inf")), 2.24),
        ("host", None, (1, 2, 4), 2.24),
    ],
)
def test_configurations(
    profile: Profile, device: str, kernel: str | None, ops: tuple[float, ...], moves: float
) -> None:
    chosen = Configuration(device, 1, kernel)
    assert chosen in list(hep_tables.configurations(profile))
    taken = hep_tables.take(profile, chosen, 2)
    assert [seconds * 1e3 for seconds in taken.ops] == pytest.approx(ops)
    assert taken.moves * 1e3 == pytest.approx(moves)


def test_all_configurations_are_there_once(profile: Profile) -> None:
    assert len(list(hep_tables.configurations(profile))) == 3 + 3 + 1


def test_greedy_and_exact(profile: Profile) -> None:
    """Greedy: 1 on the host, 2 + 2.1 + 0.6 on the GPU, 4 + 0.6 + 0.14 there; 5,000 batches."""
    placed = hep_tables.place(profile, 2, 1)
    assert placed.greedy == pytest.approx(5 * (1 + 4.7 + 4.74))
    assert placed.values_stay == pytest.approx(5 * (1 + 2 + 4 + 2.24))
    assert placed.exact == pytest.approx(5 * (1 + 2 + 4 + 2.24))
    assert placed.devices == "1 host, 2 cuda"


def test_text(profile: Profile) -> None:
    lines = hep_tables.describe(profile, hep_tables.PUBLISHED["cifar"]).splitlines()
    cells = [line.split() for line in lines]
    assert ["1", "LceBconv2d", "layer1", "1.50"] in cells
    assert ["sum", "3.00"] in cells
    ms = [line.split("  ") for line in lines if line.startswith("cuda, 1 thread(s), hep_x")]
    assert [c.strip() for c in ms[0] if c.strip()][1:] == [
        *("0.5000", "1.5000", "2.0000", "1.1200", "5.1200"),
    ]
    assert [c.strip() for c in ms[1] if c.strip()][1:] == ["51.200"]
    refused = [line.split() for line in lines if line.startswith("cuda, 1 thread(s), hep_y")]
    assert [line[-1] for line in refused] == ["-", "-"]
    assert ["2", "1", "52.200", "46.200", "46.200", "1", "host,", "2", "cuda"] in cells
    assert any("GTX 1080" in line and line.split()[-2:] == ["41.600", "16"] for line in lines)
    assert lines[-1].split() == ["here,", "exact", "46.200", "2", "1"]


def test_published_seconds() -> None:
    seconds = {name: [one.seconds for one in found] for name, found in hep_tables.PUBLISHED.items()}
    assert seconds == {"fashion": [2.11, 2.84, 9.31], "cifar": [41.6, 55.0, 297.0]}


def test_a_gpus_records_of_placements(profile):
    (record,) = hep_placements.records_of(profile)
    of_images = hep_tables.IMAGES / 2
    placed = hep_tables.place(profile, 2, 1)
    best = {d: hep_tables.take(profile, Configuration(d, 1, None), 2).all for d in ("cpu", "cuda")}
    assert record == {
        "machine": "this one",
        "batch": 2,
        "cpu_s": pytest.approx(best["cpu"] * of_images),
        "cuda_s": pytest.approx(best["cuda"] * of_images),
        "greedy_s": placed.greedy,
        "values_stay_s": placed.values_stay,
        "exact_s": placed.exact,
        "operators_of_the_exact": placed.devices,
    }
    assert record["exact_s"] <= min(record["cpu_s"], record["cuda_s"], record["greedy_s"])
