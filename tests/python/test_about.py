"""larq_engine.about() and its command; tests/cuda tests what they say of GPUs."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import larq_engine
from larq_engine.python.hosts import HOSTS
from tests.kernel_rows import kernel_rows


def test_it_says_what_there_is(monkeypatch):
    monkeypatch.setenv("LARQ_ENGINE_KERNEL", "auto")
    lines = larq_engine.about().splitlines()
    package = Path(larq_engine.__file__).parent
    assert lines[0] == f"larq_engine {larq_engine.__version__} at {package}"
    assert lines[1].startswith(f"Python {sys.version.split()[0]}, NumPy {version('numpy')}, Linux")
    hosts = lines[2].removeprefix("hosts: ").split(", ")
    assert hosts[0].startswith("litert (ai_edge_litert 2.")
    # The names are those that `host=` takes.
    assert [text.removeprefix("no ").split()[0] for text in hosts] == list(HOSTS)
    path = larq_engine.delegate_path()
    assert lines[3] == f"plug-in: {larq_engine.__version__} at {path}"
    assert lines[4] == f"cpu: {' '.join(kernel_rows())}"
    assert all(line.startswith("cuda") for line in lines[5:-1]) and len(lines) > 6
    assert lines[-1].startswith("environment: ") and "LARQ_ENGINE_KERNEL=auto" in lines[-1]


def test_it_says_that_there_is_no_library(monkeypatch, tmp_path):
    monkeypatch.setenv("LARQ_ENGINE_LIBRARY", str(tmp_path / "none.so"))
    assert f"plug-in: none: larq_engine plug-in: expected a file at {tmp_path}" in (
        larq_engine.about()
    )


def test_the_command_prints_the_same():
    command = [sys.executable, "-m", "larq_engine", "about"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == larq_engine.about() + "\n"
