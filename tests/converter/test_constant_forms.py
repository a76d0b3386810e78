"""Constants take the form that hosts read fastest, and mean the same."""

import numpy as np
import pytest

from tests.converter.graphs import convert_and_compare, edges, signs, steps

_CHANNELS = np.array([0.5, -2.0, 4.0, 0.25, -1.0], np.float32)


@pytest.mark.parametrize("kind", ["ADD", "SUB", "MUL", "DIV", "MINIMUM", "MAXIMUM"])
@pytest.mark.parametrize("first", [False, True])
def test_constant_of_each_channel_in_every_pixel(net, kind, first, rng):
    """PyTorch's bias.expand_as(x) is exported in this form."""
    x = net.input(2, 4, 3, 5)
    whole = np.broadcast_to(_CHANNELS, (2, 4, 3, 5)).copy()
    y = net.op(kind, *([whole, x] if first else [x, whole]))
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape) + 10])
    (constant,) = [t for t in converted.op(kind).inputs if t is not None and t.is_constant]
    assert constant.shape == (1, 1, 1, 5)


def test_such_a_constant_goes_into_the_layer(net, rng):
    x = net.input(1, 6, 6, 32)
    y = net.conv(net.sign(x), signs(rng, 5, 3, 3, 32))
    y = net.op("ADD", y, np.broadcast_to(_CHANNELS, (1, 4, 4, 5)).copy())
    converted = convert_and_compare(net, y, inputs=[edges(rng, *x.shape)])
    assert converted.kinds == ["LceQuantize", "LceBconv2d"]


# Constants that stay, and the shape that each then has.
_STAYS = {
    "zeros of both signs": (np.array([[0.0, 1.0], [-0.0, 1.0]], np.float32), (2, 2)),
    "one that differs": (np.array([[1.0, 2.0], [1.0, 3.0]], np.float32), (2, 2)),
    "NaN": (np.array([[np.nan, 2.0], [np.nan, 2.0]], np.float32), (1, 2)),
}


@pytest.mark.parametrize("case", _STAYS)
def test_what_repeats_to_the_bit(net, case, rng):
    x = net.input(2, 2)
    data, shape = _STAYS[case]
    converted = convert_and_compare(net, net.op("MUL", x, data), inputs=[steps(rng, 2, 2)])
    assert converted.op("MUL").inputs[1].shape == shape


def test_constant_that_makes_the_shape_stays(net, rng):
    x = net.input(1, 5)
    y = net.op("ADD", x, np.broadcast_to(_CHANNELS, (3, 5)).copy())
    converted = convert_and_compare(net, y, inputs=[steps(rng, 1, 5)])
    assert converted.op("ADD").inputs[1].shape == (3, 5)


@pytest.mark.parametrize("kind", ["MEAN", "SUM", "REDUCE_MAX"])
def test_axis_that_is_a_number(net, kind, rng):
    """Keras' GlobalAveragePooling1D has such an axis; XNNPACK takes only lists."""
    x = net.input(1, 8, 5)
    y = net.op(kind, x, np.array(1, np.int32), shape=(1, 5), keepDims=False)
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert converted.op(kind).inputs[1].shape == (1,)
