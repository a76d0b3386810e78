"""larq_benchmark_model without LiteRT: the engine computes all operators, or says what it lacks."""

import json
import shutil
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import larq_engine
from larq_engine.placing.profile_source import as_profile
from tests.benchmark_model.test_benchmark_binary import (
    _BINARY,
    _DATA,
    _LITERT,
    _MODELS,
    _QUICK,
    _RESIDUAL,
    call,
    check_tensors_by_name_and_by_number,
    fail,
    limit_work,
    run,
)
from tests.model_builder import ModelBuilder

_NONE = "--host=none"


def run_alone(model: Path, *flags: str) -> str:
    """Runs a model that must run without a host."""
    done = call(f"--graph={model}", _NONE, *_QUICK, *flags)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"larq_engine {larq_engine.__version__}, without a host\n")
    return done.stdout


def report_alone(model: Path, folder: Path, *flags: str) -> dict[str, Any]:
    run_alone(model, f"--output_json={folder / 'report.json'}", *flags)
    loaded: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return loaded


def with_top_k() -> bytes:
    """Builds a model whose second operator is a host's."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 8), name="x"), builder.tensor((1, 8), name="y")
    best = builder.tensor((1, 2), name="best")
    places = builder.tensor((1, 2), dtype=np.int32, name="places")
    builder.builtin("ADD", [x, x], [y])
    builder.builtin("TOPK_V2", [y, builder.constant(np.int32(2))], [best, places])
    return builder.finish([x], [best, places])


@pytest.fixture
def hosted(tmp_path):
    path = tmp_path / "hosted.tflite"
    path.write_bytes(with_top_k())
    return path


@pytest.fixture
def beside(tmp_path):
    """Calls a copy of the program, which has no library of LiteRT beside it."""
    program = tmp_path / "larq_benchmark_model"
    shutil.copy(_BINARY, program)

    def call_beside(*flags: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(program), *_QUICK, *flags], capture_output=True, text=True, timeout=60
        )

    return call_beside


_LACKS = "expected operators that the engine computes by itself, got TOPK_V2 'best' (#1)"


@pytest.mark.parametrize("model", _MODELS)
def test_outputs_are_those_of_the_interpreter_and_of_litert(model, tmp_path):
    path = _DATA / f"{model}.tflite"
    with np.load(_DATA / f"{model}.npz") as recorded:
        x = recorded["x"][:1]
    (tmp_path / "x").write_bytes(x.tobytes())
    expected = larq_engine.Interpreter(path, host="none").predict(x)
    files = (f"--input_value_files=0:{tmp_path / 'x'}", f"--save_outputs=0:{tmp_path / 'y'}")
    for threads in "1", "2":
        run_alone(path, f"--num_threads={threads}", *files)
        assert (tmp_path / "y").read_bytes() == expected.tobytes()
    # Floats may differ by roundings: sums have another order.
    rounding = 1e-5 * np.abs(expected).max()
    run(path, files[0], f"--check=0:{tmp_path / 'y'}", f"--check_tolerance={rounding}")


def test_every_operator_has_a_row(tmp_path):
    result = report_alone(_RESIDUAL, tmp_path, "--enable_op_profiling", "--num_runs=4")
    assert result["litert"] == ""
    assert result["init"]["library_ms"] == 0 and result["init"]["model_ms"] > 0
    rows = result["ops"]["rows"]
    expected = larq_engine.Interpreter(_RESIDUAL, host="none").profile(runs=1)
    assert [(row["op"], row["name"], row["kernel"], row["node"]) for row in rows] == [
        (row.op, row.name, row.kernel, row.node) for row in expected
    ]
    assert [row["op"] for row in rows[-2:]] == ["MEAN", "FULLY_CONNECTED"]
    assert all(row["device"] == "cpu" and row["calls"] == 4 for row in rows)
    percent = sum(row["percent"] for row in rows)
    assert 0 < percent <= 100, "the rest passes between operators"
    of_rows = sum(row["ms_per_call"] for row in rows)
    assert of_rows == pytest.approx(result["ops"]["ms_per_run"] * percent / 100)
    memory = result["memory"]
    assert 0 < memory["before_init_bytes"] < memory["after_init_bytes"] <= memory["peak_bytes"]


def test_tensors_by_name_and_by_number_without_a_host(tmp_path):
    check_tensors_by_name_and_by_number(report_alone, tmp_path)


def test_without_a_library_the_default_is_no_host(beside, hosted, tmp_path):
    done = beside(f"--graph={_RESIDUAL}")
    assert (done.returncode, done.stderr) == (0, "")
    assert ", without a host\n" in done.stdout
    done = beside(f"--graph={hosted}")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert _LACKS in done.stderr
    assert f"; expected LiteRT's library at {tmp_path}/libLiteRt.so or where " in done.stderr
    assert done.stderr.endswith("; name it with --litert=PATH\n")


def test_no_library_is_opened_without_a_host(beside, hosted, tmp_path):
    """A file that is no library shows who opens it."""
    (tmp_path / "libLiteRt.so").write_text("no library")
    for flags in [f"--graph={_RESIDUAL}"], [f"--graph={hosted}", "--host=auto"]:
        done = beside(*flags)
        assert done.returncode == 1
        assert "error: cannot open LiteRT's library: " in done.stderr
    for host in _NONE, "--host=auto":
        done = beside(f"--graph={_RESIDUAL}", host, f"--profile_out={tmp_path / 'profile'}")
        assert (done.returncode, done.stderr) == (0, "")
        assert ", without a host\n" in done.stdout


def test_auto_takes_litert_for_what_the_engine_lacks(hosted):
    flags = (f"--litert={_LITERT}", "--host=auto", *_QUICK)
    for model, first_line in (hosted, "LiteRT at "), (_RESIDUAL, "without a host\n"):
        done = call(f"--graph={model}", *flags)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"larq_engine {larq_engine.__version__}, {first_line}")


def test_what_the_engine_does_not_compute_is_named(hosted):
    message = fail(1, f"--graph={hosted}", _NONE, *_QUICK)
    assert message.startswith(f"model '{hosted}' ({hosted.stat().st_size} bytes): ")
    assert _LACKS in message
    assert message.endswith("; run the model in a host: LiteRT or TensorFlow Lite")
    on_host = ("--placement=3:host", *_QUICK)
    message = fail(1, f"--graph={_RESIDUAL}", _NONE, *on_host)
    assert "expected a device for node 3, got 'host'" in message
    done = call(f"--graph={_RESIDUAL}", "--host=auto", f"--litert={_LITERT}", *on_host)
    assert (done.returncode, done.stderr) == (0, "") and ", LiteRT at " in done.stdout


def test_the_profile_has_the_engine_alone(tmp_path):
    out = tmp_path / "profile.json"
    run_alone(_RESIDUAL, f"--profile_out={out}", "--num_runs=3", "--num_threads=2")
    profile = as_profile(out, _RESIDUAL)
    assert [device.name for device in profile.devices] == ["cpu"]
    assert [(total.device, total.threads) for total in profile.totals] == [("cpu", 2)]
    alone = {m.ops[0] for m in profile.measurements if len(m.ops) == 1}
    assert alone == {op.id for op in profile.ops}
    assert all(m.device == "cpu" and m.seconds.runs == 3 for m in profile.measurements)
    placed = larq_engine.place(_RESIDUAL, out)
    x = np.random.default_rng(1).standard_normal((1, 16, 16, 3), np.float32)
    expected = larq_engine.Interpreter(_RESIDUAL, host="none").predict(x)
    assert np.array_equal(larq_engine.Interpreter(placed, host="none").predict(x), expected)
    page = larq_engine.report(out, model=_RESIDUAL).to_html()
    assert b"FULLY_CONNECTED" in page


def test_random_damage_ends_with_a_result_or_a_reason(full, rng, tmp_path):
    outcomes: Counter[int] = Counter()
    models = [(_DATA / f"{name}.tflite").read_bytes() for name in _MODELS]
    path = tmp_path / "damaged.tflite"
    for case in range(5000 if full else 150):
        content = bytearray(models[case % len(models)])
        for position in rng.integers(len(content), size=rng.integers(1, 5)):
            content[position] = rng.integers(256)
        path.write_bytes(content)
        done = call(f"--graph={path}", _NONE, *_QUICK, limit=limit_work)
        if done.returncode == -signal.SIGXCPU:
            continue
        assert done.returncode in (0, 1), (case, done.stderr)
        assert done.stderr.count("\n") == done.returncode, (case, done.stderr)
        outcomes[done.returncode] += 1
    assert min(outcomes[0], outcomes[1]) > 20, "damage of both sorts was tried"
