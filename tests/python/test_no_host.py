"""The engine runs whole models without a host; NumPy and the hosts have the same results."""

import ctypes
import gc
import os
import re
import threading

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema

import larq_engine
from larq_engine.python import engine_model, library, no_host
from larq_engine.python.device_array import DeviceArray
from larq_engine.python.engine_model import EngineModel
from larq_engine.python.session import InputError
from tests.model_builder import ModelBuilder
from tests.numpy_net import random_images, residual_net

_REASON_BYTES = 1 << 12


def _adds_one(shape=(1, 2), signature=None, outputs=None) -> bytes:
    """Returns a model y = x + 1; `outputs` are numbers of tensors: x is 0, the constant 1, y 2."""
    builder = ModelBuilder()
    x = builder.tensor(shape, np.float32, signature=signature)
    one = builder.constant(np.ones(1, np.float32))
    y = builder.tensor(shape, np.float32, signature=signature)
    builder.builtin("ADD", [x, one], [y])
    return builder.finish([x], [y] if outputs is None else outputs)


def _open(content: bytes, **options) -> no_host.Interpreter:
    return no_host.Interpreter(
        model_content=content, experimental_delegates=[no_host.load_delegate("", options)]
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("samples", [1, 3, 17])
def test_a_network(rng, samples, fuse, threads):
    residual_net(rng, random_images(rng, samples, 9, 7, 33)).check(
        host="none", fuse=fuse, num_threads=threads
    )


def test_an_image_of_another_size(rng):
    model = residual_net(rng, random_images(rng, 2, 9, 7, 33))
    images = random_images(rng, 2, 12, 5, 33)
    results = []
    for host in ("none", None):
        with model.open(host=host) as interpreter:
            interpreter.resize([(2, 12, 5, 33)])
            results.append(interpreter.predict(images))
    np.testing.assert_array_equal(*results)


def test_the_profile_has_all_operators(rng):
    model = residual_net(rng, random_images(rng, 1, 9, 7, 33))
    with model.open(host="none") as interpreter:
        rows = interpreter.profile(runs=2)
        nodes = library.nodes_of({"node": row.node, "absorbed": row.absorbed} for row in rows)
        assert nodes == set(range(len(interpreter._session.operators)))


def test_operators_that_the_engine_does_not_compute_are_named():
    builder = ModelBuilder()
    x = builder.tensor((1, 2), np.float32)
    sums = [builder.tensor((1, 2), np.float32, name=f"sum{i}") for i in range(10)]
    for y in sums:
        builder.builtin("CUMSUM", [x, builder.constant(np.array(1, np.int32))], [y])
    with pytest.raises(ValueError, match="operators that the engine computes by itself") as caught:
        _open(builder.finish([x], sums))
    text = str(caught.value)
    assert "got CUMSUM 'sum0' (#0), CUMSUM 'sum1' (#1), " in text
    assert text.endswith(", and 2 more; run the model in a host: LiteRT or TensorFlow Lite")


def test_outputs_that_no_operator_computes():
    """An output may be an input or a constant, and be listed twice."""
    interpreter = _open(_adds_one(outputs=[0, 1, 2, 2]))
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.array([[3, 4]], np.float32))
    interpreter.invoke()
    outputs = [interpreter.get_tensor(row["index"]) for row in interpreter.get_output_details()]
    assert [array.tolist() for array in outputs] == [[[3, 4]], [1], [[4, 5]], [[4, 5]]]


def test_a_model_without_operators():
    builder = ModelBuilder()
    x = builder.tensor((1, 2), np.float32)
    interpreter = _open(builder.finish([x], [x]))
    interpreter.allocate_tensors()
    interpreter.set_tensor(x, np.array([[3, 4]], np.float32))
    interpreter.invoke()
    assert interpreter.get_tensor(x).tolist() == [[3, 4]]


def test_an_empty_batch():
    interpreter = _open(_adds_one(signature=(-1, 2)))
    interpreter.resize_tensor_input(0, (0, 2))
    interpreter.allocate_tensors()
    interpreter.invoke()
    assert interpreter.get_tensor(2).shape == (0, 2)


def test_details_are_those_of_a_host():
    builder = ModelBuilder()
    x = builder.tensor((1, 2), np.float32, signature=(-1, 2))
    weights = builder.constant(np.ones((3, 2), np.int8), scale=[0.5, 1, 2], zero_point=[0] * 3)
    y = builder.tensor((1, 2), np.float32, signature=(-1, 2))
    builder.builtin("ADD", [x, builder.constant(np.ones(2, np.float32))], [y])
    content = builder.finish([x], [y])
    ours = _open(content)
    host = pytest.importorskip("ai_edge_litert.interpreter").Interpreter(model_content=content)
    for read in ("get_input_details", "get_output_details", "get_tensor_details"):
        got, expected = getattr(ours, read)(), getattr(host, read)()
        assert len(got) == len(expected)
        for own, other in zip(got, expected, strict=True):
            assert own.keys() == other.keys()
            for key in ("name", "index", "dtype", "quantization", "sparsity_parameters"):
                assert own[key] == other[key], key
            for key in ("shape", "shape_signature"):
                np.testing.assert_array_equal(own[key], other[key])
            for key, values in own["quantization_parameters"].items():
                np.testing.assert_array_equal(values, other["quantization_parameters"][key])
    np.testing.assert_array_equal(ours.get_tensor(weights), host.get_tensor(weights))


def test_names_of_signatures():
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 2), np.float32) for _ in range(2))
    builder.builtin("ADD", [x, builder.constant(np.ones(1, np.float32))], [y])
    builder.signature({"image": x}, {"scores": y})
    content = builder.finish([x], [y])
    assert _open(content).get_signature_list() == {
        "signature_0": {"inputs": ["image"], "outputs": ["scores"]}
    }
    with larq_engine.Interpreter(content, host="none") as interpreter:
        assert (interpreter.input_names, interpreter.output_names) == (["image"], ["scores"])


def test_a_run_before_tensors_are_allocated():
    interpreter = _open(_adds_one())
    with pytest.raises(ValueError, match="expected allocated tensors, got a run before"):
        interpreter.invoke()
    interpreter.allocate_tensors()
    interpreter.invoke()
    interpreter.resize_tensor_input(0, (3, 2))
    with pytest.raises(ValueError, match="expected allocated tensors, got a run before"):
        interpreter.invoke()


def test_values_between_operators_cannot_be_read():
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 2), np.float32) for _ in range(3))
    one = builder.constant(np.ones(1, np.float32))
    builder.builtin("ADD", [x, one], [y])
    builder.builtin("ADD", [y, one], [z])
    interpreter = _open(builder.finish([x], [z]))
    interpreter.allocate_tensors()
    for tensor in (y, 99, -1):
        with pytest.raises(ValueError, match=f"got #{tensor}; values between operators are not"):
            interpreter.get_tensor(tensor)


@pytest.mark.parametrize(
    ("value", "got"), [(np.ones((2, 2), np.float32), "(2, 2)"), (np.ones((1, 2)), "float64")]
)
def test_data_that_do_not_fit(value, got):
    interpreter = _open(_adds_one())
    interpreter.allocate_tensors()
    with pytest.raises(ValueError, match=re.escape(got)):
        interpreter.set_tensor(0, value)


def test_sizes_that_do_not_fit():
    interpreter = _open(_adds_one(signature=(-1, 2)))
    with pytest.raises(ValueError, match=r"at least 0, got \[-1, 2\]"):
        interpreter.resize_tensor_input(0, (-1, 2))
    with pytest.raises(ValueError, match=r"sizes of 32 bits, got \[4294967298, 2\]"):
        interpreter.resize_tensor_input(0, (2**32 + 2, 2))
    with pytest.raises(ValueError, match="one of the inputs"):
        interpreter.resize_tensor_input(2, (1, 2))
    with pytest.raises(ValueError, match=re.escape("the open ones of [-1, 2], got [1, 3]")):
        interpreter.resize_tensor_input(0, (1, 3), strict=True)
    interpreter.resize_tensor_input(0, (4, 2), strict=True)
    interpreter.allocate_tensors()
    assert interpreter.get_tensor(2).shape == (4, 2)


@pytest.mark.parametrize(
    ("placement", "text"),
    [
        ("0:host", "expected a device for node 0, got 'host', and no host runs the model"),
        ("1:cpu", "expected nodes of the model, got node 1; "),
        ("1/0:cpu", "expected nodes of the model, got node 1/0; "),
    ],
)
def test_placements_that_cannot_be_met(placement, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        _open(_adds_one(), placement=placement)


def test_inputs_that_are_no_numbers():
    builder = ModelBuilder()
    x, y = (builder.tensor((1,), np.float32) for _ in range(2))
    builder.builtin("ABS", [x], [y])
    for tensor in (x, y):
        builder.graph.tensors[tensor].type = schema.TensorType.INT4
        with pytest.raises(ValueError, match=rf"'t{tensor}': expected an input or output of numb"):
            _open(builder.finish([x], [y]))
        builder.graph.tensors[tensor].type = schema.TensorType.FLOAT32


def test_types_that_numpy_lacks_have_details():
    builder = ModelBuilder()
    x, y, unused = (builder.tensor((1,), np.float32) for _ in range(3))
    builder.builtin("ABS", [x], [y])
    builder.graph.tensors[unused].type = schema.TensorType.BFLOAT16
    details = _open(builder.finish([x], [y])).get_tensor_details()
    assert [row["dtype"] for row in details] == [np.float32, np.float32, np.bytes_]


def test_a_file_that_is_not_legal():
    with pytest.raises(ValueError, match="end of the file"):
        EngineModel(_adds_one()[:-100], {})


def _open_in_c(opener: str, *arguments: object, signature: bytes | None = None):
    """Returns what a C function that opens a model returns, and its error."""
    _open(_adds_one())  # sets the types of the functions
    loaded = engine_model._load(library.delegate_path())
    function = getattr(loaded, f"larq_engine_model_{opener}")
    function.restype = ctypes.c_void_p
    reason = ctypes.create_string_buffer(_REASON_BYTES)
    opened = function(*arguments, signature, None, None, ctypes.c_size_t(0), reason, _REASON_BYTES)
    if opened:
        loaded.larq_engine_model_close(opened)
    return bool(opened), reason.value.decode()


def _loaded():
    _open(_adds_one())  # sets the types of the functions
    return engine_model._load(library.delegate_path())


def test_calls_without_a_model():
    loaded = _loaded()
    reason = ctypes.create_string_buffer(_REASON_BYTES)
    assert loaded.larq_engine_model_inputs(None) == loaded.larq_engine_model_outputs(None) == 0
    for describe in ("input", "output", "tensor"):
        assert getattr(loaded, f"larq_engine_model_{describe}")(None, 0).rank == 0
    for call in ("allocate", "run"):
        assert getattr(loaded, f"larq_engine_model_{call}")(None, reason, _REASON_BYTES) == 1
        assert reason.value == b"larq_engine: expected a model, got none"
        assert getattr(loaded, f"larq_engine_model_{call}")(None, None, _REASON_BYTES) == 1
    for read in ("graph", "signatures", "memory_read", "profile_read"):
        assert getattr(loaded, f"larq_engine_model_{read}")(None, reason, _REASON_BYTES) == 0
    loaded.larq_engine_model_profile_start(None)
    loaded.larq_engine_model_close(None)


def test_absent_arguments():
    interpreter = _open(_adds_one())
    with pytest.raises(ValueError, match="expected dimensions, got none"):
        interpreter.model._try("resize", 0, None, 4)
    assert _open_in_c("open_file", None) == (False, "expected the path of a model, got none")


def test_an_input_that_is_given_and_taken_back():
    interpreter = _open(_adds_one())
    model = interpreter.model
    given = np.array([[3, 4]], np.float32)
    function = model._library.larq_engine_model_set_input
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]
    function.argtypes += [ctypes.c_char_p, ctypes.c_size_t]
    assert function(model._model, 0, given.ctypes.data, 4, model._reason, _REASON_BYTES) == 1
    assert b"expected 8 bytes for input 0, got 4" in model._reason.value
    assert function(model._model, 0, given.ctypes.data, 8, None, 0) == 0
    interpreter.allocate_tensors()
    interpreter.invoke()
    assert interpreter.get_tensor(2).tolist() == [[4, 5]]
    assert function(model._model, 0, None, 0, None, 0) == 0
    interpreter.set_tensor(0, np.array([[5, 6]], np.float32))
    interpreter.invoke()
    assert interpreter.get_tensor(2).tolist() == [[6, 7]]
    assert given.tolist() == [[3, 4]]


def test_an_input_that_no_memory_holds_is_described():
    model = EngineModel(_adds_one(shape=(1, 2, 1), signature=(-1, 2, -1)), {})
    largest = 2**31 - 1
    model.resize(0, [largest, largest, largest])
    (described,) = model.inputs()
    assert described.bytes == ctypes.c_size_t(-1).value
    assert described.shape == (largest, largest, largest)
    with pytest.raises(ValueError, match="expected a product that memory can hold"):
        model.allocate()


def test_data_vanish_with_a_resize():
    interpreter = _open(_adds_one(signature=(-1, 2)))
    interpreter.allocate_tensors()
    interpreter.resize_tensor_input(0, (100, 2))
    for row in interpreter.model.inputs() + interpreter.model.outputs():
        assert not row.data
    assert [row.bytes for row in interpreter.model.inputs()] == [800]
    with pytest.raises(ValueError, match="allocate tensors first"):
        interpreter.set_tensor(0, np.zeros((100, 2), np.float32))


def test_constants_are_read_only_and_views_outlive_the_interpreter():
    interpreter = _open(_adds_one())
    interpreter.allocate_tensors()
    constant, x = interpreter.tensor(1)(), interpreter.tensor(0)()
    with pytest.raises(ValueError, match="read-only"):
        constant[0] = 9
    del interpreter
    gc.collect()
    x[0] = 7
    assert x.tolist() == [[7, 7]]


def test_data_of_a_gpu_are_refused_once():
    with larq_engine.Interpreter(_adds_one(), host="none", device="cpu") as interpreter:
        session = interpreter._session
        there = DeviceArray(None, 4096, (1, 2), np.dtype(np.float32))
        with pytest.raises(InputError, match="everything is computed on the CPU"):
            session.run([there])
        assert interpreter.predict(np.ones((1, 2), np.float32)).tolist() == [[2, 2]]


def test_unpacked_weights_that_are_read_otherwise(rng):
    """Weights that the file keeps as bits may be an output, or be read by an operator of ours."""
    builder = ModelBuilder()
    packed = builder.constant(rng.integers(-9, 9, 4).astype(np.int32))
    scale = builder.constant(np.ones(1, np.float32))
    weights = builder.tensor((4, 32), np.float32)
    signs = builder.tensor((4, 1), np.int32)
    x = builder.tensor((1, 2), np.float32)
    builder.custom("LceUnpackWeights", [packed, scale], [weights], {"axis": 0})
    builder.custom("LceQuantize", [weights], [signs])
    content = builder.finish([x], [weights, signs])
    interpreter = _open(content)
    interpreter.allocate_tensors()
    interpreter.invoke()
    expected = interpreter.get_tensor(packed)
    np.testing.assert_array_equal(interpreter.get_tensor(signs)[:, 0], expected)
    bits = expected.view(np.uint32)[:, None] >> np.arange(32, dtype=np.uint32) & 1
    np.testing.assert_array_equal(interpreter.get_tensor(weights), 1.0 - 2.0 * bits)


def test_a_file_in_c(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(_adds_one())
    loaded, reason = _open_in_c("open_file", str(path).encode())
    assert (loaded, reason) == (True, "")
    for wrong in (tmp_path / "absent", tmp_path):
        loaded, reason = _open_in_c("open_file", str(wrong).encode())
        assert not loaded
        assert reason.startswith(f"'{wrong}': expected a file to read, got ")


def test_a_file_whose_size_is_not_known(tmp_path):
    builder = ModelBuilder()
    x, y = (builder.tensor((1 << 20,), np.float32) for _ in range(2))
    builder.builtin("ADD", [x, builder.constant(np.ones(1 << 20, np.float32))], [y])
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(
        target=path.write_bytes, args=(builder.finish([x], [y]),), daemon=True
    )
    writer.start()
    assert _open_in_c("open_file", str(path).encode()) == (True, "")
    writer.join()


def test_a_signature_that_is_not_there():
    content = _adds_one()
    loaded, reason = _open_in_c("open", content, len(content), signature=b"serve")
    assert not loaded
    assert reason == "larq_engine: expected a signature of the model (it has none), got 'serve'"
