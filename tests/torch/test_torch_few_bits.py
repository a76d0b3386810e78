"""Brevitas' quantizers of several bits, in evaluation: QuantReLU, QuantIdentity and layers."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
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
    net.train()(images)  # Brevitas finds its scales in this run
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


class _Layer(nn.Module):
    """One layer whose sums are whole numbers of steps."""

    def __init__(self, bits, weight_bits, *, signed, per_channel, geometry):
        from brevitas import nn as quantized
        from brevitas import quant

        super().__init__()
        kernel, stride, padding = geometry
        weights = quant.Int8WeightPerChannelFloat if per_channel else quant.Int8WeightPerTensorFloat
        values = quantized.QuantIdentity if signed else quantized.QuantReLU
        self.values = values(bit_width=bits)
        self.layer = quantized.QuantConv2d(
            24, 12, kernel, stride=stride, padding=padding, bias=False,
            weight_quant=weights, weight_bit_width=weight_bits,
        )  # fmt: skip

    def forward(self, x):
        return self.layer(self.values(x))


# (kernel, stride, padding)
_GEOMETRIES = [((3, 3), 1, 1), ((2, 3), (2, 1), 0), (1, 2, 0)]


@pytest.fixture
def any_number_of_products(monkeypatch):
    """Makes layers binary even if hosts are faster."""
    for limit in ("_MOST_PLANE_PRODUCTS", "_MOST_PLANE_PRODUCTS_BESIDE_INT8"):
        monkeypatch.setattr(f"larq_engine.converter.rules_binary.{limit}", 64)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize(("bits", "weight_bits"), [(2, 3), (4, 4), (5, 6), (6, 5), (7, 8), (8, 2)])
@pytest.mark.usefixtures("any_number_of_products")
def test_sums_are_those_of_brevitas(bits, weight_bits, per_channel, signed):
    geometry = _GEOMETRIES[(bits + weight_bits + per_channel) % len(_GEOMETRIES)]

    def build():
        return _Layer(bits, weight_bits, signed=signed, per_channel=per_channel, geometry=geometry)

    net = with_random_statistics(build)
    images = torch.randn(2, 24, 8, 7, generator=torch.Generator().manual_seed(2))
    net.train()(images)
    net.eval()
    converted = larq_engine.convert_torch(net, images[:1])
    found = [(la.became, la.input_bits, la.weight_bits) for la in converted.report.layers]
    assert found == [("binary", bits, weight_bits)] * len(found) and found
    with torch.no_grad():
        values, weights = net.values(images), net.layer.quant_weight()
        distance = net.values.act_quant.fused_activation_quant_proxy.tensor_quant(images)[1]
        step = (distance * weights.scale.flatten().reshape(-1, 1, 1)).numpy()
        expected = net.layer(values).numpy() / step
    _check_sums(larq_engine.Interpreter(converted).predict(images.numpy()) / step, expected)


def _check_sums(got, expected):
    """Asserts that both are equal whole numbers, apart from rounding."""
    whole = np.rint(expected)
    np.testing.assert_allclose(expected, whole, rtol=0, atol=0.25)
    np.testing.assert_allclose(got, whole, rtol=0, atol=0.25)


def _dorefa(x, bits):
    steps = 2**bits - 1
    return torch.round(torch.clamp(x, 0, 1) * steps) / steps


class _DoReFa(nn.Conv2d):
    """DoReFa-Net's layer, as people write it: all of it in forward."""

    def __init__(self, bits, weight_bits, *geometry):
        super().__init__(24, 12, *geometry, bias=False)
        self.bits = bits, weight_bits

    def forward(self, x):
        return self._conv_forward(_dorefa(x, self.bits[0]), self.quantized(), None)

    def quantized(self):
        small = torch.tanh(self.weight)
        unit = small / (2 * small.abs().max()) + 0.5
        return 2 * _dorefa(unit, self.bits[1]) - 1


@pytest.mark.parametrize(
    ("bits", "weight_bits"), [(1, 2), (2, 1), (2, 2), (3, 4), (4, 1), (6, 2), (7, 5), (8, 1)]
)
@pytest.mark.usefixtures("any_number_of_products")
def test_sums_are_those_of_dorefa_net(bits, weight_bits):
    geometry = _GEOMETRIES[(bits + weight_bits) % len(_GEOMETRIES)]
    net = with_random_statistics(lambda: _DoReFa(bits, weight_bits, *geometry))
    # No such number times up to 255 is so near a half that roundings of 1 ULP matter.
    whole = torch.randint(-300, 700, (2, 24, 8, 7), generator=torch.Generator().manual_seed(2))
    images = whole / 400.3
    converted = larq_engine.convert_torch(net, images[:1])
    found = [(la.became, la.input_bits, la.weight_bits) for la in converted.report.layers]
    assert found == [("binary", bits, weight_bits)]
    steps = (2**bits - 1) * (2**weight_bits - 1)
    with torch.no_grad():
        expected = net(images).numpy() * steps
    _check_sums(larq_engine.Interpreter(converted).predict(images.numpy()) * steps, expected)


def _constant_scale(bits):
    """Makes a quantizer as FINN's CNV has it: from -1 to 1; its step follows from the bits."""
    from brevitas import nn as quantized
    from brevitas.core.bit_width import BitWidthImplType
    from brevitas.core.quant import QuantType
    from brevitas.core.restrict_val import RestrictValueType
    from brevitas.core.scaling import ScalingImplType
    from brevitas.core.zero_point import ZeroZeroPoint
    from brevitas.inject.enum import FloatToIntImplType
    from brevitas.quant.solver import ActQuantSolver

    class Quantizer(ActQuantSolver):
        quant_type = QuantType.INT
        bit_width_impl_type = BitWidthImplType.CONST
        float_to_int_impl_type = FloatToIntImplType.ROUND
        scaling_impl_type = ScalingImplType.CONST
        restrict_scaling_type = RestrictValueType.FP
        scaling_per_output_channel = False
        zero_point_impl = ZeroZeroPoint
        signed = narrow_range = True
        min_val, max_val, bit_width = -1.0, 1.0, bits

    return quantized.QuantIdentity(act_quant=Quantizer)


class Pooled(nn.Module):
    """Max pooling between quantizers and layers."""

    def __init__(self, bits):
        from brevitas import nn as quantized

        super().__init__()
        own = {"bias": False, "weight_bit_width": 2}
        self.first = nn.Conv2d(3, 32, 3, padding=1)
        self.values1, self.values2 = _constant_scale(bits), _constant_scale(bits)
        self.conv = quantized.QuantConv2d(32, 32, 3, **own)
        self.norm, self.pool = nn.BatchNorm2d(32), nn.MaxPool2d(2)
        self.scores = quantized.QuantLinear(32, 10, **own)

    def forward(self, x):
        x = self.pool(self.values1(self.first(x)))
        x = self.pool(self.values2(self.norm(self.conv(x))))
        return self.scores(x.flatten(1))


def test_max_pooling_of_a_quantizer():
    net = with_random_statistics(lambda: Pooled(2))
    converted = larq_engine.convert_torch(net, torch.randn(1, 3, 8, 8))
    found = {layer.name: layer.became for layer in converted.report.layers}
    assert found == {"first": "float", "conv": "binary", "scores": "binary"}
    assert "agree with PyTorch" in converted.report.self_check


class _Rounded(nn.Module):
    """A clamp that litert_torch fuses into the layer before it, a rounding, and a binary layer."""

    def __init__(self, clamp, *, is_binary):
        super().__init__()
        self.first, self.second = nn.Conv2d(8, 24, 3, bias=False), nn.Conv2d(24, 12, 3, bias=False)
        for layer in (self.first, self.second):
            layer.weight.data = torch.randint(1, 9, layer.weight.shape) * torch.where(
                layer.weight < 0, -0.25, 0.25
            )
        self.clamp, self.is_binary = clamp, is_binary

    def forward(self, x):
        x = F.conv2d(_signs(x), _signs(self.first.weight) / 8) if self.is_binary else self.first(x)
        return F.conv2d(torch.round(self.clamp(x)), _signs(self.second.weight))


def _signs(x):
    return torch.where(x >= 0, 1.0, -1.0)


@pytest.mark.parametrize(("clamp", "bits"), [(F.relu6, 3), (F.hardtanh, 2)])
@pytest.mark.parametrize("is_binary", [True, False])
def test_a_rounding_behind_a_fused_clamp(is_binary, clamp, bits):
    torch.manual_seed(1)
    net = _Rounded(clamp, is_binary=is_binary).eval()
    images = torch.randint(-16, 17, (2, 8, 8, 7)) / 4
    converted = larq_engine.convert_torch(net, images[:1])
    found = [(layer.became, layer.input_bits) for layer in converted.report.layers]
    assert found == [("binary", 1) if is_binary else ("float", 32), ("binary", bits)]
    assert "agree with PyTorch" in converted.report.self_check
    with torch.no_grad():
        expected = net(images).numpy()
    got = larq_engine.Interpreter(converted).predict(images.numpy())
    np.testing.assert_array_equal(got, expected)
