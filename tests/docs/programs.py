"""Runs Python of the documents as a reader would: a program in a folder of its own."""

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.documents import ROOT


def run(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a program; returns its exit status and its output."""
    # PyTorch's threads wait for each other for seconds if others have the cores, so there is one.
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    environment.pop("TF_USE_LEGACY_KERAS", None)
    program = folder / "program.py"
    program.write_text(text)
    return subprocess.run(
        [sys.executable, program],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,  # programs that train take two minutes on two busy cores
    )


def run_without_error(text: str, folder: Path) -> str:
    """Runs a program that must not end with an error; returns its output."""
    done = run(text, folder)
    assert done.returncode == 0, done.stderr
    return done.stdout
