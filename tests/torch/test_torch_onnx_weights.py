"""Weights that a PyTorch module makes binary itself, by any operators, through ONNX."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import larq_engine


def _flat(weights):
    return weights.flatten(1)


def _per_channel(numbers, weights):
    return numbers.view(-1, *[1] * (weights.dim() - 1))


def mean_of_sizes(weights):
    """Scales signs as XNOR-Net and Bi-Real Net do."""
    return weights.sign() * _flat(weights).abs().mean(1).view(-1, 1, 1, 1)


def norm_of_sizes(weights):
    """Scales signs as binary-networks-pytorch does: by the L1 norm, divided."""
    count = weights[0].nelement()
    size = weights.norm(p=1, dim=(1, 2, 3), keepdim=True).div(count)
    return torch.where(weights >= 0, 1.0, -1.0).mul(size)


def power_of_two(weights):
    """Makes weights of IR-Net: balanced, of deviation 1, and with a power of two as size."""
    flat = _flat(weights)
    balanced = weights - _per_channel(flat.mean(-1), weights)
    flat = _flat(balanced)
    balanced = balanced / _per_channel(flat.std(-1), weights)
    exponent = (_flat(balanced).abs().mean(-1).log() / np.log(2)).round()
    return balanced.sign() * _per_channel(torch.pow(2.0, exponent), weights)


def two_values(weights):
    """Makes weights of AdaBin: a middle and a distance for each channel."""
    flat = _flat(weights)
    middle = _per_channel(flat.mean(1), weights)
    distance = _per_channel(flat.sub(flat.mean(1, keepdim=True)).norm(2, dim=1), weights)
    distance = distance / float(np.sqrt(weights[0].numel()))
    return torch.where(weights >= middle, 1.0, -1.0) * distance + middle


def normalized(weights):
    """Makes weights of BATS: of deviation 1 first, which does not change the sign."""
    deviation = weights.var((1, 2, 3), unbiased=False, keepdim=True).add(1e-6).rsqrt()
    centred = (weights - weights.mean((1, 2, 3), keepdim=True)) * deviation
    return torch.sign(centred.clamp(-1, 1))


def largest_half(weights):
    """Finds a threshold by sorting, with operators that no runtime has."""
    flat = _flat(weights)
    threshold = flat.topk(flat.shape[1] // 2, dim=1).values[:, -1:]
    return _per_channel(functional.softplus(threshold), weights) * torch.where(
        flat.cumsum(1) * 0 + flat >= threshold, 1.0, -1.0
    ).view_as(weights)


class _Layer(nn.Module):
    def __init__(self, quantize) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3)
        self.weight = nn.Parameter(torch.randn(48, 32, 3, 3) * 0.1)
        self.last = nn.Linear(48, 5)
        self.quantize = quantize

    def forward(self, x):
        x = torch.where(self.first(x) >= 0, 1.0, -1.0)
        return self.last(functional.conv2d(x, self.quantize(self.weight)).mean((2, 3)))


QUANTIZERS = [
    *(mean_of_sizes, norm_of_sizes, power_of_two, two_values, normalized, largest_half),
]


@pytest.mark.parametrize("dynamo", [False, True])
@pytest.mark.parametrize("quantize", QUANTIZERS, ids=lambda quantize: quantize.__name__)
def test_weights(quantize, dynamo, tmp_path):
    torch.manual_seed(0)
    module = _Layer(quantize).eval()
    image = torch.randn(1, 3, 8, 8)
    path = str(tmp_path / "network.onnx")
    more = {"verbose": False} if dynamo else {"do_constant_folding": False}
    torch.onnx.export(module, (image,), path, dynamo=dynamo, **more)
    converted = larq_engine.convert_onnx(path)
    assert [layer.became for layer in converted.report.layers] == ["float", "binary", "float"]
    with torch.no_grad():
        want = module(image).numpy()
    have = larq_engine.Interpreter(converted).predict(image.numpy())
    np.testing.assert_allclose(have, want, rtol=0, atol=2e-5 * np.abs(want).max())
