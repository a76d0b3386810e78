"""Runs examples/digits.py as its readers do."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def check_door(door: str, folder: Path) -> None:
    """Checks that the network learns, and that its file answers the same by binary layers."""
    command = [sys.executable, ROOT / "examples" / "digits.py", door, "--epochs", "4"]
    done = subprocess.run(
        command,
        cwd=folder,  # the program writes there
        # With several threads PyTorch's wait for each other for seconds while others have the
        # cores.
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    theirs, ours, same = (
        float(re.search(r"([\d.]+)%", line)[1]) for line in done.stdout.splitlines()
    )
    assert min(theirs, ours) > 60, "ten digits: one in ten by chance"
    assert same > 99
    assert b"LceBconv2d" in (folder / "digits.tflite").read_bytes(), "no layer is binary"
