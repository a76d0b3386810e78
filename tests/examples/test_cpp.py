"""The C++ example runs LCE's files in LiteRT as larq_engine.Interpreter does, linked either way."""

import os
import shutil
import subprocess
from pathlib import Path

import ai_edge_litert
import numpy as np
import pytest

import larq_engine

_ROOT = Path(__file__).parents[2]
_EXAMPLE = _ROOT / "examples" / "cpp"
_BUILT = _ROOT / "bazel-bin" / "examples" / "cpp" / "run_model"
_LITERT = Path(ai_edge_litert.__file__).parent
_MODEL = _ROOT / "tests" / "interop" / "data" / "residual_relu_bn_add.float.tflite"


@pytest.fixture
def built(tmp_path):
    """What Bazel makes, the engine inside, with LiteRT's library beside it as on a device."""
    assert _BUILT.exists(), "build it with `make cpp-example`"
    program = tmp_path / "run_model"
    shutil.copy(_BUILT, program)
    (tmp_path / "libLiteRt.so").symlink_to(_LITERT / "libLiteRt.so")
    return program


@pytest.fixture
def linked(tmp_path):
    """The same sources by the line of docs/deployment.md: the engine is the plug-in."""
    program = tmp_path / "run_model"
    engine = Path(larq_engine.delegate_path()).parent
    command = [os.environ.get("CXX", "g++"), "-std=c++20", "-I.", "-o", program]
    command += ["examples/cpp/run_model.cc", "examples/cpp/register_engine.cc"]
    command += [f"-L{engine}", "-l:liblarq_engine.so", f"-L{_LITERT}", "-lLiteRt"]
    command += [f"-Wl,-rpath,{engine}:{_LITERT}"]
    subprocess.run(command, cwd=_ROOT, check=True)
    return program


def run(program: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("how", ["built", "linked"])
def test_outputs_are_the_interpreters(how, request, tmp_path):
    program = request.getfixturevalue(how)
    with np.load(_MODEL.with_suffix(".npz")) as recorded:
        x = recorded["x"][:1]
    x.tofile(tmp_path / "x")
    done = run(program, _MODEL, tmp_path / "x", tmp_path / "y")
    assert done.returncode == 0, done.stderr
    expected = larq_engine.Interpreter(_MODEL, runtime="ai_edge_litert").predict(x)
    assert (tmp_path / "y").read_bytes() == expected.tobytes()
    # The engine comes first, or XNNPACK has the sums between binarized layers.
    names = [line.partition("name=")[2] for line in done.stderr.splitlines() if "Register" in line]
    assert names == ["larq_engine", "CpuAccelerator"]


def test_what_cannot_be_run_is_told(built, tmp_path):
    (tmp_path / "short").write_bytes(bytes(8))
    for arguments, reason in (
        ((), "usage: run_model MODEL.tflite INPUT OUTPUT"),
        ((tmp_path / "absent", "x", "y"), f"LiteRT could not load {tmp_path}/absent: status "),
        ((_MODEL, tmp_path / "short", "y"), f"{tmp_path}/short: expected a file of 3072 bytes"),
        ((_MODEL, "/dev/zero", tmp_path / "a" / "y"), f"{tmp_path}/a/y: cannot be written"),
    ):
        done = run(built, *arguments)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith(f"run_model: error: {reason}")
