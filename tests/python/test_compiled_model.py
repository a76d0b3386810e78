"""LCE's files in LiteRT's CompiledModel, which finds the plug-in as an accelerator."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.command_line import main

pytest.importorskip("ai_edge_litert", reason="CompiledModel is LiteRT's alone")

_MODELS = sorted((Path(__file__).parents[1] / "interop" / "data").glob("*.tflite"))


def _compile(content: bytes, environment):
    from ai_edge_litert.compiled_model import CompiledModel
    from ai_edge_litert.hardware_accelerator import HardwareAccelerator
    from ai_edge_litert.options import CpuOptions, Options

    accelerators = HardwareAccelerator(HardwareAccelerator.GPU | HardwareAccelerator.CPU)
    options = Options(hardware_accelerators=accelerators, cpu_options=CpuOptions(num_threads=1))
    return CompiledModel.from_buffer(content, environment=environment, options=options)


@pytest.mark.parametrize("path", _MODELS, ids=lambda path: path.stem)
def test_answers_as_the_interpreter_does(path, rng):
    content = path.read_bytes()
    interpreter = larq_engine.Interpreter(content, host="litert")
    model = _compile(content, larq_engine.environment())
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    arrays = []
    for buffer, shape, dtype in zip(
        inputs, interpreter.input_shapes, interpreter.input_types, strict=True
    ):
        values = rng.standard_normal(shape) * 40
        arrays.append(values.astype(dtype))
        buffer.write(arrays[-1])
    model.run_by_index(0, inputs, outputs)
    expected = interpreter.predict(arrays)
    for buffer, right in zip(
        outputs, expected if isinstance(expected, list) else [expected], strict=True
    ):
        got = buffer.read(right.size, right.dtype).reshape(right.shape)
        np.testing.assert_array_equal(got, right)


def test_without_the_engine_the_first_run_fails():
    """docs/troubleshooting.md says so."""
    from ai_edge_litert.compiled_model import CompiledModel

    model = CompiledModel.from_buffer(_MODELS[0].read_bytes())
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    with pytest.raises(RuntimeError, match="Failed to invoke the compiled model"):
        model.run_by_index(0, inputs, outputs)


def test_the_stock_benchmark_runs_our_files(tmp_path):
    assert main(["accelerator", str(tmp_path)]) == 0
    result = tmp_path / "result.json"
    command = [sys.executable, "-m", "ai_edge_litert.tools.benchmark_litert_model", "--use_gpu"]
    command += [f"--model={_MODELS[0]}", f"--runtime_path={tmp_path}", f"--result_json={result}"]
    done = subprocess.run(
        [*command, "--num_runs=2", "--warmup_runs=1"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(result.read_text())


def test_a_link_is_made_anew_and_nothing_else_is_overwritten(tmp_path, capsys):
    for _ in range(2):
        assert main(["accelerator", str(tmp_path)]) == 0
    link = Path(capsys.readouterr().out.splitlines()[-1])
    assert os.path.samefile(link, larq_engine.delegate_path())
    link.unlink()
    link.symlink_to("/old/liblarq_engine.so")  # a link of an environment that is gone
    assert main(["accelerator", str(tmp_path)]) == 0
    assert os.path.samefile(link, larq_engine.delegate_path())
    another = tmp_path / "libAnother.so"
    another.write_bytes(b"another's")
    for make in (os.symlink, shutil.copy):
        link.unlink()
        make(another, link)
        assert main(["accelerator", str(tmp_path)]) == 1
        said = "expected a link to liblarq_engine.so, or nothing, got another accelerator"
        assert said in capsys.readouterr().err
        assert link.read_bytes() == b"another's"
    assert main(["accelerator", str(tmp_path / "none")]) == 1
    assert "none': expected an existing folder" in capsys.readouterr().err


def test_the_folder_ends_with_the_process():
    code = (
        "import os, signal, larq_engine; signal.alarm(300); larq_engine.environment();"
        "from larq_engine.python import accelerator;"
        "print(accelerator._own_folder());"
        "pid = os.fork(); pid == 0 and os._exit(0); os.waitpid(pid, 0);"
        "assert accelerator._own_folder().is_dir()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not Path(done.stdout.strip().splitlines()[-1]).exists()
