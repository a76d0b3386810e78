"""Interpreters survive Ctrl-C, forks, copies and their own end, and may share a delegate."""

import copy
import importlib
import mmap
import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pytest

import larq_engine
from larq_engine.python import hosts, library
from larq_engine.python.device_array import DeviceArray
from larq_engine.python.session import Session
from larq_engine.testing import Interpreter as LceInterpreter
from tests import oracle
from tests.hosts import HOSTS
from tests.model_builder import (
    ABSENT,
    ModelBuilder,
    add_quantize,
    bconv_model,
    bconv_options,
    one_op_model,
)
from tests.oracle import Conv


def _twice(shape: tuple[int, ...]) -> bytes:
    return one_op_model("ADD", {"shape": shape}, {"shape": shape}, ("x", "x"))


def _model() -> bytes:
    """Builds a convolution of images of 6 x 7; tests resize it to other heights."""
    conv = Conv((1, 6, 7, 64), (3, 3), 16)
    filters = oracle.signs(np.random.default_rng(1).standard_normal(conv.filter_shape))
    return bconv_model(conv, filters, np.ones(16, np.float32), np.zeros(16, np.float32))


def _images(count: int, height: int = 6) -> np.ndarray:
    return np.random.default_rng(count).standard_normal((count, height, 7, 64)).astype(np.float32)


def _before(self, allocate, shapes):
    raise KeyboardInterrupt


def _half_way(self, allocate, shapes):
    self._interpreter.resize_tensor_input(self._input_numbers[0], shapes[0])
    raise KeyboardInterrupt


def _after(self, allocate, shapes):
    allocate(self, shapes)
    raise KeyboardInterrupt


def _while_it_is_taken_back(self, allocate, shapes):
    """Raises as the model would refuse the shapes, and then as Ctrl-C would in the way back."""
    if shapes[0][0] != 1:
        raise ValueError("no")
    raise KeyboardInterrupt


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("moment", [_before, _half_way, _after, _while_it_is_taken_back])
@pytest.mark.parametrize("call", ["predict", "resize"])
def test_ctrl_c_in_a_resize(call, moment, host, monkeypatch):
    if call == "resize" and moment is _while_it_is_taken_back:
        pytest.skip("it takes nothing back: it keeps the old interpreter")
    interpreter = larq_engine.Interpreter(_model(), host=host)
    single, several = _images(1), _images(3)
    expected = interpreter.predict(single), interpreter.predict(several)
    interpreter.predict(single)
    allocate = Session._allocate
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Session, "_allocate", lambda self, shapes: moment(self, allocate, shapes))
        if call == "predict":
            interpreter.predict(several)
        else:
            interpreter.resize([(2, 8, 7, 64)])
    assert interpreter.input_shapes == [(1, 6, 7, 64)]
    np.testing.assert_array_equal(interpreter.predict(single), expected[0])
    np.testing.assert_array_equal(interpreter.predict(several), expected[1])
    interpreter.resize([(1, 8, 7, 64)])
    assert interpreter.predict(_images(1, 8)).shape == (1, 8, 7, 16)


def _run_in_child(work) -> int:
    """Returns the status of a forked process that does the work."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forks with threads
        child = os.fork()
    if child == 0:
        signal.alarm(120)
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


def test_ctrl_c_lets_go_of_data_on_a_gpu(monkeypatch):
    builder = ModelBuilder()
    x, y, total = (builder.tensor((1, 32)) for _ in range(3))
    builder.builtin("ADD", [x, y], [total])
    model = builder.finish([x, y], [total])
    session = Session(model, num_threads=1, host=None)
    given = []
    monkeypatch.setattr(
        library.Delegate,
        "set_device_input",
        lambda _, number, address, size: given.append((number, address)),
    )
    monkeypatch.setattr(session._interpreter, "set_tensor", _interrupt)
    there = DeviceArray(None, 4096, (1, 32), np.dtype(np.float32))
    with pytest.raises(KeyboardInterrupt):
        session.run([there, np.zeros((1, 32), np.float32)])
    assert given == [(x, 4096), (x, None)]


def _interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_forked_process_goes_on(threads, host):
    """Another thread predicts during the fork; the new process does not have that thread."""
    interpreter = larq_engine.Interpreter(_model(), num_threads=threads, host=host)
    images = _images(3)
    expected = interpreter.predict(images)
    stop = threading.Event()

    def predict() -> None:
        while not stop.is_set():
            interpreter.predict(images)

    other = threading.Thread(target=predict)
    other.start()

    def work() -> None:
        np.testing.assert_array_equal(interpreter.predict(images), expected)
        np.testing.assert_array_equal(interpreter.predict(images[:1]), expected[:1])

    try:
        assert [_run_in_child(work) for _ in range(3)] == [0] * 3
    finally:
        stop.set()
        other.join()
    work()


def test_a_fork_while_the_lock_is_held():
    interpreter = larq_engine.Interpreter(_model())
    images = _images(2)
    expected = interpreter.predict(images)
    with interpreter._locked.turns.take():
        status = _run_in_child(
            lambda: np.testing.assert_array_equal(interpreter.predict(images), expected)
        )
    assert status == 0


_USES = {
    "predict": lambda interpreter: interpreter.predict(_images(1)),
    "predict of several": lambda interpreter: interpreter.predict(_images(3)),
    "resize": lambda interpreter: interpreter.resize([(1, 8, 7, 64)]),
    "profile": lambda interpreter: interpreter.profile(runs=1),
    "memory": lambda interpreter: interpreter.memory(),
    "close": lambda interpreter: interpreter.close(),
}


@pytest.mark.parametrize("name", _USES)
def test_a_signal_handler_in_a_run_gets_an_error(name, monkeypatch):
    """If it waited for the run that it interrupts, it would wait for ever."""
    interpreter = larq_engine.Interpreter(_model())
    expected = interpreter.predict(_images(1))
    run = Session.run
    caught = []

    def interrupted(session, arrays):
        signal.raise_signal(signal.SIGUSR1)
        return run(session, arrays)

    def handle(*_):
        try:
            _USES[name](interpreter)
        except RuntimeError as error:
            caught.append(str(error))

    def work() -> None:
        signal.alarm(20)
        signal.signal(signal.SIGUSR1, handle)
        with monkeypatch.context() as patch:
            patch.setattr(Session, "run", interrupted)
            np.testing.assert_array_equal(interpreter.predict(_images(1)), expected)
        assert ["got one from inside of another" in text for text in caught] == [True]
        # The error left nothing behind.
        np.testing.assert_array_equal(interpreter.predict(_images(1)), expected)

    assert _run_in_child(work) == 0


def test_a_fork_while_another_thread_computes_what_is_computed_once(monkeypatch):
    """With functools.cached_property of Python 3.11 the child waited for that thread for ever."""
    first, second = larq_engine.Interpreter(_model()), larq_engine.Interpreter(_model())
    images, expected = _images(2), larq_engine.Interpreter(_model()).predict(_images(2))
    read = Session._read_operators
    inside, leave = threading.Event(), threading.Event()
    owner = threading.get_ident()

    def slow(session, *only):
        if threading.get_ident() != owner:
            inside.set()
            leave.wait(60)
        return read(session, *only)

    monkeypatch.setattr(Session, "_read_operators", slow)
    other = threading.Thread(target=lambda: first._session.operators)
    other.start()
    try:
        assert inside.wait(60)

        def work() -> None:
            signal.alarm(20)
            np.testing.assert_array_equal(second.predict(images), expected)
            assert second._session.operators

        assert _run_in_child(work) == 0
    finally:
        leave.set()
        other.join()


@pytest.mark.parametrize("make", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("kind", [larq_engine.Interpreter, LceInterpreter])
def test_copies(kind, make):
    interpreter = kind(_model(), num_threads=2)
    interpreter.predict(_images(3))
    interpreter.resize([(2, 8, 7, 64)])
    other = make(interpreter)
    assert type(other) is kind
    assert other.input_shapes == [(2, 8, 7, 64)]
    images = _images(4, 8)
    np.testing.assert_array_equal(other.predict(images), interpreter.predict(images))


def test_copies_have_the_options():
    interpreter = larq_engine.Interpreter(_model(), kernel="reference", fuse=False)
    kernels = [row.kernel for row in copy.deepcopy(interpreter).profile(runs=1)]
    assert "reference" in kernels


@pytest.mark.parametrize("host", HOSTS)
def test_it_ends_with_its_block(host):
    with larq_engine.Interpreter(_model(), host=host) as interpreter:
        assert interpreter.predict(_images(1)).shape == (1, 6, 7, 16)
    interpreter.close()
    assert interpreter.input_shapes == [(1, 6, 7, 64)]
    for use in (
        lambda: interpreter.predict(_images(1)),
        lambda: interpreter.predict(_images(3)),
        lambda: interpreter.resize([(1, 8, 7, 64)]),
        lambda: interpreter.profile(runs=1),
        lambda: copy.deepcopy(interpreter),
    ):
        with pytest.raises(ValueError, match="expected an open Interpreter, got one that was clos"):
            use()


def test_models_in_any_memory(tmp_path):
    content = _twice((1, 2))
    path = tmp_path / "model.tflite"
    path.write_bytes(content)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        x = np.ones((1, 2), np.float32)
        for model in (mapped, np.frombuffer(content, np.uint8), memoryview(content)[::1]):
            np.testing.assert_array_equal(larq_engine.Interpreter(model).predict(x), 2 * x)


def test_data_in_a_memoryview():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    interpreter = larq_engine.Interpreter(_twice((1, 3)))
    np.testing.assert_array_equal(interpreter.predict(memoryview(x)), 2 * x)
    np.testing.assert_array_equal(interpreter.predict([memoryview(x)]), 2 * x)
    with pytest.raises(ValueError, match=r"expected shape \(N, 3\), got \(6,\)"):
        interpreter.predict(memoryview(x.ravel()))


@pytest.mark.parametrize("word", ["on", "off", "true", "False", "1", "0"])
def test_fuse_by_a_word(word):
    images = _images(1)
    expected = larq_engine.Interpreter(_model()).predict(images)
    got = larq_engine.Interpreter(_model(), fuse=word).predict(images)
    np.testing.assert_array_equal(got, expected)


def _sum(rows: int) -> tuple[bytes, list[np.ndarray]]:
    """Builds a convolution plus another input of six rows, and makes data for both."""
    conv = Conv((1, rows, 5, 32), (3, 3), 32)
    filters = oracle.signs(np.random.default_rng(1).standard_normal(conv.filter_shape))
    builder = ModelBuilder()
    x = builder.tensor(conv.input_shape, name="x")
    other = builder.tensor((1, 6, 5, 32), name="other")
    y = builder.tensor((1, rows, 5, 32))
    ones, zeros = np.ones(32, np.float32), np.zeros(32, np.float32)
    constants = map(builder.constant, (oracle.pack_bits(filters), ones, zeros))
    bits = add_quantize(builder, x, conv.input_shape)
    builder.custom("LceBconv2d", [bits, *constants, ABSENT], [y], bconv_options(conv))
    z = builder.tensor((1, 6, 5, 32), name="z")
    builder.builtin("ADD", [y, other], [z], fusedActivationFunction=0)
    rng = np.random.default_rng(2)
    data = [rng.standard_normal(s).astype(np.float32) for s in (conv.input_shape, (1, 6, 5, 32))]
    return builder.finish([x, other], [z]), data


@pytest.mark.parametrize("host", HOSTS)
def test_files_one_after_another_with_one_delegate(host, tmp_path):
    """The files have equal lengths, so that the host puts the second where the first one was."""
    module = importlib.import_module(hosts.HOSTS[host])
    data = {}
    for rows in (1, 6):
        content, data[rows] = _sum(rows)
        (tmp_path / f"{rows}.tflite").write_bytes(content)
    assert len({path.stat().st_size for path in tmp_path.iterdir()}) == 1

    def run(rows: int, delegate: object) -> np.ndarray:
        interpreter = module.Interpreter(
            model_path=str(tmp_path / f"{rows}.tflite"), experimental_delegates=[delegate]
        )
        interpreter.allocate_tensors()
        for detail, array in zip(interpreter.get_input_details(), data[rows], strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])

    expected = {rows: run(rows, hosts.load_delegate(host)) for rows in (1, 6)}
    shared = hosts.load_delegate(host)
    for rows in (6, 1, 6, 1):
        np.testing.assert_array_equal(run(rows, shared), expected[rows])
