"""Files of PyTorch modules at other sizes of image and batch than those of the example."""

import itertools
import math
from collections import OrderedDict

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

import larq_engine
from larq_engine.converter.torch_reader import comparing
from larq_engine.converter.torch_reader.pools import Windows


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
    # The number of channels is the same at every size.
    "all channels": lambda: nn.Sequential(nn.Conv2d(32, 8, 3), Function(lambda x: x[:, -8:] + 1)),
    "every third pixel": lambda: nn.MaxPool2d(1, 3, ceil_mode=True),
    "slices that count from the end": lambda: Function(lambda x: x[:, 1:-1, 1:-2, -5:]),
    "every second but for the last": lambda: Function(lambda x: x[:, :, 1:-1:2] + 1),
    "slices by their size": lambda: Function(
        lambda x: x.narrow(2, 1, x.shape[2] - 1)[..., x.shape[3] - 9 : x.shape[3] - 2] + 1
    ),
    "numbers that reach the end": lambda: Function(lambda x: x.narrow(2, 1, 32)[..., 4:33] + 1),
    "circular pad": lambda: nn.Conv2d(32, 8, 3, padding=(1, 2), padding_mode="circular"),
    "replicating pad": lambda: nn.Sequential(nn.ReplicationPad2d((2, 1, 0, 3)), nn.ReLU()),
    "negative pad": lambda: nn.Sequential(nn.ZeroPad2d((-1, 2, 1, -3)), nn.Conv2d(32, 8, 3)),
    # litert_torch gives the slice the name of the norm.
    "slice before a norm": lambda: nn.Sequential(
        nn.Conv2d(32, 8, 1),
        Function(lambda x: x[:, :, : x.shape[2] - 1, 1:]),
        nn.BatchNorm2d(8),
    ),
    "a number for each channel": lambda: nn.Sequential(
        Function(lambda x: x - torch.arange(32.0).reshape(1, 32, 1, 1)), nn.Conv2d(32, 8, 3)
    ),
    "slices of pooled pixels": lambda: Function(
        lambda x, layer: layer(F.max_pool2d(x, 3, 2, 1)[:, :, 1:, :-1]), nn.Conv2d(32, 8, 1)
    ),
}


def test_the_report_tells_of_another_size():
    module = nn.Conv2d(4, 4, 3, 2, 1).eval()
    report = larq_engine.convert_torch(module, torch.randn(1, 4, 8, 8)).report
    assert "They agree for the shapes (1, 4, 5, 4), too." in report.self_check
    assert not report.fixed_sizes


def test_images_of_one_channel_can_be_resized():
    """A RESHAPE could move the channel, too, but only at one size."""
    module = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 1, 1)).eval()
    converted = larq_engine.convert_torch(module, torch.randn(1, 1, 9, 8), open_batch=True)
    assert not converted.report.fixed_sizes
    model = larq_engine.Interpreter(converted)
    for shape in ((2, 1, 5, 12), (1, 1, 8, 8), (3, 1, 3, 7)):
        model.resize([shape])
        compare(module, model, torch.randn(*shape))


# Modules, and another size with the same number of pixels as the example's.
_FIXED = {
    "flattened": lambda: nn.Sequential(nn.Flatten(), nn.Linear(256, 2)),
    "shuffled": lambda: nn.PixelShuffle(2),
    "resized": lambda: nn.Upsample(scale_factor=2),
    # The largest value is the same at every size if no pixel is left out.
    "largest of a resized image": lambda: nn.Sequential(
        nn.Upsample(scale_factor=2), Function(lambda x: x.amax((2, 3)))
    ),
    # Every part of an image has a pixel of the largest level.
    **{
        f"largest level of {name}": lambda part=part: Function(
            lambda x: (part(x) * 9).clamp(0, 1).round().amax((2, 3))
        )
        for name, part in {
            "rolled pixels": lambda x: x.roll(1, 2),
            "half": lambda x: x[:, :, : x.shape[2] // 2],
            "multiples": lambda x: x[:, :, : x.shape[2] // 4 * 4],
            "pairs": lambda x: x[:, :, :, : x.shape[3] // 2 * 2],
            "pairs of every second": lambda x: x[..., ::2][..., : (x.shape[3] + 1) // 4 * 2],
            "a window filled up": lambda x: F.pad(x[..., ::2], (0, x.shape[3] // 2 % 2)),
            "clamped by a size": lambda x: x.clamp(max=x.shape[2] * 8),
            "the first eight": lambda x: x.narrow(2, 0, 8),
            "the last eight": lambda x: x[:, :, -8:],
            "chosen pixels": lambda x: x.index_select(2, torch.arange(x.shape[2] - 1)),
        }.items()
    },
    "transposed": lambda: nn.ConvTranspose2d(4, 4, 2, 2),
    "average of windows": lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False),
    "first pixels": lambda: Function(lambda x: x[:, :, :8, :8] + 1),
    "narrowed": lambda: Function(lambda x: x.narrow(2, 0, 8) + 1),
    "image of weights": lambda: Function(lambda x: x + torch.ones(1, 1, 8, 8)),
}


@pytest.mark.parametrize("form", _FIXED)
def test_what_was_not_right_at_another_size_is_not_resized(form):
    module, x = _FIXED[form]().eval(), torch.randn(1, 4, 8, 8)
    converted = larq_engine.convert_torch(module, x)
    assert converted.report.fixed_sizes
    model = larq_engine.Interpreter(converted)
    with pytest.raises(
        ValueError, match=r"expected .* sizes that the file was made for, \(4, 8, 8"
    ):
        model.resize([(1, 4, 4, 16)])
    for batch in (1, 3):
        compare(module, model, torch.randn(batch, 4, 8, 8))


# Windows and pads that PyTorch takes, for images of each size.
_WINDOWS = [
    (taps, step, pad, gap)
    for taps, step, pad, gap in itertools.product((1, 2, 3, 4), (1, 2, 3), (0, 1, 2), (1, 2))
    if pad <= taps // 2
]


def _ceiled(size, taps, step, pad, gap):
    """Returns numbers and the results of PyTorch's own pool for them; None if it has none."""
    x = torch.randn(1, 1, size, generator=torch.Generator().manual_seed(1))
    try:
        return x, F.max_pool1d(x, taps, step, pad, gap, ceil_mode=True)
    except RuntimeError:
        return None


def _agrees(windows, size):
    """Tells whether the operators written for one size give equal results at another."""
    taps, step, pad, gap = windows.taps, windows.step, windows.pad, windows.gap
    ours = _ceiled(size, taps, step, pad, gap)
    if ours is None:
        return True
    x, expected = ours
    padded = F.pad(x, (pad, pad + windows.beyond), value=-math.inf)
    if padded.shape[2] < gap * (taps - 1) + 1:
        return False
    return torch.equal(F.max_pool1d(padded, taps, step, 0, gap), expected)


@pytest.mark.parametrize("numbers", _WINDOWS, ids=str)
def test_windows_beyond_the_image(numbers):
    """Compares the operators with PyTorch's own pool, and those for every size at each size."""
    for size in range(1, 14):
        windows = Windows(size, *numbers)
        assert _agrees(windows, size)
        assert windows.is_for_every_size == all(_agrees(windows, other) for other in range(1, 30))


@pytest.mark.parametrize("size", [(9, 10), (8, 10), (9, 9)], ids=str)
def test_max_pools_that_round_up(size):
    """Windows end beyond every even size; a file made for others refuses what it cannot pad."""
    module = nn.Sequential(OrderedDict(pool=nn.MaxPool2d(3, 2, 1, ceil_mode=True))).eval()
    converted = larq_engine.convert_torch(module, torch.randn(1, 4, *size))
    if 9 in size:
        assert "how far the windows of 'pool' reach" in converted.report.fixed_sizes
        return
    model = larq_engine.Interpreter(converted)
    for other in itertools.product((5, 6, 11, 14), repeat=2):
        model.resize([(1, 4, *other)])
        compare(module, model, torch.randn(1, 4, *other))


def test_a_module_that_turns_images_has_one_size():
    module = Function(lambda x: x.transpose(2, 3) if x.shape[2] < x.shape[3] else x * 1)
    converted = larq_engine.convert_torch(module.eval(), torch.randn(1, 4, 16, 8))
    assert "takes other operators for inputs of the shapes (1, 4, 8, 16)" in (
        converted.report.fixed_sizes
    )


class _Grid(nn.Module):
    """A module that keeps a grid of the last image's size, as networks with places do."""

    def __init__(self):
        super().__init__()
        self.grid = None

    def forward(self, x):
        shape = (1, 1, *x.shape[2:])
        if self.grid is None or self.grid.shape != shape:
            self.grid = torch.linspace(0, 1, shape[2] * shape[3]).reshape(shape)
        return x + self.grid


def test_what_a_module_keeps_of_a_call_is_what_it_had():
    module, x = _Grid().eval(), torch.randn(1, 4, 8, 8)
    module(x)
    grid = module.grid
    assert larq_engine.convert_torch(module, x, open_batch=True).report.fixed_sizes
    assert torch.equal(module.grid, grid)


def test_what_was_not_compared_is_not_resized():
    module, x = nn.Conv2d(4, 4, 3).eval(), torch.randn(1, 4, 8, 8)
    model = larq_engine.Interpreter(larq_engine.convert_torch(module, x, check=False))
    with pytest.raises(ValueError, match=r"not compared .*check=False"):
        model.resize([(1, 4, 9, 9)])


@pytest.mark.parametrize("form", _RESIZED)
def test_another_size(form):
    """At 33 pixels a padding of 1 with a stride of 2 is SAME, and at 32 it is not."""
    torch.manual_seed(1)
    module = _RESIZED[form]().eval()
    model = larq_engine.Interpreter(larq_engine.convert_torch(module, torch.randn(1, 32, 33, 33)))
    for size in (34 if form == "numbers that reach the end" else 32, 35):
        model.resize([(1, 32, size, size)])
        compare(module, model, torch.randn(1, 32, size, size))


class Attention(nn.Module):
    """Several heads, a token of its own, and a dense layer over tokens."""

    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 8))
        self.norm, self.heads = nn.LayerNorm(8), nn.MultiheadAttention(8, 2, batch_first=True)
        self.scores = nn.Linear(8, 3)

    def forward(self, x):
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1)
        y = self.norm(x)
        return self.scores(x + self.heads(y, y, y, need_weights=False)[0]).flatten(1)


def shortcut(x, layer):
    """Halves an image and adds channels to it, as IR-Net's ResNet20 does."""
    return binary(x, layer) + F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 8, 8))


def heads(x, layer):
    q, k, v = layer(x.flatten(2).transpose(1, 2)).reshape(x.shape[0], -1, 3, 2, 4).unbind(2)
    weights = torch.einsum("bqhd,bkhd->bhqk", q, k).softmax(-1)
    return torch.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape[0], -1)


IMAGE, TOKENS = (16, 6, 6), (6, 8)
_OPEN = {
    "shortcut": (lambda: Function(shortcut, nn.Conv2d(16, 32, 3)), IMAGE),
    "parts": (lambda: Function(lambda x: x[:, 4:8] * x[:, 0, None] + x.chunk(4, 1)[1]), IMAGE),
    "split": (lambda: Function(lambda x: x.split([4, 12], 1)[1].sum((2, 3))), IMAGE),
    "attention": (Attention, TOKENS),
    "heads": (lambda: Function(heads, nn.Linear(16, 24)), IMAGE),
    "shuffle": (lambda: nn.Sequential(nn.PixelShuffle(2), nn.Conv2d(4, 4, 3)), IMAGE),
    "unshuffle": (lambda: nn.Sequential(nn.PixelUnshuffle(2), nn.ChannelShuffle(4)), IMAGE),
    "tokens": (
        lambda: nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Flatten(), nn.Linear(24, 3)),
        TOKENS,
    ),
    "joined": (
        lambda: Function(lambda x: torch.cat([x, torch.zeros(x.shape[0], 2, 6, 6)], 1) + 1),
        IMAGE,
    ),
    "added": (lambda: Function(lambda x: x + torch.ones(x.shape[0], 1, 6, 6)), IMAGE),
    "rows dealt anew": (
        lambda: Function(lambda x: x.permute(1, 0, 2).reshape(6, -1).t().reshape(-1, 6, 8)),
        TOKENS,
    ),
    "transposed": (lambda: nn.ConvTranspose2d(16, 4, 2, 2), IMAGE),
    "windows": (
        lambda: Function(lambda x: x.unfold(-2, 3, 1).permute(0, 2, 1, 3).flatten(2)),
        TOKENS,
    ),
    "windows of both": (lambda: Function(lambda x: x.unfold(2, 3, 2).unfold(3, 2, 2) + 1), IMAGE),
}


@pytest.mark.parametrize("form", _OPEN)
def test_an_open_batch_of(form):
    torch.manual_seed(1)
    make, shape = _OPEN[form]
    module = make().eval()
    converted = larq_engine.convert_torch(module, torch.randn(1, *shape), open_batch=True)
    assert "and for batches of " in converted.report.self_check
    expected = "2, 9. A batch of 1 was not compared" if form == "rows dealt anew" else "1, 2, 9."
    assert expected in converted.report.self_check
    model = larq_engine.Interpreter(converted)
    for batch in (8, 1, 2, 9):
        model.resize([(batch, *shape)])  # else other batches may run sample by sample
        compare(module, model, torch.randn(batch, *shape))


def test_other_operators_at_another_size_are_not_compared():
    module = Function(lambda x: x + 1 if x.shape[2] > 6 else x * 2 - 1).eval()
    report = larq_engine.convert_torch(module, torch.randn(1, 4, 8, 8)).report
    assert "was not compared with the module" in report.fixed_sizes


def test_our_own_faults_at_another_size_are_raised(monkeypatch):
    """If such a fault counted as a difference of the file, every test would miss it."""
    real = comparing._compare_cases

    def fail(*parts):
        if parts[5][0].inputs[0].shape[2] != 8:
            raise ValueError("zip() argument 2 is longer than argument 1")
        return real(*parts)

    monkeypatch.setattr(comparing, "_compare_cases", fail)
    with pytest.raises(ValueError, match="zip"):
        larq_engine.convert_torch(nn.Conv2d(4, 4, 3).eval(), torch.randn(1, 4, 8, 8))
