"""The convolution benchmark times only right results, and its status tells of every absence.

The tests run all of it, with worker processes, on one small layer and with the hosts of this
environment.
"""

import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import conv_models, conv_trials, convs, interleave, machine
from benchmarks.contenders import OURS, OURS_BITS, OURS_BITS_FLOAT, Contender, Sample, Worker
from benchmarks.shapes import ConvShape

PEER = Contender("peer", "xnnpack", "float32", Path(sys.executable))
WRONG = Contender("wrong", "larq_engine", "flipped_binary", Path(sys.executable))
MISSING = Contender("missing", "lce", "binary", Path("no such python"))

Bench = Callable[..., tuple[int, dict[str, Any]]]


def flipped(form: conv_trials.Form) -> conv_trials.Form:
    """Returns the same form, whose models have one weight of the wrong sign."""

    def build(shape: ConvShape, layer: conv_models.Layer, layers: int) -> bytes:
        signs = layer.signs.copy()
        signs[3, 1, 1, 5] *= -1
        return form.build(shape, dataclasses.replace(layer, signs=signs), layers)

    return dataclasses.replace(form, build=build)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    """Runs the benchmark with these contenders; returns its status and what it wrote."""

    def run(*contenders: Contender) -> tuple[int, dict[str, Any]]:
        file = tmp_path / "results.json"
        arguments = ["convs", "--rounds", "2", "--seconds", "0.001", "--json", str(file)]
        monkeypatch.setattr(sys, "argv", arguments)
        monkeypatch.setattr(convs, "CONTENDERS", contenders)
        return convs.main(), json.loads(file.read_text())

    monkeypatch.setattr(convs, "CONV_SHAPES", (ConvShape("S", size=7, channels=32),))
    for name, form in list(conv_trials.FORMS.items()):
        monkeypatch.setitem(conv_trials.FORMS, f"flipped_{name}", flipped(form))
    monkeypatch.setattr(machine, "measure_limits", lambda: None)
    # The process of the tests must keep its cores.
    monkeypatch.setattr(machine, "pin_to_cores", lambda count: list(range(count)))
    return run


def measured(summary: dict[str, Any]) -> set[str]:
    return {result["subject"] for result in summary["results"]}


def test_all_that_are_right_are_measured(bench: Bench) -> None:
    status, summary = bench(OURS, PEER)
    assert status == 0
    assert measured(summary) == {OURS.name, "peer"}
    assert summary["absent"] == []
    assert summary["ratios"].keys() == {"peer"}
    assert summary["ratios"]["peer"]["cases"].keys() == {"S"}


def test_ours_is_also_measured_between_bits(bench: Bench) -> None:
    status, summary = bench(OURS, OURS_BITS, OURS_BITS_FLOAT)
    assert status == 0
    assert measured(summary) == {OURS.name, OURS_BITS.name, OURS_BITS_FLOAT.name}
    assert summary["ratios"] == {}  # there is no ratio to itself


@pytest.mark.parametrize("form", ["bits", "bits_float", "float32", "int8"])
def test_every_form_shows_a_wrong_weight(bench: Bench, form: str) -> None:
    runtime = "larq_engine" if form.startswith("bits") else "xnnpack"
    wrong = Contender("wrong", runtime, f"flipped_{form}", Path(sys.executable))
    status, summary = bench(OURS, wrong)
    assert status == 1
    assert measured(summary) == {OURS.name}
    (absence,) = summary["absent"]
    assert absence["reason"].startswith("WRONG RESULT: ")


def test_a_time_is_that_of_one_layer(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = Sample(np.array([8000.0]), np.array([8000.0]))
    monkeypatch.setattr(Worker, "time", lambda *_: sample)
    monkeypatch.setattr(convs, "CONV_SHAPES", (ConvShape("S", size=14, channels=32),))
    _, summary = bench(OURS, OURS_BITS)
    medians = {result["subject"]: result["median_ns"] for result in summary["results"]}
    assert medians == {OURS.name: 8000 / 2, OURS_BITS.name: 8000 / 2 / conv_trials.BITS_CHAIN}


def test_every_output_is_read_and_checked() -> None:
    shape = ConvShape("S", size=7, channels=32)
    form = conv_trials.FORMS["bits_float"]
    layer, x = conv_models.make_layer(shape, seed=1), conv_trials.make_input(shape, form)
    worker = Worker(OURS_BITS_FLOAT)
    try:
        worker.load("S", form.build(shape, layer, 3), threads=1)
        outputs = worker.run("S", x)
    finally:
        worker.close()
    assert len(outputs) == 3
    check = conv_trials.make_check(x, form.expect(x, layer, 3))
    assert check(lambda _: outputs) is None
    for wrong in range(3):
        changed = [output.copy() for output in outputs]
        changed[wrong][0, 0, 0, 0] += 1
        assert check(lambda _, changed=changed: changed) is not None


def test_a_wrong_contender_gets_no_time(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    status, summary = bench(OURS, PEER, WRONG)
    assert status == 1
    assert measured(summary) == {OURS.name, "peer"}
    assert "wrong" not in summary["ratios"]
    assert [absence["contender"] for absence in summary["absent"]] == ["wrong"]
    assert "NOT MEASURED  wrong, S: WRONG RESULT: " in capsys.readouterr().out


def test_a_missing_peer_is_told_after_the_table(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    status, summary = bench(OURS, PEER, MISSING)
    assert status == 1
    assert measured(summary) == {OURS.name, "peer"}
    _, table, note = capsys.readouterr().out.partition("is this many times as fast as")
    assert table
    assert "NOT MEASURED  missing, all: the peers are not installed; run `make peers`" in note


def test_a_contender_that_dies_loses_its_times(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Mortal(Worker):
        def __init__(self, contender: Contender) -> None:
            super().__init__(contender)
            self._calls_left = 1 if contender is PEER else 2

        def time(self, key: str, seconds: float) -> Any:
            if self._calls_left == 0:
                self._process.kill()
                self._process.wait()
            self._calls_left -= 1
            return super().time(key, seconds)

    monkeypatch.setattr(interleave, "Worker", Mortal)
    status, summary = bench(OURS, PEER)
    assert status == 1
    assert measured(summary) == {OURS.name}
    (absence,) = summary["absent"]
    assert (absence["contender"], absence["case"]) == ("peer", "S")
    assert "its process ended (status -9)" in absence["reason"]
