"""Importing larq_engine imports no host runtime and little else."""

import json
import subprocess
import sys

_REPORT = """
import json, sys
import numpy
before = set(sys.modules)
import larq_engine
print(json.dumps([sorted(set(sys.modules) - before), larq_engine.__all__, larq_engine.__version__]))
"""


def test_import_brings_no_host_runtime():
    printed = subprocess.run(
        [sys.executable, "-c", _REPORT], check=True, capture_output=True, text=True
    ).stdout
    modules, names, version = json.loads(printed)
    top_level = {name.split(".")[0] for name in modules}
    assert "larq_engine" in top_level
    forbidden = {"tensorflow", "ai_edge_litert", "tflite_runtime", "flatbuffers", "tqdm", "keras"}
    assert not top_level & forbidden
    outside = {n for n in top_level - sys.stdlib_module_names - {"larq_engine"} if n != "numpy"}
    assert not outside, "only NumPy and the standard library"
    assert names == ["Interpreter", "__version__", "delegate_path", "load_delegate", "testing"]
    assert version.count(".") == 2
