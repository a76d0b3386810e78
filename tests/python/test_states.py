"""Models with variables see each sample once, and a batch does not change a state's shape."""

import numpy as np
import pytest

import larq_engine
from tests.crash_box import load_and_run
from tests.hosts import HOSTS
from tests.model_builder import ModelBuilder

# tflite_runtime 2.14 refuses to read a variable that nothing was assigned to yet.
_HOSTS_OF_STATES = [p for p in HOSTS if "tflite_runtime" not in p.values]


def summing_model(*, input_batch: int = 1, is_open: bool = False) -> bytes:
    """Builds a state of one sample, to which the input is added."""
    builder = ModelBuilder()
    x = builder.tensor((input_batch, 4), name="x", signature=(-1, 4) if is_open else None)
    handle, old = builder.tensor((1,), object), builder.tensor((1, 4))
    new = builder.tensor((1, 4), name="y", signature=(-1, 4) if is_open else None)
    builder.builtin("VAR_HANDLE", [], [handle], container="c", sharedName="sum")
    builder.builtin("READ_VARIABLE", [handle], [old])
    builder.builtin("ADD", [old, x], [new])
    builder.builtin("ASSIGN_VARIABLE", [handle, new], [])
    return builder.finish([x], [new])


# XNNPACK of LiteRT 2.3 writes the larger state over memory that is not its own.
@pytest.mark.parametrize("host", _HOSTS_OF_STATES)
def test_a_state_keeps_its_batch(host, box):
    kind, message = box.call(load_and_run, summing_model(is_open=True), host, 3)
    assert (kind, message) == ("", "")
    kind, message = box.call(load_and_run, summing_model(input_batch=2), host)
    assert (kind, message) == (
        "ValueError",
        "model: expected inputs that keep a state's shape (1, 4), got some that make it (2, 4) "
        "(tensor #3); give the batch that the model declares",
    )


@pytest.mark.parametrize("host", _HOSTS_OF_STATES)
def test_an_open_batch_beside_a_state_runs_in_pieces(host):
    interpreter = larq_engine.Interpreter(summing_model(is_open=True), host=host)
    (start,) = interpreter.predict(np.zeros((1, 4), np.float32))
    got = interpreter.predict(np.ones((3, 4), np.float32))
    steps = np.array([[1], [2], [3]], np.float32)
    np.testing.assert_array_equal(got[:, 1:], (start + steps)[:, 1:])


@pytest.mark.parametrize("host", _HOSTS_OF_STATES)
def test_a_state_sees_each_sample_once(host):
    """A variable adds up all inputs, so that any other run would show in it."""
    interpreter = larq_engine.Interpreter(summing_model(), host=host)
    ones = np.ones((3, 4), np.float32)
    interpreter.predict(np.zeros((1, 4), np.float32))
    # The first value was never assigned, and hosts start it with anything.
    start = interpreter.predict(np.zeros((1, 4), np.float32))
    steps = np.array([[1], [2], [3]], np.float32)
    for form, before in ((ones, 0), (iter(ones), 3), (ones, 6)):
        got = interpreter.predict(form)
        np.testing.assert_array_equal(got[:, 1:], (start + before + steps)[:, 1:])
