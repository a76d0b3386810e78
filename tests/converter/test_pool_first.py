"""Max pooling moves before operators that never fall, and not before others."""

import numpy as np
import pytest

from larq_engine.converter import schema
from larq_engine.converter.api import convert_tflite
from tests.converter.graphs import (
    convert_and_compare,
    run_engine,
    run_stock,
    signs,
    steps,
)

_RELU = 1
_SIZE, _CHANNELS = 9, 6


def _pool(net, x, **options):
    return net.max_pool(x, (3, 3), **options)


def _samples(rng):
    """Draws inputs with equal values, zeros of both signs, infinities and values that overflow."""
    x = rng.normal(size=(1, _SIZE, _SIZE, _CHANNELS)).astype(np.float32)
    x[0, :3] = np.rint(x[0, :3])
    x[0, 3, :4] = [[0.0], [-0.0], [3e38], [-3e38]]
    x[0, 4, :2] = [[np.inf], [-np.inf]]
    return x


_SLOPES = np.float32([0.1, 1, 2.5, 1e-3, 7, 0.5])


@pytest.mark.parametrize(
    ("kind", "operands"),
    [
        ("ADD", ("x", _SLOPES)),
        ("ADD", (-_SLOPES, "x")),
        ("SUB", ("x", np.float32(3))),
        ("MUL", ("x", _SLOPES)),
        ("MUL", (np.float32(0.3), "x")),
        ("PRELU", ("x", _SLOPES.reshape(1, 1, -1))),
        ("RELU6", ("x",)),
    ],
)
@pytest.mark.parametrize("activation", [0, _RELU])
def test_goes_before_what_rises(net, kind, operands, activation, rng):
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    operands = [x if isinstance(operand, str) else operand for operand in operands]
    fused = {"fusedActivationFunction": activation} if kind in ("ADD", "SUB", "MUL") else {}
    y = _pool(net, net.op(kind, *operands, **fused))
    converted = convert_and_compare(net, y, inputs=[_samples(rng)])
    assert converted.kinds == ["MAX_POOL_2D", kind]


def test_slopes_of_0(net, rng):
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    y = _pool(net, net.op("PRELU", x, np.float32([[[1, 0, 0, 2, 0, 0]]])))
    sample = rng.normal(size=x.shape).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[sample])
    assert converted.kinds == ["MAX_POOL_2D", "PRELU"]


def test_takes_over_an_activation(net, rng):
    """Batch norm, max pooling and relu become these operators."""
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    scaled = net.op("ADD", net.op("MUL", x, _SLOPES), -_SLOPES)
    converted = convert_and_compare(
        net, _pool(net, scaled, activation="RELU"), inputs=[_samples(rng)]
    )
    assert converted.kinds == ["MAX_POOL_2D", "MUL", "ADD"]


@pytest.mark.parametrize("kind", ["RELU6", "PRELU"])
def test_stays_where_nobody_can_take_the_activation(net, kind, rng):
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    operands = [_SLOPES.reshape(1, 1, -1)] if kind == "PRELU" else []
    y = _pool(net, net.op(kind, x, *operands), activation="RELU_N1_TO_1")
    converted = convert_and_compare(net, y, inputs=[_samples(rng)])
    assert converted.kinds == [kind, "MAX_POOL_2D"]


def test_goes_before_a_chain(net, rng):
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    scaled = net.op("ADD", net.op("MUL", x, _SLOPES), -_SLOPES)
    y = _pool(net, net.op("PRELU", scaled, _SLOPES.reshape(1, 1, -1)))
    converted = convert_and_compare(net, y, inputs=[_samples(rng)])
    assert converted.kinds == ["MAX_POOL_2D", "MUL", "ADD", "PRELU"]


@pytest.mark.parametrize(
    ("kind", "operands"),
    [
        ("MUL", ("x", -_SLOPES)),
        ("MUL", ("x", np.float32([1, 1, 1, 0, 1, 1]))),  # 0 times infinity
        ("MUL", ("x", np.float32([1, 1, 1, np.inf, 1, 1]))),
        ("SUB", (_SLOPES, "x")),
        ("PRELU", ("x", np.float32([[[1, 1, -0.1, 1, 1, 1]]]))),
        ("MUL", ("x", "x")),
        ("ADD", ("x", np.arange(_SIZE, dtype=np.float32).reshape(1, -1, 1, 1))),
        ("ABS", ("x",)),
    ],
)
def test_stays_behind_what_may_fall(net, kind, operands, rng):
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    operands = [x if isinstance(operand, str) else operand for operand in operands]
    y = _pool(net, net.op(kind, *operands))
    converted = convert_and_compare(net, y, inputs=[rng.normal(size=x.shape).astype(np.float32)])
    assert converted.kinds == [kind, "MAX_POOL_2D"]


def test_stays_behind_what_others_read(net, rng):
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    scaled = net.op("MUL", x, _SLOPES)
    outputs = _pool(net, scaled), net.op("ABS", scaled)
    converted = convert_and_compare(net, *outputs, inputs=[_samples(rng)])
    assert converted.kinds.index("MUL") < converted.kinds.index("MAX_POOL_2D")


def test_stays_behind_an_output(net, rng):
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    scaled = net.op("MUL", x, _SLOPES)
    converted = convert_and_compare(net, _pool(net, scaled), scaled, inputs=[_samples(rng)])
    assert converted.kinds == ["MUL", "MAX_POOL_2D"]


def test_stays_behind_what_makes_more_of_it(net, rng):
    x = net.input(1, 1, 1, _CHANNELS)
    spread = net.op("ADD", x, np.zeros((1, _SIZE, _SIZE, 1), np.float32))
    converted = convert_and_compare(net, _pool(net, spread), inputs=[_samples(rng)[:, :1, :1]])
    assert converted.kinds == ["ADD", "MAX_POOL_2D"]


def test_keeps_as_many_values_where_they_are(net, rng):
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    y = net.max_pool(net.op("MUL", x, _SLOPES), (3, 3), (1, 1), "SAME")
    converted = convert_and_compare(net, y, inputs=[_samples(rng)])
    assert converted.kinds == ["MUL", "MAX_POOL_2D"]


def _pooled_layer_with(net, rng, factors, *, shared=False):
    """Adds a float layer, a max pooling, a scale and a shift (a batch norm), and a binary layer."""
    x = net.input(1, 8, 8, 16)
    filters = rng.integers(-3, 4, (32, 3, 3, 16)).astype(np.float32)
    pooled = net.max_pool(net.conv(x, filters, padding="SAME"))
    y = net.op("ADD", net.op("MUL", pooled, factors), steps(rng, 32))
    outputs = [net.conv(net.sign(y), signs(rng, 16, 3, 3, 32), padding="SAME")]
    return x, [*outputs, net.op("NEG", y)] if shared else outputs


_RISING = np.float32([0.25, 0.5, 1, 2] * 8)


@pytest.mark.parametrize("fused", ["NONE", "RELU6"])
def test_a_layer_takes_in_what_follows_its_pooling_before_a_sign(net, fused, rng):
    """The layer then writes bits, which are pooled."""
    x = net.input(1, 8, 8, 16)
    filters = rng.integers(-3, 4, (32, 3, 3, 16)).astype(np.float32)
    pooled = net.max_pool(net.conv(x, filters, padding="SAME", activation=fused))
    y = net.op("ADD", net.op("MUL", pooled, _RISING), steps(rng, 32))
    z = net.conv(net.sign(y), signs(rng, 16, 3, 3, 32), padding="SAME")
    converted = convert_and_compare(net, z, inputs=[steps(rng, *x.shape)])
    assert ("MAX_POOL_2D" not in converted.kinds) == (fused == "NONE")


@pytest.mark.parametrize("why", ["falls", "shared"])
def test_a_layer_whose_pooled_values_are_needed(net, why, rng):
    factors = -_RISING if why == "falls" else _RISING
    x, outputs = _pooled_layer_with(net, rng, factors, shared=why == "shared")
    converted = convert_and_compare(net, *outputs, inputs=[steps(rng, *x.shape)])
    assert "MAX_POOL_2D" in converted.kinds


def test_int8_before_a_pooling_and_a_sign_becomes_bits_at_once(net, rng):
    x, outputs = _pooled_layer_with(net, rng, _RISING)
    content = net.finish(*outputs)
    samples = [steps(rng, *x.shape) for _ in range(8)]
    converted = convert_tflite(content, representative_dataset=[[one] for one in samples])
    kinds = [op.kind for op in schema.read(converted).graphs[0].ops]
    assert kinds == ["QUANTIZE", "CONV_2D", "LceQuantize", "LceBMaxPool2d", "LceBconv2d"]
    (expected,), (got,) = run_stock(content, samples[:1]), run_engine(converted, samples[:1])
    # Rounding to int8 changes some signs, and thereby sums of 288 signs by a few steps of 2.
    assert np.abs(got - expected).mean() < 8 < expected.std()
