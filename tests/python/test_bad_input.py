"""Bad files, options and data raise an error that says what was expected and got, and a remedy."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.python import library
from tests.hosts import HOSTS, RUNNERS
from tests.model_builder import ModelBuilder, one_op_model


def add_model(*shapes, dtype=np.float32, signature=None) -> bytes:
    """Builds the sum of two inputs a and b, or of one input a and itself."""
    builder = ModelBuilder()
    inputs = [
        builder.tensor(shape, dtype, name=name, signature=signature)
        for shape, name in zip(shapes, "ab", strict=False)
    ]
    y = builder.tensor(shapes[0], dtype, name="y", signature=signature)
    builder.builtin("ADD", [inputs[0], inputs[-1]], [y])
    return builder.finish(inputs, [y])


@pytest.fixture
def interpreter() -> larq_engine.Interpreter:
    return larq_engine.Interpreter(add_model((1, 4, 4, 3)))


@pytest.fixture
def two_inputs() -> larq_engine.Interpreter:
    return larq_engine.Interpreter(add_model((1, 3), (1, 3)))


def message_of(expected: type[Exception], call, *arguments, **named) -> str:
    with pytest.raises(expected) as caught:
        call(*arguments, **named)
    assert type(caught.value) is expected
    return str(caught.value)


def test_a_file_that_is_missing():
    with pytest.raises(FileNotFoundError, match=r"'no/such\.tflite': expected a file, .*; check"):
        larq_engine.Interpreter("no/such.tflite")


def test_an_empty_path():
    assert "got an empty one" in message_of(ValueError, larq_engine.Interpreter, "")


def test_batches_from_an_iterator_of_samples(interpreter):
    x = np.ones((2, *interpreter.input_shapes[0][1:]), np.float32)
    assert "single samples" in message_of(ValueError, interpreter.predict, iter([x]))


def test_a_shape_that_is_not_in_a_list(interpreter):
    text = message_of(ValueError, interpreter.resize, interpreter.input_shapes[0])
    assert f"as in resize({interpreter.input_shapes})" in text


def test_an_object_that_is_no_model():
    text = message_of(TypeError, larq_engine.Interpreter, 42)
    assert "expected the bytes of a .tflite file or its path, got int" in text


@pytest.mark.parametrize("content", [b"", b"abc", b"\x89PNG\r\n\x1a\n" * 9], ids=repr)
def test_bytes_that_are_no_model(content, tmp_path):
    path = tmp_path / "picture.png"
    path.write_bytes(content)
    for model, name in ((content, "model"), (path, f"model '{path}'")):
        text = message_of(ValueError, larq_engine.Interpreter, model)
        assert text.startswith(f"{name} ({len(content)} bytes): expected a TensorFlow Lite flatb")
        got = r"'\x0d\x0a\x1a\x0a'" if content[:1] == b"\x89" else "the end of the file"
        assert f"'TFL3' at byte 4, got {got}; give the content of a .tflite" in text


_ONNX = b"\x08\x08\x12\x07pytorch"
_HDF5 = b"\x89HDF\r\n\x1a\n" * 9


@pytest.mark.parametrize(
    ("name", "content", "kind", "function"),
    [
        ("a.onnx", _ONNX, "ONNX", "convert_onnx"),
        ("a.onnx", b"damaged", "ONNX", "convert_onnx"),
        ("a_model", _ONNX, "ONNX", "convert_onnx"),
        ("", _ONNX, "ONNX", "convert_onnx"),
        ("a.h5", _HDF5, "Keras", "convert_keras_model"),
        ("", _HDF5, "Keras", "convert_keras_model"),
        ("a.keras", b"PK\3\4", "Keras", "convert_keras_model"),
        ("a.pt", b"PK\3\4", "PyTorch", "convert_torch"),
    ],
)
@pytest.mark.parametrize("use", [larq_engine.Interpreter, larq_engine.convert_tflite])
def test_models_that_must_be_converted_first(use, name, content, kind, function, tmp_path):
    path = tmp_path / name
    if name:
        path.write_bytes(content)
    called = f"model '{path}'" if name else "model"
    assert message_of(ValueError, use, path if name else content) == (
        f"{called} ({len(content)} bytes): expected a .tflite file, got a model of {kind}; convert "
        f"it first, with larq_engine.{function}"
    )


def test_a_damaged_tflite_file_is_not_taken_for_another_kind(tmp_path):
    path = tmp_path / "a.tflite"
    path.write_bytes(_ONNX)
    text = message_of(ValueError, larq_engine.Interpreter, path)
    assert "expected a TensorFlow Lite flatbuffer" in text


def test_a_folder_is_no_file(tmp_path):
    text = message_of(IsADirectoryError, larq_engine.Interpreter, tmp_path)
    assert text == f"model '{tmp_path}': expected a file, got a folder; check the path"
    (tmp_path / "saved_model.pb").touch()
    text = message_of(IsADirectoryError, larq_engine.Interpreter, tmp_path)
    assert text.endswith("; convert it first, with larq_engine.convert_saved_model")


def test_what_is_no_profile_and_no_model(tmp_path):
    model = add_model((1, 2))
    text = message_of(TypeError, larq_engine.place, model, 10)
    assert text.startswith("profile: expected what larq_engine.profile returned") and "int" in text
    assert message_of(TypeError, larq_engine.report, larq_engine.Interpreter(model)) == (
        text.replace("int", "Interpreter")
    )
    profile = larq_engine.profile(model, rounds=1, seconds=0.0)
    text = message_of(TypeError, larq_engine.report, profile, larq_engine.place(model, profile))
    assert text == (
        "placement: expected the `placement` of what larq_engine.place returned, or a path, got "
        "PlacedModel"
    )
    placed = larq_engine.place(model, profile, devices="host")
    assert {op.device for op in placed.placement.ops} == {"host"}
    text = message_of(ValueError, larq_engine.place, model, profile, devices="cpu,host")
    assert "devices: expected some of the profile's (cpu, host), got 'cpu,host'" in text
    text = message_of(TypeError, larq_engine.place, 10, tmp_path)
    assert text == "model: expected the bytes of a .tflite file or its path, got int"
    text = message_of(FileNotFoundError, larq_engine.place, "none.tflite", tmp_path)
    assert text == "model 'none.tflite': expected a file, got nothing of that name; check the path"


@pytest.mark.parametrize("host", HOSTS)
def test_unknown_options(host):
    text = message_of(ValueError, larq_engine.load_delegate, host, colour=3)
    assert text == (
        "larq_engine plug-in: unknown option 'colour'; expected one of num_threads, kernel, "
        "fuse, device, placement"
    )


@pytest.mark.parametrize("host", ["none", "auto"])
def test_a_delegate_is_for_a_host(host):
    text = message_of(ValueError, larq_engine.load_delegate, host, num_threads=2)
    assert text == (
        f"host: expected one of litert, tensorflow, tflite_runtime, got {host!r}, but a delegate "
        f"is for a host's own interpreter; use larq_engine.Interpreter(..., host={host!r})"
    )


@pytest.mark.parametrize("fuse", [0, 1, None])
def test_fuse_of_another_type(fuse):
    text = message_of(TypeError, larq_engine.Interpreter, add_model((1, 2)), fuse=fuse)
    assert text == f"fuse: expected True, False, 'on' or 'off', got {fuse!r}"


def test_fuse_of_another_word():
    text = message_of(ValueError, larq_engine.Interpreter, add_model((1, 2)), fuse="maybe")
    assert "option fuse: expected on or off (true or false, 1 or 0), got 'maybe'" in text


@pytest.mark.parametrize("threads", [1.5, 2.0, "2", None])
def test_threads_that_are_no_whole_number(threads):
    text = message_of(TypeError, larq_engine.Interpreter, add_model((1, 2)), num_threads=threads)
    assert text.startswith(f"num_threads: expected a whole number, got {threads!r}; ")


@pytest.mark.parametrize("threads", [0, -1, 257])
def test_a_number_of_threads_that_cannot_be(threads):
    text = message_of(ValueError, larq_engine.Interpreter, add_model((1, 2)), num_threads=threads)
    assert f"option num_threads: expected 1 to 256, got '{threads}'" in text


def test_an_unknown_kernel():
    text = message_of(ValueError, larq_engine.Interpreter, add_model((1, 2)), kernel="fastest")
    rows = "bgemm_i32_4x2x64_portable"
    assert (
        f"option kernel: unknown kernel 'fastest'; expected one of auto, reference, {rows}" in text
    )


def test_an_unknown_kernel_in_the_environment(monkeypatch):
    monkeypatch.setenv("LARQ_ENGINE_KERNEL", "fastest")
    text = message_of(ValueError, larq_engine.Interpreter, add_model((1, 2)))
    assert "LARQ_ENGINE_KERNEL" in text and "unknown kernel 'fastest'" in text


def test_an_unknown_host():
    text = message_of(ValueError, larq_engine.Interpreter, add_model((1, 2)), host="onnx")
    assert text == (
        "host: expected one of auto, none, litert, tensorflow, tflite_runtime, got 'onnx'"
    )


@pytest.mark.parametrize("host", [None, "tflite_runtime"])
def test_a_host_that_is_not_installed(host, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    text = message_of(ImportError, larq_engine.load_delegate, host)
    package = "tflite-runtime" if host else "ai-edge-litert"
    assert "got none" in text and f"`pip install {package}`" in text


def test_a_library_that_was_not_built(monkeypatch, tmp_path):
    monkeypatch.delenv("LARQ_ENGINE_LIBRARY", raising=False)
    path = tmp_path / "larq_engine" / "liblarq_engine.so"
    monkeypatch.setattr(library, "_LIBRARY", path)
    text = message_of(FileNotFoundError, larq_engine.delegate_path)
    assert str(path) in text and "install larq_engine again" in text and "make build" not in text
    (tmp_path / "pyproject.toml").touch()
    text = message_of(FileNotFoundError, larq_engine.delegate_path)
    assert "found the source tree" in text and "run from another folder" in text
    assert "`make build`" in text
    monkeypatch.setenv("LARQ_ENGINE_LIBRARY", "/no/such.so")
    assert "LARQ_ENGINE_LIBRARY" in message_of(FileNotFoundError, larq_engine.delegate_path)


def test_a_library_named_without_its_folder(tmp_path, monkeypatch):
    """The check looks in the working folder; the loader would look in the system's folders."""
    monkeypatch.delenv("LARQ_ENGINE_LIBRARY", raising=False)
    (tmp_path / "mine.so").symlink_to(larq_engine.delegate_path())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LARQ_ENGINE_LIBRARY", "mine.so")
    assert larq_engine.delegate_path() == str(tmp_path / "mine.so")
    assert library.version() == larq_engine.__version__


# Data, and the words of the message; the input is float32 of shape (N, 4, 4, 3).
_BAD_DATA = {
    "no batch axis": (
        np.zeros((4, 4, 3), np.float32),
        "expected shape (N, 4, 4, 3), got (4, 4, 3); add the batch axis",
    ),
    "no batch axis, channels first": (
        np.zeros((3, 4, 4), np.float32),
        "the batch axis is missing and channels come last: x.transpose(1, 2, 0)[numpy.newaxis]",
    ),
    "no batch axis, another size": (
        np.zeros((4, 5, 3), np.float32),
        "expected shape (N, 4, 4, 3), got (4, 5, 3); reshape the data",
    ),
    "wrong rank": (
        np.zeros((1, 48), np.float32),
        "expected shape (N, 4, 4, 3), got (1, 48); reshape",
    ),
    "wrong width": (
        np.zeros((2, 4, 5, 3), np.float32),
        "expected shape (N, 4, 4, 3), got (2, 4, 5, 3); give data of that shape, or let the model "
        "take this one with Interpreter.resize",
    ),
    "channels first": (
        np.zeros((2, 3, 4, 4), np.float32),
        "got (2, 3, 4, 4); channels come last: transpose the data with (0, 2, 3, 1)",
    ),
    "no samples": (
        np.zeros((0, 4, 4, 3), np.float32),
        "with at least one sample, got the empty (0, 4, 4, 3)",
    ),
    "a scalar": (np.float32(1), "got ()"),
}


@pytest.mark.parametrize("fault", _BAD_DATA)
def test_data_of_a_wrong_shape(fault, interpreter):
    data, words = _BAD_DATA[fault]
    for x in (data, [data], {"a": data}):
        text = message_of(ValueError, interpreter.predict, x)
        assert text.startswith("input 'a' (#0): expected shape (N, 4, 4, 3)")
        assert words in text


def test_data_with_channels_last_for_a_model_with_channels_first():
    """Reshaped data would be taken, and give wrong results without a word."""
    interpreter = larq_engine.Interpreter(add_model((1, 3, 8, 6)))
    for x, advice in (
        (np.zeros((2, 8, 6, 3), np.float32), "transpose the data with (0, 3, 1, 2)"),
        (np.zeros((8, 6, 3), np.float32), "x.transpose(2, 0, 1)[numpy.newaxis]"),
    ):
        text = message_of(ValueError, interpreter.predict, x)
        assert "channels come first" in text and advice in text


# Shapes of the input and of the data, and the advice that makes `predict` take the data.
_MISSING_AXES = [
    ((1, 8, 8, 1), (4, 8, 8), "add the channel axis: x[..., numpy.newaxis]"),
    (
        (1, 8, 8, 1),
        (8, 8),
        "add the batch and the channel axis: x[numpy.newaxis, ..., numpy.newaxis]",
    ),
    ((1, 8, 8, 1), (8, 8, 1), "add the batch axis: x[numpy.newaxis]"),
    ((1, 1, 8, 4), (5, 8, 4), "add the missing axes: numpy.expand_dims(x, (1,))"),
    ((1, 1), (6,), "add the last axis: x[..., numpy.newaxis]"),
]


@pytest.mark.parametrize(("taken", "given", "advice"), _MISSING_AXES)
def test_advice_on_missing_axes_is_all_that_is_needed(taken, given, advice):
    interpreter = larq_engine.Interpreter(add_model(taken))
    x = np.ones(given, np.float32)
    text = message_of(ValueError, interpreter.predict, x)
    assert text.endswith(f"got {given}; {advice}")
    mended = eval(advice.partition(": ")[2], {"x": x, "numpy": np})
    np.testing.assert_array_equal(interpreter.predict(mended), 2 * mended)


@pytest.mark.parametrize("samples", [1, 4])
def test_nested_lists(samples, interpreter, two_inputs):
    x = np.ones((samples, 4, 4, 3), np.float32)
    for nested in (x.tolist(), [x.tolist()], {"a": x.tolist()}):
        error = TypeError if isinstance(nested, dict) or len(nested) == 1 else ValueError
        text = message_of(error, interpreter.predict, nested)
        assert text.endswith("make an array of nested lists with numpy.asarray(x, numpy.float32)")
    text = message_of(TypeError, two_inputs.predict, [[[1.0, 2.0, 3.0]], [[1.0], [2.0, 3.0]]])
    assert "expected an array of float32, got lists" in text


@pytest.mark.parametrize(
    "dtype", [np.float64, np.int64, np.int32, np.uint32, np.complex64, np.dtype("U3"), object]
)
def test_data_that_would_lose_something(dtype, interpreter):
    text = message_of(TypeError, interpreter.predict, np.zeros((1, 4, 4, 3), dtype))
    assert f"input 'a' (#0): expected float32, got {np.dtype(dtype)}" in text
    assert "x.astype(numpy.float32)" in text


def test_floats_for_integers():
    quantized = larq_engine.Interpreter(add_model((1, 3), dtype=np.int32))
    for dtype in (np.float32, np.int64, np.uint32):
        text = message_of(TypeError, quantized.predict, np.zeros((1, 3), dtype))
        assert f"expected int32, got {np.dtype(dtype)}" in text


def test_things_that_are_no_data(interpreter):
    for x in ("text", b"bytes", None, 3, object()):
        text = message_of(TypeError, interpreter.predict, x)
        assert f"got {type(x).__name__}" in text and "expected an array" in text


def test_masked_arrays(interpreter, two_inputs):
    masked = np.ma.masked_array(np.zeros((1, 4, 4, 3), np.float32), mask=True)
    for x in (masked, [masked], {"a": masked}, iter([masked[0]])):
        text = message_of(TypeError, interpreter.predict, x)
        assert text.startswith("input 'a' (#0): expected an array, got a masked array")
        assert ".filled(" in text
    pair = [np.zeros((1, 3), np.float32), np.ma.masked_array(np.zeros((1, 3), np.float32))]
    assert "input 'b' (#1)" in message_of(TypeError, two_inputs.predict, pair)


def test_inputs_without_a_size():
    for shapes in ([(0, 4)], [(1, 0)], [(1, 4), (0, 4)]):
        interpreter = larq_engine.Interpreter(add_model(*shapes))
        data = [np.ones((2, 4), np.float32)] * len(shapes)
        for x in (data, zip(*data, strict=True)):
            text = message_of(ValueError, interpreter.predict, x)
            empty = next(shape for shape in shapes if 0 in shape)
            assert f"expected a shape without a dimension of 0, got {empty}" in text
            assert text.endswith("; call Interpreter.resize first")
        interpreter.resize([(2, 4)] * len(shapes))
        np.testing.assert_array_equal(interpreter.predict(data), 2 * data[0])


def test_samples_of_different_shapes():
    """Each sample runs, as the file leaves its sizes open, but no array holds all results."""
    for batch, name in ((1, "output 'y' (#0)"), (2, "input 'a' (#0)")):
        model = add_model((batch, 2, 2), signature=(batch, -1, -1))
        samples = [np.ones((2, 2), np.float32), np.ones((3, 3), np.float32)]
        text = message_of(ValueError, larq_engine.Interpreter(model).predict, iter(samples))
        assert text == (
            f"{name}: expected pieces that can be joined along axis 0, got the shapes (1, 2, 2) "
            "and (1, 3, 3); call predict for each sample"
        )


def test_scalar_outputs_of_several_samples():
    axes = np.array([0, 1], np.int32)
    model = one_op_model("SUM", {"shape": (1, 4)}, {"shape": ()}, ("x", axes))
    interpreter = larq_engine.Interpreter(model)
    assert interpreter.predict(np.ones((1, 4), np.float32)) == 4
    text = message_of(ValueError, interpreter.predict, np.ones((3, 4), np.float32))
    assert text.startswith("output 'y' (#0): expected pieces")
    assert "got the shapes () and (); call predict for each sample" in text


def test_a_wrong_number_of_inputs(interpreter, two_inputs):
    one = np.zeros((1, 3), np.float32)
    image = np.zeros((1, 4, 4, 3), np.float32)
    text = message_of(ValueError, interpreter.predict, [image, image])
    assert "expected 1 array(s), for 'a' (#0), got 2" in text and "numpy.stack" in text
    for x, count in ((one, 1), ([one], 1), ([one] * 3, 3), ([], 0), (iter([one[0]]), 1)):
        text = message_of(ValueError, two_inputs.predict, x)
        assert f"expected 2 array(s), for 'a' (#0), 'b' (#1), got {count}" in text


def test_lists_of_unequal_length(two_inputs):
    x = [np.zeros((2, 3), np.float32), np.zeros((3, 3), np.float32)]
    text = message_of(ValueError, two_inputs.predict, x)
    assert "expected the same number of samples for each, got {'a': 2, 'b': 3}" in text


def test_names_that_are_unknown_or_missing(two_inputs):
    one = np.zeros((1, 3), np.float32)
    for x, got in (({"a": one}, "['a']"), ({"a": one, "c": one}, "['a', 'c']"), ({}, "[]")):
        text = message_of(ValueError, two_inputs.predict, x)
        assert f"expected the names ['a', 'b'], got {got}" in text and "input_names" in text


def test_an_iterator_without_samples(interpreter):
    assert "empty iterator" in message_of(ValueError, interpreter.predict, iter([]))


def test_an_iterator_with_a_bad_sample(interpreter):
    good, bad = np.zeros((4, 4, 3), np.float32), np.zeros((4, 4, 2), np.float32)
    text = message_of(ValueError, interpreter.predict, iter([good, good, bad]))
    assert "expected shape (N, 4, 4, 3), got (1, 4, 4, 2)" in text


def test_an_exception_in_a_generator_is_the_users_own(interpreter):
    def samples():
        yield np.zeros((4, 4, 3), np.float32)
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        interpreter.predict(samples())


_BAD_SHAPES = {
    "too few": ([], "expected 1 shape(s), one for each input, got 0"),
    "too many": ([(1, 4, 4, 3)] * 2, "expected 1 shape(s), one for each input, got 2"),
    "an unknown name": ({"b": (1, 4, 4, 3)}, "expected names out of ['a'], got ['b']"),
    "a wrong rank": ([(1, 4, 4)], "input 'a' (#0): expected 4 positive 32-bit sizes"),
    "zero": ([(1, 0, 4, 3)], "input 'a' (#0): expected 4 positive 32-bit sizes"),
    "negative": ([(1, -4, 4, 3)], "got (1, -4, 4, 3)"),
    "fractions": ([(1, 4.5, 4, 3)], "got (1, 4.5, 4, 3)"),
    "too large": ([(1, 2**31, 4, 3)], "expected 4 positive 32-bit sizes"),
    "text": ({"a": "1443"}, "got '1443'"),
    "a number": ([7], "got 7"),
}


@pytest.mark.parametrize("fault", _BAD_SHAPES)
def test_resize_to_a_wrong_shape(fault, interpreter):
    shapes, words = _BAD_SHAPES[fault]
    text = message_of(ValueError, interpreter.resize, shapes)
    assert text.startswith("resize: ") and words in text
    assert interpreter.input_shapes == [(1, 4, 4, 3)]


@pytest.mark.parametrize("shapes", [5, None, 2.5])
def test_resize_to_no_shapes_at_all(shapes, interpreter):
    text = message_of(TypeError, interpreter.resize, shapes)
    assert text == (
        "resize: expected a list of shapes or a dictionary from input name to shape, "
        f"got {type(shapes).__name__}; as in resize([(1, 4, 4, 3)])"
    )


@pytest.mark.parametrize("host", RUNNERS)
def test_resize_that_the_model_cannot_take(host):
    interpreter = larq_engine.Interpreter(add_model((1, 3), (1, 3)), host=host)
    text = message_of(ValueError, interpreter.resize, [(1, 3), (1, 4)])
    assert text.startswith("resize of input 'b' (#1) from (1, 3) to (1, 4): ")
    assert "XNNPack" not in text
    assert interpreter.input_shapes == [(1, 3), (1, 3)]
    x = np.arange(3, dtype=np.float32)[np.newaxis]
    np.testing.assert_array_equal(interpreter.predict([x, x]), 2 * x)


def resize_and_predict(model: bytes, host: str, shapes: list[list[int]]) -> list[str]:
    """Tries each shape, then predicts; returns the messages of the refusals."""
    interpreter = larq_engine.Interpreter(model, host=host)
    messages = []
    for shape in shapes:
        try:
            interpreter.resize([shape])
        except ValueError as error:
            messages.append(str(error))
    x = np.ones((2, 4, 4, 3), np.float32)
    np.testing.assert_array_equal(interpreter.predict(x), 2 * x)
    return messages


@pytest.mark.parametrize("host", RUNNERS)
def test_resize_beyond_all_memory(host, box):
    """The test runs in a process of its own, as a host may crash when it enlarges its memory."""
    shapes = [[2**31 - 1, 2**31 - 1, 2**31 - 1, 3], [1, 2**16, 2**16, 3], [1, 2**15, 2**15, 3]]
    messages = box.call(resize_and_predict, add_model((1, 4, 4, 3)), host, shapes)
    for shape, message in zip(shapes, messages, strict=True):
        start = f"resize of input 'a' (#0) from (1, 4, 4, 3) to {tuple(shape)}: "
        assert message.startswith(start) and "XNNPack" not in message, message
        assert message.count("resize of") == 1, "only what this call was refused for"


@pytest.mark.parametrize("runs", [0, -1, 1.5, "3", True])
def test_profile_of_no_runs(runs, interpreter):
    text = message_of(ValueError, interpreter.profile, runs=runs)
    assert text == f"runs: expected a positive integer, got {runs!r}"


def test_errors_can_be_sent_to_another_process(interpreter):
    """A pool of workers pickles them."""
    with pytest.raises(ValueError) as caught:
        interpreter.resize([])
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_the_hosts_error_is_the_cause():
    with pytest.raises(ValueError) as caught:
        larq_engine.load_delegate(colour=3)
    assert isinstance(caught.value.__cause__, ValueError)
    assert "Failed to load delegate" in str(caught.value.__cause__)


def test_paths_may_be_of_any_kind(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(add_model((1, 2)))
    x = np.ones((1, 2), np.float32)
    content = path.read_bytes()
    for model in (path, str(path), content, bytearray(content), memoryview(content)):
        np.testing.assert_array_equal(larq_engine.Interpreter(model).predict(x), 2 * x)
    assert Path(larq_engine.delegate_path()).is_file()
