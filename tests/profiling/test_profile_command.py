"""`larq-engine profile` prints a table, and writes a whole file or none."""

import os
import signal
import subprocess
import sys
import time

import pytest

from larq_engine.command_line import main
from larq_engine.placing.profile_file import read_profile
from larq_engine.python import library
from tests.profiling.models import NODES, small_model


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "small.tflite"
    path.write_bytes(small_model())
    return path


def _run(model, *arguments):
    return main(["profile", str(model), "--devices", "cpu", "--rounds", "1", *map(str, arguments)])


def test_a_table_and_a_file(model, tmp_path, capsys):
    output = tmp_path / "profile.json"
    assert _run(model, "--threads", "1,2", "--batch", "1,2", "-o", output) == 0
    text = capsys.readouterr().out
    assert "FULLY_CONNECTED" in text
    assert f"wrote {output}" in text
    profile = read_profile(output)
    assert profile.model.name == "small.tflite"
    assert (profile.batches(), profile.threads()) == ([1, 2], [1, 2])
    assert {op for m in profile.measurements for op in m.ops} == set(range(len(NODES)))
    assert sorted(device.name for device in profile.devices) == ["cpu", "host"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--devices", "cpu,tpu"], "devices: expected some of cpu, host"),
        (["--kernels", "bgemm"], "got 'bgemm'"),
        (["--kernels", "all,auto"], "got 'all'"),
        (
            ["-o", "no/such/folder.json"],
            "output 'no/such/folder.json': expected an existing folder",
        ),
        (["--energy", "temp1"], "energy 'temp1'"),
        (["--batch", "1,2", "--host", "x"], "host: expected one of"),
    ],
)
def test_what_cannot_be_meant(model, arguments, said, capsys):
    assert _run(model, *arguments) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("larq-engine: error: ")
    assert said in error


def test_the_model_is_not_overwritten(model, capsys):
    assert _run(model, "-o", model) == 1
    assert "expected a file of its own" in capsys.readouterr().err
    assert model.read_bytes() == small_model()


def test_models_that_are_none(tmp_path, capsys):
    (tmp_path / "a.tflite").write_bytes(b"none")
    assert _run(tmp_path / "a.tflite", "-o", tmp_path / "out.json") == 1
    assert "a.tflite' (4 bytes)" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


def test_threads_that_do_not_run_are_warned_of_in_a_line(model, monkeypatch, capsys):
    monkeypatch.setattr(library, "usable_cpus", lambda: 1)
    assert _run(model, "--threads", "64") == 0
    assert (
        "larq-engine: warning: threads: expected no more threads than CPUs that this process "
        "may use, got 64; 1 thread will run\n" in capsys.readouterr().err
    )


@pytest.mark.parametrize("value", ["0", "a", "1,", "-1", "1.5"])
def test_numbers_that_are_none(model, value):
    with pytest.raises(SystemExit) as caught:
        _run(model, f"--threads={value}")
    assert caught.value.code == 2


def test_wrong_results_end_in_an_error(model, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        "larq_engine.profiling.profiler.find_difference",
        lambda got, expected, rounds: "broken" if len(got[0].shape) == 2 else None,
    )
    output = tmp_path / "profile.json"
    assert _run(model, "-o", output) == 1
    streams = capsys.readouterr()
    assert "candidates computed wrong results" in streams.err
    assert "WRONG RESULT, not measured: FULLY_CONNECTED 'scores' (node 9)" in streams.out
    assert all(8 not in m.ops for m in read_profile(output).measurements)


def test_what_was_measured_is_kept_if_nobody_reads_the_table(model, tmp_path, monkeypatch):
    def refuse(self):
        raise BrokenPipeError

    monkeypatch.setattr("larq_engine.profiling.result.ProfileResult.__str__", refuse)
    monkeypatch.setattr("larq_engine.command_line.program.os.dup2", lambda *_: None)
    output = tmp_path / "profile.json"
    _run(model, "-o", output)
    assert read_profile(output).model.name == "small.tflite"


def test_an_interruption_leaves_nothing(model, tmp_path):
    output = tmp_path / "profile.json"
    command = [sys.executable, "-m", "larq_engine", "profile", str(model), "--rounds", "1000000"]
    process = subprocess.Popen(
        [*command, "-o", str(output)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # A process in a shell's background ignores the signal, and so would the command.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        for line in process.stderr:
            if line.startswith("profiling: "):
                break
        time.sleep(0.2)
        os.kill(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.tflite"]
