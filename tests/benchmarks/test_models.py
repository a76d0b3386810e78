"""The benchmark of whole models, on a small one: right models are measured, and profiled."""

import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import machine, models, zoo, zoo_cache
from benchmarks.contenders import LCE, ONNX_INT8, OURS, XNNPACK_FLOAT32, XNNPACK_INT8, Contender
from benchmarks.progress import Progress
from larq_engine import Interpreter
from larq_engine.python.profile import HOST, ProfileRow, ProfileTable
from tests.kernel_rows import TAKES_FLOAT_CONVOLUTIONS
from tests.model_builder import ModelBuilder, bconv_options
from tests.oracle import Conv, pack_bits

SHAPE = (1, 4, 4, 32)
CONV = Conv(SHAPE, (3, 3), 8, padding="VALID")

Bench = Callable[[], tuple[int, dict[str, Any]]]


def build_float(rng: np.random.Generator) -> bytes:
    builder = ModelBuilder()
    x, y = builder.tensor(SHAPE), builder.tensor((1, 32))
    weights = builder.constant(rng.normal(size=(32, 512)).astype(np.float32))
    builder.builtin("FULLY_CONNECTED", [x, weights, -1], [y])
    return builder.finish([x], [y])


@pytest.fixture
def folder(tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes the files of a model; ours is the float one, which the plug-in leaves to the host."""
    content = build_float(rng)
    images = rng.normal(size=(3, *SHAPE[1:])).astype(np.float32)
    files = tmp_path / "QuickNet"
    files.mkdir()
    for name in models.FILES.values():
        (files / name).write_bytes(content)
    outputs = Interpreter(content).predict(images)
    np.savez(files / "answers.npz", images=images, outputs=outputs)
    monkeypatch.setattr(zoo_cache, "FOLDER", tmp_path)
    monkeypatch.setattr(zoo_cache, "prepare", lambda name, progress: files)
    return files


@pytest.fixture
def bench(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    def run() -> tuple[int, dict[str, Any]]:
        file = folder / "results.json"
        arguments = ["models", "QuickNet", "--rounds", "2", "--seconds", "0.001"]
        monkeypatch.setattr(sys, "argv", [*arguments, "--json", str(file)])
        return models.main(), json.loads(file.read_text())

    monkeypatch.setattr(models, "CONTENDERS", (OURS, XNNPACK_FLOAT32, XNNPACK_INT8))
    monkeypatch.setattr(machine, "measure_limits", lambda: None)
    monkeypatch.setattr(machine, "pin_to_cores", lambda count: list(range(count)))
    return run


def test_right_models_are_measured_profiled_and_plotted(bench: Bench, folder: Path) -> None:
    status, summary = bench()
    assert status == 0
    assert {result["subject"]: result["checked"] for result in summary["results"]} == {
        OURS.name: "to 1e-04",
        XNNPACK_FLOAT32.name: "to 1e-04",
        XNNPACK_INT8.name: "loosely",
    }
    assert {result["macs"] for result in summary["results"]} == {512 * 32}
    assert summary["profiles"]["QuickNet"].keys() == set(models.GROUPS)
    assert (folder / "results.svg").exists()


@pytest.mark.parametrize("name", ["larq_engine.tflite", "float.tflite", "int8.tflite"])
def test_a_wrong_model_gets_no_time(
    bench: Bench, folder: Path, rng: np.random.Generator, name: str
) -> None:
    (folder / name).write_bytes(build_float(rng))
    status, summary = bench()
    assert status == 1
    assert [absence["reason"][:13] for absence in summary["absent"]] == ["WRONG RESULT:"]
    assert len(summary["results"]) == 2
    assert ("QuickNet" in summary["profiles"]) == (name != "larq_engine.tflite")


@pytest.mark.parametrize(("peer", "prepare"), [(LCE, "prepare_lce"), (ONNX_INT8, "prepare_onnx")])
def test_where_a_converter_fails_its_reason_is_told(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, peer: Contender, prepare: str
) -> None:
    def fail(name: str, progress: Progress) -> Path:
        raise zoo.CaseError("its converter crashed")

    here = dataclasses.replace(peer, runtime="xnnpack", python=OURS.python)
    monkeypatch.setattr(models, "CONTENDERS", (OURS, here))
    monkeypatch.setattr(zoo_cache, prepare, fail)
    status, summary = bench()
    assert status == 1
    assert summary["absent"] == [
        {"contender": peer.name, "case": "QuickNet", "reason": "its converter crashed"}
    ]
    assert [result["subject"] for result in summary["results"]] == [OURS.name]


def test_what_cannot_be_checked_is_not_tried(folder: Path) -> None:
    def tried(name: str) -> set[str]:
        trials = models.make_trials([name], models.CONTENDERS, Progress())
        return {trial.contender.name for trial in trials}

    assert tried("QuickNet") - tried("BinaryAlexNet") == {
        XNNPACK_INT8.name,
        ONNX_INT8.name,
    }


def test_an_error_of_any_image_is_found() -> None:
    images = np.arange(3)
    right = np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 4.0]])
    check = models.make_check(images, right, models.find_error)
    for wrong in (None, 0, 1, 2):
        outputs = right.copy()
        if wrong is not None:
            outputs[wrong, 1] += 1e-2
        error = check(lambda image, outputs=outputs: [outputs[image]])
        assert (error is None) == (wrong is None)


def test_loose_check_finds_shuffled_constant_and_undefined_outputs(
    rng: np.random.Generator,
) -> None:
    right = rng.normal(size=(2, 1000))
    assert models.find_error_loosely(right + rng.normal(size=right.shape) / 2, right) is None
    one_image = np.stack([right[0], rng.permutation(right[1])])
    for outputs in (one_image, np.full_like(right, np.nan)):
        assert "correlate" in (models.find_error_loosely(outputs, right) or "")


def test_profile_of_a_model_with_all_groups(folder: Path, rng: np.random.Generator) -> None:
    builder = ModelBuilder()
    x, bits = builder.tensor(SHAPE), builder.tensor((1, 4, 4, 1), np.int32)
    builder.custom("LceQuantize", [x], [bits])
    filters = builder.constant(pack_bits(np.ones(CONV.filter_shape, np.float32)))
    ones = builder.constant(np.ones(8, np.float32))
    y, z = builder.tensor(CONV.output_shape), builder.tensor(CONV.output_shape)
    builder.custom("LceBconv2d", [bits, filters, ones, ones, -1], [y], bconv_options(CONV))
    builder.builtin("ADD", [y, y], [z])
    weights, last = (
        builder.constant(np.ones((8, 1, 1, 8), np.float32)),
        builder.tensor(CONV.output_shape),
    )
    ones_each = dict.fromkeys(("strideH", "strideW", "dilationHFactor", "dilationWFactor"), 1)
    builder.builtin("CONV_2D", [z, weights, ones], [last], **ones_each)
    (folder / "larq_engine.tflite").write_bytes(builder.finish([x], [last]))
    profile = models.profile("QuickNet", threads=1)
    assert list(profile) == list(models.GROUPS)
    assert [ms > 0 for ms in profile.values()] == [True, TAKES_FLOAT_CONVOLUTIONS, True, True]


def test_operators_are_grouped() -> None:
    steps = [
        # operator, calls in all runs, milliseconds of one call
        ("LceBconv2d", 2, 1.0),
        ("LceQuantize", 2, 2.0),
        ("LceBconv2d", 4, 2.0),  # twice a run
        ("LceBMaxPool2d", 1, 16.0),  # in every other run
        ("DEPTHWISE_CONV_2D", 2, 1.0),
        ("CONV_2D", 2, 0.5),
        (HOST, 2, 14.5),
    ]
    rows = tuple(ProfileRow(op, "", "", 0, "", "", calls, ms, 0.0, None) for op, calls, ms in steps)
    slower = tuple(dataclasses.replace(row, ms_per_call=2 * row.ms_per_call) for row in rows)
    tables = [ProfileTable(slower, 2, ms_per_run=62.0), ProfileTable(rows, 2, ms_per_run=31.0)]
    grouped = models.group_fastest(tables)
    assert list(grouped.values()) == [5.0, 1.5, 10.0, 14.5]
    table = models.format_profiles({"Net": grouped}).splitlines()
    assert "5.00 (16%)" in table[2]
    assert "14.50 (47%)" in table[2]


def test_an_unknown_model_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["models", "QuickNot"])
    with pytest.raises(SystemExit) as error:
        models.parse_options()
    assert error.value.code == 2
    assert "got 'QuickNot'" in capsys.readouterr().err


def test_all_models_are_in_the_zoo() -> None:
    assert set(models.MODELS) <= set(zoo.MODELS)
