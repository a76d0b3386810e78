"""The benchmarks that `make gpu-check` runs, on an emulated GPU: what they compare and print."""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from benchmarks.gpu import kernel_times, libraries, whole_models
from benchmarks.gpu.bench import ROOT

_LIBRARY = Path(os.environ["LARQ_ENGINE_LIBRARY"])
_MODEL = ROOT / "tests" / "interop" / "data" / "residual_relu_bn_add.float.tflite"

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11),
    reason="the benchmarks run with Python's option -P, which is new in 3.11",
)


@pytest.fixture
def bundle(tmp_path):
    """What `make gpu-bundle` makes with a baseline, which is the present engine as well."""
    (tmp_path / "baseline").mkdir()
    for folder in (tmp_path, tmp_path / "baseline"):
        (folder / _LIBRARY.name).symlink_to(_LIBRARY.resolve())
    (tmp_path / "baseline" / "larq_engine").symlink_to(ROOT / "larq_engine")
    return tmp_path


@pytest.fixture
def measure(bundle):
    """Called with a number of samples: measures the model with the engines that the bundle has."""
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
        assert record["kernels_s"] > 0
        assert record["largest_difference"] < 1e-4
        assert record["same_every_time"]
        assert record["engines_agree"]


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
    assert total["kernel"] == "sum"
    assert total["time_s"] == sum(launch["time_s"] for launch in launches) > 0


def test_layers_are_compared_before_they_are_timed():
    command = [_LIBRARY.with_name("layers"), "--products=64", "--rows=bconv2d_small_c8"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["output"] for record in records] == ["bits", "float"]
    assert {record["row"] for record in records} == {"bconv2d_small_c8"}
    assert all(record["median_s"] >= 0 for record in records)
    assert not any("wrong" in record for record in records)
