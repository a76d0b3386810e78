"""Tests files for other tools: model-explorer's node data, and traces."""

import json
from collections import Counter

import pytest

import larq_engine
from tests.reporting.profiles import residual_fields, write_pair


@pytest.fixture
def report(tmp_path):
    return larq_engine.report(*write_pair(tmp_path))


def test_node_data_is_by_output_tensor(report):
    """model-explorer reads a number and colours under the name of an output tensor."""
    results = json.loads(report.to_overlay())["results"]
    assert len(results) == 51
    assert results["net/block_0/conv"]["value"] == pytest.approx(0.192)  # milliseconds
    assert {frozenset(entry) for entry in results.values()} == {
        frozenset({"value", "bgColor", "textColor"})
    }
    colours = Counter(entry["bgColor"] for entry in results.values())
    assert sorted(colours.values()) == [24, 27]


def test_node_data_of_names_that_are_not_unique_is_by_node(tmp_path):
    fields = residual_fields(1)
    fields["ops"][1]["name"] = fields["ops"][2]["name"] = "same"
    fields["ops"][3]["name"] = ""
    results = json.loads(larq_engine.report(*write_pair(tmp_path, fields)).to_overlay())["results"]
    assert list(results) == ["net/stem/conv", "3", "4", "5", "net/pool", "net/classifier"]


def _slices(trace):
    rows = {
        event["tid"]: event["args"]["name"]
        for event in trace["traceEvents"]
        if event["name"] == "thread_name"
    }
    return [
        (rows[event["tid"]], event["name"], event["ts"], event["dur"])
        for event in trace["traceEvents"]
        if event["ph"] == "X"
    ]


def test_a_trace_is_one_run_in_order(report):
    """Operators and transfers come one after the other; the CPU's blocks are fused runs."""
    trace = json.loads(report.to_trace())
    slices = _slices(trace)
    assert [entry[:2] for entry in slices[:4]] == [
        ("CPU memory to GPU memory", "image"),
        ("engine, GPU", "2 CONV_2D"),
        ("GPU memory to CPU memory", "net/stem/conv"),
        ("engine, CPU", "3 LceQuantize + 4 LceBconv2d + 5 ADD"),
    ]
    assert slices[-1][:2] == ("GPU memory to CPU memory", "net/classifier")
    now = 0.0
    for _, _, begin, duration in slices:
        assert begin == pytest.approx(now)
        now = begin + duration
    # Computed by hand, in microseconds: 8 fused blocks, 8 of the GPU, its 3 other operators, 4
    # transfers.
    moved = 4 * 9 + (602_112 + 2 * 802_816 + 4000) / 1.2e4
    assert now == pytest.approx(8 * 130 + 8 * (5 + 9 + 6) + (30 + 8 + 12) + moved)


def test_a_trace_says_how_it_was_made(report):
    about = json.loads(report.to_trace())["otherData"]
    assert "nothing was recorded" in about["note"] and "medians" in about["note"]
    assert about["model"] == "made-up.tflite, 4.20 MB"


def test_arrows_join_slices_over_transfers(report):
    """Each end of an arrow is inside a slice of its row; arrows lead from producer to reader."""
    trace = json.loads(report.to_trace())
    events = trace["traceEvents"]
    ends = [event for event in events if event["ph"] in "sf"]
    within = [
        [
            event["name"]
            for event in events
            if event["ph"] == "X"
            and event["tid"] == end["tid"]
            and event["ts"] <= end["ts"] <= event["ts"] + event["dur"]
        ]
        for end in ends
    ]
    assert all(len(found) == 1 for found in within)
    names = [found[0] for found in within]
    assert list(zip(names[::2], names[1::2], strict=True)) == [
        ("image", "2 CONV_2D"),
        ("2 CONV_2D", "net/stem/conv"),
        ("net/stem/conv", "3 LceQuantize + 4 LceBconv2d + 5 ADD"),
        ("24 LceQuantize + 25 LceBconv2d + 26 ADD", "net/block_7/add"),
        ("net/block_7/add", "27 LceQuantize"),
        ("52 FULLY_CONNECTED", "net/classifier"),
    ]
    for begin, end in zip(ends[::2], ends[1::2], strict=True):
        assert begin["id"] == end["id"] and begin["ts"] <= end["ts"]
