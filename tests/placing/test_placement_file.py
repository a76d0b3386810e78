"""Placements are read as they were written, and only with the profile that they were made from."""

import json

import pytest

import larq_engine
from larq_engine.placing.place_profile import place_profile
from larq_engine.placing.placement_file import read_placement
from larq_engine.placing.profile import Profile
from larq_engine.placing.profile_file import parse_profile
from tests.reporting.profiles import placement_fields, residual_fields, residual_profile


def _read(fields: dict) -> Profile:
    return parse_profile(json.dumps(fields).encode())


@pytest.mark.parametrize("objective", ["latency", "throughput"])
def test_what_is_read_is_what_was_written(tmp_path, objective):
    profile = residual_profile()
    placed = place_profile(profile, objective=objective, batch="auto", engine="1.2.3")
    file = tmp_path / "placed.json"
    file.write_text(placed.to_json())
    found = read_placement(file, profile)
    assert found.to_json() == placed.to_json()
    assert str(found) == str(placed)
    assert (found.option, found.cost, found.gain) == (placed.option, placed.cost, placed.gain)


def test_a_file_may_leave_costs_out(tmp_path):
    file = tmp_path / "placed.json"
    file.write_text(json.dumps(placement_fields(residual_fields())))
    found = read_placement(file, residual_profile())
    assert found.ops[0].seconds is None
    assert found.ops[0].reason == "the least of all with its neighbours on cuda"
    assert (found.moves, found.unplaced, found.alternatives[0].threads) == ((), None, 1)
    assert "CONV_2D" in str(found)


def test_the_report_refuses_the_placement_of_another_model():
    fields = residual_fields()
    fields["model"]["sha256"] = "cd" * 32
    with pytest.raises(
        ValueError, match=r"^placement: expected a placement of the profile's model"
    ):
        larq_engine.report(residual_profile(), place_profile(_read(fields)))


def _without_a_node(fields):
    del fields["ops"][3]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda fields: fields["model"].update(sha256="cd" * 32), "of the profile's model"),
        (lambda fields: fields["ops"][0].update(device="tpu"), r"\(cpu, cuda, host\), got 'tpu'"),
        (lambda fields: fields["ops"][0].update(node=99), r"51 nodes, got none for \[2\]"),
        (_without_a_node, r"51 nodes, got none for \[5\]"),
        (lambda fields: fields["ops"].append(fields["ops"][0]), "each node once"),
        (lambda fields: fields.update(seconds=float("nan")), "finite numbers, got NaN"),
        (lambda fields: fields.update(larq_engine_placement=2), "of a later larq_engine"),
        (lambda fields: fields.pop("larq_engine_placement"), "the key larq_engine_placement"),
    ],
)
def test_a_placement_that_does_not_fit(tmp_path, change, message):
    fields = placement_fields(residual_fields())
    change(fields)
    file = tmp_path / "placed.json"
    file.write_text(json.dumps(fields))
    with pytest.raises(ValueError, match=message) as caught:
        read_placement(file, _read(residual_fields()))
    assert str(caught.value).startswith(f"placement '{file}': ")
