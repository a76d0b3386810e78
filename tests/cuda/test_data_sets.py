"""Data sets of many batches on a GPU: two sessions at once, the same results in the same order."""

import _thread
import re
import signal
import threading

import numpy as np
import pytest

from larq_engine.python import batching, pipeline
from larq_engine.python.session import Session
from tests.numpy_net import random_images, residual_net

_OUT_OF_MEMORY = 2
_SAMPLES = 20


@pytest.fixture
def model(rng):
    return residual_net(rng, random_images(rng, _SAMPLES, 4, 3, 9))


@pytest.fixture
def expected(model):
    with model.open(device="cpu") as interpreter:
        return interpreter.predict(model.inputs)


@pytest.fixture(autouse=True)
def short_batches(monkeypatch):
    monkeypatch.setattr(batching, "_MAX_GPU_SAMPLES", 3)
    monkeypatch.setattr(pipeline, "_BATCHES_BEFORE_SECOND", 0)


def _assert_same(results, expected):
    for result, value in zip(results, expected, strict=True):
        assert result.tobytes() == value.tobytes()


def _threads():
    return [thread.name for thread in threading.enumerate() if "larq_engine" in thread.name]


def test_a_batch_is_uploaded_before_the_one_before_it_is_waited_for(model, expected, driver):
    with model.open(device="cuda") as interpreter:
        _assert_same(interpreter.predict(model.inputs), expected)
        driver.fake_cuda_hold_wait(2)
        _assert_same(interpreter.predict(model.inputs), expected)
        assert len(interpreter._pipeline.sessions) == 2
    assert not _threads()
    assert driver.fake_cuda_leaks() == 0


@pytest.mark.parametrize("seed", range(4))
def test_streams_in_any_order(seed, model, expected, shuffled):
    shuffled(seed)
    with model.open(device="cuda") as interpreter:
        for _ in range(3):
            _assert_same(interpreter.predict(model.inputs), expected)


def test_batches_are_larger_than_those_of_a_cpu(model, monkeypatch):
    """Activations that are few for a GPU's memory are many for a CPU's caches."""
    monkeypatch.setattr(batching, "_MAX_ACTIVATION_BYTES", 1)
    sizes = []
    run = Session.run

    def noted(session, arrays):
        sizes.append(len(arrays[0]))
        return run(session, arrays)

    monkeypatch.setattr(Session, "run", noted)
    for device, most in (("cpu", 1), ("cuda", 3)):
        sizes.clear()
        model.open(device=device).predict(model.inputs)
        assert max(sizes) == most and sum(sizes) == _SAMPLES
    monkeypatch.setattr(batching, "_MAX_GPU_ACTIVATION_BYTES", 1)
    sizes.clear()
    model.open(device="cuda").predict(model.inputs)
    assert {*sizes} == {1}


def test_few_batches_need_no_second_session(model, expected, monkeypatch):
    monkeypatch.setattr(pipeline, "_BATCHES_BEFORE_SECOND", 10)
    with model.open(device="cuda") as interpreter:
        _assert_same(interpreter.predict(model.inputs), expected)
        assert len(interpreter._pipeline.sessions) == 1
        _assert_same(interpreter.predict(model.inputs), expected)
        assert len(interpreter._pipeline.sessions) == 2


def test_no_memory_for_a_second_session(model, expected, monkeypatch):
    with model.open(device="cuda") as interpreter:

        def refuse(*_, **__):
            raise ValueError("out of memory")

        monkeypatch.setattr(pipeline, "Session", refuse)
        _assert_same(interpreter.predict(model.inputs), expected)
        assert len(interpreter._pipeline.sessions) == 1


def test_an_iterator_is_read_as_its_samples_are_needed(model, expected, monkeypatch):
    runs = []
    run = Session.run

    def noted(session, arrays):
        runs.append(len(arrays[0]))
        return run(session, arrays)

    monkeypatch.setattr(Session, "run", noted)
    ahead = []

    def samples():
        for number, sample in enumerate(model.inputs[0]):
            ahead.append(number - len(runs))
            yield sample

    with model.open(device="cuda") as interpreter:
        _assert_same(interpreter.predict(samples()), expected)
        assert len(interpreter._pipeline.sessions) == 2
    assert len(runs) == _SAMPLES and max(ahead) <= 2


def test_an_iterator_that_itself_predicts(model, expected):
    with model.open(device="cuda") as interpreter:

        def samples():
            for sample in model.inputs[0]:
                interpreter.predict(sample[np.newaxis])
                yield sample

        _assert_same(interpreter.predict(samples()), expected)


def test_what_fails_in_a_batch_is_said_once_with_its_samples(model, expected, driver):
    failed = 0
    with model.open(device="cuda") as interpreter:
        interpreter.predict(model.inputs)
        for call in range(1, 40):
            driver.fake_cuda_fail_call(call, _OUT_OF_MEMORY)
            try:
                _assert_same(interpreter.predict(model.inputs), expected)
            except ValueError as error:
                failed += 1
                assert re.match(r"samples \d+ to \d+: .*CUDA_ERROR_OUT_OF_MEMORY", str(error))
                assert str(error).count("samples ") == 1
            assert not _threads()
        driver.fake_cuda_reset()
        _assert_same(interpreter.predict(model.inputs), expected)
    assert failed > 10


def test_what_the_data_raise(model, expected):
    def samples():
        yield from model.inputs[0][:7]
        raise RuntimeError("no more data")

    with model.open(device="cuda") as interpreter:
        with pytest.raises(RuntimeError, match=r"^no more data$"):
            interpreter.predict(samples())
        assert not _threads()
        _assert_same(interpreter.predict(model.inputs), expected)


@pytest.fixture
def interruptible():
    """Makes Ctrl-C raise an error, which a process in the background may ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_both_sessions(model, expected):
    def samples():
        for number, sample in enumerate(model.inputs[0]):
            if number == 9:
                _thread.interrupt_main()
            yield sample

    with model.open(device="cuda") as interpreter:
        with pytest.raises(KeyboardInterrupt):
            interpreter.predict(samples())
        assert not _threads()
        _assert_same(interpreter.predict(model.inputs), expected)


def test_threads_that_share_an_interpreter(model, expected):
    with model.open(device="cuda") as interpreter:
        interpreter.predict(model.inputs)
        results = [None] * 3

        def run(number):
            results[number] = interpreter.predict(model.inputs)

        threads = [threading.Thread(target=run, args=[n]) for n in range(len(results))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for result in results:
        _assert_same(result, expected)


def test_other_shapes_after_both_sessions_were_used(rng):
    model = residual_net(rng, random_images(rng, 9, 4, 3, 9))
    with model.open(device="cuda") as gpu, model.open(device="cpu") as cpu:
        gpu.predict(model.inputs)
        images = random_images(rng, 11, 6, 5, 9)
        for interpreter in (gpu, cpu):
            interpreter.resize([(1, 6, 5, 9)])
        _assert_same(gpu.predict(images), cpu.predict(images))


def test_a_closed_interpreter(model):
    interpreter = model.open(device="cuda")
    interpreter.predict(model.inputs)
    interpreter.close()
    with pytest.raises(ValueError, match="expected an open Interpreter"):
        interpreter.predict(model.inputs)


def test_memory_is_known_before_the_first_run(model, assert_no_leaks):
    with model.open(device="cuda") as interpreter:
        (before,) = interpreter.memory()
        assert before.device == "cuda"
        assert before.weights > 0 and before.activations > 0 and before.staging > 0
        interpreter.predict([array[:1] for array in model.inputs])
        assert interpreter.memory() == [before]
        interpreter.predict(model.inputs)
        (after,) = interpreter.memory()
        assert after.weights == 2 * before.weights and after.activations > before.activations
    assert_no_leaks()
    assert model.open(device="cpu").memory() == []
