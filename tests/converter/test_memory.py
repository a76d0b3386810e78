"""A conversion holds at most three times the file, and only part of all values to check them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.converter.graphs import signs

# Prints the file's size and the most memory beyond what the imports took, in bytes.
_CONVERT = """
import os, sys
import larq_engine
import ai_edge_litert.interpreter
larq_engine.convert_tflite  # imports the converter

def memory(field):
    with open("/proc/self/status") as status:
        (line,) = [line for line in status if line.startswith(field)]
    return 1024 * int(line.split()[1])

before = memory("VmRSS")
converted = larq_engine.convert_tflite(sys.argv[1])
print(os.path.getsize(sys.argv[1]), memory("VmHWM") - before, len(converted))
"""


_reads_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def _convert(file: Path) -> tuple[int, int, int]:
    printed = subprocess.run(
        [sys.executable, "-c", _CONVERT, file], check=True, capture_output=True, text=True
    ).stdout
    size, most, result = map(int, printed.split())
    return size, most, result


@_reads_proc
@pytest.mark.parametrize("binary_units", [0, 2000])
def test_at_most_three_times_the_file(net, rng, tmp_path, binary_units):
    x = net.input(1, 5000)
    y = net.dense(x, rng.random((5000 - binary_units, 5000), np.float32))
    if binary_units:
        y = net.concatenate([y, net.dense(net.sign(x), signs(rng, binary_units, 5000))], 1)
    file = tmp_path / "large.tflite"
    file.write_bytes(net.finish(y))
    size, most, result = _convert(file)
    assert size > 100e6
    assert most <= 3 * size
    assert result < size if binary_units else result == pytest.approx(size, rel=0.01)


@_reads_proc
def test_values_are_checked_part_by_part(net, rng, tmp_path):
    """The 16 layers have values of 8 MB each, while the file is small."""
    y = net.input(1, 256, 256, 32)
    for _ in range(16):
        y = net.conv(net.sign(y), signs(rng, 32, 1, 1, 32))
        y = net.op("MUL", y, rng.uniform(0.5, 1.5, 32).astype(np.float32))
    file = tmp_path / "deep.tflite"
    file.write_bytes(net.finish(y))
    _, most, _ = _convert(file)
    assert most < 0.3e9
