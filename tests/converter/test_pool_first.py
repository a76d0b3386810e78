"""Max pooling before operators that never fall, and not before others."""

import numpy as np
import pytest

from tests.converter.graphs import Net, convert_and_compare

_RELU = 1
_SIZE, _CHANNELS = 9, 6


def _pool(net, x, **options):
    return net.max_pool(x, (3, 3), **options)


def _samples(rng):
    """With equal values, zeros of both signs, infinities and values that overflow."""
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
def test_goes_before_what_rises(kind, operands, activation, rng):
    net = Net()
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    operands = [x if isinstance(operand, str) else operand for operand in operands]
    fused = {"fusedActivationFunction": activation} if kind in ("ADD", "SUB", "MUL") else {}
    y = _pool(net, net.op(kind, *operands, **fused))
    converted = convert_and_compare(net, y, inputs=[_samples(rng)])
    assert converted.kinds == ["MAX_POOL_2D", kind]


def test_slopes_of_0(rng):
    net = Net()
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    y = _pool(net, net.op("PRELU", x, np.float32([[[1, 0, 0, 2, 0, 0]]])))
    sample = rng.normal(size=x.shape).astype(np.float32)
    converted = convert_and_compare(net, y, inputs=[sample])
    assert converted.kinds == ["MAX_POOL_2D", "PRELU"]


def test_takes_over_an_activation(rng):
    """As batch norm, max pooling and relu become."""
    net = Net()
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    scaled = net.op("ADD", net.op("MUL", x, _SLOPES), -_SLOPES)
    converted = convert_and_compare(
        net, _pool(net, scaled, activation="RELU"), inputs=[_samples(rng)]
    )
    assert converted.kinds == ["MAX_POOL_2D", "MUL", "ADD"]


@pytest.mark.parametrize("kind", ["RELU6", "PRELU"])
def test_stays_where_nobody_can_take_the_activation(kind, rng):
    net = Net()
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    operands = [_SLOPES.reshape(1, 1, -1)] if kind == "PRELU" else []
    y = _pool(net, net.op(kind, x, *operands), activation="RELU_N1_TO_1")
    converted = convert_and_compare(net, y, inputs=[_samples(rng)])
    assert converted.kinds == [kind, "MAX_POOL_2D"]


def test_goes_before_a_chain(rng):
    net = Net()
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
def test_stays_behind_what_may_fall(kind, operands, rng):
    net = Net()
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    operands = [x if isinstance(operand, str) else operand for operand in operands]
    y = _pool(net, net.op(kind, *operands))
    converted = convert_and_compare(net, y, inputs=[rng.normal(size=x.shape).astype(np.float32)])
    assert converted.kinds == [kind, "MAX_POOL_2D"]


def test_stays_behind_what_others_read(rng):
    net = Net()
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    scaled = net.op("MUL", x, _SLOPES)
    outputs = _pool(net, scaled), net.op("ABS", scaled)
    converted = convert_and_compare(net, *outputs, inputs=[_samples(rng)])
    assert converted.kinds.index("MUL") < converted.kinds.index("MAX_POOL_2D")


def test_stays_behind_an_output(rng):
    net = Net()
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    scaled = net.op("MUL", x, _SLOPES)
    converted = convert_and_compare(net, _pool(net, scaled), scaled, inputs=[_samples(rng)])
    assert converted.kinds == ["MUL", "MAX_POOL_2D"]


def test_stays_behind_what_makes_more_of_it(rng):
    net = Net()
    x = net.input(1, 1, 1, _CHANNELS)
    spread = net.op("ADD", x, np.zeros((1, _SIZE, _SIZE, 1), np.float32))
    converted = convert_and_compare(net, _pool(net, spread), inputs=[_samples(rng)[:, :1, :1]])
    assert converted.kinds == ["ADD", "MAX_POOL_2D"]


def test_keeps_as_many_values_where_they_are(rng):
    net = Net()
    x = net.input(1, _SIZE, _SIZE, _CHANNELS)
    y = net.max_pool(net.op("MUL", x, _SLOPES), (3, 3), (1, 1), "SAME")
    converted = convert_and_compare(net, y, inputs=[_samples(rng)])
    assert converted.kinds == ["MUL", "MAX_POOL_2D"]
