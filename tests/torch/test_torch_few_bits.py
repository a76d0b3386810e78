"""Brevitas' quantizers of several bits, in evaluation: QuantReLU, QuantIdentity and layers."""

import numpy as np
import pytest
import torch
from torch import nn

import larq_engine
from tests.torch.networks import with_random_statistics


class Net(nn.Module):
    def __init__(self, bits, weight_bits):
        from brevitas import nn as quantized

        super().__init__()
        own = {"bias": False, "weight_bit_width": weight_bits}
        self.first = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32))
        self.relu1 = quantized.QuantReLU(bit_width=bits)
        self.conv1 = quantized.QuantConv2d(32, 48, 3, padding=1, **own)
        self.norm = nn.BatchNorm2d(48)
        self.identity = quantized.QuantIdentity(bit_width=bits)
        self.conv2 = quantized.QuantConv2d(48, 48, 3, padding=1, **own)
        self.relu2 = quantized.QuantReLU(bit_width=bits)
        self.scores = quantized.QuantLinear(48, 10, bias=True, weight_bit_width=weight_bits)

    def forward(self, x):
        x = self.norm(self.conv1(self.relu1(self.first(x))))
        x = self.conv2(self.identity(x))
        return self.scores(self.relu2(x.mean((2, 3))))


@pytest.mark.parametrize(("bits", "weight_bits"), [(2, 2), (2, 4), (3, 2), (4, 2)])
def test_network(bits, weight_bits):
    net = with_random_statistics(lambda: Net(bits, weight_bits))
    images = torch.randn(5, 3, 12, 12, generator=torch.Generator().manual_seed(2))
    net.train()(images)  # Brevitas finds its scales so.
    net.eval()
    converted = larq_engine.convert_torch(net, images[:1])
    found = {
        layer.name: (layer.became, layer.input_bits, layer.weight_bits)
        for layer in converted.report.layers
    }
    binary = ("binary", bits, weight_bits)
    assert [found[name] for name in ("conv1", "conv2", "scores")] == [binary] * 3
    with torch.no_grad():
        expected = net(images).numpy()
    got = larq_engine.Interpreter(converted).predict(images.numpy())
    # A value next to a limit may spoil one image.
    off = np.abs(got - expected).max(axis=1) / np.abs(expected).max()
    assert np.count_nonzero(off > 1e-4) <= 1, off
