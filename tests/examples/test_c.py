"""The C example runs a model with the library alone, as docs/without_a_host.md builds it."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import larq_engine

_ROOT = Path(__file__).parents[2]
_ENGINE = Path(larq_engine.delegate_path()).parent
_MODEL = _ROOT / "tests" / "interop" / "data" / "residual_relu_bn_add.float.tflite"


@pytest.fixture
def program(tmp_path):
    built = tmp_path / "classify"
    command = [os.environ.get("CC", "gcc"), "-std=c99", "-Wall", "-Wextra", "-Werror", "-I."]
    command += ["-o", built, "examples/c/classify.c", f"-L{_ENGINE}", "-l:liblarq_engine.so"]
    command += [f"-Wl,-rpath,{_ENGINE}"]
    subprocess.run(command, cwd=_ROOT, check=True)
    return built


def _run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_outputs_are_the_interpreters(program):
    done = _run(program, _MODEL)
    assert (done.returncode, done.stderr) == (0, "")
    with larq_engine.Interpreter(_MODEL, host="none") as interpreter:
        expected = interpreter.predict(np.zeros(interpreter.input_shapes[0], np.float32))
    got = np.array(done.stdout.split(), np.float32)
    np.testing.assert_array_equal(got, expected.ravel())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [((), "expected the path of a model\n"), (("absent.tflite",), "'absent.tflite': expected a")],
)
def test_errors(program, arguments, text):
    done = _run(program, *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith(text)


def test_the_library_needs_no_host(program):
    needed = (
        _run("readelf", "-d", program).stdout
        + _run("readelf", "-d", larq_engine.delegate_path()).stdout
    )
    names = {line.split("[")[1].rstrip("]") for line in needed.splitlines() if "(NEEDED)" in line}
    assert names <= {"liblarq_engine.so", "libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
