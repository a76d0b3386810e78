"""Networks are divided by classes of operators, here from a made-up profile."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks.placing import lce_figures
from benchmarks.placing.lce_figures import CLASSES, Network, Part, classes_of, network_of
from larq_engine.placing.profile import Op
from larq_engine.placing.profile_file import parse_profile
from tests.reporting.profiles import residual_fields, residual_profile

BLOCKS = 16


def op(number: int, kind: str, *inputs: int) -> Op:
    return Op(number, number, kind, "", "", {}, inputs or (number,), (number + 1,))


def test_classes() -> None:
    expected = [
        ("CONV_2D", (0,), "first convolutions"),
        ("DEPTHWISE_CONV_2D", (1,), "first convolutions"),
        ("LceQuantize", (2,), "quantizing"),
        ("LceBConv2d", (3,), "binary convolutions"),
        ("ADD", (4, 2), "shortcuts"),
        ("ADD", (5,), "others"),  # the other operand is a constant
        ("CONCATENATION", (6, 5), "shortcuts"),
        ("AVERAGE_POOL_2D", (7,), "pooling"),
        ("CONV_2D", (8,), "later float convolutions"),
        ("LceBMaxPool2d", (9,), "pooling"),
        ("LceDequantize", (10,), "quantizing"),
        ("MUL", (11, 10), "others"),
        ("FULLY_CONNECTED", (12,), "dense"),
        ("SOFTMAX", (13,), "others"),
    ]
    ops = [op(number, kind, *inputs) for number, (kind, inputs, _) in enumerate(expected)]
    assert classes_of(ops) == [name for _, _, name in expected]


def test_a_network_is_the_sum_of_its_operators() -> None:
    network = network_of(residual_profile(BLOCKS))
    assert network.parts == {
        "binary convolutions": Part(BLOCKS, BLOCKS * 11_500_000, pytest.approx(BLOCKS * 120e-6)),
        "quantizing": Part(BLOCKS, 0, pytest.approx(BLOCKS * 8e-6)),
        "shortcuts": Part(BLOCKS, 0, pytest.approx(BLOCKS * 15e-6)),
        "first convolutions": Part(1, 11_500_000, pytest.approx(400e-6)),
        "later float convolutions": Part(0, 0, 0),
        "pooling": Part(1, 0, pytest.approx(20e-6)),
        "dense": Part(1, 0, pytest.approx(60e-6)),
        "others": Part(0, 0, 0),
    }
    assert network.saved == pytest.approx(BLOCKS * (120e-6 + 8e-6 + 15e-6 - 130e-6))
    assert network.measured == network.whole == pytest.approx(2.6e-3)
    assert network.binary == BLOCKS * 11_500_000
    assert network.floats == 11_500_000
    assert network.equivalent == pytest.approx(11_500_000 * (1 + BLOCKS / 15))


def test_all_is_for_one_image() -> None:
    fields = residual_fields(BLOCKS)
    fields["measurements"] = [entry for entry in fields["measurements"] if entry["batch"] == 8]
    network = network_of(parse_profile(json.dumps(fields).encode()))
    assert network.binary == BLOCKS * 11_500_000
    assert network.parts["pooling"].seconds == pytest.approx(20e-6 * 8**0.95 / 8)
    assert network.measured == pytest.approx(2.6e-3 * 7 / 8)


def test_operators_run_on_the_device_that_was_asked_for() -> None:
    network = network_of(residual_profile(BLOCKS), "cuda")
    assert network.parts["shortcuts"].seconds == pytest.approx(BLOCKS * 6e-6)
    assert network.parts["first convolutions"].seconds == pytest.approx(30e-6)
    assert network.saved == 0


def test_without_a_total_the_sum_counts_less_what_fusing_saves() -> None:
    fields = residual_fields(BLOCKS) | {"totals": []}
    network = network_of(parse_profile(json.dumps(fields).encode()))
    assert network.measured is None
    assert network.whole == pytest.approx(network.seconds - network.saved)


def test_shares_add_up() -> None:
    (row,) = lce_figures.share_rows([network_of(residual_profile(BLOCKS))])
    assert len(row) == 1 + len(CLASSES) + 3
    assert sum(map(float, row[1 : 1 + len(CLASSES)])) == pytest.approx(100, abs=0.4)
    assert float(row[1 + CLASSES.index("shortcuts")]) == pytest.approx(
        100 * 240 / (16 * 143 + 480), abs=0.05
    )


def test_an_operator_that_was_not_measured_is_named() -> None:
    fields = residual_fields(2)
    fields["measurements"] = [e for e in fields["measurements"] if e["ops"] != [2]]
    with pytest.raises(ValueError, match=r"operator 2 \(LceBconv2d\): expected its time alone on"):
        network_of(parse_profile(json.dumps(fields).encode()))


def test_what_takes_no_time_has_no_speed() -> None:
    parts = {name: Part(1, 10, 0.0) for name in CLASSES}
    (row, *_) = lce_figures.class_rows([Network("x", parts, 0.0, None)])
    assert row[-1] == ""


def test_networks_have_names_of_their_own() -> None:
    assert lce_figures.names_of([Path("a/x.json"), Path("b/y.tflite")]) == ["x", "y"]
    same = [Path("a/x.tflite"), Path("b/x.tflite")]
    assert lce_figures.names_of(same) == ["a/x.tflite", "b/x.tflite"]


def test_the_command_prints_tables_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = []
    for blocks in (4, 16):
        files.append(tmp_path / f"of_{blocks}.json")
        files[-1].write_text(json.dumps(residual_fields(blocks)))
    arguments = ["lce_figures", *map(str, files), "-o", str(tmp_path / "drawn")]
    monkeypatch.setattr(sys, "argv", arguments)
    lce_figures.main()
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    # The row has 16 and 1 times 11.5 million in 2.6 ms.
    assert ["of_16", "184.0", "11.5", "23.8", "2.6000", "75.2", "9.1"] in rows
    assert ["of_4", "shortcuts", "4", "0.0", "0.0600"] in rows
    drawn = {path.name: path.read_text() for path in (tmp_path / "drawn").iterdir()}
    assert set(drawn) == {"shares.svg", "macs.svg"}
    for text in ("of_4", "of_16", "cpu, 1 thread(s)"):
        assert all(f"<!-- {text} -->" in content for content in drawn.values())
    assert all(f"<!-- {name} -->" in drawn["shares.svg"] for name in CLASSES)
    assert "<!-- million equivalent ones -->" in drawn["macs.svg"]
