"""LceBmatmul: products of matrices of two values each, against NumPy."""

import numpy as np
import pytest

import larq_engine
from tests.kernel_rows import KERNELS
from tests.model_builder import ModelBuilder, packed_shape
from tests.no_host import run_alone

SIGNS = (1.0, -1.0)
STEPS = (1.0, 0.0)
ODD_VALUES = (0.75, -1.5)


def product_model(left, right, values, *, open_batch=False, depth=None, words=None) -> bytes:
    """Builds a model that takes the signs of two tensors of floats and multiplies them.

    Args:
        left: Shape of the left matrices.
        right: Shape of the right matrices, whose rows become columns.
        values: Values of bits 0 and 1, of both sides.
        open_batch: Whether the file leaves axis 0 open.
        depth: The depth in the file, if it is not that of the shapes.
        words: Words of a row of the right side, which then is an input of bits.
    """
    builder = ModelBuilder()
    inputs, bits = [], []
    for shape in (left, right):
        if shape is right and words is not None:
            inputs.append(builder.tensor((*right[:-1], words), np.int32))
            bits.append(inputs[-1])
            continue
        signature = (-1, *shape[1:]) if open_batch else None
        inputs.append(builder.tensor(shape, signature=signature))
        bits.append(builder.tensor(packed_shape(shape), np.int32))
        builder.custom("LceQuantize", inputs[-1:], bits[-1:])
    numbers = builder.constant(np.asarray(values, np.float32))
    output = builder.tensor((*left[:-1], right[-2]))
    options = {"depth": left[-1] if depth is None else depth}
    builder.custom("LceBmatmul", [*bits, numbers], [output], options)
    return builder.finish(inputs, [output])


def two_values(x: np.ndarray, values: tuple[float, float]) -> np.ndarray:
    return np.where(x < 0, values[1], values[0])


def expected_product(x: np.ndarray, y: np.ndarray, left, right) -> np.ndarray:
    return two_values(x, left) @ np.swapaxes(two_values(y, right), -1, -2)


def random_floats(seed: int, *shapes) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((1, 1), (1, 1)),
        ((9, 31), (5, 31)),
        ((3, 33), (64, 33)),
        ((2, 4, 64, 64), (2, 4, 64, 64)),
        ((3, 17, 197), (3, 65, 197)),
        ((1, 2, 3, 7, 1000), (1, 2, 3, 9, 1000)),
        ((3, 130, 70), (3, 9, 70)),  # threads share the rows of a matrix
        ((200, 33), (9, 33)),
    ],
)
def test_products_of_signs_in_a_host_and_alone(left, right, kernel):
    """Sums of signs are whole numbers, so that all ways have equal results."""
    x, y = random_floats(1, left, right)
    content = product_model(left, right, (SIGNS, SIGNS))
    expected = expected_product(x, y, SIGNS, SIGNS)
    for threads in (1, 2):
        hosted = larq_engine.Interpreter(content, kernel=kernel, num_threads=threads)
        np.testing.assert_array_equal(hosted.predict([x, y]), expected)
        alone = larq_engine.Interpreter(content, host="none", kernel=kernel, num_threads=threads)
        np.testing.assert_array_equal(alone.predict([x, y]), expected)


@pytest.mark.parametrize("left", [SIGNS, STEPS, (-1.0, 1.0), ODD_VALUES])
@pytest.mark.parametrize("right", [SIGNS, STEPS, (0.0, 2.0), ODD_VALUES])
def test_products_of_other_values(left, right):
    """All values are multiples of a power of two, so that float32 holds every sum."""
    x, y = random_floats(2, (2, 9, 70), (2, 6, 70))
    content = product_model(x.shape, y.shape, (left, right))
    expected = expected_product(x, y, left, right)
    assert len(np.unique(expected)) > 3
    for kernel in KERNELS:
        got = larq_engine.Interpreter(content, kernel=kernel).predict([x, y])
        np.testing.assert_array_equal(got, expected)


def test_values_that_round():
    """All kernels round in the same places; each of three sums is within half a step."""
    left, right = (0.1, -0.3), (0.7, 0.2)
    x, y = random_floats(3, (4, 33, 300), (4, 20, 300))
    content = product_model(x.shape, y.shape, (left, right))
    results = [larq_engine.Interpreter(content, kernel=k).predict([x, y]) for k in KERNELS]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    largest = 300 * 0.3 * 0.7
    np.testing.assert_allclose(
        results[0], expected_product(x, y, left, right), rtol=0, atol=largest * 2**-21
    )


@pytest.mark.parametrize("batch", [1, 3, 17])
def test_other_batches(batch):
    content = product_model((1, 2, 5, 40), (1, 2, 6, 40), (STEPS, SIGNS), open_batch=True)
    x, y = random_floats(4, (batch, 2, 5, 40), (batch, 2, 6, 40))
    interpreter = larq_engine.Interpreter(content)
    interpreter.resize([x.shape, y.shape])
    np.testing.assert_array_equal(interpreter.predict([x, y]), expected_product(x, y, STEPS, SIGNS))
    (alone,) = run_alone(content, [x, y], 2)
    np.testing.assert_array_equal(alone, expected_product(x, y, STEPS, SIGNS))


def test_a_batch_runs_at_once():
    """A batch of matrices keeps its samples apart, so that `predict` may take any batch."""
    content = product_model((1, 2, 5, 40), (1, 2, 6, 40), (SIGNS, SIGNS), open_batch=True)
    x, y = random_floats(5, (7, 2, 5, 40), (7, 2, 6, 40))
    got = larq_engine.Interpreter(content).predict([x, y])
    np.testing.assert_array_equal(got, expected_product(x, y, SIGNS, SIGNS))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"left": (5, 40), "right": (1, 6, 40)}, "expected equally many matrices"),
        ({"left": (2, 5, 40), "right": (3, 6, 40)}, "expected equally many matrices"),
        ({"depth": 0}, "depth"),
        ({"depth": 2**31}, "depth"),
        ({"depth": 33}, "expected a depth of 33, got 40"),
        ({"depth": 65}, "expected a depth of 65, got 40"),
        ({"words": 3}, "expected 2 words for a depth of 40, got shape"),
        ({"values": (SIGNS,)}, r"expected shape \[2, 2\], got \[1, 2\]"),
        ({"values": (SIGNS, (1.0, np.inf))}, "expected finite numbers, got inf"),
        ({"values": ((3e20, 0.0), (3e20, -3e20))}, "expected numbers whose products add up to"),
        ({"values": (SIGNS, (np.nan, 1.0))}, "expected finite numbers, got -?nan"),
    ],
)
@pytest.mark.parametrize("host", ["litert", "none"])
def test_bad_input(changes, message, host):
    arguments = {"left": (5, 40), "right": (6, 40), "values": (SIGNS, SIGNS)} | changes
    with pytest.raises(ValueError, match=message) as caught:
        larq_engine.Interpreter(product_model(**arguments), host=host)
    assert "LceBmatmul" in str(caught.value)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_inputs_of_other_types(number):
    builder = ModelBuilder()
    dtypes = [np.int32, np.int32, np.float32]
    dtypes[number] = np.float32 if number < 2 else np.int32
    sides = [builder.tensor((4, 1), dtype) for dtype in dtypes[:2]]
    values = builder.constant(np.ones((2, 2), dtypes[2]))
    output = builder.tensor((4, 4))
    builder.custom("LceBmatmul", [*sides, values], [output], {"depth": 32})
    with pytest.raises(ValueError, match=r"LceBmatmul.*expected (int32|float32)"):
        larq_engine.Interpreter(builder.finish(sides, [output]), host="none")
