"""Models without a host share the threads of the process, and may use fewer of them."""

import contextlib
import copy
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.python import library
from tests.python.test_threads import case


def _await_threads(number: int) -> None:
    """Waits until the process has so many threads: some that have ended are counted for a while."""
    deadline = time.monotonic() + 20
    while (found := len(list(Path("/proc/self/task").iterdir()))) != number:
        assert time.monotonic() < deadline, f"{found} threads, expected {number}"
        time.sleep(0.001)


def _in_a_new_process(work) -> None:
    """Calls a function where nothing else has threads."""
    if library.usable_cpus() < 2:
        pytest.skip("one CPU, on which no second thread is started")
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawning) as pool:
        pool.submit(work).result()


def _share_threads() -> None:
    model, x, expected = case(1)
    before = len(list(Path("/proc/self/task").iterdir()))
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            interpreter = larq_engine.Interpreter(model, num_threads=2, host="none")
            stack.enter_context(interpreter)
            np.testing.assert_array_equal(interpreter.predict(x), expected)
        _await_threads(before + 1)
    _await_threads(before)


def test_models_without_a_host_share_threads():
    _in_a_new_process(_share_threads)


def _use_fewer_threads() -> None:
    model, x, expected = case(2)
    before = len(list(Path("/proc/self/task").iterdir()))
    with larq_engine.Interpreter(model, num_threads=2, host="none") as interpreter:
        for threads in (1, 2, 1):
            interpreter.set_num_threads(threads)
            _await_threads(before + threads - 1)
            for images in (x, x[:1]):  # another batch allocates anew
                np.testing.assert_array_equal(interpreter.predict(images), expected[: len(images)])
            _await_threads(before + threads - 1)
        interpreter.resize([(3, *x.shape[1:])])  # opens the model anew
        np.testing.assert_array_equal(interpreter.predict(x[:3]), expected[:3])
        _await_threads(before)
        assert "1 thread:" in repr(interpreter)
        with copy.deepcopy(interpreter) as other:
            np.testing.assert_array_equal(other.predict(x[:3]), expected[:3])
            _await_threads(before)


def test_fewer_threads_for_the_next_runs():
    _in_a_new_process(_use_fewer_threads)


def test_numbers_of_threads_that_runs_cannot_have():
    model, *_ = case(0)
    with larq_engine.Interpreter(model, num_threads=1, host="none") as interpreter:
        for threads in (0, -1, 2):
            with pytest.raises(
                ValueError, match=f"expected 1 to 1 threads for runs, got {threads}"
            ):
                interpreter.set_num_threads(threads)
        with pytest.raises(ValueError, match="expected a number of 32 bits, got 4294967297"):
            interpreter.set_num_threads(2**32 + 1)
        with pytest.raises(TypeError, match=r"num_threads: expected a whole number, got 1\.5"):
            interpreter.set_num_threads(1.5)
    with pytest.raises(ValueError, match="expected an open Interpreter"):
        interpreter.set_num_threads(1)
    in_host = larq_engine.Interpreter(model)  # the first host that is installed
    with in_host, pytest.raises(ValueError, match='open the model with host="none"'):
        in_host.set_num_threads(1)
