"""LCE's files in LiteRT's CompiledModel, which finds the plug-in as an accelerator."""

from pathlib import Path

import numpy as np
import pytest

import larq_engine

pytest.importorskip("ai_edge_litert", reason="CompiledModel is LiteRT's alone")

_MODELS = sorted((Path(__file__).parents[1] / "interop" / "data").glob("*.tflite"))


def _compile(content: bytes, folder: Path):
    from ai_edge_litert.compiled_model import CompiledModel
    from ai_edge_litert.environment import Environment, EnvironmentOptions
    from ai_edge_litert.hardware_accelerator import HardwareAccelerator
    from ai_edge_litert.options import CpuOptions, Options

    environment = Environment.create(options=EnvironmentOptions(runtime_path=str(folder)))
    accelerators = HardwareAccelerator(HardwareAccelerator.GPU | HardwareAccelerator.CPU)
    options = Options(hardware_accelerators=accelerators, cpu_options=CpuOptions(num_threads=1))
    return CompiledModel.from_buffer(content, environment=environment, options=options)


@pytest.fixture
def runtime_folder(tmp_path):
    """Where LiteRT looks for accelerators, with the plug-in under the first name that it tries."""
    (tmp_path / "libLiteRtGpuAccelerator.so").symlink_to(larq_engine.delegate_path())
    return tmp_path


@pytest.mark.parametrize("path", _MODELS, ids=lambda path: path.stem)
def test_answers_as_the_interpreter_does(path, runtime_folder, rng):
    content = path.read_bytes()
    interpreter = larq_engine.Interpreter(content, runtime="ai_edge_litert")
    model = _compile(content, runtime_folder)
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
