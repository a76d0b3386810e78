"""Shows minimal profiles: only medians, no names, operators without measurements."""

import json

import pytest

import larq_engine
from larq_engine.placing.place_profile import place_profile
from larq_engine.placing.profile import Profile
from larq_engine.placing.profile_file import parse_profile
from tests.reporting.profiles import residual_fields, residual_profile


def _sparse() -> Profile:
    fields = residual_fields(1)
    for name in ("totals", "machine", "energy"):
        del fields[name]
    fields["links"], fields["devices"] = [], fields["devices"][:2]
    fields["model"] = {"name": "published"}
    for op in fields["ops"]:
        del op["layer"], op["name"]
    fields["measurements"] = [
        {
            "ops": entry["ops"],
            "batch": 1,
            "device": entry["device"],
            "threads": 1,
            "kernel": None,
            "seconds": {"median": 0.0 if entry["ops"] == [1] else entry["seconds"]["median"]},
            "joules": 1e-6 if entry["device"] == "cpu" else None,
            "limit_seconds": None,
            "source": "a table",
        }
        for entry in fields["measurements"]
        if entry["device"] != "cuda" and entry["batch"] == 1 and entry["ops"] != [0]
    ]
    # Only one of two kernels without names is left.
    kept = {json.dumps([entry["ops"], entry["device"]]): entry for entry in fields["measurements"]}
    fields["measurements"] = list(kept.values())
    return parse_profile(json.dumps(fields).encode())


def test_what_is_not_known_is_left_out():
    report = larq_engine.report(_sparse())
    text = str(report)
    # The card has no time of the whole model; its slowest operator is one of those with times.
    lines = text.splitlines()
    assert lines[0] == "published"
    assert lines[1].startswith("Most time is in: 67 % in LceBconv2d (")
    assert lines[2].startswith("The slowest layer: ") and lines[3] == ""
    assert "sha256: none: no file was profiled" in text
    rows = [line.split() for line in text.splitlines()]
    assert any(row[:3] == ["2", "CONV_2D", "no"] for row in rows)
    assert "quartiles" not in text and "of limit" not in text
    page = report.to_html().decode()
    assert "On no device: not measured." in page
    assert "Batches</h2>" not in page and "Physical limits</h2>" not in page
    assert set(report.to_plots("svg")) == {"graph.svg", "operators.svg", "slowest.svg"}
    assert set(json.loads(report.to_overlay())["results"]) == {"3", "4", "5", "6", "7"}
    events = json.loads(report.to_trace())["traceEvents"]
    assert not any("CONV_2D" in event["name"] for event in events if event["ph"] == "X")
    assert "1.00 µJ" in page and "a table" in page


def test_energy_is_told_where_it_is_known():
    fields = residual_fields(1)
    for number, entry in enumerate(fields["measurements"]):
        entry["joules"] = (number + 1) * 1e-6
    for link in fields["links"]:
        link["joules_per_byte"] = 1e-12
    profile = parse_profile(json.dumps(fields).encode())
    placed = place_profile(profile, objective="energy")
    text = str(larq_engine.report(profile, placed))
    assert "for least energy; proven the best" in text
    row = next(line for line in text.splitlines() if line.startswith("the placement"))
    assert f"{placed.joules * 1e6:.1f} µJ" in row


@pytest.mark.parametrize("batch", [1, 8])
def test_a_placement_in_memory(batch):
    profile = residual_profile(2)
    placed = place_profile(profile, batch=batch)
    text = str(larq_engine.report(profile, placed))
    assert f"shown: batch {batch}, 1 thread" in text
    bill = text[text.index("Where the time goes") :]
    total = next(line.split() for line in bill.splitlines() if line.startswith("the whole model"))
    beside = next(line.split() for line in text.splitlines() if line.startswith("the placement"))
    assert total[3:5] == beside[2:4]  # what the solver says and what the parts add up to
