"""Tests examples/fpga_digits.py: the whole network becomes hardware, and learns."""

import os
import re
import subprocess
import sys

import pytest

import larq_engine
from tests.converter.frameworks import require_keras
from tests.examples.digits_doors import ROOT

pytest.importorskip("sklearn", reason="scikit-learn, for its digits, is not installed here")


def test_the_whole_network_becomes_hardware(tmp_path):
    require_keras()
    command = [sys.executable, ROOT / "examples" / "fpga_digits.py", "--epochs", "4"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    theirs, ours = (float(re.search(r"([\d.]+)%", line)[1]) for line in done.stdout.splitlines())
    assert min(theirs, ours) > 60, "ten digits: one in ten by chance"
    exported = larq_engine.export_verilog(tmp_path / "digits.tflite", fold=8)
    # From the pixels' four bits to ten sums of products.
    assert "1x1x10 integers" in exported.report
    assert exported.report.count("LceBconv2d") == 4
