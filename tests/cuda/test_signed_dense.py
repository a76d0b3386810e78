"""Dense layers whose weights are bits and whose inputs are floats: NumPy's results, to the bit."""

import numpy as np
import pytest

import larq_engine
from tests import oracle
from tests.model_builder import ACTIVATION, ModelBuilder, add_quantize, add_weights


def _layer(rng: np.random.Generator, rows: int, depth: int, units: int, activation: str):
    """A layer and the signs of its results; its inputs, and what it computes of them."""
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
    model, x, expected = _layer(rng, rows, *size, activation)
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
