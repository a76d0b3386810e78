"""Binary layers take one bit a weight in the file, whatever lies before them."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import larq_engine
from tests.torch.networks import with_random_statistics


class _Sign(nn.Module):
    def forward(self, x):
        return torch.where(x >= 0, 1.0, -1.0)


class _SignConv2d(nn.Conv2d):
    def forward(self, x):
        return self._conv_forward(x, torch.where(self.weight >= 0, 1.0, -1.0), None)


class _SignLinear(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, torch.where(self.weight >= 0, 1.0, -1.0))


class _Cnv(nn.Module):
    """Convolutions without pads down to a pixel, and dense layers, as FINN's CNV has them."""

    def __init__(self, *end):
        super().__init__()
        sizes = [(3, 24), (24, 40), (40, 96)]
        self.features = nn.Sequential(
            *[
                nn.Sequential(_Sign(), _SignConv2d(*size, 3, bias=False), nn.BatchNorm2d(size[1]))
                for size in sizes
            ],
            *end,
        )
        self.hidden = nn.Sequential(_Sign(), nn.Flatten(), _SignLinear(96, 128, bias=False))
        self.norm = nn.BatchNorm1d(128)
        self.scores = nn.Sequential(_Sign(), _SignLinear(128, 10, bias=False))

    def forward(self, x):
        return self.scores(self.norm(self.hidden(self.features(2 * x - 1))))


def _words(*shape):
    """Returns the bytes of weights whose last dimension begins a word each time."""
    return math.prod(shape[:-1]) * -(-shape[-1] // 32) * 4


@pytest.mark.parametrize(
    ("size", "end"),
    [(7, ()), (9, (nn.AdaptiveAvgPool2d(1), nn.BatchNorm2d(96)))],
)
def test_dense_layers_behind_one_pixel(size, end):
    net = with_random_statistics(lambda: _Cnv(*end)).eval()
    images = torch.rand(3, 3, size, size, generator=torch.Generator().manual_seed(2))
    converted = larq_engine.convert_torch(net, images[:1])
    sizes = {layer.name: layer.bytes_after for layer in converted.report.layers}
    assert {layer.became for layer in converted.report.layers} == {"binary"}
    assert list(sizes.values()) == [
        _words(24, 9, 3), _words(40, 9, 24), _words(96, 9, 40), _words(128, 96), _words(10, 128),
    ]  # fmt: skip
    # The rest is a threshold or a factor and a bias for each channel, and the file's own structure.
    assert len(converted) < sum(sizes.values()) + 8 * (24 + 40 + 96 + 128 + 10) + 8000
    with torch.no_grad():
        expected = net(images).numpy()
    got = larq_engine.Interpreter(converted).predict(images.numpy())
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


class _Tfc(nn.Module):
    """Dense layers of quantizers that begin with the image, as FINN's TFC has them."""

    def __init__(self, bits, weight_bits):
        from brevitas import nn as quantized

        super().__init__()
        own = {"bias": False, "weight_bit_width": weight_bits}
        self.image = quantized.QuantIdentity(bit_width=bits)
        self.hidden = quantized.QuantLinear(64, 96, **own)
        self.norm = nn.BatchNorm1d(96)
        self.values = quantized.QuantIdentity(bit_width=bits)
        self.scores = quantized.QuantLinear(96, 10, **own)

    def forward(self, x):
        x = self.image(2.0 * x.view(x.shape[0], -1) - torch.tensor([1.0]))
        return self.scores(self.values(self.norm(self.hidden(x))))


class _Floor(nn.Module):
    """A quantizer to one bit; litert_torch transposes the image between rounding and clamp."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(8, 12, 3, bias=False)

    def forward(self, x):
        values = torch.floor(x / 0.5 + 0.5).clamp(0, 1) * 0.5
        return F.conv2d(values, torch.where(self.conv.weight >= 0, 1.0, -1.0))


def test_quantizer_to_one_bit_of_the_image():
    net = _Floor().eval()
    images = torch.randint(-16, 17, (2, 8, 9, 10), generator=torch.Generator().manual_seed(1)) / 4
    converted = larq_engine.convert_torch(net, images[:1])
    assert [layer.became for layer in converted.report.layers] == ["binary"]
    with torch.no_grad():
        expected = net(images).numpy()
    np.testing.assert_array_equal(
        larq_engine.Interpreter(converted).predict(images.numpy()), expected
    )


@pytest.mark.parametrize("weight_bits", [2, 4])
def test_quantizer_of_the_flattened_image(weight_bits):
    net = with_random_statistics(lambda: _Tfc(2, weight_bits))
    images = torch.rand(5, 1, 8, 8, generator=torch.Generator().manual_seed(2))
    net.train()(images)  # Brevitas finds its scales in this run
    net.eval()
    converted = larq_engine.convert_torch(net, images[:1])
    found = [(la.became, la.input_bits, la.bytes_after) for la in converted.report.layers]
    assert found == [
        ("binary", 2, weight_bits * _words(96, 64)),
        ("binary", 2, weight_bits * _words(10, 96)),
    ]
    with torch.no_grad():
        expected = net(images).numpy()
    got = larq_engine.Interpreter(converted).predict(images.numpy())
    # A value next to a limit may spoil one image.
    off = np.abs(got - expected).max(axis=1) / np.abs(expected).max()
    assert np.count_nonzero(off > 1e-4) <= 1, off
