"""Files of PyTorch modules at other sizes of image and of batch than that of the example."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import larq_engine


class Function(nn.Module):
    """A function and the layers that it computes with."""

    def __init__(self, compute, *layers):
        super().__init__()
        self.compute, self.layers = compute, nn.ModuleList(layers)

    def forward(self, x):
        return self.compute(x, *self.layers)


def sign(x):
    return torch.where(x >= 0, 1.0, -1.0)


def binary(x, layer):
    return F.conv2d(sign(x), sign(layer.weight), stride=2, padding=1)


def compare(module, model, x):
    got = model.predict(x.numpy())
    with torch.no_grad():
        expected = module(x).numpy()
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, atol=1e-4 * max(1e-9, np.abs(expected).max()))


_RESIZED = {
    "convolution": lambda: nn.Conv2d(32, 8, 3, stride=2, padding=1),
    "dilated": lambda: nn.Conv2d(32, 8, 3, stride=2, padding=2, dilation=2),
    "depthwise": lambda: nn.Conv2d(32, 32, 3, stride=2, padding=1, groups=32),
    "binary": lambda: Function(binary, nn.Conv2d(32, 32, 3)),
    "max pool": lambda: nn.MaxPool2d(3, 2, 1),
    "max pool, rounded up": lambda: nn.MaxPool2d(2, 2, ceil_mode=True),
    "max pool before a sign": lambda: Function(
        lambda x, layer: layer(sign(F.max_pool2d(x, 3, 2, 1))), nn.Conv2d(32, 32, 1)
    ),
    "average pool": lambda: nn.AvgPool2d(3, 2, 1),
    "slices": lambda: Function(lambda x: x[:, 2:, ::2, 1::2]),
}


@pytest.mark.parametrize("form", _RESIZED)
def test_another_size(form):
    """At 33 pixels a padding of 1 with a stride of 2 is SAME, and at 32 it is not."""
    torch.manual_seed(1)
    module = _RESIZED[form]().eval()
    model = larq_engine.Interpreter(larq_engine.convert_torch(module, torch.randn(1, 32, 33, 33)))
    for size in (32, 35):
        model.resize([(1, 32, size, size)])
        compare(module, model, torch.randn(1, 32, size, size))
