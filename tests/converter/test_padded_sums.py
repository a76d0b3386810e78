"""Sums of concatenations and padded tensors, as MeliusNet's blocks have them."""

import numpy as np
import pytest

from tests.converter.graphs import Net, Value, convert_and_compare

_PARTS = (3, 5, 4)
_IMAGE = (1, 4, 5)


def _inputs(net: Net, *channels: int) -> list[Value]:
    return [net.input(*_IMAGE, count) for count in channels]


def _draw(rng: np.random.Generator, values: list[Value]) -> list[np.ndarray]:
    return [rng.normal(size=value.shape).astype(np.float32) for value in values]


def _padded(net: Net, x: Value, before: int, after: int) -> Value:
    return net.pad(x, [(0, 0), (0, 0), (0, 0), (before, after)])


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("part", range(len(_PARTS)))
def test_a_sum_of_one_part(net, part, order, rng):
    values = _inputs(net, *_PARTS, _PARTS[part])
    joined = net.concatenate(values[:-1], 3)
    padded = _padded(net, values[-1], sum(_PARTS[:part]), sum(_PARTS[part + 1 :]))
    result = net.op("ADD", *[joined, padded][::order])
    converted = convert_and_compare(net, result, inputs=_draw(rng, values))
    assert converted.kinds == ["ADD", "CONCATENATION"]
    assert converted.op("ADD").output.shape == (*_IMAGE, _PARTS[part])


def test_blocks_one_after_another(net, rng):
    values = _inputs(net, 6, 3, 3, 3, 3)
    x = values[0]
    for grown, better in (values[1:3], values[3:]):
        joined = net.concatenate([x, grown], 3)
        x = net.op("ADD", joined, _padded(net, better, joined.shape[3] - 3, 0))
    converted = convert_and_compare(net, x, inputs=_draw(rng, values))
    assert sorted(converted.kinds) == ["ADD"] * 2 + ["CONCATENATION"] * 2
    assert {op.output.shape for op in converted.ops("ADD")} == {(*_IMAGE, 3)}


def test_a_concatenation_that_others_read_stays(net, rng):
    values = _inputs(net, *_PARTS, 4)
    joined = net.concatenate(values[:-1], 3)
    result = net.op("ADD", joined, _padded(net, values[-1], 8, 0))
    converted = convert_and_compare(net, net.op("NEG", joined), result, inputs=_draw(rng, values))
    assert sorted(converted.kinds) == ["ADD", "CONCATENATION", "CONCATENATION", "NEG"]


@pytest.mark.parametrize(
    ("channels", "before"),
    [(5, 0), (4, 3), (5, 2), (9, 3), (12, 0)],
    ids=["of_two", "shorter", "across", "of_two_whole", "of_all"],
)
def test_what_is_not_one_part_stays(net, channels, before, rng):
    values = _inputs(net, *_PARTS, channels)
    joined = net.concatenate(values[:-1], 3)
    result = net.op("ADD", joined, _padded(net, values[-1], before, 12 - before - channels))
    converted = convert_and_compare(net, result, inputs=_draw(rng, values))
    assert converted.kinds[-1] == "ADD"
    assert converted.op("ADD").output.shape == (*_IMAGE, 12)


def test_an_activation_is_of_all_channels(net, rng):
    values = _inputs(net, *_PARTS, 4)
    joined = net.concatenate(values[:-1], 3)
    result = net.op("ADD", joined, _padded(net, values[-1], 8, 0), fusedActivationFunction=1)
    converted = convert_and_compare(net, result, inputs=_draw(rng, values))
    assert converted.kinds == ["CONCATENATION", "PAD", "ADD"]


def test_pads_of_pixels_stay(net, rng):
    parts = _inputs(net, *_PARTS)
    small = net.input(1, 3, 5, 4)
    joined = net.concatenate(parts, 3)
    padded = net.pad(small, [(0, 0), (1, 0), (0, 0), (8, 0)])
    result = net.op("ADD", joined, padded)
    converted = convert_and_compare(net, result, inputs=_draw(rng, [*parts, small]))
    assert converted.op("ADD").output.shape == (*_IMAGE, 12)
