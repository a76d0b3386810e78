"""Sentences of the report, about layers that grew and files without binary layers among others."""

import json

import numpy as np
import pytest

from larq_engine.converter.api import convert_tflite
from larq_engine.python import units
from tests.converter.graphs import Net, signs


def _report(filters, *, taken="sign"):
    net = Net()
    x = net.input(1, 6, 6, filters.shape[3])
    y = net.conv(net.sign(x) if taken == "sign" else x, filters)
    return convert_tflite(net.finish(y)).report


@pytest.mark.parametrize(
    ("channels", "words", "text"), [(3, 1, "has 3 channels"), (40, 2, "has 40 channels")]
)
def test_padding_of_words_is_told(channels, words, text, rng):
    report = _report(signs(rng, 64, 3, 3, channels))
    (layer,) = report.layers
    assert layer.became == "binary"
    assert layer.bytes_after == 64 * 9 * words * 4
    assert layer.bytes_of_bits == 64 * 9 * channels / 8
    assert text in layer.padding
    line = f"{units.size(layer.bytes_after)} for {units.size(layer.bytes_of_bits)} of bits"
    assert line in str(report) and layer.padding in str(report)
    assert json.loads(report.to_json())["layers"][0]["padding"] == layer.padding


def test_whole_words_are_not_told(rng):
    report = _report(signs(rng, 64, 3, 3, 64))
    (layer,) = report.layers
    assert (layer.bytes_after, layer.padding) == (layer.bytes_of_bits, "")
    assert "More than the bits" not in str(report)


def test_bits_of_several_planes(rng):
    report = _report(rng.choice(np.array([-3, -1, 1, 3], np.float32), (32, 3, 3, 64)))
    (layer,) = report.layers
    assert (layer.weight_bits, layer.bytes_of_bits) == (2, 2 * 32 * 9 * 64 // 8)
    assert layer.bytes_after == layer.bytes_of_bits


def test_a_model_without_binary_layers_says_so(rng):
    report = _report(rng.normal(size=(8, 3, 3, 4)).astype(np.float32), taken="float")
    assert "No layer became binary" in str(report)
    assert "neither its input nor its weights are binary" in str(report)
    assert json.loads(report.to_json())["nothing_binary"] == report.nothing_binary != ""
    binary = _report(signs(rng, 64, 3, 3, 64))
    assert "No layer became binary" not in str(binary)
    assert json.loads(binary.to_json())["nothing_binary"] == binary.nothing_binary == ""
