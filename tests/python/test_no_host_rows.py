"""Chains of operators on rows, such as layer norms as converters write them, without a host."""

import numpy as np
import pytest

from tests.model_builder import ModelBuilder
from tests.no_host import run_alone, run_in_host

_EPSILON = 1e-3
_CHANNELS = 40

_RNG = np.random.default_rng(5)
_SCALE = _RNG.uniform(0.5, 2, _CHANNELS).astype(np.float32)
_SHIFT = _RNG.normal(size=_CHANNELS).astype(np.float32)


class _Chain:
    """A model of operators one after another. Open sizes are those of the rows."""

    def __init__(self, rank: int) -> None:
        self._builder = ModelBuilder()
        self._rank = rank
        self.x = self._tensor(rank)

    def _tensor(self, rank):
        return self._builder.tensor((1,) * rank, signature=(-1,) * rank)

    def add(self, kind, *operands, rank=None, **options):
        numbers = [
            self._builder.constant(operand) if isinstance(operand, np.ndarray) else operand
            for operand in operands
        ]
        output = self._tensor(self._rank if rank is None else rank)
        self._builder.builtin(kind, numbers, [output], **options)
        return output

    def mean(self, x):
        return self.add("MEAN", x, np.array([-1], np.int32), keepDims=True)

    def finish(self, y) -> bytes:
        return self._builder.finish([self.x], [y])


def _centred(rank):
    """Writes the norm as ONNX models do: the difference from the mean is divided."""
    chain = _Chain(rank)
    centred = chain.add("SUB", chain.x, chain.mean(chain.x))
    variance = chain.mean(chain.add("SQUARE", centred))
    deviation = chain.add("SQRT", chain.add("ADD", variance, np.float32([_EPSILON])))
    scaled = chain.add("MUL", chain.add("DIV", centred, deviation), _SCALE)
    return chain.finish(chain.add("ADD", scaled, _SHIFT))


def _folded(rank):
    """Writes it as Keras does: a factor and a summand for each value."""
    chain = _Chain(rank)
    mean = chain.mean(chain.x)
    variance = chain.mean(chain.add("SQUARED_DIFFERENCE", chain.x, mean))
    inverse = chain.add("RSQRT", chain.add("ADD", variance, np.float32([_EPSILON])))
    factor = chain.add("MUL", inverse, _SCALE.reshape((1,) * (rank - 1) + (-1,)))
    moved = chain.add("MUL", chain.add("NEG", mean), factor)
    scaled = chain.add("MUL", chain.x, factor)
    return chain.finish(chain.add("ADD", chain.add("ADD", scaled, moved), _SHIFT))


def _flat(rank):
    """Writes it as PyTorch's exporter does: means lose their axes, and get them back."""
    chain = _Chain(rank)
    column = np.array([-1, 1], np.int32)
    rows = chain.add("RESHAPE", chain.x, np.array([-1, _CHANNELS], np.int32), rank=2)
    last = np.array([1], np.int32)
    mean = chain.add("MEAN", rows, last, rank=1, keepDims=False)
    middle = chain.add("RESHAPE", mean, column, rank=2)
    squares = chain.add("SQUARED_DIFFERENCE", rows, middle, rank=2)
    variance = chain.add("MEAN", squares, last, rank=1, keepDims=False)
    inverse = chain.add("RSQRT", chain.add("ADD", variance, np.float32([_EPSILON]), rank=1), rank=1)
    moved = chain.add("SUB", np.float32([0]), chain.add("MUL", inverse, mean, rank=1), rank=1)
    scaled = chain.add("MUL", rows, chain.add("RESHAPE", inverse, column, rank=2), rank=2)
    normed = chain.add("ADD", scaled, chain.add("RESHAPE", moved, column, rank=2), rank=2)
    shaped = chain.add("MUL", normed, _SCALE, rank=2)
    shifted = chain.add("ADD", shaped, _SHIFT, rank=2)
    shape = np.array([-1, *(5, 1)[: rank - 2], _CHANNELS], np.int32)
    return chain.finish(chain.add("RESHAPE", shifted, shape))


def _expected(x):
    x = x.astype(np.float64)
    centred = x - x.mean(axis=-1, keepdims=True)
    deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + _EPSILON)
    return centred / deviation * _SCALE + _SHIFT


# Some twenty roundings of values below 20, and a variance that has those of its 40 summands.
_BOUND = 100 * 20 * 2.0**-24


@pytest.mark.parametrize("samples", [1, 3, 17])
@pytest.mark.parametrize("rank", [2, 3, 4])
@pytest.mark.parametrize("write", [_centred, _folded, _flat])
def test_layer_norms(write, rank, samples, rng):
    shape = (samples, *(5, 1)[: rank - 2], _CHANNELS)
    x = rng.normal(1, 2, shape).astype(np.float32)
    content = write(rank)
    expected = _expected(x)
    alone = run_alone(content, [x])[0]
    for result in (alone, run_in_host(content, [x])[0]):
        assert result.shape == expected.shape
        assert np.abs(result - expected).max() <= _BOUND
    np.testing.assert_array_equal(run_alone(content, [x], 2)[0], alone)
    np.testing.assert_array_equal(run_alone(content, [x], fuse=False)[0], alone)


@pytest.mark.parametrize("rows", [1, 15, 16, 100])
@pytest.mark.parametrize("kind", ["ADD", "MUL", "SUB", "DIV", "MAXIMUM", "SQUARED_DIFFERENCE"])
@pytest.mark.parametrize("swaps", [False, True])
def test_one_value_a_row(kind, rows, swaps, rng):
    """Operators that follow each other read the value of their own row, in each of their tiles."""
    chain = _Chain(3)
    first = chain.add("NEG", chain.x)
    operands = (first, chain.mean(first))
    content = chain.finish(chain.add(kind, *(operands[::-1] if swaps else operands)))
    x = rng.normal(1, 2, (1, rows, 300)).astype(np.float32)
    alone = run_alone(content, [x])[0]
    unfused = run_alone(content, [x], fuse=False)[0]
    np.testing.assert_array_equal(alone, unfused)
    function = {
        "ADD": np.add,
        "MUL": np.multiply,
        "SUB": np.subtract,
        "DIV": np.divide,
        "MAXIMUM": np.maximum,
        "SQUARED_DIFFERENCE": lambda a, b: (a - b) ** 2,
    }[kind]
    mean = (-x).astype(np.float64).mean(axis=-1, keepdims=True)
    expected = function(mean, -x) if swaps else function(-x, mean)
    np.testing.assert_allclose(alone, expected, rtol=1e-3, atol=1e-4)
