"""`make gpu-check` without a GPU: limits of time, kept results, and steps after a failure."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from benchmarks.gpu import bench, check
from benchmarks.gpu.bench import Bench, StepError
from benchmarks.gpu.steps import STEPS, Step


def _shell(code: str) -> list[str]:
    return ["sh", "-c", code]


def first(bench):
    """Runs at once."""
    yield {"answer": 42}


def endless(bench):
    """Prints a record and a half, and has no end."""
    return bench.lines(*_shell("""echo '{"record": 1}'; printf '{"rec'; sleep 600"""))


def broken(bench):
    """Prints a record and fails."""
    return bench.lines(*_shell("""echo '{"record": 1}'; echo no such thing >&2; exit 3"""))


def last(bench):
    """Tells how much time it is given."""
    yield {"left": bench.left()}


@pytest.fixture
def run(tmp_path):
    def run_steps(*steps: Step, seconds: float = float("inf")):
        records = check.run_steps(tmp_path, tmp_path, steps, time.monotonic() + seconds)
        for record in records:
            assert json.loads((tmp_path / f"{record['step']}.json").read_text()) == record
        return {record["step"]: record for record in records}

    return run_steps


def test_what_a_step_printed_before_its_time_ran_out_is_kept(run):
    records = run(Step(endless, 1), Step(last, 60))
    assert records["endless"]["result"] == [{"record": 1}]
    assert records["endless"]["error"] == "no end after 1 s"
    assert records["endless"]["seconds"] < 30
    assert 59 < records["last"]["result"][0]["left"] <= 60


def test_what_a_step_printed_before_it_failed_is_kept(run):
    record = run(Step(broken, 60))["broken"]
    assert record["result"] == [{"record": 1}]
    assert record["error"] == "exit status 3"
    assert "no such thing" in record["output"]


def test_a_step_for_which_too_little_is_left_is_not_begun(run):
    record = run(Step(last, 60), seconds=3)["last"]
    assert record["left_out"] == "3 s were left, it needs 15 s"
    assert "result" not in record


def test_a_step_ends_with_the_whole_time(run):
    begun = time.monotonic()
    records = run(Step(first, 1), Step(endless, 8), Step(last, 4), seconds=3)
    assert time.monotonic() - begun < 30
    assert records["first"]["result"] == [{"answer": 42}]
    assert records["endless"]["error"] == "no end after 3 s"
    assert records["last"]["left_out"] == "0 s were left, it needs 1 s"


@pytest.mark.parametrize(("seconds", "key"), [(60, "error"), (0, "left_out")])
def test_nothing_is_run_behind_a_step_that_all_need(run, seconds, key):
    records = run(Step(broken, 60, is_needed=True), Step(first, 0), seconds=seconds)
    assert list(records) == ["broken"]
    assert key in records["broken"]


def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(StepError, match=r"No such file or directory: '.*contract'"):
        Bench(tmp_path, time.monotonic() + 60).run(tmp_path / "contract")


def test_a_program_is_ended_with_all_that_it_started(tmp_path):
    with pytest.raises(StepError, match="no end after 1 s") as caught:
        Bench(tmp_path, time.monotonic() + 60).run(*_shell("sleep 600 & echo $!; wait"), seconds=1)
    child = Path("/proc", caught.value.printed.strip(), "stat")
    # A killed process ends when it next gets a core, and its adopter may never ask for its status.
    deadline = time.monotonic() + 60
    while child.exists() and not child.read_text().rpartition(") ")[2].startswith("Z"):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_programs_find_the_bundle_and_the_repository(tmp_path):
    command = _shell("echo $LARQ_ENGINE_LIBRARY $PYTHONPATH")
    printed = Bench(tmp_path, time.monotonic() + 60).run(*command)
    path = os.pathsep.join([str(bench.ROOT), f"{tmp_path}/site"])
    assert printed.split() == [f"{tmp_path}/liblarq_engine.so", path]


def _main(monkeypatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["check", *arguments])
    return check.main()


def test_without_a_gpu_it_stops_at_the_environment(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    results = tmp_path / "results"
    folders = ["--bundle", str(tmp_path), "--results", str(results)]
    assert _main(monkeypatch, *folders, "--seconds", "540") == 1
    assert [path.name for path in results.iterdir()] == ["environment.json"]
    printed = capsys.readouterr().out.splitlines()
    for line, step in zip(printed, STEPS, strict=False):
        assert line.split()[:2] == [step.name, f"{step.seconds:.0f}"]
        assert f" {step.planned:.0f} s planned" in line
    assert printed[-1].startswith("environment ")
    assert "FAILED" in printed[-1]
    assert "there is no NVIDIA GPU here: nvidia-smi: " in printed[-1]


def test_a_step_that_there_is_not(tmp_path, monkeypatch, capsys):
    folders = ["--bundle", str(tmp_path), "--results", str(tmp_path / "results")]
    with pytest.raises(SystemExit):
        _main(monkeypatch, *folders, "--steps", "contract", "speed")
    assert "expected names out of environment, contract, " in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_all_steps_are_planned_for_nine_minutes():
    assert sum(step.planned for step in STEPS) <= 540
    assert all(0 < step.planned <= step.seconds for step in STEPS)


def test_what_cannot_be_asked_in_vain_comes_first():
    assert [step.name for step in STEPS if step.is_needed] == ["environment", "contract"]
    assert all(step.is_needed for step in STEPS[:2])
    assert all(step.purpose.endswith(".") for step in STEPS)
