"""Hosts without delegates get our operators through larq_engine_register_ops and a C++ op resolver.

The libraries of TensorFlow and of tflite-runtime 2.14 export what that needs. LiteRT's does not,
and gets an error that says so. Each host runs in a process of its own, as a library that one loads
is visible to all.
"""

import ctypes
import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from larq_engine.python import hosts
from tests.crash_box import CrashBox
from tests.hosts import HOSTS
from tests.model_builder import ModelBuilder, add_weights

_DATA = Path(__file__).parents[1] / "interop" / "data"


@pytest.fixture(scope="module")
def boxes() -> Iterator[Callable[[str], CrashBox]]:
    """Gives each host its own process."""
    made = []

    @functools.cache
    def box_of(host: str) -> CrashBox:
        made.append(CrashBox())
        return made[-1]

    yield box_of
    for box in made:
        box.close()


def register(resolver: int) -> tuple[int, str]:
    """Calls the C function; returns its status and error text."""
    library = ctypes.CDLL(larq_engine.delegate_path())
    library.larq_engine_register_ops.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    error = ctypes.create_string_buffer(1024)
    status = library.larq_engine_register_ops(resolver, error, len(error))
    return status, error.value.decode()


def run_registered(host: str, model: str) -> tuple[list[tuple[int, str]], np.ndarray | None]:
    """Runs a model in a host whose op resolver was given our operators, without our delegate."""
    module = hosts.import_host(host)
    results: list[tuple[int, str]] = []
    with np.load(_DATA / f"{model}.npz") as recorded:
        x = recorded["x"]
    try:
        interpreter = module.InterpreterWithCustomOps(
            model_content=(_DATA / f"{model}.tflite").read_bytes(),
            custom_op_registerers=[lambda resolver: results.append(register(resolver))],
        )
        interpreter.allocate_tensors()
    except RuntimeError:
        return results, None
    rows = []
    for sample in x:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], sample[np.newaxis])
        interpreter.invoke()
        rows.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return results, np.concatenate(rows)


def dense_of_bits() -> bytes:
    """Builds x @ [[1, -1], [2, 2], [-3, -3]].T, with weights that the file keeps as bits."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 2), name="x"), builder.tensor((1, 3), name="y")
    signs = np.array([[1, -1], [1, 1], [-1, -1]], np.float32)
    weights = add_weights(builder, signs, np.array([1, 2, 3], np.float32), 0)
    bias = builder.constant(np.zeros(3, np.float32))
    builder.builtin("FULLY_CONNECTED", [x, weights, bias], [y])
    return builder.finish([x], [y])


def run_dense_of_bits(host: str) -> list[np.ndarray]:
    """Runs batches of 1, 2 and again 1 in the same interpreter."""
    interpreter = hosts.import_host(host).InterpreterWithCustomOps(
        model_content=dense_of_bits(), custom_op_registerers=[register]
    )
    outputs = []
    for batch in (1, 2, 1):
        interpreter.resize_tensor_input(0, (batch, 2))
        interpreter.allocate_tensors()
        interpreter.set_tensor(0, np.array([[5, 3]] * batch, np.float32))
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(interpreter.get_output_details()[0]["index"]))
    return outputs


def register_null(host: str) -> tuple[int, str]:
    hosts.import_host(host)
    return register(0)


_WITHOUT = [p for p in HOSTS if "litert" in p.values]
_WITH = [p for p in HOSTS if p not in _WITHOUT]


@pytest.mark.parametrize("host", _WITH)
@pytest.mark.parametrize(
    "model", ["bitpacked_chain.float", "maxpool_chain.int8", "residual_relu_bn_add.float"]
)
def test_hosts_run_the_registered_operators(model, host, boxes):
    results, got = boxes(host).call(run_registered, host, model)
    assert results == [(0, "")]
    with np.load(_DATA / f"{model}.npz") as recorded:
        np.testing.assert_allclose(got, recorded["y"], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("host", _WITH)
def test_weights_are_unpacked_without_a_delegate(host, boxes):
    outputs = boxes(host).call(run_dense_of_bits, host)
    for output, batch in zip(outputs, (1, 2, 1), strict=True):
        np.testing.assert_array_equal(output, [[2, 16, -24]] * batch)


@pytest.mark.parametrize("host", _WITHOUT)
def test_other_hosts_get_a_clear_error(host, boxes):
    results, got = boxes(host).call(run_registered, host, "bitpacked_chain.float")
    assert got is None, "the operators stay unresolved"
    ((status, error),) = results
    assert status == 1
    for word in ("MutableOpResolver", "AddCustom", "delegate"):
        assert word in error


@pytest.mark.parametrize("host", HOSTS)
def test_no_resolver(host, boxes):
    status, error = boxes(host).call(register_null, host)
    assert status == 1 and error
