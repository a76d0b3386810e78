"""Hosts run layers with LceUnpackWeights as if the file had held floats, and as fast.

XNNPACK takes over a layer only if its weights are constants by then, so the tests compare what it
takes over with what it takes of a model with floats.
"""

import gc
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import larq_engine
from larq_engine.python import hosts
from tests import oracle
from tests.hosts import HOSTS
from tests.model_builder import ModelBuilder, add_weights

_SHAPE = (1, 6, 5, 8)

# Adds the weights to a model, as bits or as floats.
_AddWeights = Callable[[ModelBuilder, np.ndarray, np.ndarray, int], int]


def _expand(scale: np.ndarray, rank: int, axis: int) -> np.ndarray:
    """Returns the scale with the rank of the weights."""
    return scale.reshape([-1 if i == axis else 1 for i in range(rank)])


def _add_floats(builder: ModelBuilder, signs: np.ndarray, scale: np.ndarray, axis: int) -> int:
    return builder.constant(signs * _expand(scale, signs.ndim, axis))


# The operator, the shape of its weights, the axis of the scales, and the shape of its output.
_LAYERS: dict[str, tuple[tuple[int, ...], int, tuple[int, ...]]] = {
    "CONV_2D": ((7, 3, 3, 8), 0, (1, 6, 5, 7)),
    "DEPTHWISE_CONV_2D": ((1, 3, 3, 8), 3, _SHAPE),
    "TRANSPOSE_CONV": ((8, 3, 3, 8), 0, _SHAPE),
    "FULLY_CONNECTED": ((9, 240), 0, (1, 9)),
    "BATCH_MATMUL": ((8, 5), 1, (1, 6, 5, 5)),
}
_OPTIONS = {"padding": 0, "strideW": 1, "strideH": 1}


def _add_layer(
    builder: ModelBuilder, op: str, x: int, weights: int, output: Sequence[int], y: int
) -> None:
    bias = builder.constant(np.zeros(output[-1], np.float32))
    if op == "TRANSPOSE_CONV":
        shape = builder.constant(np.array(output, np.int32))
        builder.builtin(op, [shape, weights, x], [y], **_OPTIONS)
    elif op == "CONV_2D":
        builder.builtin(op, [x, weights, bias], [y], **_OPTIONS)
    elif op == "DEPTHWISE_CONV_2D":
        builder.builtin(op, [x, weights, bias], [y], depthMultiplier=1, **_OPTIONS)
    elif op == "FULLY_CONNECTED":
        builder.builtin(op, [x, weights, bias], [y])
    else:
        builder.builtin(op, [x, weights], [y])


def _layer_model(op: str, rng: np.random.Generator, add: _AddWeights) -> bytes:
    shape, axis, output = _LAYERS[op]
    signs = oracle.signs(rng.standard_normal(shape))
    scale = rng.uniform(0.1, 2, shape[axis]).astype(np.float32)
    builder = ModelBuilder()
    x, y = builder.tensor(_SHAPE, name="x"), builder.tensor(output, name="y")
    _add_layer(builder, op, x, add(builder, signs, scale, axis), output, y)
    return builder.finish([x], [y])


def _chain_model(rng: np.random.Generator, add: _AddWeights) -> bytes:
    """Builds every layer that keeps the shape, twice each, and a dense one."""
    builder = ModelBuilder()
    x = y = builder.tensor(_SHAPE, name="x")
    for op, shape in [
        ("CONV_2D", (8, 3, 3, 8)),
        ("DEPTHWISE_CONV_2D", (1, 3, 3, 8)),
        ("TRANSPOSE_CONV", (8, 3, 3, 8)),
    ] * 2:
        axis = _LAYERS[op][1]
        signs = oracle.signs(rng.standard_normal(shape))
        weights = add(builder, signs, rng.uniform(0.1, 1, 8).astype(np.float32), axis)
        before, y = y, builder.tensor(_SHAPE)
        _add_layer(builder, op, before, weights, _SHAPE, y)
    signs = oracle.signs(rng.standard_normal((9, 240)))
    weights = add(builder, signs, np.array([0.25], np.float32), 0)
    before, y = y, builder.tensor((1, 9), name="y")
    _add_layer(builder, "FULLY_CONNECTED", before, weights, (1, 9), y)
    return builder.finish([x], [y])


def _open(model: bytes, host: str) -> larq_engine.Interpreter:
    return larq_engine.Interpreter(model, host=host)


def _taken_over(interpreter: larq_engine.Interpreter) -> list[int]:
    """Returns the number of results of each part of the graph that a delegate runs."""
    host: Any = interpreter._session._interpreter
    nodes = host._get_ops_details()
    return sorted(len(node["outputs"]) for node in nodes if node["op_name"] == "DELEGATE")


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("axis", [0, 1, 2, 3])
@pytest.mark.parametrize("scales", ["one", "one each"])
def test_weights_are_scaled_signs(scales, axis, host, rng):
    signs = oracle.signs(rng.standard_normal((3, 4, 5, 7)))
    count = 1 if scales == "one" else signs.shape[axis]
    scale = rng.standard_normal(count).astype(np.float32)
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4)), builder.tensor((1, 4))
    builder.builtin("ADD", [x, x], [y])
    model = builder.finish([x], [y, add_weights(builder, signs, scale, axis)])
    got = _open(model, host).predict(np.zeros((1, 4), np.float32))[1]
    np.testing.assert_array_equal(got, signs * _expand(scale, 4, axis))


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("op", _LAYERS)
def test_a_layer_runs_as_with_floats(op, host, rng, request):
    seed = request.config.getoption("--seed")
    models = [
        _layer_model(op, np.random.default_rng(seed), add) for add in (add_weights, _add_floats)
    ]
    packed, floats = (_open(model, host) for model in models)
    x = rng.standard_normal(_SHAPE).astype(np.float32)
    np.testing.assert_array_equal(packed.predict(x), floats.predict(x))
    with_floats = _taken_over(floats)
    assert with_floats == [1] or (op, host) == ("BATCH_MATMUL", "tflite_runtime")
    assert _taken_over(packed) == [1, *with_floats], "the weights are ours, the layer is XNNPACK's"


@pytest.mark.parametrize("host", HOSTS)
def test_a_network_stays_in_one_part(host, rng, request):
    seed = request.config.getoption("--seed")
    models = [_chain_model(np.random.default_rng(seed), add) for add in (add_weights, _add_floats)]
    packed, floats = (_open(model, host) for model in models)
    x = rng.standard_normal(_SHAPE).astype(np.float32)
    np.testing.assert_array_equal(packed.predict(x), floats.predict(x))
    assert _taken_over(floats) == [1]
    assert _taken_over(packed) == [1, 7], "seven weights and what is left, each in one part"
    assert len(models[0]) < len(models[1])


def _dense(rng: np.random.Generator) -> tuple[bytes, np.ndarray]:
    """Returns x @ weights of whole numbers, where float32 is exact, and the weights."""
    signs = oracle.signs(rng.standard_normal((9, 40)))
    scale = rng.integers(1, 9, 9).astype(np.float32)
    builder = ModelBuilder()
    x, y = builder.tensor((1, 40), name="x"), builder.tensor((1, 9), name="y")
    weights = add_weights(builder, signs, scale, 0)
    _add_layer(builder, "FULLY_CONNECTED", x, weights, (1, 9), y)
    return builder.finish([x], [y]), (signs * scale[:, np.newaxis]).T


def _whole_numbers(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-8, 9, shape).astype(np.float32)


@pytest.mark.parametrize("host", HOSTS)
def test_batches_are_enlarged(host, rng):
    model, weights = _dense(rng)
    interpreter = _open(model, host)
    for samples in (5, 1, 3):
        x = _whole_numbers(rng, samples, 40)
        np.testing.assert_array_equal(interpreter.predict(x), x @ weights)
        assert interpreter._session._shapes == (x.shape,), "in one run"


def test_weights_are_no_activations(rng):
    """The pieces of a batch would be smaller if weights counted as activations."""
    model, _ = _dense(rng)
    assert larq_engine.Interpreter(model)._session.activation_bytes() == 4 * (40 + 9)


@pytest.mark.parametrize("host", HOSTS)
def test_allocated_again_and_again(host, rng):
    model, weights = _dense(rng)
    interpreter = hosts.import_host(host).Interpreter(
        model_content=model, experimental_delegates=[hosts.load_delegate(host)]
    )
    for batch in (1, 1, 4, 1):
        interpreter.resize_tensor_input(0, (batch, 40))
        interpreter.allocate_tensors()
        interpreter.allocate_tensors()
        x = _whole_numbers(rng, batch, 40)
        interpreter.set_tensor(0, x)
        interpreter.invoke()
        np.testing.assert_array_equal(interpreter.get_tensor(1), x @ weights)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("delegate_first", [False, True])
def test_interpreters_that_share_a_delegate_and_a_model(delegate_first, host, rng):
    model, weights = _dense(rng)
    delegate = hosts.load_delegate(host)
    module = hosts.import_host(host)
    interpreters = [
        module.Interpreter(model_content=model, experimental_delegates=[delegate]) for _ in range(3)
    ]
    for interpreter in interpreters:
        interpreter.allocate_tensors()
    if delegate_first:
        del delegate
    x = _whole_numbers(rng, 1, 40)
    while interpreters:
        for interpreter in interpreters:
            interpreter.set_tensor(0, x)
            interpreter.invoke()
            np.testing.assert_array_equal(interpreter.get_tensor(1), x @ weights)
        del interpreter, interpreters[0]
        gc.collect()


@pytest.mark.parametrize("host", HOSTS)
def test_weights_of_two_layers_and_of_the_user(host, rng):
    """Two layers, an operator that XNNPACK leaves to the host, and the user read them."""
    signs = oracle.signs(rng.standard_normal((40, 40)))
    builder = ModelBuilder()
    x, middle = builder.tensor((1, 40), name="x"), builder.tensor((1, 40))
    y, total = builder.tensor((1, 40), name="y"), builder.tensor((40, 40), name="total")
    weights = add_weights(builder, signs, np.array([2], np.float32), 0)
    _add_layer(builder, "FULLY_CONNECTED", x, weights, (1, 40), middle)
    _add_layer(builder, "FULLY_CONNECTED", middle, weights, (1, 40), y)
    builder.builtin("CUMSUM", [weights, builder.constant(np.array(0, np.int32))], [total])
    interpreter = _open(builder.finish([x], [y, total, weights]), host)
    data = _whole_numbers(rng, 1, 40)
    got = interpreter.predict(data)
    floats = 2 * signs
    np.testing.assert_array_equal(got[0], data @ floats.T @ floats.T)
    np.testing.assert_array_equal(got[1], np.cumsum(floats, 0))
    np.testing.assert_array_equal(got[2], floats)


@pytest.mark.parametrize("host", HOSTS)
def test_weights_in_a_branch(host, rng):
    """Every subgraph has its own weights."""
    signs = oracle.signs(rng.standard_normal((9, 40)))
    builder = ModelBuilder()
    condition, x = builder.tensor((1,), np.bool_, name="if"), builder.tensor((1, 40), name="x")
    y = builder.tensor((1, 9), name="y")
    for scale in (2, 3):
        branch = builder.subgraph()
        inner, result = branch.tensor((1, 40)), branch.tensor((1, 9))
        weights = add_weights(branch, signs, np.array([scale], np.float32), 0)
        _add_layer(branch, "FULLY_CONNECTED", inner, weights, (1, 9), result)
        branch.interface([inner], [result])
    builder.builtin("IF", [condition, x], [y], thenSubgraphIndex=1, elseSubgraphIndex=2)
    interpreter = _open(builder.finish([condition, x], [y]), host)
    data = _whole_numbers(rng, 1, 40)
    for taken, scale in ((True, 2), (False, 3)):
        got = interpreter.predict([np.array([taken]), data])
        np.testing.assert_array_equal(got, data @ signs.T * scale)
