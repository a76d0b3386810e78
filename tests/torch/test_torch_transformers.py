"""Binary transformers: dense layers of signs, and attention of bits (BiT, BiBERT, BinaryViT)."""

import io
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

import larq_engine
from tests.examples.digits_doors import ROOT

_TOKENS, _WIDTH, _HEADS, _CLASSES = 16, 64, 2, 10
_INPUTS = 5


def _sign(x):
    return torch.where(x >= 0, 1.0, -1.0)


class _BinaryLinear(nn.Linear):
    """Multiplies signs with signs, and scales them as the weights were."""

    def forward(self, x):
        scale = self.weight.abs().mean(dim=1, keepdim=True)
        return nn.functional.linear(_sign(x), scale * _sign(self.weight), self.bias)


class _Attention(nn.Module):
    """Queries, keys and values are signs. A query attends to the keys that have a large share."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (
            _BinaryLinear(_WIDTH, _WIDTH) for _ in range(4)
        )

    def heads(self, x):
        return _sign(x).view(*x.shape[:2], _HEADS, _WIDTH // _HEADS).transpose(1, 2)

    def forward(self, x):
        query, key, value = (self.heads(layer(x)) for layer in (self.query, self.key, self.value))
        scores = query @ key.transpose(-1, -2) / (_WIDTH // _HEADS) ** 0.5
        attends = (torch.softmax(scores, -1) > 1 / _TOKENS).float()
        return self.out((attends @ value).transpose(1, 2).reshape(x.shape))


class _Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(_WIDTH), _Attention()
        self.norm2 = nn.LayerNorm(_WIDTH)
        self.wide, self.narrow = (
            _BinaryLinear(_WIDTH, 2 * _WIDTH),
            _BinaryLinear(2 * _WIDTH, _WIDTH),
        )

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.narrow(torch.relu(self.wide(self.norm2(x))) - 0.5)


class _Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(_Layer(), _Layer())
        self.scores = nn.Linear(_WIDTH, _CLASSES)

    def forward(self, x):
        return self.scores(self.layers(x).mean(1))


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(1)
    return _Transformer().eval()


def _through_onnx(network, x):
    file = io.BytesIO()
    torch.onnx.export(network, (x,), file, dynamo=False)
    return larq_engine.convert_onnx(file.getvalue())


@pytest.mark.parametrize("convert", [larq_engine.convert_torch, _through_onnx])
def test_all_products_are_of_bits(network, convert):
    x = torch.randn(1, _TOKENS, _WIDTH, generator=torch.Generator().manual_seed(2))
    converted = convert(network, x)
    assert converted.report.operators["LceBmatmul"] == 4
    assert "BATCH_MATMUL" not in converted.report.operators
    assert converted.report.count("binary") == 16
    assert [layer.became for layer in converted.report.layers][-1] == "float"
    _check(network, converted, "litert")
    _check(network, converted, "none")


def _check(network, converted, host):
    """A rounding may bring the value of a sign to the other side of 0, in one of the inputs."""
    x = torch.randn(_INPUTS, _TOKENS, _WIDTH, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        expected = network(x).numpy()
    got = larq_engine.Interpreter(converted, host=host).predict(x.numpy())
    off = np.abs(got - expected).max(axis=1) / np.abs(expected).max()
    assert np.count_nonzero(off > 1e-4) <= 1, off


class _Heads(nn.Module):
    """Attention without softmax, to scaled signs: scores that are 0 depend on rounding."""

    def __init__(self, sign, scale) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(_WIDTH, _WIDTH) for _ in range(3))
        self.sign, self.scale = sign, scale

    def forward(self, x):
        query, key, value = (
            (self.scale * self.sign(layer(x))).view(-1, _TOKENS, _HEADS, 32).transpose(1, 2)
            for layer in self.layers
        )
        return ((query @ key.transpose(-1, -2) > 0).float() @ value).transpose(1, 2)


@pytest.mark.parametrize("scale", [1.0, 0.37])
def test_comparisons_of_whole_numbers(scale):
    torch.manual_seed(0)
    network = _Heads(_sign, scale).eval()
    converted = larq_engine.convert_torch(network, torch.randn(1, _TOKENS, _WIDTH))
    assert converted.report.count("binary") == 2
    assert "4 signs and 1 output agree" in converted.report.self_check


def test_a_plain_sign_has_a_third_value():
    network = _Heads(torch.sign, 1.0).eval()
    x = torch.randn(1, _TOKENS, _WIDTH)
    with pytest.raises(larq_engine.ConversionError, match="the sign of 0 is 0"):
        larq_engine.convert_torch(network, x)
    converted = larq_engine.convert_torch(network, x, sign_of_zero="+1")
    assert converted.report.count("binary") == 2


def test_the_example_learns_and_its_file_answers_the_same(tmp_path):
    pytest.importorskip("sklearn", reason="scikit-learn, for its digits, is not installed here")
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "transformer.py", "--epochs", "5"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    floats, theirs, ours, same = map(float, re.findall(r"([\d.]+)%", done.stdout)[:4])
    assert min(floats, theirs, ours) > 60, "ten digits: one in ten by chance"
    assert same > 99
    assert "18 layers: 16 binary, 2 float" in done.stdout
