"""larq_benchmark_model on an emulated GPU: the CPU's results, and a profile of both devices."""

import json
import os
import subprocess
from pathlib import Path

import ai_edge_litert
import numpy as np
import pytest

import larq_engine
from larq_engine.placing.profile_source import as_profile

_BINARY = Path(os.environ["LARQ_ENGINE_LIBRARY"]).with_name("larq_benchmark_model")
_MODEL = Path(__file__).parents[1] / "interop" / "data" / "residual_relu_bn_add.float.tflite"


@pytest.fixture
def run(tmp_path):
    """Runs the model; returns what is printed and the report for programs."""
    expected, report = tmp_path / "expected", tmp_path / "report.json"
    litert = Path(ai_edge_litert.__file__).with_name("libLiteRt.so")
    command = [
        *[_BINARY, f"--graph={_MODEL}", f"--litert={litert}", f"--output_json={report}"],
        *["--num_runs=3", "--min_secs=0", "--warmup_min_secs=0", "--enable_op_profiling"],
    ]
    saving = [*command, "--fuse=off", f"--save_outputs=0:{expected}"]
    subprocess.run(saving, capture_output=True, check=True)

    def run_on(*flags):
        checked = [*command, f"--check=0:{expected}", *flags]
        done = subprocess.run(checked, capture_output=True, text=True, check=True)
        return done.stdout, json.loads(report.read_text())

    return run_on


def _rows(report):
    return [row for row in report["ops"]["rows"] if row["op"] != "host runtime"]


# The plug-in's float convolutions round differently; without fusing they stay with the host.
_ROUNDED = "--check_tolerance=1e-4"


def test_everything_on_the_gpu(run):
    printed, report = run("--device=cuda", _ROUNDED)
    assert report["options"]["device"] == "cuda"
    assert "\ndevice        cuda\n" in printed
    (memory,) = report["memory"]["devices"]
    assert memory["device"] == "cuda" and memory["weights_bytes"] > 0
    assert memory["activations_bytes"] > 0 and memory["staging_bytes"] > 0
    assert "\ncuda          weights " in printed
    assert "\nnode  op " in printed and "  device  " in printed
    rows = _rows(report)
    assert {row["device"] for row in rows if row["op"] != "TRANSFER"} == {"cuda"}
    assert [row["device"] for row in rows if row["op"] == "TRANSFER"] == ["cuda", "cpu"]
    assert all(row["node"] >= 0 and row["calls"] == 3 for row in rows)
    assert {*report["model"]["kernels"]} == {r["kernel"] for r in rows if r["op"] == "LceBconv2d"}
    assert sum(row["percent"] for row in report["ops"]["rows"]) == pytest.approx(100)


def test_our_operators_give_the_same_bits(run):
    _, report = run("--device=cuda", "--fuse=off")
    assert report["checks"][0]["max_difference"] == 0
    assert {row["device"] for row in _rows(report) if row["op"] == "LceBconv2d"} == {"cuda"}


def test_an_operator_on_the_cpu(run):
    _, report = run("--device=cuda:0", _ROUNDED)
    node = next(row["node"] for row in _rows(report) if row["op"] == "LceBconv2d")
    placed = ("--device=cuda", f"--placement={node}:cpu", "--kernel=bconv2d_popc")
    printed, report = run(*placed, _ROUNDED)
    assert f"\ndevice        cuda, {node}:cpu\n" in printed
    devices = {row["node"]: row["device"] for row in _rows(report) if row["op"] != "TRANSFER"}
    assert devices.pop(node) == "cpu" and {*devices.values()} == {"cuda"}
    assert " TRANSFER " in printed


def test_a_gpu_that_is_not_there():
    command = [_BINARY, f"--graph={_MODEL}", "--device=cuda:7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(
        "larq_benchmark_model: error: device=cuda: expected GPU 7, got 1 GPUs"
    )


def test_the_profiles_file_has_the_gpu_and_its_links(run, tmp_path):
    run("--device=cuda", _ROUNDED, f"--profile_out={tmp_path / 'profile.json'}")
    profile = as_profile(tmp_path / "profile.json", _MODEL)
    assert [device.name for device in profile.devices] == ["cpu", "host", "cuda"]
    assert {(link.source, link.target) for link in profile.links} == {
        ("host", "cuda"),
        ("cuda", "host"),
    }
    singles = {m.ops for m in profile.measurements if m.device == "cuda" and len(m.ops) == 1}
    assert singles == {(op.id,) for op in profile.ops}
    assert {m.device for m in profile.measurements} == {"cpu", "cuda", "host"}
    assert [total.device for total in profile.totals] == ["cuda", "host"]
    hosts = {m.ops for m in profile.measurements if m.device == "host"}
    assert hosts == {(op.id,) for op in profile.ops if not op.op.startswith("Lce")}


@pytest.mark.parametrize("device", ["cuda", "cpu"])
def test_the_profile_can_be_placed(run, tmp_path, device):
    """A profile with a GPU in it, used where there may be none."""
    written = tmp_path / "profile.json"
    run(f"--device={device}", _ROUNDED, f"--profile_out={written}")
    placed = larq_engine.place(_MODEL, written)
    x = np.random.default_rng(1).random((1, 16, 16, 3), np.float32)
    expected = larq_engine.Interpreter(_MODEL, device="cpu").predict(x)
    got = larq_engine.Interpreter(placed, device="cuda").predict(x)
    assert np.allclose(got, expected, rtol=0, atol=1e-4 * np.abs(expected).max())


def test_without_a_host(tmp_path):
    expected, report, written = (tmp_path / name for name in ("expected", "report", "profile.json"))
    command = [_BINARY, f"--graph={_MODEL}", "--host=none", "--num_runs=3", "--min_secs=0"]
    command += ["--warmup_min_secs=0", "--enable_op_profiling", f"--output_json={report}"]
    subprocess.run([*command, "--device=cpu", f"--save_outputs=0:{expected}"], check=True)
    on_gpu = ["--device=cuda", f"--check=0:{expected}", _ROUNDED, f"--profile_out={written}"]
    subprocess.run([*command, *on_gpu], check=True)
    measured = json.loads(report.read_text())
    (memory,) = measured["memory"]["devices"]
    assert memory["device"] == "cuda" and memory["weights_bytes"] > 0
    rows = _rows(measured)
    assert {row["device"] for row in rows if row["op"] != "TRANSFER"} == {"cuda"}
    profile = as_profile(written, _MODEL)
    assert [device.name for device in profile.devices] == ["cpu", "cuda"]
    assert [total.device for total in profile.totals] == ["cuda"]
    singles = {m.ops for m in profile.measurements if m.device == "cuda" and len(m.ops) == 1}
    assert singles == {(op.id,) for op in profile.ops}
