"""GATHER and GATHER_ND by indices that are computed give LiteRT's elements without a host."""

import numpy as np
import pytest

from larq_engine.python import no_host
from tests.one_operator import OneOperator

_TYPES = [np.float32, np.int8, np.int32, np.int64, np.bool_]


def _data(rng, shape, dtype=np.float32):
    if dtype == np.float32:
        return rng.standard_normal(shape).astype(np.float32)
    return rng.integers(0, 2 if dtype == np.bool_ else 100, shape).astype(dtype)


def _gather(data, indices, rank, constants=(), **options) -> OneOperator:
    return OneOperator(
        "GATHER", [data, indices], data.dtype, constants=constants, rank=rank, **options
    )


def _gather_nd(data, indices, rank, constants=()) -> OneOperator:
    return OneOperator("GATHER_ND", [data, indices], data.dtype, constants=constants, rank=rank)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", _TYPES)
@pytest.mark.parametrize("shape", [(), (6,), (1,), (17, 3), (0,), (2, 1, 3)])
def test_along_an_axis(rng, shape, dtype, index_type):
    data = _data(rng, (4, 3, 5), dtype)
    for axis in (0, 1, 2, -1):
        indices = rng.integers(0, data.shape[axis], shape).astype(index_type)
        expected = np.take(data, indices, axis)
        for constants in ([], [0]):
            gather = _gather(data, indices, expected.ndim, constants, axis=axis)
            for threads in (1, 2):
                np.testing.assert_array_equal(gather.run(threads), expected)
        if dtype != np.bool_ and indices.size:
            np.testing.assert_array_equal(gather.run_in_litert(), expected)


def test_constant_indices_of_several_dimensions(rng):
    data = _data(rng, (4, 3, 5))
    indices = rng.integers(0, 3, (2, 6)).astype(np.int32)
    gather = _gather(data, indices, 4, [1], axis=1)
    np.testing.assert_array_equal(gather.run(), np.take(data, indices, 1))


@pytest.mark.parametrize(("axis", "batch_dims"), [(1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (-1, 2)])
def test_indices_of_each_sample(rng, axis, batch_dims):
    data = _data(rng, (3, 4, 5, 6))
    indices = rng.integers(0, 4, (*data.shape[:batch_dims], 7)).astype(np.int32)
    gather = _gather(data, indices, 4, axis=axis, batchDims=batch_dims)
    gather.check_equal()


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int32])
@pytest.mark.parametrize("indices", [(1,), (7, 1), (7, 2), (2, 3, 3), (17, 3), (0, 2)])
def test_by_tuples(rng, indices, dtype):
    data = _data(rng, (4, 3, 5), dtype)
    tuples = rng.integers(0, 3, indices).astype(np.int32)
    expected = data[tuple(np.moveaxis(tuples, -1, 0))]
    gather = _gather_nd(data, tuples, expected.ndim)
    for threads in (1, 2):
        np.testing.assert_array_equal(gather.run(threads), expected)
    if tuples.size:
        np.testing.assert_array_equal(gather.run_in_litert(), expected)


def test_tuples_of_no_index(rng):
    data = _data(rng, (4, 3))
    made = _gather_nd(data, np.zeros((2, 0), np.int32), 3).run()
    np.testing.assert_array_equal(made, [data, data])


def test_samples_that_a_gather_exchanges(rng):
    """A batch is not computed in parts if an operator moves samples to other places."""
    data = _data(rng, (64, 32, 20, 20))
    order = rng.permutation(64).astype(np.int32)
    np.testing.assert_array_equal(_gather(data, order, 4, axis=0).run(), data[order])


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("wrong", [3, -1, 2**31 - 1, -(2**31)])
def test_indices_that_do_not_exist(rng, wrong, index_type):
    """A run fails, as LiteRT's does, and the next one is right again."""
    data = _data(rng, (3, 4))
    gathers = [(_gather(data, np.zeros(2, index_type), 2, axis=0), [0, wrong])]
    gathers.append((_gather_nd(data, np.zeros((2, 1), index_type), 2), [[0], [wrong]]))
    for gather, indices in gathers:
        interpreter = no_host.Interpreter(model_content=gather.content)
        for row, array in zip(interpreter.get_input_details(), gather.inputs, strict=True):
            interpreter.resize_tensor_input(row["index"], array.shape)
        interpreter.allocate_tensors()
        numbers = [row["index"] for row in interpreter.get_input_details()]
        output = interpreter.get_output_details()[0]["index"]
        interpreter.set_tensor(numbers[0], data)
        interpreter.set_tensor(numbers[1], np.array(indices, index_type))
        with pytest.raises(ValueError, match=rf"GATHER.* sizes \[3\], got {wrong}; feed"):
            interpreter.invoke()
        interpreter.set_tensor(numbers[1], np.zeros_like(np.array(indices), index_type))
        interpreter.invoke()
        np.testing.assert_array_equal(interpreter.get_tensor(output), data[[0, 0]])
        with pytest.raises(RuntimeError):
            OneOperator(
                "GATHER" if np.ndim(indices) == 1 else "GATHER_ND",
                [data, np.array(indices, index_type)],
                rank=2,
            ).run_in_litert()


def test_no_data(rng):
    with pytest.raises(ValueError, match=r"sizes \[0\], got 0"):
        _gather(np.zeros((0, 4), np.float32), np.zeros(2, np.int32), 2).run()


@pytest.mark.parametrize(
    ("operator", "text"),
    [
        (lambda x: _gather(x, np.zeros((3, 2), np.int32), 4, axis=1, batchDims=1), "axis 1 behind"),
        (lambda x: _gather(x, np.array(0, np.int32), 2, axis=1, batchDims=1), "axis 1 behind"),
        (lambda x: _gather_nd(x, np.zeros((2, 4), np.int32), 1), "at most as many dimensions"),
        (lambda x: _gather_nd(x, np.array(0, np.int32), 1), "at most as many dimensions"),
    ],
)
def test_shapes_that_do_not_fit(rng, operator, text):
    with pytest.raises(ValueError, match=text):
        operator(_data(rng, (2, 3, 4))).run()


@pytest.mark.parametrize(
    "operator",
    [
        lambda x: _gather(x, np.zeros(2, np.float32), 3),
        lambda x: _gather(x, np.zeros(2, np.int8), 3),
        lambda x: _gather(x, np.zeros(2, np.int32), 3, axis=3),
        lambda x: _gather(x, np.zeros(2, np.int32), 3, batchDims=-1),
        lambda x: _gather(x, np.zeros((2, 2), np.int32), 4, axis=0, batchDims=1),
        lambda x: OneOperator("GATHER", [x, np.zeros(2, np.int32)], np.int32, rank=3),
        lambda x: OneOperator("GATHER", [x], rank=3),
    ],
)
def test_forms_that_are_refused(rng, operator):
    with pytest.raises(ValueError, match=r"got GATHER '|the file is corrupted"):
        operator(_data(rng, (2, 3, 4))).run()
