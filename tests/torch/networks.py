"""Binary networks as people write them in PyTorch, with random weights and statistics."""

import itertools
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn


class PolynomialSign(nn.Module):
    """Bi-Real Net's activation: the sign, with the gradient of a polynomial."""

    def forward(self, x):
        sign = torch.sign(x)
        below = (x < -1).float()
        negative = (x < 0).float()
        above = (x < 1).float()
        first = -1 * below + (x * x + 2 * x) * (1 - below)
        second = first * negative + (-x * x + 2 * x) * (1 - negative)
        third = second * above + 1 * (1 - above)
        return sign.detach() - third.detach() + third


class ScaledConv(nn.Module):
    """Bi-Real Net's and ReActNet's layer: signs of weights times their mean size."""

    def __init__(self, channels, filters, size, stride=1):
        super().__init__()
        self.stride, self.padding = stride, size // 2
        self.weight = nn.Parameter(torch.randn(filters, channels, size, size) * 0.1)

    def forward(self, x):
        weight = self.weight
        scale = weight.abs().mean(dim=(1, 2, 3), keepdim=True).detach()
        signs = scale * torch.sign(weight)
        clipped = torch.clamp(weight, -1.0, 1.0)
        binary = signs.detach() - clipped.detach() + clipped
        return F.conv2d(x, binary, stride=self.stride, padding=self.padding)


class BiRealBlock(nn.Module):
    def __init__(self, channels, filters, stride):
        super().__init__()
        self.sign = PolynomialSign()
        self.conv = ScaledConv(channels, filters, 3, stride)
        self.norm = nn.BatchNorm2d(filters)
        self.shortcut = nn.Identity()
        if stride > 1 or channels != filters:
            self.shortcut = nn.Sequential(
                nn.AvgPool2d(2, stride),
                nn.Conv2d(channels, filters, 1, bias=False),
                nn.BatchNorm2d(filters),
            )

    def forward(self, x):
        return self.norm(self.conv(self.sign(x))) + self.shortcut(x)


class BiReal18(nn.Module):
    """Bi-Real Net with 18 layers, of which 16 are binary."""

    def __init__(self, width=64, classes=10):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(width),
            nn.MaxPool2d(3, 2, padding=1),
        )
        blocks, channels = [], width
        for stage in range(4):
            for number in range(4):
                filters = width << stage
                stride = 2 if stage and not number else 1
                blocks.append(BiRealBlock(channels, filters, stride))
                channels = filters
        self.blocks = nn.Sequential(*blocks)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.scores = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.pool(self.blocks(self.stem(x)))
        return self.scores(x.view(x.size(0), -1))


class LearnableBias(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.bias = nn.Parameter(torch.randn(1, channels, 1, 1) * 0.1)

    def forward(self, x):
        return x + self.bias.expand_as(x)


def rsign(channels):
    return nn.Sequential(LearnableBias(channels), PolynomialSign())


def rprelu(channels):
    slopes = nn.PReLU(channels)
    nn.init.uniform_(slopes.weight, 0.1, 0.5)
    return nn.Sequential(LearnableBias(channels), slopes, LearnableBias(channels))


class ReActBlock(nn.Module):
    def __init__(self, channels, filters, stride):
        super().__init__()
        self.sign1 = rsign(channels)
        self.conv3x3 = ScaledConv(channels, channels, 3, stride)
        self.norm1 = nn.BatchNorm2d(channels)
        self.pool = nn.AvgPool2d(2, 2) if stride > 1 else nn.Identity()
        self.activation1 = rprelu(channels)
        self.sign2 = rsign(channels)
        copies = filters // channels
        self.pointwise = nn.ModuleList(ScaledConv(channels, channels, 1) for _ in range(copies))
        self.norms = nn.ModuleList(nn.BatchNorm2d(channels) for _ in range(copies))
        self.activation2 = rprelu(filters)

    def forward(self, x):
        x = self.activation1(self.norm1(self.conv3x3(self.sign1(x))) + self.pool(x))
        signs = self.sign2(x)
        parts = [
            norm(conv(signs)) + x for conv, norm in zip(self.pointwise, self.norms, strict=True)
        ]
        return self.activation2(torch.cat(parts, dim=1))


class ReActNet(nn.Module):
    """ReActNet's blocks of RSign and RPReLU, fewer and narrower than in the paper."""

    def __init__(self, width=32, classes=10):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(width)
        )
        self.blocks = nn.Sequential(
            ReActBlock(width, 2 * width, 1),
            ReActBlock(2 * width, 4 * width, 2),
            ReActBlock(4 * width, 4 * width, 1),
        )
        self.scores = nn.Linear(4 * width, classes)

    def forward(self, x):
        return self.scores(F.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1).flatten(1))


class InPlaceSign(torch.autograd.Function):
    """A sign as the first code of binary networks has it: two masks fill a new tensor."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        signs = x.new(x.size())
        signs[x >= 0] = 1
        signs[x < 0] = -1
        return signs

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() <= 1).float()


class XnorBlock(nn.Module):
    """XNOR-Net's order: batch norm, sign, convolution, relu."""

    def __init__(self, channels, filters, size=3):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.weight = nn.Parameter(torch.randn(filters, channels, size, size) * 0.1)
        self.bias = nn.Parameter(torch.randn(filters) * 0.1)
        self.padding = size // 2

    def forward(self, x):
        scale = self.weight.abs().mean(dim=(1, 2, 3), keepdim=True)
        weight = InPlaceSign.apply(self.weight) * scale
        x = InPlaceSign.apply(self.norm(x))
        return F.relu(F.conv2d(x, weight, self.bias, padding=self.padding))


class XnorNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(3, 32, 5, padding=2), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.conv1 = XnorBlock(32, 64)
        self.pool1 = nn.MaxPool2d(2)
        self.conv2 = XnorBlock(64, 64)
        self.conv3 = XnorBlock(64, 128, size=1)
        self.scores = nn.Conv2d(128, classes, 1)
        self.pool = nn.AvgPool2d(8)

    def forward(self, x):
        x = self.conv2(self.pool1(self.conv1(self.first(x))))
        return self.pool(self.scores(self.conv3(x))).flatten(1)


class AdaBinConv(nn.Conv2d):
    """AdaBin's layer: each side has two values of its own, around a centre."""

    def __init__(self, channels, filters, padding):
        super().__init__(channels, filters, 3, padding=padding, bias=False)
        self.alpha = nn.Parameter(torch.tensor(0.75))
        self.beta = nn.Parameter(torch.tensor(0.25))

    def forward(self, x):
        x = InPlaceSign.apply((x - self.beta) / self.alpha) * self.alpha + self.beta
        centre = self.weight.mean((1, 2, 3), keepdim=True)
        spread = (self.weight - centre).std((1, 2, 3), keepdim=True)
        weight = InPlaceSign.apply((self.weight - centre) / spread) * spread + centre
        return F.conv2d(x, weight, padding=self.padding)


class AdaBinNet(nn.Module):
    def __init__(self, padding=1, classes=10):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32))
        self.conv1 = AdaBinConv(32, 64, padding)
        self.norm1 = nn.BatchNorm2d(64)
        self.conv2 = AdaBinConv(64, 64, padding)
        self.norm2 = nn.BatchNorm2d(64)
        self.scores = nn.Linear(64, classes)

    def forward(self, x):
        x = self.norm1(self.conv1(self.first(x)))
        return self.scores(self.norm2(self.conv2(x)).mean((2, 3)))


class SignConv1d(nn.Conv1d):
    def forward(self, x):
        x = torch.where(x >= 0, 1.0, -1.0)
        weight = torch.where(self.weight >= 0, 1.0, -1.0)
        return F.conv1d(x, weight, stride=self.stride, padding=self.padding)


class KeywordNet(nn.Module):
    """A network for words in a second of sound, which is one line of samples."""

    def __init__(self, classes=12):
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv1d(1, 32, 25, stride=8, padding=12, bias=False), nn.BatchNorm1d(32)
        )
        self.conv1 = SignConv1d(32, 64, 5, padding=2, bias=False)
        self.norm1 = nn.BatchNorm1d(64)
        self.conv2 = SignConv1d(64, 64, 5, stride=2, padding=2, bias=False)
        self.norm2 = nn.BatchNorm1d(64)
        self.conv3 = SignConv1d(64, 128, 3, padding=1, bias=False)
        self.norm3 = nn.BatchNorm1d(128)
        self.scores = nn.Linear(128, classes)

    def forward(self, x):
        x = F.max_pool1d(self.norm1(self.conv1(self.first(x))), 2)
        x = self.norm3(self.conv3(self.norm2(self.conv2(x))))
        return self.scores(x.mean(2))


class SignLinear(nn.Linear):
    def forward(self, x):
        if x.size(1) != 784:
            x = x.sign() + (x == 0)
        weight = self.weight.sign()
        return F.linear(x, weight + (weight == 0))


class Mlp(nn.Module):
    """The network of BinaryNet's MNIST experiments, with its hard tangents."""

    def __init__(self, width=512, classes=10):
        super().__init__()
        sizes = (784, width, width, width, classes)
        self.layers = nn.ModuleList(
            SignLinear(before, after, bias=False) for before, after in itertools.pairwise(sizes)
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(size) for size in sizes[1:])

    def forward(self, x):
        x = x.view(x.size(0), -1)
        for number, (layer, norm) in enumerate(zip(self.layers, self.norms, strict=True)):
            x = norm(layer(F.hardtanh(x) if number else x))
        return F.log_softmax(x, dim=1)


class BrevitasNet(nn.Module):
    """A network of Brevitas' own quantizers, in evaluation."""

    def __init__(self, classes=10):
        from brevitas import nn as quantized
        from brevitas.quant.binary import (
            SignedBinaryActPerTensorConst,
            SignedBinaryWeightPerTensorConst,
        )

        super().__init__()

        def sign():
            return quantized.QuantIdentity(act_quant=SignedBinaryActPerTensorConst)

        def conv(channels, filters, **options):
            return quantized.QuantConv2d(
                *(channels, filters, 3),
                bias=False,
                weight_quant=SignedBinaryWeightPerTensorConst,
                **options,
            )

        self.first = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32))
        self.sign1, self.conv1, self.norm1 = sign(), conv(32, 64, padding=1), nn.BatchNorm2d(64)
        self.pool = nn.MaxPool2d(2)
        self.sign2, self.conv2 = sign(), conv(64, 64, padding=1, stride=2)
        self.norm2 = nn.BatchNorm2d(64)
        self.sign3, self.conv3, self.norm3 = sign(), conv(64, 64), nn.BatchNorm2d(64)
        self.scores = nn.Linear(64, classes)

    def forward(self, x):
        x = self.pool(self.norm1(self.conv1(self.sign1(self.first(x)))))
        x = self.norm2(self.conv2(self.sign2(x)))
        return self.scores(self.norm3(self.conv3(self.sign3(x))).mean((2, 3)))


def with_random_statistics(make: Callable[[], nn.Module]) -> nn.Module:
    """Makes a module as after training, in evaluation mode; it is the same in every run."""
    torch.manual_seed(1)
    module = make()
    for parameter in module.parameters():
        parameter.data[parameter == 0] = 0.01  # torch.sign has a third value
    for part in module.modules():
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            part.running_mean.normal_(0, 0.2)
            part.running_var.uniform_(0.5, 2.0)
            if part.affine:
                nn.init.uniform_(part.weight, 0.5, 1.5)
                nn.init.normal_(part.bias, 0, 0.2)
    return module.eval()
