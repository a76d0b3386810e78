"""Small networks with the forms of published binary networks, written from their papers.

Each has the original's signs, binarizers, scales and order of layers, but fewer and narrower
layers. The forms that tests/torch/networks.py has are used from there.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from tests.torch import networks


class PlainSign(torch.autograd.Function):
    """torch.sign with the gradient of a clamp."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sign(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() <= 1)


class TanhSign(nn.Module):
    """BNext's sign, with the gradient of a steep hyperbolic tangent."""

    def forward(self, x):
        soft = torch.tanh(3 * x)
        return torch.sign(x).detach() - soft.detach() + soft


def conv_norm(channels, filters, stride=1, size=3):
    conv = nn.Conv2d(channels, filters, size, stride, padding=size // 2, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(filters))


class Ends(nn.Module):
    """A float stem in front of blocks, and means and scores behind them."""

    def __init__(self, blocks, width, channels, stride=1):
        super().__init__()
        self.stem = conv_norm(3, width, stride)
        self.blocks = nn.Sequential(*blocks)
        self.scores = nn.Linear(channels, 10)

    def forward(self, x):
        return self.scores(self.blocks(self.stem(x)).mean((2, 3)))


# Bi-Real Net and ReActNet.


def bireal():
    block = networks.BiRealBlock
    return Ends([block(32, 32, 1), block(32, 32, 1), block(32, 64, 2), block(64, 64, 1)], 32, 64)


class ReActResBlock(nn.Module):
    """ReActNet's block on a ResNet: RSign, 3x3, batch norm, shortcut, RPReLU."""

    def __init__(self, channels, filters, stride):
        super().__init__()
        self.sign = networks.rsign(channels)
        self.conv = networks.ScaledConv(channels, filters, 3, stride)
        self.norm = nn.BatchNorm2d(filters)
        self.shortcut = nn.Identity()
        if stride > 1:
            self.shortcut = nn.Sequential(
                nn.AvgPool2d(2, 2, ceil_mode=True, count_include_pad=False),
                *conv_norm(channels, filters, size=1),
            )
        self.activation = networks.rprelu(filters)

    def forward(self, x):
        return self.activation(self.norm(self.conv(self.sign(x))) + self.shortcut(x))


def react_resnet():
    return Ends([ReActResBlock(32, 32, 1), ReActResBlock(32, 64, 2)], 32, 64)


# BNext.


class BNextConv(nn.Conv2d):
    """Signs of centred weights, each filter times its mean size."""

    def forward(self, x):
        weight = self.weight - self.weight.mean((1, 2, 3), keepdim=True)
        scale = weight.abs().mean((1, 2, 3), keepdim=True).detach()
        return F.conv2d(x, scale * TanhSign()(weight), None, self.stride, self.padding)


class Gate(nn.Module):
    """Squeeze and expand: factors of channels from means of the block's input."""

    def __init__(self, channels, filters):
        super().__init__()
        self.squeeze, self.expand = nn.Conv2d(channels, 8, 1), nn.Conv2d(8, filters, 1)

    def forward(self, x):
        return torch.sigmoid(self.expand(F.relu(self.squeeze(F.adaptive_avg_pool2d(x, 1)))))


class BNextHalf(nn.Module):
    """Sign, binary convolution, batch norm, gate, shortcut, RPReLU."""

    def __init__(self, channels, size, stride=1):
        super().__init__()
        self.move, self.sign = networks.LearnableBias(channels), TanhSign()
        self.conv = BNextConv(channels, channels, size, stride, padding=size // 2, bias=False)
        self.norm, self.gate = nn.BatchNorm2d(channels), Gate(channels, channels)
        self.pool = nn.AvgPool2d(2, 2) if stride > 1 else nn.Identity()
        self.scale = nn.Parameter(torch.rand(1, channels, 1, 1) + 0.5)
        self.activation = networks.rprelu(channels)

    def forward(self, x):
        x = self.scale * x
        y = self.norm(self.conv(self.sign(self.move(x)))) * self.gate(x)
        return self.activation(y + self.pool(x))


class BNextBlock(nn.Module):
    """An attention half, and feed-forward halves that are joined if channels double."""

    def __init__(self, channels, filters, stride):
        super().__init__()
        self.attention = BNextHalf(channels, 3, stride)
        self.forwards = nn.ModuleList(BNextHalf(channels, 1) for _ in range(filters // channels))

    def forward(self, x):
        x = self.attention(x)
        return torch.cat([half(x) for half in self.forwards], dim=1)


def bnext():
    return Ends([BNextBlock(32, 64, 1), BNextBlock(64, 64, 2)], 32, 64)


# IR-Net.


class BalancedConv(nn.Conv2d):
    """IR-Net's layer: balanced and normed weights, scaled by powers of two."""

    binary_input = True

    def forward(self, x):
        flat = self.weight.view(self.weight.size(0), -1)
        weight = self.weight - flat.mean(-1).view(-1, 1, 1, 1)
        weight = weight / weight.view(weight.size(0), -1).std(-1).view(-1, 1, 1, 1)
        sizes = weight.abs().view(weight.size(0), -1).mean(-1)
        scale = torch.pow(2.0, (torch.log(sizes) / torch.log(torch.tensor(2.0))).round().float())
        weight = PlainSign.apply(weight) * scale.view(-1, 1, 1, 1).detach()
        x = PlainSign.apply(x) if self.binary_input else x
        return F.conv2d(x, weight, self.bias, self.stride, self.padding)


class FloatInputConv(BalancedConv):
    binary_input = False


class IrBlock(nn.Module):
    """A block of the ResNet20 of CIFAR-10: shortcuts are slices with zero channels at both ends."""

    def __init__(self, channels, filters, stride, conv):
        super().__init__()
        own = {"padding": 1, "bias": False}
        self.conv1 = conv(channels, filters, 3, stride, **own)
        self.norm1 = nn.BatchNorm2d(filters)
        self.conv2 = conv(filters, filters, 3, 1, **own)
        self.norm2 = nn.BatchNorm2d(filters)
        self.more = (filters - channels) // 2

    def shortcut(self, x):
        if not self.more:
            return x
        return F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.more, self.more), "constant", 0)

    def forward(self, x):
        x = F.hardtanh(self.norm1(self.conv1(x)) + self.shortcut(x))
        return F.hardtanh(self.norm2(self.conv2(x)) + x)


def irnet(conv=BalancedConv):
    return Ends([IrBlock(32, 32, 1, conv), IrBlock(32, 64, 2, conv)], 32, 64)


class IrVgg(nn.Module):
    """IR-Net's VGG-Small: hard tangents behind batch norms, pools in front of them."""

    def __init__(self):
        super().__init__()
        own = {"padding": 1, "bias": False}
        self.first = conv_norm(3, 32)
        self.conv1, self.norm1 = BalancedConv(32, 32, 3, **own), nn.BatchNorm2d(32)
        self.conv2, self.norm2 = BalancedConv(32, 64, 3, **own), nn.BatchNorm2d(64)
        self.conv3, self.norm3 = BalancedConv(64, 64, 3, **own), nn.BatchNorm2d(64)
        self.scores = nn.Linear(64 * 16, 10)

    def forward(self, x):
        x = F.hardtanh(self.first(x))
        x = F.hardtanh(self.norm1(F.max_pool2d(self.conv1(x), 2, 2)))
        x = F.hardtanh(self.norm2(self.conv2(x)))
        x = F.hardtanh(self.norm3(F.max_pool2d(self.conv3(x), 2, 2)))
        return self.scores(x.view(x.size(0), -1))


# AdaBin.


class AdaBinConv(networks.AdaBinConv):
    """AdaBin's layer at any stride."""

    def __init__(self, channels, filters, stride=1):
        super().__init__(channels, filters, padding=1)
        self.stride = (stride, stride)

    def forward(self, x):
        x = networks.InPlaceSign.apply((x - self.beta) / self.alpha) * self.alpha + self.beta
        centre = torch.mean(self.weight, dim=[1, 2, 3], keepdim=True)
        spread = torch.sqrt(((self.weight - centre) ** 2).sum((1, 2, 3), keepdim=True) / 288)
        weight = PlainSign.apply((self.weight - centre) / spread) * spread + centre
        return F.conv2d(x, weight, self.bias, self.stride, self.padding)


class Maxout(nn.Module):
    """AdaBin's activation: a slope of each sign for each channel."""

    def __init__(self, channels):
        super().__init__()
        self.positive = nn.Parameter(torch.rand(channels, 1, 1) + 0.5)
        self.negative = nn.Parameter(torch.rand(channels, 1, 1) * 0.5)

    def forward(self, x):
        return F.relu(x) * self.positive - F.relu(-x) * self.negative


class AdaBinBlock(nn.Module):
    def __init__(self, channels, filters, stride):
        super().__init__()
        self.conv, self.norm = AdaBinConv(channels, filters, stride), nn.BatchNorm2d(filters)
        self.shortcut = nn.Identity()
        if stride > 1:
            self.shortcut = nn.Sequential(nn.AvgPool2d(2, 2), *conv_norm(channels, filters, size=1))
        self.activation = Maxout(filters)

    def forward(self, x):
        return self.activation(self.norm(self.conv(x)) + self.shortcut(x))


def adabin():
    return Ends([AdaBinBlock(32, 32, 1), AdaBinBlock(32, 64, 2)], 32, 64)


# XNOR-Net.


class XnorConv(nn.Module):
    """Batch norm, sign, convolution of scaled signs, relu; for one pixel, a dense layer."""

    def __init__(self, channels, filters, size, *, stride=1, dense=False, means=False):
        super().__init__()
        self.norm = nn.BatchNorm1d(channels) if dense else nn.BatchNorm2d(channels)
        layer = nn.Linear(channels, filters) if dense else nn.Conv2d(channels, filters, size)
        self.weight, self.bias = layer.weight, layer.bias
        self.options = {"stride": stride, "padding": size // 2}
        self.means, self.size = means, size

    def forward(self, x):
        x = self.norm(x)
        axes = tuple(range(1, self.weight.ndim))
        count = self.weight[0].numel()
        weight = self.weight - self.weight.mean(1, keepdim=True)
        scale = weight.clamp(-1.0, 1.0).norm(1, axes, keepdim=True) / count
        weight = weight.sign() * scale
        if self.weight.ndim == 2:
            return F.relu(F.linear(x.sign(), weight, self.bias))
        y = F.conv2d(x.sign(), weight, **self.options)
        if self.means:  # the paper's K: means of the sizes that each result saw
            box = torch.full((1, 1, self.size, self.size), 1 / self.size**2)
            y = y * F.conv2d(x.abs().mean(1, keepdim=True), box, **self.options)
        return F.relu(y + self.bias.view(-1, 1, 1))


class XnorAlexNet(nn.Module):
    """Binary dense layers behind overlapping pools, with dropouts."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            *(nn.Conv2d(3, 32, 5, 2, padding=2), nn.BatchNorm2d(32, eps=1e-4), nn.ReLU()),
            nn.MaxPool2d(3, 2),
            *(XnorConv(32, 64, 5), nn.MaxPool2d(3, 2)),
            *(XnorConv(64, 64, 3), XnorConv(64, 64, 3)),
        )
        self.dense = nn.Sequential(
            XnorConv(64 * 9, 128, 1, dense=True),
            nn.Dropout(),
            XnorConv(128, 128, 1, dense=True),
            nn.BatchNorm1d(128),
            nn.Linear(128, 10),
        )

    def forward(self, x):
        x = self.features(x)
        return self.dense(x.view(x.size(0), 64 * 9))


def xnor_nin():
    """Builds XNOR-Net's network in network, with padded pools of both kinds."""
    return nn.Sequential(
        *(nn.Conv2d(3, 32, 5, padding=2), nn.BatchNorm2d(32, eps=1e-4), nn.ReLU()),
        *(XnorConv(32, 64, 1), XnorConv(64, 32, 1), nn.MaxPool2d(3, 2, padding=1)),
        *(XnorConv(32, 64, 5), XnorConv(64, 64, 1), nn.AvgPool2d(3, 2, padding=1)),
        *(XnorConv(64, 64, 3), nn.BatchNorm2d(64), nn.Conv2d(64, 10, 1), nn.ReLU()),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten()),
    )


def xnor_means():
    """Builds a network of the paper's own layer, which scales pixels as well."""
    blocks = [XnorConv(32, 32, 3, means=True), XnorConv(32, 64, 3, stride=2, means=True)]
    return Ends(blocks, 32, 64)


# BinaryNet.


class BinarizedConv(nn.Conv2d):
    def forward(self, x):
        weight = self.weight.sign()
        y = F.conv2d(x.sign(), weight, None, self.stride, self.padding, self.dilation, self.groups)
        return y + self.bias.view(1, -1, 1, 1).expand_as(y)


class BinarizedLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x.sign(), self.weight.sign()) + self.bias.view(1, -1).expand(x.size(0), -1)


def binarynet():
    """Builds the VGG of CIFAR-10: pool, batch norm, hard tangent; all biases, all layers binary."""

    def step(channels, filters, *pool):
        own = BinarizedConv(channels, filters, 3, padding=1)
        return [own, *pool, nn.BatchNorm2d(filters), nn.Hardtanh(inplace=True)]

    return nn.Sequential(
        *(nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.Hardtanh(inplace=True)),
        *step(32, 32, nn.MaxPool2d(2)),
        *step(32, 64),
        *step(64, 64, nn.MaxPool2d(2)),
        nn.Flatten(),
        *(BinarizedLinear(64 * 16, 128), nn.BatchNorm1d(128), nn.Hardtanh(inplace=True)),
        *(BinarizedLinear(128, 10), nn.BatchNorm1d(10), nn.LogSoftmax(dim=1)),
    )


# BATS, and the library that it was published with.


class ReducedConv(nn.Conv2d):
    """A layer with weights centred and scaled by the mean size, as a norm of one."""

    def forward(self, x):
        weight = self.weight - self.weight.mean(1, keepdim=True)
        scale = torch.norm(weight, p=1, dim=[1, 2, 3], keepdim=True) / weight[0].numel()
        weight = PlainSign.apply(weight).mul(scale)
        return F.conv2d(x, weight, None, self.stride, self.padding, self.dilation, self.groups)


class BatsConv(nn.Module):
    """Batch norm, sign, convolution, PReLU; some have groups, and some are dilated."""

    def __init__(self, channels, filters, size, stride=1, groups=1, dilation=1):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.conv = ReducedConv(
            *(channels, filters, size, stride, dilation * (size // 2), dilation, groups), bias=False
        )
        self.activation = nn.PReLU(filters)

    def forward(self, x):
        return self.activation(self.conv(PlainSign.apply(self.norm(x))))


class FactorizedReduce(nn.Module):
    """Halves an image by two 1x1 convolutions, of which one begins a pixel later."""

    def __init__(self, channels, filters):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        own = {"stride": 2, "bias": False}
        self.conv1 = ReducedConv(channels, filters // 2, 1, **own)
        self.conv2 = ReducedConv(channels, filters // 2, 1, **own)

    def forward(self, x):
        x = PlainSign.apply(self.norm(x))
        return torch.cat([self.conv1(x), self.conv2(x[:, :, 1:, 1:])], dim=1)


class BatsCell(nn.Module):
    """A cell of nodes that sum two operations each, and a concatenation of all nodes."""

    def __init__(self, before, channels, width, stride):
        super().__init__()
        self.inputs = nn.ModuleList([BatsConv(before, width, 1), BatsConv(channels, width, 1)])
        self.node1 = nn.ModuleList(
            [
                BatsConv(width, width, 3, stride, groups=2),
                nn.Sequential(nn.MaxPool2d(3, stride, 1), nn.BatchNorm2d(width, affine=False)),
            ]
        )
        self.node2 = nn.ModuleList(
            [
                BatsConv(width, width, 3, stride, groups=2, dilation=2),
                FactorizedReduce(width, width) if stride > 1 else nn.Identity(),
            ]
        )
        self.node3 = nn.ModuleList(
            [
                nn.AvgPool2d(3, 1, 1, count_include_pad=False),
                BatsConv(width, width, 5, 1, groups=2),
            ]
        )

    def forward(self, before, x):
        a, b = self.inputs[0](before), self.inputs[1](x)
        first = self.node1[0](a) + self.node1[1](b)
        second = self.node2[0](a) + self.node2[1](b)
        third = self.node3[0](first) + self.node3[1](second)
        return torch.cat([first, second, third], dim=1)


class Bats(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = conv_norm(3, 32)
        self.cell1 = BatsCell(32, 32, 64, 1)
        self.cell2 = BatsCell(192, 192, 64, 2)
        self.pool, self.scores = nn.AdaptiveAvgPool2d(1), nn.Linear(192, 10)

    def forward(self, x):
        x = self.stem(x)
        x = self.cell1(x, x)
        x = self.cell2(x, x)
        return self.scores(self.pool(x).view(x.size(0), -1))


class ReluBlock(nn.Module):
    """The ResNet of binary-networks-pytorch: signs of relus, so values are 0 and 1."""

    def __init__(self, channels, filters, stride):
        super().__init__()
        own = {"padding": 1, "bias": False}
        self.conv1 = ReducedConv(channels, filters, 3, stride, **own)
        self.norm1 = nn.BatchNorm2d(filters)
        self.conv2 = ReducedConv(filters, filters, 3, **own)
        self.norm2 = nn.BatchNorm2d(filters)
        self.shortcut = conv_norm(channels, filters, stride, 1) if stride > 1 else nn.Identity()

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(PlainSign.apply(x))))
        y = self.norm2(self.conv2(PlainSign.apply(y)))
        return F.relu(y + self.shortcut(x))


def relu_resnet():
    return Ends([nn.ReLU(), ReluBlock(32, 32, 1), ReluBlock(32, 64, 2)], 32, 64)


# FINN's networks, of Brevitas' quantizers.


def _quantizer(parent, bits, **options):
    """Makes a quantizer of a narrow range and a constant scale, as FINN's trainings use."""
    from brevitas.core.bit_width import BitWidthImplType
    from brevitas.core.quant import QuantType
    from brevitas.core.restrict_val import FloatToIntImplType, RestrictValueType
    from brevitas.core.scaling import ScalingImplType
    from brevitas.core.zero_point import ZeroZeroPoint

    options |= {
        "bit_width_impl_type": BitWidthImplType.CONST,
        "scaling_impl_type": ScalingImplType.CONST,
        "restrict_scaling_type": RestrictValueType.FP,
        "float_to_int_impl_type": FloatToIntImplType.ROUND,
        "zero_point_impl": ZeroZeroPoint,
        "quant_type": QuantType.BINARY if bits == 1 else QuantType.INT,
        "bit_width": bits,
        "signed": True,
        "narrow_range": True,
        "scaling_per_output_channel": False,
    }
    return type("Quantizer", (parent,), options)


def weight_quantizer(bits):
    from brevitas.quant.solver import WeightQuantSolver

    return _quantizer(WeightQuantSolver, bits, scaling_const=1.0)


def value_quantizer(bits):
    from brevitas.quant.solver import ActQuantSolver

    return _quantizer(ActQuantSolver, bits, min_val=-1.0, max_val=1.0)


def _spread(module):
    """Gives a module the weights that FINN's trainings begin with, which use all levels."""
    for part in module.modules():
        if isinstance(part, nn.Conv2d | nn.Linear):
            nn.init.uniform_(part.weight, -1.0, 1.0)


class OneNorm(nn.Module):
    """A batch norm of all values at once, behind the last layer."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.rand(1)), nn.Parameter(torch.rand(1))
        self.register_buffer("running_mean", torch.rand(1))
        self.register_buffer("running_var", torch.rand(1) + 4)

    def forward(self, x):
        x = (x - self.running_mean) / (self.running_var + 1e-4).pow(0.5)
        return x * self.weight + self.bias


class FinnDense(nn.Module):
    """TFC, SFC and LFC: three hidden dense layers on a quantized image."""

    def __init__(self, width, weight_bits, bits):
        from brevitas import nn as quantized

        super().__init__()
        layers = [quantized.QuantIdentity(act_quant=value_quantizer(bits)), nn.Dropout(0.2)]
        sizes = (784, width, width, width)
        for size in itertools.pairwise(sizes):
            layers += [
                self._dense(*size, weight_bits),
                nn.BatchNorm1d(width),
                quantized.QuantIdentity(act_quant=value_quantizer(bits)),
                nn.Dropout(0.2),
            ]
        self.layers = nn.ModuleList([*layers, self._dense(width, 10, weight_bits), OneNorm()])
        _spread(self)

    @staticmethod
    def _dense(before, after, bits):
        from brevitas import nn as quantized

        return quantized.QuantLinear(before, after, bias=False, weight_quant=weight_quantizer(bits))

    def forward(self, x):
        x = 2.0 * x.view(x.shape[0], -1) - torch.tensor([1.0])
        for layer in self.layers:
            x = layer(x)
        return x


class FinnConv(nn.Module):
    """CNV: convolutions without pads down to one pixel, then dense layers."""

    def __init__(self, weight_bits, bits, width=32):
        from brevitas import nn as quantized
        from brevitas.quant.fixed_point import Int8ActPerTensorFixedPointMinMaxInit

        super().__init__()

        def norm_and_values(norm):
            return norm, quantized.QuantIdentity(act_quant=value_quantizer(bits))

        class Image(Int8ActPerTensorFixedPointMinMaxInit):
            min_val, max_val = -1.0, 1.0 - 2.0**-7

        own = {"bias": False, "weight_quant": weight_quantizer(weight_bits)}
        convs = [quantized.QuantIdentity(act_quant=Image)]
        channels = 3
        for filters, pools in zip(
            (width, width, 2 * width, 2 * width, 4 * width, 4 * width), (0, 1, 0, 1, 0, 0),
            strict=True,
        ):  # fmt: skip
            convs += [quantized.QuantConv2d(channels, filters, 3, **own)]
            convs += norm_and_values(nn.BatchNorm2d(filters, eps=1e-4))
            convs += [nn.MaxPool2d(2)] if pools else []
            channels = filters
        dense = []
        for before, after in [(4 * width, 4 * width), (4 * width, 4 * width)]:
            dense += [quantized.QuantLinear(before, after, **own)]
            dense += norm_and_values(nn.BatchNorm1d(after, eps=1e-4))
        dense += [quantized.QuantLinear(4 * width, 10, **own), OneNorm()]
        self.convs, self.dense = nn.ModuleList(convs), nn.ModuleList(dense)
        _spread(self)

    def forward(self, x):
        x = 2.0 * x - torch.tensor([1.0])
        for layer in self.convs:
            x = layer(x)
        x = x.view(x.shape[0], -1)
        for layer in self.dense:
            x = layer(x)
        return x


@dataclass(frozen=True)
class Form:
    """A network, and what is known of it by construction.

    Attributes:
        make: Makes the module.
        shape: Shape of the image.
        binary: Number of its binary layers.
        others: Sizes of other images that it can take.
        quantized: True if it is of Brevitas' quantizers, which go through QONNX as well.
        has_plain_signs: True if it has torch.sign in front of binary layers, whose zeros the user
            decides about.
    """

    make: Callable[[], nn.Module]
    shape: tuple[int, int, int]
    binary: int
    others: tuple[int, ...] = ()
    quantized: bool = False
    has_plain_signs: bool = True


_IMAGE = (3, 16, 16)
_ODD = (3, 17, 17)


def _finn() -> dict[str, Form]:
    forms = {}
    for weight_bits, bits in ((1, 1), (1, 2), (2, 2)):
        name = f"{weight_bits}W{bits}A"
        for kind, width in (("TFC", 64), ("SFC", 256), ("LFC", 1024)):
            forms[f"FINN {kind} {name}"] = Form(
                lambda width=width, bits=bits, own=weight_bits: FinnDense(width, own, bits),
                *((1, 28, 28), 4, (), True, False),
            )
        forms[f"FINN CNV {name}"] = Form(
            lambda bits=bits, own=weight_bits: FinnConv(own, bits),
            *((3, 32, 32), 8, (), True, False),
        )
    return forms


FORMS = {
    "Bi-Real Net": Form(bireal, (3, 18, 18), 4, (16, 20)),
    "ReActNet, MobileNet": Form(networks.ReActNet, (3, 31, 31), 8, (32, 36)),
    "ReActNet, ResNet": Form(react_resnet, _ODD, 2, (16, 19)),
    "BNext": Form(bnext, (3, 18, 18), 5, (16, 20)),
    "IR-Net, ResNet": Form(irnet, _ODD, 4, (16, 19)),
    "IR-Net, weights only": Form(lambda: irnet(FloatInputConv), _ODD, 0, (16, 19)),
    "IR-Net, VGG": Form(IrVgg, _IMAGE, 3),
    # Its file may refuse other sizes, as its pads add a constant image to the results.
    "AdaBin, ResNet": Form(adabin, (3, 18, 18), 2, (16, 20), has_plain_signs=False),
    "AdaBin, no pads": Form(
        lambda: networks.AdaBinNet(padding=0), _ODD, 2, (16, 19), has_plain_signs=False
    ),
    "XNOR-Net, in-place signs": Form(networks.XnorNet, (3, 32, 32), 3, (), has_plain_signs=False),
    "XNOR-Net, AlexNet": Form(XnorAlexNet, (3, 32, 32), 5),
    "XNOR-Net, NIN": Form(xnor_nin, _ODD, 5, (16, 19)),
    "XNOR-Net, scaled pixels": Form(xnor_means, _ODD, 2, (16, 19)),
    "BinaryNet, VGG": Form(binarynet, _IMAGE, 5),
    "BinaryNet, dense": Form(
        lambda: networks.Mlp(width=128), (1, 28, 28), 3, has_plain_signs=False
    ),
    "BATS": Form(Bats, _IMAGE, 12, (18, 20)),
    "binary-networks-pytorch": Form(relu_resnet, _ODD, 4, (16, 19)),
    **_finn(),
}
