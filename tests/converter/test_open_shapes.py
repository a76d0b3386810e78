"""Files that leave shapes open convert to files that leave them open, and mean the same."""

import numpy as np
import pytest

import larq_engine
from tests.converter.graphs import convert, signs


def _run(content: bytes, x: np.ndarray) -> np.ndarray:
    return larq_engine.Interpreter(content).predict(x)


@pytest.mark.parametrize("stride", [1, 2])
def test_symmetric_padding_of_an_open_image(net, rng, stride):
    """LCE has to pad in an operator.

    At a stride of 2 the pads are SAME for odd sizes only, and the size is not known.
    """
    x = net.open(net.input(1, 7, 7, 32), 1, -1, -1, 32)
    s = net.open(net.sign(x), 1, -1, -1, 32)
    padded = net.open(net.pad(s, ((1, 1), (1, 1)), 1.0), 1, -1, -1, 32)
    y = net.conv(padded, signs(rng, 8, 3, 3, 32), stride=(stride, stride))
    content = net.finish(net.open(y, 1, -1, -1, 8))
    images = rng.normal(size=(2, 8, 8, 32)).astype(np.float32)
    for compatibility in ("larq_engine", "lce"):
        converted = convert(content, compatibility=compatibility)
        padded_apart = stride == 2 and compatibility == "lce"
        assert ("PAD" in converted.kinds) == padded_apart
        np.testing.assert_array_equal(_run(converted.content, images), _run(content, images))


def test_dense_layer_of_an_open_sequence_stays_in_float(net, rng):
    x = net.open(net.input(1, 1, 64), -1, -1, 64)
    s = net.open(net.sign(x), -1, -1, 64)
    y = net.dense(s, signs(rng, 8, 64), keepNumDims=True)
    content = net.finish(net.open(y, -1, -1, 8))
    converted = convert(content)
    assert "LceBconv2d" not in converted.kinds
    assert converted.reason == "its input has an open shape"


def test_the_shape_is_no_reason_where_weights_are_floats(net, rng):
    x = net.open(net.input(1, 1, 64), -1, -1, 64)
    y = net.dense(net.open(net.sign(x), -1, -1, 64), rng.normal(size=(8, 64)), keepNumDims=True)
    converted = convert(net.finish(net.open(y, -1, -1, 8)))
    assert converted.reason.startswith("its weights ")


def test_rows_of_an_open_batch(net, rng):
    x = net.open(net.input(1, 5, 64), -1, 5, 64)
    s = net.open(net.sign(x), -1, 5, 64)
    rows = net.op("RESHAPE", s, np.array([-1, 64], np.int32), shape=(5, 64), newShape=[-1, 64])
    y = net.dense(net.open(rows, -1, 64), signs(rng, 8, 64))
    content = net.finish(net.open(y, -1, 8))
    converted = convert(content)
    assert "LceBconv2d" in converted.kinds
    interpreters = [larq_engine.Interpreter(c) for c in (content, converted.content)]
    data = rng.normal(size=(3, 5, 64)).astype(np.float32)
    expected, got = (interpreter.predict(data) for interpreter in interpreters)
    np.testing.assert_array_equal(got, expected)
