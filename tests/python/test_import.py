"""Importing larq_engine imports no host runtime and little else."""

import json
import subprocess
import sys

import pytest

import larq_engine

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
    assert {"Interpreter", "convert_keras_model", "load_delegate", "testing"} <= set(names)
    assert version.count(".") == 2


def test_every_public_name_is_there():
    for name in larq_engine.__all__:
        assert getattr(larq_engine, name) is not None


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'convert_onnx'"):
        larq_engine.convert_onnx  # noqa: B018
