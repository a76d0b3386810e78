"""Tests inputs in a GPU's memory, handed over by DLPack as other libraries do."""

import ctypes

import numpy as np
import pytest

import larq_engine
from larq_engine.python import batching, library, pipeline
from larq_engine.python.session import Session
from tests.model_builder import ModelBuilder, add_quantize
from tests.numpy_net import random_images, residual_net

_CPU, _CUDA, _CUDA_HOST = 1, 2, 3
_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


class _DLManagedTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


class Tensor:
    """An array of another library, without __array__, in any memory."""

    def __init__(self, array, device, address, strides=None, offset=0, code=None):
        self.array = array  # owns the host's memory
        self.device = device
        self.streams = []
        dims = ctypes.c_int64 * array.ndim
        self._managed = _DLManagedTensor(
            data=address - offset,
            device=(ctypes.c_int32 * 2)(*device),
            ndim=array.ndim,
            code=_CODES[array.dtype.kind] if code is None else code,
            bits=8 * array.itemsize,
            lanes=1,
            shape=dims(*array.shape),
            strides=None if strides is None else dims(*strides),
            byte_offset=offset,
        )

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self._managed), b"dltensor", None)


@pytest.fixture
def on_gpu(driver):
    """Yields a function that puts an array into a GPU's memory, which the legacy stream fills."""
    driver.fake_cuda_make_array.restype = ctypes.c_void_p
    driver.fake_cuda_make_array.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int]
    driver.fake_cuda_free_array.argtypes = [ctypes.c_void_p]
    addresses = []

    def put(array, gpu=0, **options):
        array = np.ascontiguousarray(array)
        address = driver.fake_cuda_make_array(array.ctypes.data, array.nbytes, gpu)
        addresses.append(address)
        return Tensor(array, (_CUDA, gpu), address, **options)

    yield put
    for address in addresses:
        driver.fake_cuda_free_array(address)


@pytest.fixture
def model(rng):
    return residual_net(rng, random_images(rng, 7, 4, 3, 9))


@pytest.fixture
def expected(model):
    return model.open(device="cpu").predict(model.inputs)


def test_data_are_read_where_they_are(model, expected, on_gpu, driver):
    (images,) = model.inputs
    with model.open(device="cuda") as interpreter:
        interpreter.predict(images)
        tensor = on_gpu(images)
        driver.fake_cuda_hold_wait(0)  # counts uploads
        np.testing.assert_array_equal(interpreter.predict(tensor), expected)
        np.testing.assert_array_equal(interpreter.predict([on_gpu(images)]), expected)
        assert driver.fake_cuda_most_uploads() == 0
        assert tensor.streams == [1]
        # Then data of the host must work again.
        np.testing.assert_array_equal(interpreter.predict(-images[:1]), _answer(model, -images[:1]))


def _answer(model, images):
    return model.open(device="cpu").predict(images)


def test_batches_of_data_on_the_gpu(model, expected, on_gpu, monkeypatch):
    monkeypatch.setattr(batching, "_MAX_GPU_SAMPLES", 2)
    monkeypatch.setattr(pipeline, "_BATCHES_BEFORE_SECOND", 0)
    with model.open(device="cuda") as interpreter:
        for _ in range(2):
            got = interpreter.predict(on_gpu(model.inputs[0]))
            np.testing.assert_array_equal(got, expected)
        assert len(interpreter._pipeline.sessions) == 2


def test_tensors_of_pytorch(model, expected):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    with model.open(device="cuda") as interpreter:
        # PyTorch may still have queued the work that makes these images.
        images = torch.from_numpy(-model.inputs[0]).cuda().neg()
        np.testing.assert_array_equal(interpreter.predict(images), expected)
        np.testing.assert_array_equal(interpreter.predict(images[:1]), expected[:1])
        np.testing.assert_array_equal(interpreter.predict(model.inputs[0]), expected)


def test_strides_that_say_nothing_and_offsets(model, on_gpu):
    (images,) = model.inputs
    one = images[:1]
    with model.open(device="cuda") as interpreter:
        got = interpreter.predict(on_gpu(one, strides=(5, 27, 9, 1), offset=512))
        np.testing.assert_array_equal(got, _answer(model, one))


def test_a_profile_of_data_on_the_gpu(model, on_gpu):
    with model.open(device="cuda") as interpreter:
        rows = interpreter.profile(on_gpu(model.inputs[0][:1]), runs=2)
    assert [row.device for row in rows if row.op == "TRANSFER"] == ["cuda", "cpu"]


def test_what_is_refused(model, on_gpu):
    (images,) = model.inputs
    with model.open(device="cuda") as interpreter:
        refused = [
            (on_gpu(images.astype(np.float64)), TypeError, r"expected float32, got float64 in a"),
            (on_gpu(images[:, :3]), ValueError, r"expected shape \(N, 4, 3, 9\), got \(7, 3, 3, 9"),
            (on_gpu(images, strides=(1, 27, 9, 1)), ValueError, "expected a contiguous array on"),
            (on_gpu(images, code=4), TypeError, "data type of NumPy's, got DLPack's code 4 of 32"),
            (on_gpu(images, gpu=1), ValueError, "in the memory of GPU 0, got that of GPU 1"),
            (
                Tensor(images, (_CUDA, 0), images.ctypes.data),
                ValueError,
                "in the memory of GPU 0, got an address that is in none",
            ),
            (iter([on_gpu(images[0])]), TypeError, "samples in the host's memory from an iterator"),
        ]
        for tensor, error, message in refused:
            with pytest.raises(error, match=message):
                interpreter.predict(tensor)
        np.testing.assert_array_equal(interpreter.predict(images), _answer(model, images))
        assert interpreter._declared.batches._flexible is not False, "which is the model's"
    cpu = model.open(device="cpu")
    with pytest.raises(ValueError, match=r"^input .*: expected data in the host's memory, got"):
        cpu.predict(on_gpu(images))


def test_an_input_that_the_cpu_reads_too(model, rng, on_gpu):
    images = random_images(rng, 1, 4, 4, 32)
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 32), np.float32)
    y = builder.tensor((1, 4, 4, 32), np.float32)
    builder.custom("LceDequantize", [add_quantize(builder, x, (1, 4, 4, 32))], [y])
    z = builder.tensor((1, 4, 4, 32), np.float32)
    builder.builtin("CUMSUM", [x, builder.constant(np.array(1, np.int32))], [z])
    with larq_engine.Interpreter(builder.finish([x], [y, z]), device="cuda") as interpreter:
        interpreter.predict(images)
        with pytest.raises(ValueError, match="an operator that stays with the host reads them"):
            interpreter.predict(on_gpu(images))
    nodes = [row.node for row in model.open(device="cuda").profile(runs=1) if row.node >= 0]
    placed = model.open(device="cuda", placement=f"{min(nodes)}:cpu")
    with pytest.raises(ValueError, match="in the host's memory, where an operator reads them"):
        placed.predict(on_gpu(model.inputs[0][:1]))


@pytest.fixture
def read_from_host(monkeypatch):
    """Returns a list that says of each array offered to a GPU if it was read in place."""
    answers = []
    original = library.Delegate.set_host_input

    def record(*arguments):
        answers.append(original(*arguments))
        return answers[-1]

    monkeypatch.setattr(library.Delegate, "set_host_input", record)
    return answers


def test_large_arrays_of_the_host_are_read_where_they_are(rng, read_from_host):
    model = residual_net(rng, random_images(rng, 4, 40, 40, 3))
    (images,) = model.inputs
    expected = model.open(device="cpu").predict(images)
    with model.open(device="cuda") as interpreter:
        for given in (images, -images, images):
            got = interpreter.predict(given)
            np.testing.assert_array_equal(got, _answer(model, given))
        assert read_from_host == [True] * 3
        interpreter.profile(images, runs=2)
        assert read_from_host == [True] * 5
        np.testing.assert_array_equal(interpreter.predict(images[:1]), expected[:1])
        assert len(read_from_host) == 5, "little is copied as ever"
    with model.open(device="cuda", placement="0:cpu") as interpreter:
        np.testing.assert_array_equal(interpreter.predict(images), expected)
    assert read_from_host[5:] == [False], "as the CPU reads it"


def test_an_array_of_the_host_is_not_read_after_its_run(rng, read_from_host):
    model = residual_net(rng, random_images(rng, 4, 40, 40, 3))
    (images,) = model.inputs
    session = Session(model.content, num_threads=1, host=None, device="cuda")
    session.run([images])
    assert read_from_host == [True]
    info = session.declared_inputs[0]
    session._interpreter.set_tensor(info.index, -images)
    session._interpreter.invoke()
    got = session._interpreter.get_tensor(session.declared_outputs[0].index)
    np.testing.assert_array_equal(got, _answer(model, -images))


@pytest.fixture
def pinned(driver):
    """Yields a function that returns a pinned copy of an array, and a function that frees it.

    The fake driver ends the program if memory is freed that a queued copy still reads.
    """
    driver.fake_cuda_make_pinned.restype = ctypes.c_void_p
    driver.fake_cuda_make_pinned.argtypes = [ctypes.c_uint64]
    driver.fake_cuda_free_pinned.argtypes = [ctypes.c_void_p]

    def put(array):
        address = driver.fake_cuda_make_pinned(array.nbytes)
        memory = (ctypes.c_char * array.nbytes).from_address(address)
        copy = np.frombuffer(memory, array.dtype).reshape(array.shape)
        copy[:] = array
        return copy, lambda: driver.fake_cuda_free_pinned(address)

    return put


def test_pinned_arrays(rng, pinned, shuffled, read_from_host):
    model = residual_net(rng, random_images(rng, 4, 40, 40, 3))
    (images,) = model.inputs
    array, free = pinned(images)
    with model.open(device="cuda") as interpreter:
        for seed in range(4):
            shuffled(seed)
            array[:] = images * (seed - 1.5)
            np.testing.assert_array_equal(interpreter.predict(array), _answer(model, array))
    assert read_from_host == [True] * 4
    free()


def test_pinned_arrays_may_be_freed_after_a_run_that_failed(rng, pinned, driver):
    model = residual_net(rng, random_images(rng, 4, 40, 40, 3))
    (images,) = model.inputs
    failed = 0
    with model.open(device="cuda") as interpreter:
        expected = interpreter.predict(images)
        for call in range(1, 40, 4):
            array, free = pinned(images)
            driver.fake_cuda_fail_call(call, 999)
            try:
                np.testing.assert_array_equal(interpreter.predict(array), expected)
            except ValueError:
                failed += 1
            free()
            driver.fake_cuda_reset()
    assert failed > 3


@pytest.mark.parametrize("device", [(_CPU, 0), (_CUDA_HOST, 0)])
@pytest.mark.parametrize("where", ["cpu", "cuda"])
def test_arrays_of_other_libraries_in_the_hosts_memory(model, expected, device, where):
    (images,) = model.inputs
    tensor = Tensor(images, device, images.ctypes.data)
    np.testing.assert_array_equal(model.open(device=where).predict(tensor), expected)


def test_a_fault_in_a_run_lets_go_of_the_data(model, on_gpu, driver):
    (images,) = model.inputs
    with model.open(device="cuda") as interpreter:
        expected = interpreter.predict(images[:1])
        failed = 0
        for call in range(1, 40):
            driver.fake_cuda_fail_call(call, 2)
            try:
                np.testing.assert_array_equal(interpreter.predict(on_gpu(images[:1])), expected)
            except ValueError:
                failed += 1
            driver.fake_cuda_reset()
            np.testing.assert_array_equal(interpreter.predict(images[:1]), expected)
        assert failed > 5
