"""Averages before sums and products with constants, where only signs read these beside them."""

import numpy as np
import pytest

from larq_engine.converter.schema import ACTIVATION, PADDING
from tests.converter.graphs import Net, convert_and_compare, signs, steps

# Of whole numbers and powers of two, so that nothing rounds.
_SIZE, _CHANNELS = 4, 6
_FACTORS = np.float32([0.5, -2, 1, 4, 0.25, -1])


def _mean(net, x, axes=(1, 2), keep=False, shape=None):
    if shape is None:
        kept = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
        shape = kept if keep else [size for a, size in enumerate(x.shape) if a not in axes]
    return net.op("MEAN", x, np.array(axes, np.int32), shape=shape, keepDims=keep)


def _pool(net, x, window=_SIZE, activation="NONE"):
    return net.op(
        "AVERAGE_POOL_2D",
        x,
        shape=(x.shape[0], _SIZE // window, _SIZE // window, x.shape[3]),
        padding=PADDING["VALID"],
        strideH=window,
        strideW=window,
        filterHeight=window,
        filterWidth=window,
        fusedActivationFunction=ACTIVATION[activation],
    )


_AVERAGES = {
    "MEAN": _mean,
    "MEAN with kept dimensions": lambda net, x: _mean(net, x, keep=True),
    "MEAN counted from the last": lambda net, x: _mean(net, x, (-2, -3), shape=(1, _CHANNELS)),
    "AVERAGE_POOL_2D": _pool,
    "AVERAGE_POOL_2D of windows": lambda net, x: _pool(net, x, window=2),
}


def _input(net):
    return net.input(1, _SIZE, _SIZE, _CHANNELS)


def _kind(name):
    return name.split()[0]


@pytest.mark.parametrize("average", _AVERAGES)
@pytest.mark.parametrize(
    ("kind", "operands"),
    [
        ("ADD", ("x", _FACTORS)),
        ("ADD", (_FACTORS.reshape(1, 1, 1, -1), "x")),
        ("SUB", ("x", np.float32(3))),
        ("SUB", (_FACTORS, "x")),
        ("MUL", ("x", _FACTORS.reshape(1, 1, -1))),
        ("MUL", (np.float32(0.5), "x")),
        ("DIV", ("x", _FACTORS)),
    ],
)
def test_goes_before_constants(average, kind, operands, rng):
    net = Net()
    x = _input(net)
    operands = [x if isinstance(operand, str) else operand for operand in operands]
    y = _AVERAGES[average](net, net.op(kind, *operands))
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == [_kind(average), kind]


def test_its_activation_comes_last(rng):
    net = Net()
    x = _input(net)
    y = _pool(net, net.op("ADD", net.op("MUL", x, _FACTORS), _FACTORS), activation="RELU")
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["AVERAGE_POOL_2D", "MUL", "ADD"]


def _gated(net, rng, x, scaled):
    """A binary layer of what a batch norm makes, and a gate that reads it too."""
    layer = net.conv(net.sign(scaled), signs(rng, 32, 3, 3, _CHANNELS))
    gate = net.op("LOGISTIC", _mean(net, scaled, keep=True))
    return layer, net.op("MUL", x, gate)


def test_signs_take_in_what_the_average_leaves(rng):
    """Beside the average, nobody then computes the batch norm: the plug-in's LceQuantize does."""
    net = Net()
    x = _input(net)
    scaled = net.op("ADD", net.op("MUL", x, _FACTORS), _FACTORS)
    outputs = _gated(net, rng, x, scaled)
    converted = convert_and_compare(net, *outputs, inputs=[steps(rng, *x.shape)])
    (mean,) = converted.ops("MEAN")
    assert mean.inputs[0].name == "input_0"
    (quantize,) = converted.ops("LceQuantize")
    assert quantize.inputs[0].producer.kind == "ADD"
    assert len(quantize.inputs[0].consumers) == 1


@pytest.mark.parametrize(
    ("kind", "operands"),
    [
        ("MUL", ("x", "x")),
        ("ADD", ("x", np.arange(_SIZE, dtype=np.float32).reshape(1, -1, 1, 1))),
        ("MUL", ("x", np.float32([1, 1, 1, np.inf, 1, 1]))),
        ("DIV", (_FACTORS, "x")),
        ("ABS", ("x",)),
    ],
)
def test_stays_behind_other_functions(kind, operands, rng):
    net = Net()
    x = _input(net)
    operands = [x if isinstance(operand, str) else operand for operand in operands]
    sample = steps(rng, *x.shape) + np.float32(8)
    converted = convert_and_compare(net, _mean(net, net.op(kind, *operands)), inputs=[sample])
    assert converted.kinds == [kind, "MEAN"]


def test_stays_behind_an_activation(rng):
    net = Net()
    x = _input(net)
    y = net.op("ADD", x, _FACTORS, fusedActivationFunction=ACTIVATION["RELU"])
    converted = convert_and_compare(net, _mean(net, y), inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["ADD", "MEAN"]


def test_stays_behind_where_channels_are_averaged(rng):
    net = Net()
    x = net.input(1, _SIZE, _SIZE, 4)
    y = net.op("MUL", x, _FACTORS[:4])
    converted = convert_and_compare(net, _mean(net, y, (2, 3)), inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["MUL", "MEAN"]


def test_stays_behind_what_others_than_signs_read(rng):
    net = Net()
    x = _input(net)
    product = net.op("MUL", x, _FACTORS)
    scaled = net.op("ADD", product, _FACTORS)
    outputs = *_gated(net, rng, x, scaled), net.op("ABS", product)
    converted = convert_and_compare(net, *outputs, inputs=[steps(rng, *x.shape)])
    (mean,) = converted.ops("MEAN")
    assert mean.inputs[0].producer.kind == "MUL"  # past the ADD, which signs alone read


def test_stays_behind_an_output(rng):
    net = Net()
    x = _input(net)
    scaled = net.op("MUL", x, _FACTORS)
    converted = convert_and_compare(net, _mean(net, scaled), scaled, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["MUL", "MEAN"]


def test_keeps_as_many_values_where_they_are(rng):
    net = Net()
    x = _input(net)
    y = _pool(net, net.op("MUL", x, _FACTORS), window=1)
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["MUL", "AVERAGE_POOL_2D"]
