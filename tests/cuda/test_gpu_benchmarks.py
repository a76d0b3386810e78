"""Tests what the benchmarks of `make gpu-check` compare and print, on an emulated GPU."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from benchmarks.gpu import kernel_times, libraries, sessions, whole_models
from benchmarks.gpu.bench import ROOT

_LIBRARY = Path(os.environ["LARQ_ENGINE_LIBRARY"])
_MODEL = ROOT / "tests" / "interop" / "data" / "residual_relu_bn_add.float.tflite"

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11),
    reason="the benchmarks run with Python's option -P, which is new in 3.11",
)


def _launches_of_the_model() -> int:
    """Counts the groups of operators, each of which has one launch."""
    with larq_engine.Interpreter(_MODEL, device="cuda") as model:
        model.predict(np.zeros(model.input_shapes[0], np.float32))
        steps = model._session._model.engine.read_profile()
    return len({step["group"] for step in steps if step["op"] != "TRANSFER"})


@pytest.fixture
def bundle(tmp_path):
    """Returns a folder like that of `make gpu-bundle`, whose baseline is the present engine."""
    (tmp_path / "baseline").mkdir()
    for folder in (tmp_path, tmp_path / "baseline"):
        (folder / _LIBRARY.name).symlink_to(_LIBRARY.resolve())
    (tmp_path / "baseline" / "larq_engine").symlink_to(ROOT / "larq_engine")
    return tmp_path


@pytest.fixture
def measure(bundle):
    """Yields a function that measures the model, for a number of samples."""
    with ExitStack() as stack:

        def of_engines(samples):
            found = libraries.libraries_of(bundle)
            workers = [stack.enter_context(whole_models.Worker(library)) for library in found]
            return whole_models.measure(workers, _MODEL, samples)

        yield of_engines


def test_whole_models_with_both_engines(measure):
    first, second = measure(3)
    assert (first["engine"], second["engine"]) == ("present", "baseline")
    for record in (first, second):
        assert record["model"] == _MODEL.stem
        assert record["batch"] == 3
        assert record["end_to_end_s"] > 0
        assert record["largest_difference"] < 1e-4
        assert record["same_every_time"]
        assert record["engines_agree"]
    assert first["kernels_s"] > 0
    assert second["kernels_by_its_own_profile_s"] > 0
    assert "kernels_s" not in second


def test_the_present_engine_alone(bundle, measure):
    (bundle / "baseline" / "larq_engine").unlink()
    (bundle / "baseline" / _LIBRARY.name).unlink()
    (bundle / "baseline").rmdir()
    (record,) = measure(2)
    assert record["engine"] == "present"
    assert "engines_agree" not in record


def test_an_engine_that_cannot_be_opened(bundle, measure):
    (bundle / "baseline" / _LIBRARY.name).unlink()
    with pytest.raises(RuntimeError, match="the baseline engine ended with status 1"):
        measure(2)


def test_the_engines_own_profile(bundle, monkeypatch):
    monkeypatch.setattr(kernel_times, "PROFILERS", {"engine": kernel_times.PROFILERS["engine"]})
    records = list(kernel_times.profile(libraries.libraries_of(bundle)[1], _MODEL, 2))
    *launches, total = records
    assert {record["engine"] for record in records} == {"baseline"}
    assert [launch["launch"] for launch in launches] == list(range(len(launches)))
    assert any(launch["kernel"].startswith("bconv2d_") for launch in launches)
    # An operator that another one's launch computes is not a launch.
    assert len(launches) == _launches_of_the_model()
    assert total["kernel"] == "sum"
    assert total["time_s"] == sum(launch["time_s"] for launch in launches) > 0


def test_launches_that_begin_early_and_others(bundle, capsys, monkeypatch):
    (bundle / "models").mkdir()
    (bundle / "models" / "QuickNet.tflite").symlink_to(_MODEL)
    monkeypatch.setattr(sys, "argv", ["whole_models", "--early-launches", str(bundle)])
    whole_models.main()
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["engine"], second["engine"]) == ("early launches", "launches in turn")
    for record in (first, second):
        assert (record["model"], record["batch"]) == ("QuickNet", 1)
        assert record["end_to_end_s"] > 0
        assert record["engines_agree"]


def test_the_engines_have_the_switch_in_their_environment(bundle):
    """tests/cuda/early_launches_test.cc shows that the engine obeys it."""
    answers = [engine.environment() for engine in libraries.launches_of(bundle)]
    assert [found["LARQ_ENGINE_EARLY_LAUNCHES"] for found in answers] == ["on", "off"]


def test_copies_of_a_model_take_turns_and_agree(monkeypatch):
    monkeypatch.setattr(sessions, "COPIES", (1, 2))
    monkeypatch.setattr(sessions, "_SECONDS", 0.01)
    records = sessions.measure(_MODEL, 2)
    assert [(record["images"], record["copies"]) for record in records] == [
        ("host", 1),
        ("host", 2),
    ]
    assert all(record["images_per_s"] > 0 for record in records)


@pytest.mark.parametrize(("answer", "launches"), [("on", "early"), ("off", "in turn")])
def test_layers_are_compared_before_they_are_timed(answer, launches):
    command = [_LIBRARY.with_name("layers"), "--products=64", "--rows=bconv2d_small_c8"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        env={**os.environ, "LARQ_ENGINE_EARLY_LAUNCHES": answer},
    )
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["output"] for record in records] == ["bits", "float"]
    assert {record["row"] for record in records} == {"bconv2d_small_c8"}
    assert {record["launches"] for record in records} == {launches}
    assert all(record["median_s"] >= 0 for record in records)
    assert not any("wrong" in record for record in records)
