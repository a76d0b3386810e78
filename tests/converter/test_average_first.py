"""Averages move before sums and products with constants if only signs read these as well."""

import functools

import numpy as np
import pytest

from larq_engine.converter import schema
from larq_engine.converter.convert import rewrite
from larq_engine.converter.options import Options
from larq_engine.converter.schema import ACTIVATION, PADDING
from tests.converter.graphs import convert, convert_and_compare, signs, steps

# All numbers are whole or powers of two, so that nothing rounds.
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


def _sign(net, rng, x):
    """Adds a binary layer that reads the value as well."""
    return net.conv(net.sign(x), signs(rng, 32, 3, 3, _CHANNELS))


def _convert(net, rng, x, scaled, average, **options):
    """Converts a file of an average and a binary layer; returns what the average reads."""
    outputs = _sign(net, rng, scaled), average(net, scaled)
    converted = convert_and_compare(net, *outputs, inputs=[steps(rng, *x.shape)], **options)
    (op,) = [op for op in converted.graph.ops if op.kind in ("MEAN", "AVERAGE_POOL_2D")]
    return converted, op.inputs[0]


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
    ],
)
def test_goes_before_constants(net, average, kind, operands, rng):
    x = _input(net)
    operands = [x if isinstance(operand, str) else operand for operand in operands]
    scaled = net.op(kind, *operands)
    _, read = _convert(net, rng, x, scaled, _AVERAGES[average])
    assert read.name == "input_0"


def test_its_activation_comes_last(net, rng):
    x = _input(net)
    scaled = net.op("ADD", net.op("MUL", x, _FACTORS), _FACTORS)
    average = functools.partial(_pool, activation="RELU")
    _, read = _convert(net, rng, x, scaled, average)
    assert read.name == "input_0"


def test_signs_take_in_what_the_average_leaves(net, rng):
    """Nobody but the sign then reads the batch norm, so the plug-in's LceQuantize computes it."""
    x = _input(net)
    scaled = net.op("ADD", net.op("MUL", x, _FACTORS), _FACTORS)
    converted, read = _convert(net, rng, x, scaled, _mean)
    assert read.name == "input_0"
    (quantize,) = converted.ops("LceQuantize")
    assert quantize.inputs[0].producer.kind == "ADD"
    assert len(quantize.inputs[0].consumers) == 1


def test_stays_where_no_sign_gains(net, rng):
    """An earlier average rounds differently, which is not worth it if no sign gains."""
    x = _input(net)
    y = _mean(net, net.op("MUL", x, _FACTORS))
    converted = convert_and_compare(net, y, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["MUL", "MEAN"]


def test_stays_where_samples_can_make_it_int8(net, rng):
    """An earlier average would be rounded to int8 before it is scaled."""
    x = _input(net)
    scaled = net.op("MUL", x, _FACTORS)
    (graph,) = schema.read(net.finish(_sign(net, rng, scaled), _mean(net, scaled))).graphs
    rewrite(graph, Options(representative_dataset=[]))
    (mean,) = [op for op in graph.ops if op.kind == "MEAN"]
    assert mean.inputs[0].producer.kind == "MUL"


def test_other_readers_may_have_any_shape(net, rng):
    """If the file leaves the result's shape open, the shape has no dimensions."""
    x, other = _input(net), net.input(1, _SIZE, _SIZE, _CHANNELS)
    product = net.op("MUL", x, _FACTORS)
    outputs = _mean(net, product), net.op("ADD", product, other, shape=())
    converted = convert(net.finish(*outputs))
    assert "MEAN" in converted.kinds


@pytest.mark.parametrize(
    ("kind", "operands"),
    [
        ("MUL", ("x", "x")),
        ("ADD", ("x", np.arange(_SIZE, dtype=np.float32).reshape(1, -1, 1, 1))),
        ("DIV", ("x", _FACTORS)),
        ("ABS", ("x",)),
    ],
)
def test_stays_behind_other_functions(net, kind, operands, rng):
    x = _input(net)
    operands = [x if isinstance(operand, str) else operand for operand in operands]
    _, read = _convert(net, rng, x, net.op(kind, *operands), _mean)
    assert read.producer.kind == kind


def test_stays_behind_an_activation(net, rng):
    x = _input(net)
    scaled = net.op("ADD", x, _FACTORS, fusedActivationFunction=ACTIVATION["RELU_N1_TO_1"])
    _, read = _convert(net, rng, x, scaled, _mean)
    assert read.producer.kind == "ADD"


def test_stays_behind_where_channels_are_averaged(net, rng):
    x = _input(net)
    average = functools.partial(_mean, axes=(1, 2, 3))
    _, read = _convert(net, rng, x, net.op("MUL", x, _FACTORS * 96), average)
    assert read.producer.kind == "MUL"


def test_stays_behind_what_others_than_signs_read(net, rng):
    x = _input(net)
    product = net.op("MUL", x, _FACTORS)
    scaled = net.op("ADD", product, _FACTORS)
    outputs = _sign(net, rng, scaled), _mean(net, scaled), net.op("ABS", product)
    converted = convert_and_compare(net, *outputs, inputs=[steps(rng, *x.shape)])
    (mean,) = converted.ops("MEAN")
    assert mean.inputs[0].producer.kind == "MUL"  # behind the ADD, which only signs read


def test_stays_behind_an_output(net, rng):
    x = _input(net)
    scaled = net.op("MUL", x, _FACTORS)
    converted = convert_and_compare(net, _mean(net, scaled), scaled, inputs=[steps(rng, *x.shape)])
    assert converted.kinds == ["MUL", "MEAN"]


def test_keeps_as_many_values_where_they_are(net, rng):
    x = _input(net)
    average = functools.partial(_pool, window=1)
    _, read = _convert(net, rng, x, net.op("MUL", x, _FACTORS), average)
    assert read.producer.kind == "MUL"
