"""Importing larq_engine imports no host and little else."""

import json
import subprocess
import sys

import numpy as np
import pytest

import larq_engine
from tests.model_builder import bconv_model
from tests.oracle import Conv

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


_SHORT_WORK = """
import sys
import numpy
import larq_engine
interpreter = larq_engine.Interpreter(sys.argv[1])
interpreter.predict(numpy.ones((1, 6, 7, 32), numpy.float32))
interpreter.predict(numpy.ones((3, 6, 7, 32), numpy.float32))
print("tqdm" in sys.modules)
"""


def test_short_work_does_not_wait_for_the_progress_bar(tmp_path):
    """The progress bar takes longer to import than many a model takes to run."""
    conv = Conv((1, 6, 7, 32), (3, 3), 8)
    path = tmp_path / "model.tflite"
    one = np.ones(8, np.float32)
    path.write_bytes(bconv_model(conv, np.ones(conv.filter_shape, np.float32), one, one))
    printed = subprocess.run(
        [sys.executable, "-c", _SHORT_WORK, path], check=True, capture_output=True, text=True
    ).stdout
    assert printed.strip() == "False"


def test_every_public_name_is_there():
    for name in larq_engine.__all__:
        assert getattr(larq_engine, name) is not None


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'convert_caffe'"):
        larq_engine.convert_caffe  # noqa: B018


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        (
            "convert",
            "; did you mean convert_keras_model, convert_onnx, convert_saved_model, "
            "convert_tflite, convert_torch?",
        ),
        ("convert_keras", "; did you mean convert_keras_model?"),
        ("interpreter", "; did you mean Interpreter?"),
        ("zzz", ""),
        ("_zzz", ""),
        ("__path__of", ""),
    ],
)
def test_a_name_that_does_not_exist_leads_to_those_that_do(name, advice):
    with pytest.raises(AttributeError) as caught:
        getattr(larq_engine, name)
    assert str(caught.value) == f"module 'larq_engine' has no attribute '{name}'{advice}"
