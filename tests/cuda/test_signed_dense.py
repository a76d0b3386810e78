"""Tests dense layers of weight bits: with floats against NumPy, with int8 against the host."""

import numpy as np
import pytest

import larq_engine
from tests import oracle
from tests.cuda.expected_times import expected_us
from tests.model_builder import ABSENT, ACTIVATION, ModelBuilder, add_quantize, add_weights
from tests.python.test_signed_dense import Layer


def _layer(rng: np.random.Generator, rows: int, depth: int, units: int, activation: str):
    """Returns a layer with the signs of its results, its inputs, and the expected results."""
    signs = oracle.signs(rng.standard_normal((units, depth)))
    scale = rng.uniform(0.1, 2, units).astype(np.float32)
    bias = rng.standard_normal(units).astype(np.float32)
    x = rng.standard_normal((rows, depth)).astype(np.float32)
    builder = ModelBuilder()
    given = builder.tensor((1, depth), np.float32)
    y = builder.tensor((1, units), np.float32, name="y")
    weights = add_weights(builder, signs, scale, 0)
    builder.builtin(
        "FULLY_CONNECTED",
        [given, weights, builder.constant(bias)],
        [y],
        fusedActivationFunction=ACTIVATION[activation],
    )
    z = builder.tensor((1, units), np.float32)
    builder.custom("LceDequantize", [add_quantize(builder, y, (1, units))], [z])
    low, high = {"NONE": (-np.inf, np.inf), "RELU6": (0, 6)}[activation]
    sums = oracle.signed_sums(x, signs) * scale + bias
    expected = np.clip(sums, np.float32(low), np.float32(high))
    return builder.finish([given], [y, z]), x, expected


@pytest.mark.parametrize("activation", ["NONE", "RELU6"])
@pytest.mark.parametrize("rows", [1, 6])
@pytest.mark.parametrize("size", [(1, 1), (33, 31), (64, 32), (100, 70), (784, 10)], ids=str)
def test_results_are_those_of_numpy(size, rows, activation, rng, assert_no_leaks):
    model, x, expected = _layer(rng, rows, *size, activation=activation)
    with larq_engine.Interpreter(model, device="cuda") as interpreter:
        y, z = interpreter.predict(x)
        table = {row.op: row for row in interpreter.profile(x[:1], runs=1)}
    np.testing.assert_array_equal(y, expected)
    np.testing.assert_array_equal(z, oracle.signs(expected))
    layer = table["FULLY_CONNECTED"]
    assert (layer.device, layer.kernel) == ("cuda", "signed_dense")
    assert_no_leaks()


def test_a_placed_layer_is_the_same_on_both_devices(rng):
    model, x, expected = _layer(rng, 3, 300, 40, "NONE")
    for place in ("1:cpu", "1:cuda"):
        with larq_engine.Interpreter(model, device="cuda", placement=place) as interpreter:
            np.testing.assert_array_equal(interpreter.predict(x)[0], expected)


@pytest.mark.parametrize("activation", ["NONE", "RELU6"])
@pytest.mark.parametrize("rows", [1, 6])
@pytest.mark.parametrize("size", [(1, 1), (33, 31), (64, 32), (100, 70), (784, 10)], ids=str)
def test_int8_results_are_those_of_the_host(size, rows, activation, rng, assert_no_leaks):
    layer = Layer(rng, *size, dtype=np.int8)
    layer.shape = (rows, size[0])
    layer.activation = activation
    layer.in_zero, layer.out_zero = (int(zero) for zero in rng.integers(-128, 128, 2))
    x = layer.inputs()
    with larq_engine.Interpreter(
        layer.build(packed=True), device="cuda", placement="1:cuda"
    ) as interpreter:
        y = interpreter.predict(x)
        table = {row.op: row for row in interpreter.profile(x, runs=1)}
    assert (table["FULLY_CONNECTED"].device, table["FULLY_CONNECTED"].kernel) == (
        "cuda",
        "signed_dense_int8",
    )
    with larq_engine.Interpreter(layer.build(packed=False), device="cpu") as host:
        np.testing.assert_array_equal(y, host.predict(x))
    assert_no_leaks()


def test_few_units_are_expected_to_take_as_long_as_their_depth(rng):
    """A warp adds up the whole depth, so the time does not fall with the number of units."""

    def expected(depth, units):
        model, x, _ = _layer(rng, 1, depth, units, "NONE")
        with larq_engine.Interpreter(model, device="auto") as interpreter:
            interpreter.predict(x)
            return expected_us(interpreter)["FULLY_CONNECTED"]

    deep = expected(16384, 32)
    assert deep > 50
    assert deep == pytest.approx(2 * expected(8192, 32), rel=0.1)
    assert expected(8192, 256) == pytest.approx(expected(8192, 32), rel=0.1)


def test_int8_layers_next_to_others_are_taken(rng):
    """Bits become int8 for a layer, and its results become bits again."""
    depth, units = 64, 40
    signs = oracle.signs(rng.standard_normal((units, depth)))
    builder = ModelBuilder()
    weights = add_weights(builder, signs, np.ones(1, np.float32), 0, int8_scale=1.0)
    given = builder.tensor((1, depth), np.float32)
    bytes_ = builder.tensor((1, depth), np.int8, scale=1.0)
    builder.custom("LceDequantize", [add_quantize(builder, given, (1, depth))], [bytes_])
    y = builder.tensor((1, units), np.int8, scale=1.0)
    builder.builtin("FULLY_CONNECTED", [bytes_, weights, ABSENT], [y])
    z = builder.tensor((1, units), np.float32)
    builder.custom("LceDequantize", [add_quantize(builder, y, (1, units))], [z])
    x = rng.standard_normal((5, depth)).astype(np.float32)
    with larq_engine.Interpreter(builder.finish([given], [z]), device="cuda") as interpreter:
        got = interpreter.predict(x)
        rows = list(interpreter.profile(x[:1], runs=1))
    np.testing.assert_array_equal(got, oracle.signs(oracle.signs(x) @ signs.T))
    assert {row.device for row in rows if row.op == "FULLY_CONNECTED"} == {"cuda"}
    assert sum(row.op == "TRANSFER" for row in rows) == 2
