"""A script for TensorFlow Lite's Interpreter gets the same from larq_engine.tflite.Interpreter.

Each script runs in LiteRT's own Interpreter, and in ours in LiteRT and without a host.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import larq_engine
from tests.model_builder import ModelBuilder

_ONE = np.ones((1, 2), np.float32)


def _sum_model(signature: tuple[int, ...] | None = (-1, 2), signatures: int = 1) -> bytes:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 2), np.float32, signature=signature) for _ in range(2))
    builder.builtin("ADD", [x, builder.constant(np.ones(1, np.float32))], [y])
    for _ in range(signatures):
        builder.signature({"image": x}, {"scores": y})
    return builder.finish([x], [y])


def _quantized_model() -> bytes:
    builder = ModelBuilder()
    x, z = (builder.tensor((2, 4), np.int8, scale=0.5, zero_point=-3) for _ in range(2))
    weights = builder.constant(np.ones((3, 4), np.int8), scale=[0.5, 1, 2], zero_point=[0] * 3)
    y = builder.tensor((2, 3), np.int8, scale=0.25, zero_point=7)
    builder.builtin("FULLY_CONNECTED", [x, weights], [y])
    builder.builtin("RELU", [x], [z])
    return builder.finish([x], [y, z])


def _output(interpreter, number: int = 0) -> int:
    index: int = interpreter.get_output_details()[number]["index"]
    return index


def _classify(open_model) -> Any:
    interpreter = open_model(_sum_model())
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], 3 * _ONE)
    interpreter.reset_all_variables()
    interpreter.invoke()
    return interpreter.get_tensor(_output(interpreter)), interpreter.tensor(_output(interpreter))()


def _describe(model: bytes) -> Callable[..., Any]:
    def script(open_model) -> Any:
        interpreter = open_model(model)
        before = interpreter.get_input_details(), interpreter.get_output_details()
        interpreter.allocate_tensors()
        return before, interpreter.get_input_details(), interpreter.get_output_details()

    return script


def _resize(shape: tuple[int, ...], *, strict: bool, signature=(-1, 2)) -> Callable[..., Any]:
    def script(open_model) -> Any:
        interpreter = open_model(_sum_model(signature))
        interpreter.resize_tensor_input(0, shape, strict=strict)
        inputs = interpreter.get_input_details()
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, np.full(shape, 5, np.float32))
        interpreter.invoke()
        details = interpreter.get_output_details()
        return inputs, details, interpreter.get_tensor(_output(interpreter))

    return script


def _run_signature(
    signatures: int = 1, *, key: str | None = None, **arrays: np.ndarray
) -> Callable[..., Any]:
    def script(open_model) -> Any:
        interpreter = open_model(_sum_model(signatures=signatures))
        runner = interpreter.get_signature_runner(key)
        details = runner.get_input_details(), runner.get_output_details()
        return details, runner(**arrays), runner(**arrays), interpreter.get_signature_list()

    return script


def _zero_copy(open_model) -> Any:
    interpreter = open_model(_sum_model())
    interpreter.allocate_tensors()
    x, y = interpreter.tensor(0), interpreter.tensor(_output(interpreter))
    results = []
    for value in (3, 4):
        x().fill(value)
        interpreter.invoke()
        results.append(y().copy())
    return results


def _call(name: str, *arguments: Any, allocated: bool = True) -> Callable[..., Any]:
    def script(open_model) -> Any:
        interpreter = open_model(_sum_model())
        if allocated:
            interpreter.allocate_tensors()
        return getattr(interpreter, name)(*arguments)

    return script


def _resized_then(name: str, *arguments: Any) -> Callable[..., Any]:
    def script(open_model) -> Any:
        interpreter = open_model(_sum_model())
        interpreter.allocate_tensors()
        interpreter.resize_tensor_input(0, (5, 2))
        return getattr(interpreter, name)(*arguments)

    return script


def _with_a_view(name: str, *arguments: Any) -> Callable[..., Any]:
    def script(open_model) -> Any:
        interpreter = open_model(_sum_model())
        interpreter.allocate_tensors()
        row = interpreter.tensor(0)()[0]
        with pytest.raises(RuntimeError):
            getattr(interpreter, name)(*arguments)
        del row
        return getattr(interpreter, name)(*arguments)

    return script


_SCRIPTS: dict[str, Callable[..., Any]] = {
    "a run": _classify,
    "no copies": _zero_copy,
    "details of floats": _describe(_sum_model()),
    "details of fixed sizes": _describe(_sum_model(None)),
    "details of int8": _describe(_quantized_model()),
    "another batch": _resize((3, 2), strict=False),
    "another batch, strictly": _resize((3, 2), strict=True),
    "an empty batch": _resize((0, 2), strict=True),
    "no signature": _call("get_signature_list"),
    "a signature": _run_signature(image=_ONE),
    "a signature by its key": _run_signature(2, key="signature_1", image=_ONE),
    "a signature's batch": _run_signature(image=np.ones((3, 2), np.float32)),
    "a view and a run": _with_a_view("invoke"),
    "a view and an allocation": _with_a_view("allocate_tensors"),
    "a view and a resize": _with_a_view("resize_tensor_input", 0, (2, 2)),
    "a numpy size": _call("resize_tensor_input", 0, np.array([5, 2])),
    "arguments that ask for nothing": lambda open_model: _classify(
        functools.partial(
            open_model,
            num_threads=None,
            experimental_delegates=[],
            experimental_preserve_all_tensors=False,
        )
    ),
}

_WRONG: dict[str, Callable[..., Any]] = {
    "a size that is fixed": _resize((1, 3), strict=True),
    "a rank that is fixed": _resize((1, 2, 2), strict=True),
    "a size below zero": _resize((-1, 2), strict=False),
    "a signature of several": _run_signature(2, image=_ONE),
    "a signature of none": _run_signature(0, image=_ONE),
    "an unknown signature": _run_signature(key="train", image=_ONE),
    "too few inputs": _run_signature(),
    "an unknown input": _run_signature(picture=_ONE),
    "an input of another type": _run_signature(image=_ONE.astype(np.int32)),
    "a run before an allocation": _call("invoke", allocated=False),
    "an input before an allocation": _call("set_tensor", 0, _ONE, allocated=False),
    "an output before an allocation": _call("get_tensor", 1, allocated=False),
    "another type": _call("set_tensor", 0, _ONE.astype(np.float64)),
    "another shape": _call("set_tensor", 0, np.ones((2, 2), np.float32)),
    "an input that is not there": _call("set_tensor", 99, _ONE),
    "an output that is not there": _call("get_tensor", -1),
    "a graph that is not there": _call("get_tensor_details", 1),
    "a run after a resize": _resized_then("invoke"),
    "an input after a resize": _resized_then("set_tensor", 0, np.ones((5, 2), np.float32)),
    "threads below zero": lambda open_model: open_model(_sum_model(), num_threads=-1),
    "no threads": lambda open_model: open_model(_sum_model(), num_threads=0),
    "threads that are no number": lambda open_model: open_model(_sum_model(), num_threads="2"),
    "no bytes of a model": lambda open_model: open_model(b"a text"),
}


def _open_in_litert(content: bytes, **options) -> Any:
    module = pytest.importorskip("ai_edge_litert.interpreter")
    return module.Interpreter(model_content=content, **options)


def _opener(host: str) -> Callable[..., Any]:
    return lambda content, **options: larq_engine.tflite.Interpreter(
        model_content=content, host=host, **options
    )


def _check_equal(got: Any, expected: Any) -> None:
    assert type(got) is type(expected)
    if isinstance(expected, dict):
        assert got.keys() == expected.keys()
        for key, value in expected.items():
            _check_equal(got[key], value)
    elif isinstance(expected, (list, tuple)):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            _check_equal(one, other)
    elif isinstance(expected, np.ndarray):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
    else:
        assert got == expected


@pytest.mark.parametrize("host", ["none", "litert"])
@pytest.mark.parametrize("name", _SCRIPTS)
def test_scripts_get_the_same(name, host):
    _check_equal(_SCRIPTS[name](_opener(host)), _SCRIPTS[name](_open_in_litert))


@pytest.mark.parametrize("host", ["none", "litert"])
@pytest.mark.parametrize("name", _WRONG)
def test_errors_are_of_the_same_kind(name, host):
    with pytest.raises((ValueError, RuntimeError)) as theirs:
        _WRONG[name](_open_in_litert)
    with pytest.raises((ValueError, RuntimeError)) as ours:
        _WRONG[name](_opener(host))
    assert issubclass(ours.type, theirs.type)
    assert len(str(ours.value)) > 20


def test_a_signature_of_another_graph():
    """A signature may name a graph that the main graph does not know."""
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 2), np.float32) for _ in range(2))
    builder.builtin("ABS", [x], [y])
    other = builder.subgraph()
    a, b = (other.tensor((1, 2), np.float32) for _ in range(2))
    other.builtin("NEG", [a], [b])
    other.interface([a], [b])
    builder.signature({"x": x}, {"y": y})
    builder.signature({"a": a}, {"b": b})
    builder.model.signatureDefs[-1].subgraphIndex = 1
    model = builder.finish([x], [y])
    for open_model in (_open_in_litert, _opener("none")):
        runner = open_model(model).get_signature_runner("signature_1")
        assert runner(a=_ONE)["b"].tolist() == [[-1, -1]]


def test_auto_takes_a_host_only_for_what_needs_one():
    engine = larq_engine.tflite.Interpreter(model_content=_sum_model(), host="auto")
    assert type(engine).__module__ == "larq_engine.python.no_host"
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 2), np.float32) for _ in range(2))
    builder.builtin("CUMSUM", [x, builder.constant(np.array(1, np.int32))], [y])
    content = builder.finish([x], [y])
    host = larq_engine.tflite.Interpreter(model_content=content, host="auto")
    assert not type(host).__module__.startswith("larq_engine")


def test_a_path(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(_sum_model())
    interpreter = larq_engine.tflite.Interpreter(path, host="none", num_threads=2)
    assert [row["index"] for row in interpreter.get_input_details()] == [0]
    with pytest.raises(FileNotFoundError, match="expected a file"):
        larq_engine.tflite.Interpreter(str(tmp_path / "none.tflite"))


@pytest.mark.parametrize(
    ("arguments", "got"), [({}, "neither"), ({"model_path": "x", "model_content": b"y"}, "both")]
)
def test_one_model(arguments, got):
    with pytest.raises(ValueError, match=f"model_path or model_content, got {got}"):
        larq_engine.tflite.Interpreter(**arguments)


def test_arguments_in_the_order_of_tensorflow_lites(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(_sum_model())
    module = pytest.importorskip("ai_edge_litert.interpreter")
    for make in (larq_engine.tflite.Interpreter, module.Interpreter):
        interpreter = make(str(path), None, None, 2)
        assert [row["index"] for row in interpreter.get_input_details()] == [0]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("experimental_delegates", ["delegate"], "none, as the engine is one, got ['delegate']"),
        ("experimental_delegates", 2, "none, as the engine is one, got 2"),
        ("experimental_preserve_all_tensors", True, "False, got True"),
    ],
)
def test_what_differs_from_tensorflow_lites_is_refused(name, value, expected):
    with pytest.raises(ValueError) as caught:
        larq_engine.tflite.Interpreter(model_content=_sum_model(), **{name: value})
    assert str(caught.value) == (
        f"{name}: expected {expected}; else use the host's own Interpreter, and "
        "hand it larq_engine.load_delegate()"
    )


def test_an_unknown_option():
    with pytest.raises(ValueError, match="colour"):
        larq_engine.tflite.Interpreter(model_content=_sum_model(), host="none", colour="red")
