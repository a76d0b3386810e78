"""Pads of PyTorch's `functional.pad` in front of binary convolutions, through both exporters."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import larq_engine


class _Padded(nn.Module):
    def __init__(self, value) -> None:
        super().__init__()
        self.value = value
        self.first = nn.Conv2d(3, 32, 3)
        self.weight = nn.Parameter(torch.randn(32, 32, 3, 3).sign(), requires_grad=False)

    def forward(self, x):
        x = torch.where(self.first(x) >= 0, 1.0, -1.0)
        return functional.conv2d(functional.pad(x, (1, 2, 1, 0), value=self.value), self.weight)


@pytest.mark.parametrize("dynamo", [False, True])
@pytest.mark.parametrize("value", [1.0, -1.0, 0.0])
def test_pads(value, dynamo, tmp_path):
    module = _Padded(value).eval()
    image = torch.randn(1, 3, 8, 8)
    path = str(tmp_path / "network.onnx")
    more = {"verbose": False} if dynamo else {}
    torch.onnx.export(module, (image,), path, dynamo=dynamo, **more)
    converted = larq_engine.convert_onnx(path)
    assert converted.report.count("binary") == 1
    assert not {"PAD", "PADV2"} & converted.report.operators.keys()
    with torch.no_grad():
        want = module(image).numpy()
    np.testing.assert_array_equal(larq_engine.Interpreter(converted).predict(image.numpy()), want)
