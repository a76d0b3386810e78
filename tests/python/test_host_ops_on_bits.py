"""The host's own operators on bits, between ours, move whole words.

A group of 32 channels is a word. So if the number of channels is a multiple of 32, reshaping,
joining, splitting, transposing and padding words does the same to the channels.
"""

from collections.abc import Sequence

import numpy as np
import pytest

import larq_engine
from tests import oracle
from tests.hosts import HOSTS
from tests.model_builder import ABSENT, ModelBuilder, add_quantize, bconv_options, packed_shape
from tests.oracle import Conv

_SHAPE = (1, 4, 5, 64)
_SAMPLES = 3


class _Bits:
    """A model that quantizes x, lets the host move the bits, and convolves them."""

    def __init__(self) -> None:
        self.builder = ModelBuilder()
        self.x = self.builder.tensor(_SHAPE, name="x")
        self.bits = add_quantize(self.builder, self.x, _SHAPE)

    def move(self, op: str, shape: Sequence[int], *constants: np.ndarray, **options: int) -> None:
        """Adds an operator on the bits; the shape is in channels."""
        moved = self.builder.tensor(packed_shape(shape), np.int32)
        numbers = [self.builder.constant(array) for array in constants]
        self.builder.builtin(op, [self.bits, *numbers], [moved], **options)
        self.bits = moved

    def convolve(self, conv: Conv, filters: np.ndarray) -> bytes:
        """Returns the model with the convolution of the bits as its result."""
        ones = np.ones(conv.channels_out, np.float32)
        inputs = [
            self.bits,
            self.builder.constant(oracle.pack_bits(filters)),
            self.builder.constant(ones),
            self.builder.constant(0 * ones),
            ABSENT,
        ]
        y = self.builder.tensor(conv.output_shape, name="y")
        self.builder.custom("LceBconv2d", inputs, [y], bconv_options(conv))
        return self.builder.finish([self.x], [y])


def _ints(*values: object) -> np.ndarray:
    return np.array(values, np.int32)


def _check(model: _Bits, moved: np.ndarray, data: np.ndarray, conv: Conv, host: str, rng) -> None:
    """Compares with the convolution of the moved signs, sample by sample and all at once."""
    filters = oracle.signs(rng.standard_normal(conv.filter_shape))
    interpreter = larq_engine.Interpreter(model.convolve(conv, filters), host=host)
    expected = oracle.dot_products(conv.with_batch(_SAMPLES), moved, filters)
    for sample in range(_SAMPLES):
        got = interpreter.predict(data[sample : sample + 1])
        np.testing.assert_array_equal(got, expected[sample : sample + 1])
    np.testing.assert_array_equal(interpreter.predict(data), expected)
    assert interpreter._session._shapes == (data.shape,), "in one run"


@pytest.fixture
def data(rng) -> np.ndarray:
    return rng.standard_normal((_SAMPLES, *_SHAPE[1:])).astype(np.float32)


@pytest.mark.parametrize("host", HOSTS)
def test_reshape(host, data, rng):
    """Builds a dense layer after Flatten: one pixel of all channels."""
    model, shape = _Bits(), (1, 1, 1, 4 * 5 * 64)
    model.move("RESHAPE", shape, _ints(-1, 1, 1, 4 * 5 * 2))
    moved = oracle.signs(data).reshape(_SAMPLES, *shape[1:])
    _check(model, moved, data, Conv(shape, (1, 1), 9), host, rng)


@pytest.mark.parametrize("host", HOSTS)
def test_concatenation(host, data, rng):
    """The bits are concatenated with their maximum over a window."""
    model, shape = _Bits(), (1, 4, 5, 128)
    pooled = model.builder.tensor(packed_shape(_SHAPE), np.int32)
    options = {"padding": 0, "stride_height": 1, "stride_width": 1}
    window = {"filter_height": 2, "filter_width": 2}
    model.builder.custom("LceBMaxPool2d", [model.bits], [pooled], options | window)
    joined = model.builder.tensor(packed_shape(shape), np.int32)
    model.builder.builtin("CONCATENATION", [model.bits, pooled], [joined], axis=3)
    model.bits = joined
    signs = oracle.signs(data)
    moved = np.concatenate([signs, oracle.max_pool(signs, (2, 2), (1, 1), "SAME")], axis=3)
    _check(model, moved, data, Conv(shape, (3, 3), 9), host, rng)


@pytest.mark.parametrize("host", HOSTS)
def test_split(host, data, rng):
    model, shape = _Bits(), (1, 4, 5, 32)
    parts = [model.builder.tensor(packed_shape(shape), np.int32) for _ in range(2)]
    axis = model.builder.constant(np.array(3, np.int32))
    model.builder.builtin("SPLIT", [axis, model.bits], parts, numSplits=2)
    model.bits = parts[1]
    moved = oracle.signs(data)[..., 32:]
    _check(model, moved, data, Conv(shape, (3, 3), 9), host, rng)


# XNNPACK of tflite_runtime 2.14 takes over a transpose of int32 and then refuses the type.
@pytest.mark.parametrize("host", [p for p in HOSTS if "tflite_runtime" not in p.values])
def test_transpose(host, data, rng):
    model, shape = _Bits(), (1, 5, 4, 64)
    model.move("TRANSPOSE", shape, _ints(0, 2, 1, 3))
    moved = oracle.signs(data).transpose(0, 2, 1, 3)
    _check(model, moved, data, Conv(shape, (3, 2), 9), host, rng)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize(("op", "sign"), [("PAD", 1), ("PADV2", 1), ("PADV2", -1)])
def test_pad(op, sign, host, data, rng):
    """A word of zeros is +1 in every channel, a word of ones (-1 as int32) is -1."""
    model, shape = _Bits(), (1, 7, 6, 64)
    amounts = _ints((0, 0), (1, 2), (0, 1), (0, 0))
    fill = [np.array(0 if sign == 1 else -1, np.int32)] if op == "PADV2" else []
    model.move(op, shape, amounts, *fill)
    moved = np.pad(oracle.signs(data), amounts, constant_values=sign)
    _check(model, moved, data, Conv(shape, (3, 3), 9, padding="VALID"), host, rng)
