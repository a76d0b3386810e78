"""Only graphs that keep samples apart run in batches that the file does not declare."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import larq_engine
from larq_engine.python.samplewise import is_samplewise
from tests.hosts import HOSTS
from tests.model_builder import ABSENT, ModelBuilder, add_weights

_SHAPE = (1, 2, 3, 4)

_Build = Callable[[ModelBuilder, int], int]


def _op(
    op: str,
    *constants: Any,
    shape: Sequence[int] = _SHAPE,
    dtype: Any = np.float32,
    source: Sequence[int] = _SHAPE,
    inputs: int = 1,
    custom: bool = False,
    **options: Any,
) -> tuple[Sequence[int], _Build]:
    """Returns the input's shape, and a function that adds an operator on x and constants."""

    def build(builder: ModelBuilder, x: int) -> int:
        y = builder.tensor(shape, dtype, name="y")
        numbers = [builder.constant(np.asarray(c)) if c is not None else ABSENT for c in constants]
        add = builder.custom if custom else builder.builtin
        arguments = {"options": options} if custom and options else options
        add(op, [x] * inputs + numbers, [y], **arguments)
        return y

    return source, build


def _then(*steps: tuple[Sequence[int], _Build]) -> tuple[Sequence[int], _Build]:
    def build(builder: ModelBuilder, x: int) -> int:
        for _, step in steps:
            x = step(builder, x)
        return x

    return steps[0][0], build


def _two_ranks(builder: ModelBuilder, x: int) -> int:
    """Adds x to x with one more leading axis: [N, 4] + [N, 1, 4] is [N, N, 4]."""
    shape = builder.constant(np.array([-1, 1, 4], np.int32))
    tall, y = builder.tensor((1, 1, 4)), builder.tensor((1, 1, 4), name="y")
    builder.builtin("RESHAPE", [x, shape], [tall])
    builder.builtin("ADD", [x, tall], [y])
    return y


def _constant_output(builder: ModelBuilder, x: int) -> int:
    """Adds a result that does not depend on x, and whose axis 0 is no batch, though it is 1."""
    y = builder.tensor((1, 4), name="y")
    ones = builder.constant(np.ones((1, 4), np.float32))
    builder.builtin("ADD", [x, x], [builder.tensor(_SHAPE)])
    builder.builtin("ADD", [ones, ones], [y])
    return y


def _half_weights(builder: ModelBuilder, x: int) -> int:
    """Adds a constant that is computed from another constant."""
    scale, y = builder.tensor((4,)), builder.tensor(_SHAPE, name="y")
    builder.builtin("DEQUANTIZE", [builder.constant(np.ones(4, np.float16))], [scale])
    builder.builtin("MUL", [x, scale], [y])
    return y


def _split(axis: int, parts: int, part: Sequence[int], source: Sequence[int] = _SHAPE) -> Any:
    """Returns a function that adds the first part of x."""

    def build(builder: ModelBuilder, x: int) -> int:
        outputs = [builder.tensor(part) for _ in range(parts)]
        axis_number = builder.constant(np.array(axis, np.int32))
        builder.builtin("SPLIT", [axis_number, x], outputs, numSplits=parts)
        return outputs[0]

    return source, build


def _unpacked_weights(builder: ModelBuilder, x: int) -> int:
    weights = add_weights(builder, np.ones((5, 24), np.float32), _f(5), 0)
    y, bias = builder.tensor((1, 5), name="y"), builder.constant(_f(5))
    builder.builtin("FULLY_CONNECTED", [x, weights, bias], [y])
    return y


def _ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def _f(*shape: int) -> np.ndarray:
    return np.arange(1, np.prod(shape, dtype=int) + 1, dtype=np.float32).reshape(shape)


_POOL = {"padding": 1, "strideW": 1, "strideH": 1, "filterWidth": 2, "filterHeight": 2}
_PADS = ((0, 0), (0, 0), (1, 0), (0, 2))

_APART: dict[str, tuple[Sequence[int], _Build]] = {
    **{op: _op(op) for op in ("RELU", "RELU6", "RELU_N1_TO_1", "LOGISTIC", "TANH", "ELU")},
    "HARD_SWISH": _op("HARD_SWISH"),
    "LEAKY_RELU": _op("LEAKY_RELU", alpha=0.5),
    "PRELU": _op("PRELU", _f(1, 1, 4)),
    "softmax": _op("SOFTMAX", beta=1.0),
    "LceQuantize": _op("LceQuantize", custom=True, shape=(1, 2, 3, 1), dtype=np.int32),
    "x + x": _op("ADD", inputs=2),
    "x - vector": _op("SUB", _f(4)),
    "x / channels": _op("DIV", _f(1, 1, 1, 4)),
    "x * scalar": _op("MUL", np.float32(3)),
    "max": _op("MAXIMUM", _f(2, 3, 4)),
    "min": _op("MINIMUM", _f(1, 3, 1)),
    "convolution": _op(
        "CONV_2D", _f(5, 2, 2, 4), _f(5), shape=(1, 1, 2, 5), padding=1, strideW=1, strideH=1
    ),
    "pool": _op("MAX_POOL_2D", shape=(1, 1, 2, 4), **_POOL),
    "fully connected": _op("FULLY_CONNECTED", _f(5, 24), None, shape=(1, 5)),
    "concatenation": _op("CONCATENATION", inputs=3, shape=(1, 2, 3, 12), axis=3),
    "concatenation from the end": _op("CONCATENATION", inputs=2, shape=(1, 2, 6, 4), axis=-2),
    "pad": _op("PAD", _ints(*_PADS), shape=(1, 2, 4, 6)),
    "pad with a value": _op("PADV2", _ints(*_PADS), np.float32(7), shape=(1, 2, 4, 6)),
    "mean": _op("MEAN", _ints(1, 2), shape=(1, 4)),
    "sum of an axis from the end": _op("SUM", _ints(-1), shape=(1, 2, 3)),
    "maximum along an axis": _op("REDUCE_MAX", np.int32(2), shape=(1, 2, 1, 4), keepDims=True),
    "transpose": _op("TRANSPOSE", _ints(0, 3, 1, 2), shape=(1, 4, 2, 3)),
    "reshape": _op("RESHAPE", _ints(-1, 24), shape=(1, 24)),
    "round": _op("ROUND"),
    "matrix product": _op("BATCH_MATMUL", _f(4, 5), source=(1, 4), shape=(1, 5)),
    "matrix product of pixels": _op("BATCH_MATMUL", _f(4, 5), shape=(1, 2, 3, 5)),
    "product of batches": _op("BATCH_MATMUL", inputs=2, source=(1, 2, 3, 3), shape=(1, 2, 3, 3)),
    "split": _split(3, 2, (1, 2, 3, 2)),
    "split from the end": _split(-3, 2, (1, 1, 3, 4)),
    "weights that were bits": (_SHAPE, _unpacked_weights),
    "constants of constants": (_SHAPE, _half_weights),
    "a chain": _then(
        _op("PAD", _ints(*_PADS), shape=(1, 2, 4, 6)),
        _op("MEAN", _ints(1, 2), shape=(1, 6)),
        _op("FULLY_CONNECTED", _f(5, 6), None, shape=(1, 5)),
        _op("SOFTMAX", beta=1.0, shape=(1, 5)),
    ),
    "a declared batch of 2": _op("ADD", _f(1, 4), source=(2, 4), shape=(2, 4)),
}

_NOT_KNOWN_TO_BE: dict[str, tuple[Sequence[int], _Build]] = {
    "an operator that mixes": _op("CUMSUM", np.int32(0)),
    "one that is not in the table": _op("LOG_SOFTMAX"),
    "a known one after it": _then(_op("CUMSUM", np.int32(0)), _op("RELU")),
    "a constant for each sample": _op("ADD", _f(2, 4), source=(2, 4), shape=(2, 4)),
    "a constant of higher rank": _op("ADD", _f(1, 1, 4), source=(1, 4), shape=(1, 1, 4)),
    "batches of two ranks": ((1, 4), _two_ranks),
    "softmax of a batch alone": _op("SOFTMAX", source=(1,), shape=(1,), beta=1.0),
    "bits of a batch alone": _op(
        "LceQuantize", custom=True, source=(1,), shape=(1,), dtype=np.int32
    ),
    "split samples": _split(0, 2, (1, 4), source=(2, 4)),
    "product with a matrix for each sample": _op("BATCH_MATMUL", _f(1, 4, 5), shape=(1, 2, 3, 5)),
    "product that may be of columns": _op("BATCH_MATMUL", _f(1, 5), source=(1, 1), shape=(1, 5)),
    "product of matrices that may be samples": _op(
        "BATCH_MATMUL", inputs=2, source=(1, 1), shape=(1, 1)
    ),
    "concatenation with a constant": _op(
        "CONCATENATION", _f(1, 2, 3, 1), shape=(1, 2, 3, 5), axis=3
    ),
    "concatenation of samples": _then(
        _op("CONCATENATION", inputs=2, shape=(2, 2, 3, 4), axis=0),
        _op("MEAN", _ints(0), shape=_SHAPE, keepDims=True),
    ),
    "padded samples": _op("PAD", _ints((1, 0), (0, 0)), source=(1, 4), shape=(2, 4)),
    "mean of samples": _op("MEAN", _ints(1, 0), shape=(1, 1, 3, 4), keepDims=True),
    "sum of samples, from the end": _op("SUM", _ints(-4), shape=_SHAPE, keepDims=True),
    "transposed samples": _op("TRANSPOSE", _ints(1, 0), source=(1, 1), shape=(1, 1)),
    "a reshape that fixes the batch": _op("RESHAPE", _ints(1, 24), shape=(1, 24)),
    "a reshape that puts samples side by side": _op("RESHAPE", _ints(1, -1), shape=(1, 24)),
    "a fully connected layer over pixels": _op("FULLY_CONNECTED", _f(5, 4), None, shape=(6, 5)),
    "weights that are samples": _op("FULLY_CONNECTED", None, inputs=2, source=(1, 4), shape=(1, 1)),
    "an output without samples": (_SHAPE, _constant_output),
}


def _model(case: tuple[Sequence[int], _Build]) -> bytes:
    source, build = case
    builder = ModelBuilder()
    x = builder.tensor(source, name="x")
    return builder.finish([x], [build(builder, x)])


def _samples(interpreter: larq_engine.Interpreter, rng: np.random.Generator) -> list[np.ndarray]:
    """Returns three inputs of the declared shape."""
    return list(rng.standard_normal((3, *interpreter.input_shapes[0])).astype(np.float32))


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", _APART)
def test_graphs_that_keep_samples_apart(name, host, rng):
    interpreter = larq_engine.Interpreter(_model(_APART[name]), host=host)
    assert is_samplewise(interpreter._session)
    pieces = _samples(interpreter, rng)
    x, apart = np.concatenate(pieces), np.concatenate(list(map(interpreter.predict, pieces)))
    np.testing.assert_allclose(interpreter.predict(x), apart, rtol=1e-6)
    assert interpreter._session._shapes == (x.shape,), "in one run"


@pytest.mark.parametrize("name", _NOT_KNOWN_TO_BE)
def test_graphs_that_may_mix_samples_run_as_declared(name, rng):
    model = _model(_NOT_KNOWN_TO_BE[name])
    interpreter = larq_engine.Interpreter(model)
    assert not is_samplewise(interpreter._session)
    pieces = _samples(interpreter, rng)
    apart = np.concatenate(list(map(larq_engine.Interpreter(model).predict, pieces)))
    np.testing.assert_array_equal(interpreter.predict(np.concatenate(pieces)), apart)


def test_quantization_of_each_sample():
    """The file has one scale for each sample that it declares, and none for a third."""
    scales = {"scale": [0.5, 0.25], "zero_point": [0, 0], "quantized_dimension": 0}
    for quantization, expected in (({"scale": 0.5}, True), (scales, False)):
        builder = ModelBuilder()
        x = builder.tensor((2, 4), np.int8, name="x", **quantization)
        y = builder.tensor((2, 4), name="y")
        builder.builtin("DEQUANTIZE", [x], [y])
        interpreter = larq_engine.Interpreter(builder.finish([x], [y]))
        assert is_samplewise(interpreter._session) == expected
        ones = np.ones((4, 4), np.int8)
        step = np.full((4, 4), 0.5) if expected else np.array([[0.5], [0.25]] * 2) * ones
        np.testing.assert_array_equal(interpreter.predict(ones), step)


@pytest.mark.parametrize(("computed", "expected"), [(False, True), (True, False)])
def test_axes_that_are_computed(computed, expected, monkeypatch):
    """Nothing says what the axes will be, whatever is in their memory before a run."""
    builder = ModelBuilder()
    x, axes, y = builder.tensor((1, 4)), builder.constant(_ints(1)), builder.tensor((1, 1))
    if computed:
        axes, one = builder.tensor((1,), np.int32), axes
        builder.builtin("SUB", [one, one], [axes])
    builder.builtin("SUM", [x, axes], [y], keepDims=True)
    session = larq_engine.Interpreter(builder.finish([x], [y]))._session
    monkeypatch.setattr(session, "constant", lambda number: _ints(1))
    assert is_samplewise(session) == expected
