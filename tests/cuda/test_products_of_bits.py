"""LceBmatmul on a GPU, alone and with the operators after it in its kernel, against NumPy."""

import numpy as np
import pytest

import larq_engine
from tests.model_builder import ModelBuilder, packed_shape
from tests.python.test_bmatmul import (
    ODD_VALUES,
    SIGNS,
    STEPS,
    expected_product,
    product_model,
    random_floats,
)


@pytest.mark.parametrize("values", [(SIGNS, SIGNS), (STEPS, SIGNS), (ODD_VALUES, STEPS)])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((1, 1), (1, 1)),
        ((9, 31), (5, 31)),
        ((2, 4, 17, 64), (2, 4, 33, 64)),
        ((1, 2, 3, 7, 200), (1, 2, 3, 9, 200)),
    ],
)
def test_products(left, right, values):
    """All values are multiples of a power of two, so that float32 holds every sum."""
    x, y = random_floats(1, left, right)
    interpreter = larq_engine.Interpreter(product_model(left, right, values), device="cuda")
    np.testing.assert_array_equal(interpreter.predict([x, y]), expected_product(x, y, *values))
    assert {step.op: step.device.split(":")[0] for step in interpreter.profile(runs=1)}[
        "LceBmatmul"
    ] == "cuda"


def test_a_batch_that_is_open():
    content = product_model((1, 2, 5, 40), (1, 2, 6, 40), (STEPS, SIGNS), open_batch=True)
    x, y = random_floats(2, (3, 2, 5, 40), (3, 2, 6, 40))
    interpreter = larq_engine.Interpreter(content, device="cuda")
    interpreter.resize([x.shape, y.shape])
    np.testing.assert_array_equal(interpreter.predict([x, y]), expected_product(x, y, STEPS, SIGNS))


@pytest.mark.parametrize("fuse", [True, False])
def test_a_scale_and_signs_follow(fuse):
    """Scores of attention become bits, which the next product reads."""
    x, y = random_floats(3, (2, 9, 64), (2, 40, 64))
    builder = ModelBuilder()
    inputs, bits = [], []
    for array in (x, y):
        inputs.append(builder.tensor(array.shape))
        bits.append(builder.tensor(packed_shape(array.shape), np.int32))
        builder.custom("LceQuantize", inputs[-1:], bits[-1:])
    scores, scaled, output = (builder.tensor((2, 9, 40)) for _ in range(3))
    values = builder.constant(np.array([SIGNS, SIGNS], np.float32))
    builder.custom("LceBmatmul", [*bits, values], [scores], {"depth": 64})
    builder.builtin("ADD", [scores, builder.constant(np.full(1, 3.5, np.float32))], [scaled])
    signs = builder.tensor(packed_shape((2, 9, 40)), np.int32)
    builder.custom("LceQuantize", [scaled], [signs])
    builder.custom("LceDequantize", [signs], [output])
    interpreter = larq_engine.Interpreter(
        builder.finish(inputs, [output]), device="cuda", fuse=fuse
    )
    expected = np.where(expected_product(x, y, SIGNS, SIGNS) + 3.5 < 0, -1.0, 1.0)
    np.testing.assert_array_equal(interpreter.predict([x, y]), expected)
