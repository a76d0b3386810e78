"""Tests the doors of examples/digits.py that TensorFlow has; the others are in tests/torch."""

import os
import subprocess
import sys

import pytest

from tests.converter.frameworks import require_keras
from tests.examples.digits_doors import ROOT, check_door

pytest.importorskip("sklearn", reason="scikit-learn, for its digits, is not installed here")


@pytest.mark.parametrize("door", ["larq", "keras"])
def test_the_file_answers_as_the_framework(tmp_path, door):
    require_keras()
    check_door(door, tmp_path)
    if door == "keras":  # one picture is enough
        command = [sys.executable, ROOT / "examples" / "pictures.py", "digits", "digits.tflite"]
        environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)
        assert (tmp_path / "digits.png").stat().st_size > 10_000
