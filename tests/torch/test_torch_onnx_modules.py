"""Modules of usual networks, as both exporters write them."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import larq_engine


class Vision(nn.Module):
    """Norms, pools, shuffles and images of other sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.Sequential(nn.GroupNorm(4, 8), nn.InstanceNorm2d(8, affine=True))
        self.down = nn.Sequential(nn.PixelUnshuffle(2), nn.Conv2d(32, 8, 1, padding=0))
        self.up = nn.ConvTranspose2d(8, 8, 4, 2, 1, groups=2)
        self.shuffle = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.PixelShuffle(2))
        self.padded = nn.Sequential(
            nn.ReflectionPad2d((1, 0, 2, 1)), nn.ReplicationPad2d(1), nn.Conv2d(4, 4, 3)
        )
        self.pools = nn.Sequential(nn.AvgPool2d(3, 2, 1), nn.MaxPool2d(2), nn.LPPool2d(2, 2))

    def forward(self, x):
        x = self.up(self.down(self.norms(x)))
        x = self.padded(self.shuffle(x))
        larger = functional.interpolate(x, scale_factor=2, mode="bilinear")
        same = functional.interpolate(x, scale_factor=2.0)
        x = torch.cat([larger, same, same.flip(2)], 1)
        x = functional.normalize(self.pools(x), dim=1)
        return torch.cat([x.amax((2, 3)), x.amin(1).flatten(1), x.std((1, 2, 3))[:, None]], 1)


class Activations(nn.Module):
    """Activations side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.each = nn.ModuleList(
            [
                *(nn.GELU(), nn.GELU(approximate="tanh"), nn.SiLU(), nn.Mish(), nn.Hardswish()),
                *(nn.Hardsigmoid(), nn.ELU(0.5), nn.SELU(), nn.CELU(2), nn.Softplus()),
                *(nn.Softsign(), nn.LogSigmoid(), nn.GLU(1), nn.Hardshrink(), nn.Softshrink()),
            ]
        )

    def forward(self, x):
        other = [x**2, x**3, x.abs() ** 0.5, (x.abs() + 1) ** -1, x.erf(), (x * x + 1).rsqrt()]
        other += [x.round(), x.floor() + x.ceil(), x.sin() * x.cos(), x.logsumexp(1, keepdim=True)]
        other += [torch.where((x > 0) & (x < 1) | (x == 2), x, -x), x[:, [0, 2, 1]], x.cumsum(2)]
        return torch.cat([layer(x) for layer in self.each] + other, 1)


class Tokens(nn.Module):
    """A transformer's layer, in two ways to write its attention."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 16)
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        self.norm = nn.LayerNorm(16)

    def forward(self, places):
        x = self.embedding(places)
        x = self.norm(x + self.attention(x, x, x, need_weights=False)[0])
        scores = torch.einsum("bqd,bkd->bqk", x, x).softmax(-1)
        return torch.einsum("bqk,bkd->bqd", scores, x)[:, 0]


MODULES = [
    (Vision, torch.randn(2, 8, 8, 8)),
    (Activations, torch.randn(2, 8, 4, 3)),
    (Tokens, torch.arange(10).reshape(2, 5)),
]


@pytest.mark.parametrize("dynamo", [False, True])
@pytest.mark.parametrize(("make", "data"), MODULES, ids=lambda x: getattr(x, "__name__", ""))
def test_modules(make, data, dynamo, tmp_path):
    torch.manual_seed(0)
    module = make().eval()
    path = str(tmp_path / "network.onnx")
    more = {"verbose": False} if dynamo else {}
    torch.onnx.export(module, (data,), path, dynamo=dynamo, **more)
    have = larq_engine.Interpreter(larq_engine.convert_onnx(path)).predict(data.numpy())
    with torch.no_grad():
        want = module(data).numpy()
    np.testing.assert_allclose(have, want, rtol=0, atol=2e-5 * np.abs(want).max())


def test_gelu_of_older_opsets(tmp_path):
    """Older opsets write GELU with Erf, which hosts do not have."""
    data = torch.tensor([[-30.0, -9, -3, -1, -1e-30, 0, 1e-30, 1e-3, 0.7, 2, 5, 40]])
    path = str(tmp_path / "network.onnx")
    torch.onnx.export(nn.GELU(), (data,), path, dynamo=False, opset_version=17)
    have = larq_engine.Interpreter(larq_engine.convert_onnx(path)).predict(data.numpy())
    np.testing.assert_allclose(have, nn.GELU()(data).numpy(), rtol=1e-6, atol=2e-6)
