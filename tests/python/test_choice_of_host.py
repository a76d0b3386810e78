"""The Interpreter takes the host that it is told, the first installed one, or none."""

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import larq_engine
from larq_engine.python import hosts
from larq_engine.python.engine_model import EngineModel
from tests.model_builder import ModelBuilder

_X = np.array([[3, 4]], np.float32)


def _adds_one() -> bytes:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 2), np.float32, signature=(-1, 2)) for _ in range(2))
    builder.builtin("ADD", [x, builder.constant(np.ones(1, np.float32))], [y])
    return builder.finish([x], [y])


def _sums_up() -> bytes:
    """Returns a model of an operator that the engine does not compute."""
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 2), np.float32, name=name) for name in ("x", "total"))
    builder.builtin("CUMSUM", [x, builder.constant(np.array(1, np.int32))], [y])
    return builder.finish([x], [y])


def _first_installed() -> str:
    (first,) = hosts.candidates(None)
    return first


def test_auto_takes_no_host_if_the_engine_computes_all():
    with larq_engine.Interpreter(_adds_one(), host="auto") as interpreter:
        assert interpreter.host == "none"
        np.testing.assert_array_equal(interpreter.predict(np.tile(_X, (3, 1))), [[4, 5]] * 3)
        interpreter.resize([(2, 2)])
        assert (interpreter.host, interpreter.output_shapes) == ("none", [(2, 2)])
        copy = pickle.loads(pickle.dumps(interpreter))
        assert (copy.host, copy.output_shapes) == ("none", [(2, 2)])


@pytest.mark.parametrize(
    ("make", "options"), [(_sums_up, {}), (_adds_one, {"placement": "0:host"})]
)
def test_auto_takes_the_first_host_for_what_needs_one(
    make: Callable[[], bytes], options: dict[str, Any]
):
    with larq_engine.Interpreter(make(), host="auto", **options) as interpreter:
        assert interpreter.host == _first_installed() != "none"
        expected = np.cumsum(_X, 1) if make is _sums_up else _X + 1
        np.testing.assert_array_equal(interpreter.predict(_X), expected)


def test_opening_without_a_host_reads_no_operators(monkeypatch):
    monkeypatch.setattr(EngineModel, "graph", lambda model: pytest.fail("the graph was read"))
    with larq_engine.Interpreter(_adds_one(), host="none") as interpreter:
        np.testing.assert_array_equal(interpreter.predict(_X), _X + 1)


def test_the_first_host_is_the_default():
    with larq_engine.Interpreter(_adds_one()) as interpreter:
        assert interpreter.host == _first_installed()


@pytest.mark.parametrize("host", ["auto", "none", None])
def test_errors_of_options_are_those_of_the_engine(host):
    with pytest.raises(ValueError, match="unknown kernel 'fastest'"):
        larq_engine.Interpreter(_adds_one(), host=host, kernel="fastest")


_WITHOUT_HOSTS = """
import json, sys
for name in ("ai_edge_litert", "tensorflow", "tflite_runtime"):
    sys.modules[name] = None
import numpy as np
import larq_engine
computed, refused = sys.argv[1:]
found = {}
for host in (None, "auto"):
    interpreter = larq_engine.Interpreter(computed, host=host)
    scores = interpreter.predict(np.array([[3, 4]], np.float32)).tolist()
    found[str(host)] = [interpreter.host, scores]
for name, call in {
    "refused by default": lambda: larq_engine.Interpreter(refused),
    "refused": lambda: larq_engine.Interpreter(refused, host="auto"),
    "placed": lambda: larq_engine.Interpreter(computed, host="auto", placement="0:host"),
    "delegate": lambda: larq_engine.load_delegate(),
}.items():
    try:
        call()
    except (ImportError, ValueError) as error:
        found[name] = [type(error).__name__, str(error)]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def without_hosts(tmp_path_factory) -> dict[str, Any]:
    """Returns what a Python without any host finds."""
    folder = tmp_path_factory.mktemp("models")
    paths = []
    for name, model in (("computed", _adds_one()), ("refused", _sums_up())):
        paths.append(folder / f"{name}.tflite")
        paths[-1].write_bytes(model)
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_HOSTS, *paths],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(larq_engine.__file__).parents[1],
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("host", [None, "auto"])
def test_models_run_where_no_host_is_installed(host, without_hosts):
    assert without_hosts[str(host)] == ["none", [[4, 5]]]


@pytest.mark.parametrize("call", ["refused", "refused by default"])
def test_the_error_says_what_needs_a_host_and_how_to_get_one(call, without_hosts):
    kind, text = without_hosts[call]
    assert kind == "ImportError"
    assert "got CUMSUM 'total' (#0)" in text and "`pip install ai-edge-litert`" in text


def test_a_host_that_is_placed_on_is_asked_for(without_hosts):
    kind, text = without_hosts["placed"]
    assert kind == "ValueError" and "no host runs the model" in text


def test_a_delegate_needs_a_host(without_hosts):
    kind, text = without_hosts["delegate"]
    assert kind == "ImportError" and "`pip install ai-edge-litert`" in text
