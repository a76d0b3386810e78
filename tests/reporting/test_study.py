"""Tests what is shown of a profile: places, moves, and what cannot be shown."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import larq_engine
from larq_engine.placing.place_profile import place_profile
from larq_engine.placing.placement_file import read_placement
from larq_engine.placing.profile import Profile
from larq_engine.placing.profile_file import parse_profile
from larq_engine.reporting import tables
from larq_engine.reporting.study import Study, make_study
from tests.reporting.profiles import residual_fields, write_pair


def _read(fields: dict) -> Profile:
    return parse_profile(json.dumps(fields).encode())


def _study(tmp_path, fields: dict | None = None) -> Study:
    _, placement = write_pair(tmp_path, fields)
    profile = _read(residual_fields() if fields is None else fields)
    return make_study(profile, read_placement(placement, profile), None, None)


def test_without_a_placement_each_operator_is_where_it_is_fastest():
    study = make_study(_read(residual_fields()), None, None, None)
    assert (study.batch, study.threads) == (1, 1)
    for op in study.ops:
        medians = {entry.device: entry.seconds.median for entry in reversed(op.alone)}
        assert op.device == min(medians, key=medians.__getitem__)
        assert op.chosen.seconds.median == min(medians.values())


def test_a_placement_chooses_device_and_kernel(tmp_path):
    study = _study(tmp_path)
    chosen = {op.op.id: (op.device, op.chosen.kernel) for op in study.ops}
    assert chosen[0] == ("cuda", "conv_2d_cuda")
    assert chosen[2] == ("cpu", "bgemm_i32_4x4x256_avx2")  # although it is not the fastest
    assert study.ops[2].elsewhere["cuda"].more == 61e-6
    assert "host" not in study.ops[2].elsewhere


def test_a_derived_time_is_not_told_as_measured():
    fields = residual_fields()
    entry = next(e for e in fields["measurements"] if e["device"] == "host" and len(e["ops"]) == 1)
    entry["cut_seconds"] = 2e-6
    study = make_study(_read(fields), None, None, None)
    table = tables.costs(study, study.ops[entry["ops"][0]])
    origin = table.columns.index("from")
    for row in table.rows:
        derived = row[0] == "host"
        assert row[origin] == (
            "derived from 2.00 µs cut out of the model" if derived else "measured"
        )
    whole = tables.costs(study, study.ops[entry["ops"][0] + 1])
    assert not any(row[origin] for row in whole.rows), "all measured: nothing to tell apart"


@pytest.mark.parametrize("objective", ["latency", "throughput"])
def test_the_solver_and_the_report_count_the_same(tmp_path, objective):
    """A real placement's moves and seconds are those that the report counts itself."""
    profile = _read(residual_fields())
    placed = place_profile(profile, objective=objective, batch="auto")
    file = tmp_path / "placed.json"
    file.write_text(placed.to_json())
    study = make_study(profile, read_placement(file, profile), None, None)
    assert study.batch == placed.batch
    assert [(move.value.name, move.source, move.target) for move in study.moves] == [
        (move.value, move.source, move.target) for move in placed.moves
    ]
    chosen = sum(op.chosen.seconds.median for op in study.ops)
    moved = sum(move.seconds for move in study.moves)
    assert chosen + moved - study.saved == pytest.approx(placed.seconds)
    assert [op.reason for op in study.ops] == [op.reason for op in placed.ops]
    assert study.ops[1].elsewhere.keys() == {"cpu"}


def _split_placement(tmp_path) -> tuple[Profile, Path]:
    """Makes convolutions that a nearby GPU computes only a little slower than the CPU."""
    fields = residual_fields(2)
    for link in fields["links"]:
        link |= {"seconds": 1e-7, "bytes_per_second": 1e12}
    convolutions = {op["id"] for op in fields["ops"] if op["op"] == "LceBconv2d"}
    for entry in fields["measurements"]:
        if entry["device"] == "cuda" and convolutions.issuperset(entry["ops"]):
            entry["seconds"] = {"median": 150e-6}
    profile = _read(fields)
    placed = place_profile(profile, channels=dict.fromkeys(convolutions, 256))
    assert len([op for op in placed.ops if op.split is not None]) == 2
    file = tmp_path / "placed.json"
    file.write_text(placed.to_json())
    return profile, file


def test_what_two_devices_compute_is_counted_as_the_solver_does(tmp_path):
    profile, file = _split_placement(tmp_path)
    written = json.loads(file.read_text())
    study = make_study(profile, read_placement(file, profile), None, None)
    found = [(m.value.name, m.source, m.target, m.size, m.seconds) for m in study.moves]
    keys = ("value", "source", "target", "bytes", "seconds")
    assert found == [tuple(move[key] for key in keys) for move in written["moves"]]
    chosen = sum(op.chosen.seconds.median for op in study.ops)
    moved = sum(move.seconds for move in study.moves)
    assert chosen + moved - study.saved == pytest.approx(written["seconds"])


def test_what_two_devices_compute_is_shown(tmp_path):
    profile, file = _split_placement(tmp_path)
    written = json.loads(file.read_text())
    report = larq_engine.report(profile, file)
    text, page = str(report), report.to_html().decode()
    table = text[text.index("Layers on two devices at the same time") :].splitlines()
    for number, op in enumerate(op for op in written["ops"] if op["split"]):
        split = op["split"]
        names = {"cpu": "engine, CPU", "cuda": "engine, GPU"}
        share = f"{split['channels']} on {names[op['device']]}, {256 - split['channels']} on "
        share += names[split["device"]]
        assert table[3 + number].split() == [str(op["node"]), *share.split(), "31.5", "µs"]
        assert share in page
    both = f"on {names[op['device']]} and {names[split['device']]}"
    assert both in text and both in page
    trace = json.loads(report.to_trace())["traceEvents"]
    slices = [event for event in trace if event.get("cat") == "operator"]
    together = [s["tid"] for s in slices if s["name"] == f"{op['node']} LceBconv2d"]
    assert len(together) == len({*together}) == 2


def test_a_single_operator_is_not_told_as_several(tmp_path):
    study = _study(tmp_path, residual_fields(1))
    single = replace(study, ops=study.ops[:1], moves=study.moves[:1])
    rows = {what for _, what, *_ in tables.bill(single).rows}
    assert {"1 operator", "1 value"} <= rows
    assert f"{len(study.moves)} values" in {what for _, what, *_ in tables.bill(study).rows}


def test_a_value_moves_once_for_all_its_readers(tmp_path):
    """Image to the GPU, stem back for two readers, first half to the GPU for two, result back."""
    moves = _study(tmp_path).moves
    ways = [(move.value.name, move.source, move.target, move.readers) for move in moves]
    assert ways == [
        ("image", "host", "cuda", (0,)),
        ("net/stem/conv", "cuda", "host", (1, 3)),
        ("net/block_7/add", "host", "cuda", (25, 27)),
        ("net/classifier", "cuda", "host", ()),
    ]
    assert moves[0].seconds == pytest.approx(9e-6 + 602_112 / 1.2e10)


def test_a_device_measured_with_one_number_of_threads_has_no_other():
    fields = residual_fields()
    fields["measurements"] += [
        {**entry, "threads": 2} for entry in fields["measurements"] if entry["device"] != "cuda"
    ]
    study = make_study(_read(fields), None, None, 2)
    assert {entry.threads for op in study.ops for entry in op.alone} == {1, 2}
    assert all(
        entry.threads == (1 if entry.device == "cuda" else 2)
        for op in study.ops
        for entry in op.alone
    )


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"batch": 3}, r"batch: expected one of those measured, \[1, 8\], got 3"),
        ({"batch": 0}, r"batch: expected one of those measured, \[1, 8\], got 0"),
        ({"threads": 4}, r"threads: expected one of those measured, \[1\], got 4"),
        ({"batch": 8}, r"batch: expected the placement's, 1, got 8; leave it out"),
    ],
)
def test_what_was_not_measured_cannot_be_shown(tmp_path, asked, message):
    _, file = write_pair(tmp_path)
    profile = _read(residual_fields())
    placed = read_placement(file, profile) if "leave" in message else None
    with pytest.raises(ValueError, match=message):
        make_study(profile, placed, asked.get("batch"), asked.get("threads"))
