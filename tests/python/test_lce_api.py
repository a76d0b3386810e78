"""`larq_engine.testing.Interpreter` has LCE's signature and behaviour."""

import inspect
from pathlib import Path

import numpy as np
import pytest

from larq_engine.testing import Interpreter
from tests.model_builder import ModelBuilder

_DATA = Path(__file__).parents[1] / "interop" / "data"


def test_the_signature_is_that_of_lce():
    parameters = inspect.signature(Interpreter).parameters
    assert {name: p.default for name, p in parameters.items()} == {
        "flatbuffer_model": inspect.Parameter.empty,
        "num_threads": 1,
        "use_reference_bconv": False,
        "use_indirect_bgemm": False,
        "use_xnnpack": False,
    }
    assert all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters.values())


@pytest.mark.parametrize("flags", [(False, False, False), (True, False, True), (True, True, True)])
def test_output_is_that_of_lce(flags):
    model = (_DATA / "same_one_3x3.float.tflite").read_bytes()
    with np.load(_DATA / "same_one_3x3.float.npz") as recorded:
        x, y = recorded["x"], recorded["y"]
    interpreter = Interpreter(model, 2, *flags)
    np.testing.assert_allclose(interpreter.predict(x, 0), y, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(interpreter.predict(iter(x)), y, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(interpreter.predict([x], verbose=1), y, rtol=1e-4, atol=1e-4)
    kernels = {row.kernel for row in interpreter.profile(runs=1) if row.op == "LceBconv2d"}
    assert (kernels == {"reference"}) == flags[0]


def test_several_outputs_are_a_list():
    builder = ModelBuilder()
    x = builder.tensor((1, 3), name="x")
    outputs = [builder.tensor((1, 3)), builder.tensor((1, 3))]
    builder.builtin("ADD", [x, x], [outputs[0]])
    builder.builtin("MUL", [x, x], [outputs[1]])
    interpreter = Interpreter(builder.finish([x], outputs))
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    got = interpreter.predict(data)
    assert isinstance(got, list)
    np.testing.assert_array_equal(got[0], 2 * data)
    np.testing.assert_array_equal(got[1], data * data)
    assert (interpreter.input_types, interpreter.input_shapes) == ([np.float32], [(1, 3)])
