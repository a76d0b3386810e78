"""larq_benchmark_model as one file that needs no other gives the dynamic program's results.

tools/test_static_program.sh compares the programs for ARM.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.benchmark_model.test_benchmark_binary import _BINARY, _DATA, _LITERT, _MODELS, _QUICK
from tests.benchmark_model.test_benchmark_without_host import run_alone, with_top_k

_STATIC = _BINARY.with_name("larq_benchmark_model_static")
_MODEL = _DATA / "residual_relu_bn_add.float.tflite"


def _call(*flags: str, program: Path = _STATIC) -> subprocess.CompletedProcess[str]:
    assert program.exists(), "build it with `make benchmark-binary`"
    command = [str(program), *_QUICK, *flags]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def _fail(code: int, *flags: str) -> str:
    done = _call(*flags)
    assert done.returncode == code and done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("larq_benchmark_model: error: ").rstrip()


def test_it_needs_no_library_and_no_loader():
    listed = subprocess.run(
        ["readelf", "-dlW", str(_STATIC)], capture_output=True, text=True, check=True
    ).stdout
    assert "LOAD" in listed
    assert "NEEDED" not in listed and "INTERP" not in listed


@pytest.mark.parametrize("model", _MODELS)
def test_outputs_are_the_dynamic_programs(model, tmp_path):
    path, expected = _DATA / f"{model}.tflite", tmp_path / "expected"
    run_alone(path, f"--save_outputs=0:{expected}")
    done = _call(f"--graph={path}", "--num_threads=2", f"--check=0:{expected}")
    assert (done.returncode, done.stderr) == (0, "")
    assert ", without a host\n" in done.stdout and "\ncheck         ok: " in done.stdout


def test_what_it_measures(tmp_path):
    done = _call(f"--graph={_MODEL}", "--enable_op_profiling", f"--profile_out={tmp_path / 'p'}")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nLceBconv2d " in done.stdout and (tmp_path / "p").exists()


def test_a_library_beside_it_is_not_opened(tmp_path):
    program = tmp_path / "larq_benchmark_model"
    shutil.copy(_STATIC, program)
    (tmp_path / "libLiteRt.so").symlink_to(_LITERT)
    done = _call(f"--graph={_MODEL}", program=program)
    assert (done.returncode, done.stderr) == (0, "") and ", without a host\n" in done.stdout


def test_what_it_cannot_do_is_told(tmp_path):
    litert = "expected a program that can open LiteRT's library, got a static one; take the dynamic"
    assert _fail(1, f"--graph={_MODEL}", "--host=litert").startswith(litert)
    assert _fail(1, f"--graph={_MODEL}", f"--litert={_LITERT}").startswith(litert)
    hosted = tmp_path / "hosted.tflite"
    hosted.write_bytes(with_top_k())
    assert f"; {litert}" in _fail(1, f"--graph={hosted}")


def test_gpus_are_refused_and_not_looked_for(tmp_path):
    program = tmp_path / "larq_benchmark_model"
    shutil.copy(_STATIC, program)
    (tmp_path / "liblarq_engine_cuda.so").touch()
    done = _call(f"--graph={_MODEL}", "--device=cuda", program=program)
    assert done.returncode == 2
    assert "this program is static, and opens no libraries" in done.stderr
    assert _call(f"--graph={_MODEL}", "--device=auto", program=program).returncode == 0
