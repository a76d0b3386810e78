"""Tests several users of a machine's GPUs: two GPUs, threads, forks, and other libraries."""

import contextlib
import ctypes
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import larq_engine
from tests.numpy_net import random_images, residual_net

# An alarm ends a process that hangs, even inside the driver, so that it cannot keep the tests from
# ending. A fork has less time than the process that waits for it.
_SECONDS_OF_A_TEST = 600
_SECONDS_OF_A_FORK = 120

_OUT_OF_MEMORY = 2
_INTERFACE = 12000  # the version of the driver's functions

pytestmark = pytest.mark.usefixtures("driver")


def _model():
    rng = np.random.default_rng(1)
    return residual_net(rng, random_images(rng, 2, 6, 5, 33))


def _answer(interpreter, model):
    return interpreter.predict(model.inputs).tobytes()


def _answer_of_the_cpu(model):
    with model.open(device="cpu") as interpreter:
        return _answer(interpreter, model)


def _in_a_process_of_its_own(function, *arguments, **variables):
    """Runs a function in a process that is no fork: the driver reads the environment only once."""
    code = (
        f"import signal; signal.alarm({_SECONDS_OF_A_TEST});"
        f"import tests.cuda.{__name__} as tests; tests.{function.__name__}(*{arguments!r})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def _fake_driver():
    library = ctypes.CDLL("libcuda.so.1")
    library.fake_cuda_failed_call.restype = ctypes.c_char_p
    return library


# ---- Two GPUs


def _use_both_gpus_in_turns():
    model = _model()
    expected = _answer_of_the_cpu(model)
    with model.open(device="cuda:0") as first, model.open(device="cuda:1") as second:
        for interpreter in (first, second, first, second):
            assert _answer(interpreter, model) == expected
        for interpreter, name in ((first, "cuda"), (second, "cuda:1")):
            assert {row.device for row in interpreter.profile(runs=1) if row.kernel} == {name}
            assert [gpu.device for gpu in interpreter.memory()] == [name]
    assert _fake_driver().fake_cuda_leaks() == 0


def _use_both_gpus_in_threads():
    model = _model()
    expected = _answer_of_the_cpu(model)
    answers = []

    def run(device):
        for _ in range(3):
            with model.open(device=device) as interpreter:
                answers.extend(_answer(interpreter, model) for _ in range(3))

    threads = [threading.Thread(target=run, args=(f"cuda:{i % 2}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * (4 * 3 * 3)
    assert _fake_driver().fake_cuda_leaks() == 0


def test_two_gpus_in_turns():
    _in_a_process_of_its_own(_use_both_gpus_in_turns, FAKE_CUDA_DEVICES="2")


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_two_gpus_in_threads(seed):
    _in_a_process_of_its_own(_use_both_gpus_in_threads, FAKE_CUDA_DEVICES="2", FAKE_CUDA_SEED=seed)


# ---- Forks


def _result_of_a_fork(work, seconds=_SECONDS_OF_A_FORK):
    """Returns what `work` returns in a forked process, or the text of its error."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        # A forked process does not inherit the alarm.
        signal.alarm(seconds)
        try:
            result = work()
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(result, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return pickle.loads(data)


def _let_a_fork_hang():
    with pytest.raises(AssertionError):
        _result_of_a_fork(signal.pause, seconds=1)


def test_a_fork_that_hangs_is_a_failure():
    _in_a_process_of_its_own(_let_a_fork_hang)


def _hang():
    signal.pause()


def test_a_process_that_hangs_is_a_failure(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "_SECONDS_OF_A_TEST", 1)
    with pytest.raises(AssertionError):
        _in_a_process_of_its_own(_hang)


def _assert_text_names_fork_and_way_out(text):
    assert "this process was forked from one that had initialized CUDA" in text, text
    assert "start processes by spawn" in text, text


def _fork_after_use(is_open):
    model = _model()
    expected = _answer_of_the_cpu(model)
    gpu = model.open(device="cuda")
    assert _answer(gpu, model) == expected
    if not is_open:
        gpu.close()

    def compute_by_cost():
        with model.open(device="auto") as interpreter:
            answer = _answer(interpreter, model)
            return answer, {row.device for row in interpreter.profile(runs=1) if row.kernel}

    answer, devices = _result_of_a_fork(compute_by_cost)
    assert answer == expected
    assert devices == {"cpu"}
    text = _result_of_a_fork(lambda: model.open(device="cuda"))
    assert text.startswith("ValueError: larq_engine plug-in: device=cuda: "), text
    assert text.endswith("; or set device to cpu, or to auto"), text
    _assert_text_names_fork_and_way_out(text)
    _assert_text_names_fork_and_way_out(_result_of_a_fork(larq_engine.about))
    if is_open:
        _assert_text_names_fork_and_way_out(_result_of_a_fork(lambda: _answer(gpu, model)))
        # The parent does not notice the fork.
        assert _answer(gpu, model) == expected
        gpu.close()
    assert _fake_driver().fake_cuda_leaks() == 0


@pytest.mark.parametrize("is_open", [False, True])
def test_a_fork_after_use(is_open):
    _in_a_process_of_its_own(_fork_after_use, is_open)


# ---- Other libraries


class OtherLibrary:
    """Another library that makes a GPU's primary context current, as PyTorch does."""

    def __init__(self, device):
        self._device = device
        self._context = ctypes.c_void_p()
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self._call("cuCtxPushCurrent", self._context)

    def assert_context_is_current(self):
        current = ctypes.c_void_p()
        self._call("cuCtxPopCurrent", ctypes.byref(current))
        assert current.value == self._context.value
        self._call("cuCtxPushCurrent", current)

    def close(self):
        self._call("cuCtxPopCurrent", ctypes.byref(ctypes.c_void_p()))
        self._call("cuDevicePrimaryCtxRelease", self._device)

    @staticmethod
    def _call(name, *arguments):
        function, status = ctypes.c_void_p(), ctypes.c_uint()
        find = _fake_driver().cuGetProcAddress_v2
        flags = ctypes.c_uint64(0)
        byref = ctypes.byref
        assert find(name.encode(), byref(function), _INTERFACE, flags, byref(status)) == 0
        assert ctypes.CFUNCTYPE(ctypes.c_uint)(function.value)(*arguments) == 0, name


def _share_a_context(device_of_the_other):
    fake = _fake_driver()
    model = _model()
    expected = _answer_of_the_cpu(model)
    assert "Fake H200" in larq_engine.about()  # CUDA is initialized
    other = OtherLibrary(device_of_the_other)
    held = fake.fake_cuda_leaks()
    interpreter = model.open(device="cuda:0")
    other.assert_context_is_current()
    for use in (
        lambda: _answer(interpreter, model),
        lambda: interpreter.profile(runs=1),
        lambda: interpreter.resize([(1, 6, 5, 33)]),
        interpreter.memory,
        interpreter.close,
    ):
        use()
        other.assert_context_is_current()
    assert fake.fake_cuda_leaks() == held
    # The context stays current even if a call fails.
    failed = 0
    for call in range(1, 200, 7):
        fake.fake_cuda_fail_call(ctypes.c_uint64(call), _OUT_OF_MEMORY)
        with (
            contextlib.suppress(ValueError, RuntimeError, MemoryError),
            model.open(device="cuda:0") as interpreter,
        ):
            _answer(interpreter, model)
        failed += fake.fake_cuda_failed_call() is not None
        fake.fake_cuda_reset()
        other.assert_context_is_current()
    assert failed > 10
    with model.open(device="cuda:0") as interpreter:
        assert _answer(interpreter, model) == expected
    other.close()


@pytest.mark.parametrize("device_of_the_other", [0, 1])
def test_a_library_whose_context_is_current(device_of_the_other):
    _in_a_process_of_its_own(_share_a_context, device_of_the_other, FAKE_CUDA_DEVICES="2")
