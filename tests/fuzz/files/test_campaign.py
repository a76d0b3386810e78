"""A short campaign runs in each mode, as `make fuzz-files` runs long ones."""

import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the program in a process of its own, whose forks have no threads of the tests."""
    command = [sys.executable, "-m", "tests.fuzz.files", *arguments]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True)


def _outcomes(text: str) -> list[int]:
    """Returns the numbers of the line of all cases: the count, and the count of each outcome."""
    line = next(line for line in text.splitlines() if line.startswith("all "))
    return list(map(int, line.split()[1:]))


def test_the_plugin_alone_crashes_on_no_file():
    done = _run("--cases", "1500", "--mode", "bare")
    assert done.returncode == 0, done.stdout + done.stderr
    cases, _, by_host, _, _, ran, _ = _outcomes(done.stdout)
    assert cases == 1500
    assert min(by_host, ran) > 300, "files of both sorts were tried"


def test_the_interpreter_lets_no_file_crash_the_host():
    done = _run("--cases", "3000", "--first", "400000")
    assert done.returncode == 0, done.stdout + done.stderr
    cases, by_check, by_host, _, _, ran, crashes = _outcomes(done.stdout)
    assert (cases, crashes) == (3000, 0)
    assert min(by_check, by_host, ran) > 200, "files of all sorts were tried"


def test_a_case_can_be_replayed(tmp_path):
    for _ in range(2):
        done = _run("--replay", "11", "--save", str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("case 11: ")
    (saved,) = tmp_path.iterdir()
    assert saved.name == "11.tflite"


@pytest.mark.parametrize("wrong", [["--mode", "no"], ["--host", "no", "--cases", "1"]])
def test_what_is_not_understood(wrong):
    done = _run(*wrong)
    assert done.returncode not in (0, 1) or "expected one of" in done.stderr
