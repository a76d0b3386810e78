"""A short campaign in each mode, as `make fuzz-files` runs long ones."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[3]


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, whose forks have no threads of the tests' to lose."""
    command = [sys.executable, "-m", "tests.fuzz.files", *arguments]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True)


def test_the_plugin_alone_crashes_on_no_file():
    done = _run("--cases", "1500", "--first", "0", "--mode", "bare")
    assert done.returncode == 0, done.stdout + done.stderr
    (cases, _, refused, _, _, ran) = map(int, re.findall(r"\d+", _line(done.stdout, "all "))[:6])
    assert cases == 1500
    assert min(refused, ran) > 300, "files of both sorts were tried"


def _line(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(start))


def test_a_case_can_be_replayed(tmp_path):
    for _ in range(2):
        done = _run("--replay", "11", "--save", str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("case 11: ")
    (saved,) = tmp_path.iterdir()
    assert saved.name == "11.tflite"


@pytest.mark.parametrize("wrong", [["--mode", "no"], ["--runtime", "no", "--cases", "1"]])
def test_what_is_not_understood(wrong):
    done = _run(*wrong)
    assert done.returncode not in (0, 1) or "expected one of" in done.stderr
