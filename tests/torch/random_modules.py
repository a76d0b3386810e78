"""Random binarized networks as PyTorch modules, drawn by a seed.

Signs, quantizers, pads, slices, pools, layers, norms and shortcuts follow each other as in
networks. All numbers are small multiples of a power of two, so that float32 holds every sum: a
result is right or wrong, and no rounding before a sign excuses anything.
"""

import random
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

Values = Callable[[torch.Tensor], torch.Tensor]

CHANNELS = 8
SIZES = ((9, 10), (12, 11))

# Values of more bits, or finer ones, would soon be rounded: a sign or a quantizer comes next then.
_MOST_BITS = 15
_FINEST = 2.0**-8


class Step(nn.Module):
    """A function and the layers that it computes with.

    Attributes:
        name: Its name for people.
        is_plain: True if it has a sign of three values, for which the user decides what 0 becomes.
    """

    def __init__(self, name: str, compute: Callable, *layers: nn.Module, is_plain: bool = False):
        super().__init__()
        self.name, self.compute, self.is_plain = name, compute, is_plain
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        return self.compute(x, *self.layers)


# ---- Quantizers ----------------------------------------------------------------------------------


def _masks(x):
    signs = x.new(x.size())
    signs[x >= 0] = 1
    signs[x < 0] = -1
    return signs


def _straight_through(x):
    soft = torch.clamp(x, -1, 1)
    return torch.where(x >= 0, 1.0, -1.0).detach() - soft.detach() + soft


_SIGNS: dict[str, Values] = {
    "where >=": lambda x: torch.where(x >= 0, 1.0, -1.0),
    "where >": lambda x: torch.where(x > 0, 1.0, -1.0),
    "where <": lambda x: torch.where(x < 0, 1.0, -1.0),
    "where >= 0.5": lambda x: torch.where(x >= 0.5, 1.0, -1.0),
    "cast": lambda x: (x >= 0).float() * 2 - 1,
    "0 and 1": lambda x: (x > 0).float(),
    "sign + zero": lambda x: x.sign() + (x == 0),
    "sign + half": lambda x: torch.sign(torch.sign(x) + 0.5),
    "masks": _masks,
    "straight through": _straight_through,
}
# These quantizers have values on both sides of 0, but not 0. With a pad of zeros, their layers may
# hold an image of one size, so that the file refuses others.
_UNEVEN: dict[str, Values] = {
    "two values": lambda x: torch.where(x >= 0, 0.75, -0.25),
    **{
        f"{bits} bits with a sign": lambda x, end=2.0 ** (bits - 1): (
            (x * 2).round().clamp(-end, end - 1) / 2
        )
        for bits in (2, 3, 4)
    },
}
# Signs of values that cannot be negative, and others that are 0 and 1.
_HALF_SIGNS: dict[str, Values] = {
    "sign of relu": lambda x: torch.sign(F.relu(x)),
    "sign of relu6": lambda x: torch.sign(F.relu6(x)),
    "sign of abs": lambda x: torch.sign((x - 1).abs()),
    "sign of square": lambda x: torch.sign(x * x),
    "sign of clamp": lambda x: torch.sign(x.clamp(0, 1)),
    "sign of pooled relu": lambda x: torch.sign(F.max_pool2d(F.relu(x), 3, 1, 1)),
    "relu of sign": lambda x: F.relu(torch.sign(x)),
}
_ACTIVATIONS: dict[str, Values] = {
    "relu": F.relu,
    "relu6": F.relu6,
    "hardtanh": F.hardtanh,
    "leaky relu": lambda x: F.leaky_relu(x, 0.25),
    "negative": lambda x: -x,
    "number": lambda x: 0.5 * x + 1.25,
    "abs": torch.abs,
    "clamp": lambda x: x.clamp(-0.5, 2.0),
}


def _quantizer(rng: random.Random) -> Step:
    """Draws a quantizer to values at equal distances, of 1 to 4 bits, with and without a sign."""
    bits, step = rng.randint(1, 4), rng.choice([0.25, 0.5, 1.0])
    end = 2 ** (bits - 1) - 1 or 1
    # Quantizers with a sign are rare, for the same reason as _UNEVEN.
    low, high = (-end, end) if rng.random() < 0.15 else (0, 2**bits - 1)
    form = rng.randrange(3)
    if form == 0:
        return Step(
            "clamp of round", lambda x: torch.clamp(torch.round(x / step), low, high) * step
        )
    if form == 1:
        return Step(
            "round of clamp", lambda x: (x.clamp(low * step, high * step) / step).round() * step
        )
    return Step("floor", lambda x: torch.floor(x / step + 0.5).clamp(low, high) * step)


def _quantize(rng: random.Random, x: torch.Tensor, *, has_one_size: bool) -> Step:
    """Draws a sign or a quantizer."""
    kind = rng.random()
    if has_one_size and kind > 0.7:
        name = rng.choice(list(_UNEVEN))
        return Step(name, _UNEVEN[name])
    if kind < 0.4:
        name = rng.choice(list(_SIGNS))
        return Step(name, _SIGNS[name])
    if kind < 0.55:
        name = rng.choice(list(_HALF_SIGNS))
        return Step(name, _HALF_SIGNS[name])
    if kind < 0.65:
        between = _grid(x) / 4
        return Step("sign", lambda x: torch.sign(x + between), is_plain=True)
    return _quantizer(rng)


def _grid(x: torch.Tensor) -> float:
    """Returns the largest power of two that all values are multiples of."""
    grid = 1.0
    while grid > _FINEST / 16 and bool((x / grid != (x / grid).round()).any()):
        grid /= 2
    return grid


def _is_exact(x: torch.Tensor) -> bool:
    grid = _grid(x)
    return grid >= _FINEST and float(x.abs().max()) / grid < 2**_MOST_BITS


# ---- Layers --------------------------------------------------------------------------------------


def _power(rng: random.Random, *shape: int) -> torch.Tensor:
    return torch.tensor([rng.choice([0.5, 1.0, 2.0]) for _ in range(shape[0])]).view(shape)


def _norm(rng: random.Random, channels: int) -> nn.BatchNorm2d:
    norm = nn.BatchNorm2d(channels, eps=2.0**-16)
    norm.weight.data = _power(rng, channels) * rng.choice([1, 1, -1])
    norm.bias.data = torch.randint(-6, 7, (channels,)) / 4
    norm.running_mean = torch.randint(-6, 7, (channels,)) / 4
    norm.running_var = _power(rng, channels) ** 2 - norm.eps
    return norm


def _weights(rng: random.Random, filters: int, rank: int) -> Values:
    """Draws a quantizer of a layer's weights, which are multiples of 1/4 other than 0."""
    scale = _power(rng, filters, *[1] * (rank - 1))
    forms: dict[str, Values] = {
        "where": lambda w: torch.where(w >= 0, 1.0, -1.0),
        "sign": torch.sign,
        "scaled": lambda w: torch.sign(w) * scale,
        "ternary": lambda w: torch.where(w.abs() > 0.75, torch.sign(w), 0.0),
        "rounded": lambda w: torch.clamp(torch.round(w), -1, 1),
        "levels": lambda w: torch.clamp(torch.round(w * 2), -4, 3) / 2,
        "float": lambda w: w,
    }
    names = list(forms)
    return forms[rng.choices(names, [3, 3, 2, 2, 1, 2, 1])[0]]


def _fill(rng: random.Random, layer: nn.Module) -> nn.Module:
    shape = layer.weight.shape
    layer.weight.data = torch.randint(1, 9, shape) * torch.where(
        torch.rand(shape) < 0.5, 0.25, -0.25
    )
    if layer.bias is not None:
        layer.bias.data = torch.randint(-6, 7, layer.bias.shape) / 4
    return layer


def _conv(rng: random.Random, channels: int) -> tuple[nn.Module, Callable]:
    """Draws a convolution and the function that calls it."""
    filters = rng.choice([4, 8, 8, 12])
    groups = rng.choice([1, 1, 1, 1 if channels % 2 else 2, channels])
    filters = channels * rng.choice([1, 1, 2]) if groups == channels else filters
    layer = nn.Conv2d(
        channels,
        filters,
        rng.choice([1, 3, 3, (2, 3)]),
        stride=rng.choice([1, 1, 1, 2, (1, 2)]),
        padding=rng.choice([0, 0, 1, 1, (1, 0)]),
        dilation=rng.choice([1, 1, 1, 1, 2]),
        groups=groups,
        bias=rng.random() < 0.3,
        padding_mode=rng.choice(["zeros"] * 6 + ["reflect", "circular"]),
    )
    weights = _weights(rng, filters, 4)
    return _fill(rng, layer), lambda x, layer: layer._conv_forward(
        x, weights(layer.weight), layer.bias
    )


def _layer(rng: random.Random, x: torch.Tensor, layers: list[Step], *, has_one_size: bool) -> Step:
    """Draws a quantizer, often a move of its values, and a convolution; or takes an old layer."""
    again = [
        step for step in layers if step.layers[0].in_channels == x.shape[1] and not step.is_plain
    ]
    if again and rng.random() < 0.15:
        return rng.choice(again)
    values = _quantize(rng, x, has_one_size=has_one_size)
    move = (
        rng.choice([_pad, _pool, _slice])(rng, x) if rng.random() < 0.3 else Step("", lambda x: x)
    )
    layer, call = _conv(rng, move(values(x)).shape[1])
    return Step(
        f"{values.name}, {move.name}, layer" if move.name else f"{values.name}, layer",
        lambda x, layer: call(move.compute(values.compute(x)), layer),
        layer,
        is_plain=values.is_plain,
    )


def _pool(rng: random.Random, x: torch.Tensor) -> Step:
    size, stride, padding = rng.choice([(2, 2, 0), (3, 2, 1), (3, 1, 1), (2, 1, 0), (3, 2, 0)])
    if size == 2 and rng.random() < 0.4:
        return Step("average", lambda x: F.avg_pool2d(x, size, stride))
    up = rng.random() < 0.2
    name = "pool, rounded up" if up else "pool"
    return Step(name, lambda x: F.max_pool2d(x, size, stride, padding, ceil_mode=up))


def _pad(rng: random.Random, x: torch.Tensor) -> Step:
    mode = rng.choice(["constant"] * 5 + ["reflect", "replicate", "circular"])
    if mode == "constant":
        pads = [rng.choice([0, 1, 1, 2]) for _ in range(4)]
        if rng.random() < 0.1:
            pads += [rng.randint(0, 2) for _ in range(2)]  # pads of the channels
        value = rng.choice([0.0, 0.0, 1.0, -1.0])
        return Step("pad", lambda x: F.pad(x, pads, value=value))
    pads = [rng.choice([0, 1, 1]) for _ in range(4)]
    return Step(f"pad {mode}", lambda x: F.pad(x, pads, mode=mode))


def _slice(rng: random.Random, x: torch.Tensor) -> Step:
    half = x.shape[1] // 2
    forms: dict[str, Values] = {
        "every second": lambda x: x[:, :, ::2, 1:],
        "inner": lambda x: x[:, :, 1:, :-1],
        "inner, every second": lambda x: x[:, :, 1:-1:2],
        "first": lambda x: x[:, :, :6],
        "last": lambda x: x[:, :, -5:, -6:],
        "narrow": lambda x: x.narrow(2, 1, x.shape[2] - 1),
        "narrow in numbers": lambda x: x.narrow(3, 1, 5),
        "inner by its size": lambda x: x[:, :, : x.shape[2] - 1, 1:],
        "half": lambda x: x[:, :, : (x.shape[2] + 1) // 2],
        "pairs": lambda x: x[:, :, :, : max(x.shape[3] // 2 * 2, 1)],
        "second half of channels": lambda x: x[:, half:],
        "channels by their ends": lambda x: x[:, 1:-1],
        "halves exchanged": lambda x: torch.cat(x.chunk(2, 1)[::-1], 1),
        "split": lambda x: x.split([1, x.shape[1] - 1], 1)[1],
        "cropped by a pad": lambda x: F.pad(x, (-1, 0, 1, -1)),
    }
    name = rng.choice(list(forms))
    return Step(f"slice: {name}", forms[name])


def _activation(rng: random.Random, x: torch.Tensor) -> Step:
    name = rng.choice(list(_ACTIVATIONS))
    return Step(name, _ACTIVATIONS[name])


def _dense(rng: random.Random, x: torch.Tensor, bring: Values, name: str) -> Step:
    """Draws a dense layer of quantized values."""
    values = _quantize(rng, x, has_one_size=False)
    layer = _fill(rng, nn.Linear(bring(values(x)).shape[1], 5))
    weights = _weights(rng, 5, 2)
    return Step(
        name,
        lambda x, layer: F.linear(bring(values.compute(x)), weights(layer.weight), layer.bias),
        layer,
        is_plain=values.is_plain,
    )


def _head(rng: random.Random, x: torch.Tensor, flattens: bool) -> Step | None:
    """Draws the end of a network, behind the last image."""
    kind = rng.random()
    if flattens:
        return _dense(rng, x, lambda x: x.flatten(1), "dense of all pixels")
    if kind < 0.15:
        return Step("sum", lambda x: x.sum((2, 3)))
    if kind < 0.25:
        return Step("mean", lambda x: x.mean((2, 3), keepdim=True))
    if kind < 0.35:
        return Step("means, flattened", lambda x: F.adaptive_avg_pool2d(x, 1).flatten(1))
    if kind < 0.45:
        return _dense(rng, x, lambda x: x.amax((2, 3)), "dense of the largest")
    return None


class RandomModule(nn.Module):
    """Steps one behind the other, some of them around a shortcut.

    Args:
        seed: Seed of the drawing.
        flattens: True if it ends in a layer of all pixels, so that it has one size.
    """

    def __init__(self, seed: int, flattens: bool):
        super().__init__()
        rng = random.Random(seed)
        torch.manual_seed(seed)
        self.steps, self.joins = nn.ModuleList(), {}
        x, values, layers = torch.randint(-16, 17, (2, CHANNELS, *SIZES[0])) / 4, [], []
        for _ in range(rng.randint(2, 6)):
            try:
                with torch.no_grad():
                    step = self._draw(rng, x, layers, flattens)
                    y = step(x)
            except RuntimeError:  # nothing is left of the image
                continue
            if min(y.shape[1:]) < 3:
                continue
            if step.layers and isinstance(step.layers[0], nn.Conv2d):
                layers.append(step)
            self.steps.append(step)
            same = [place for place, value in enumerate(values) if value.shape == y.shape]
            if same and rng.random() < 0.4:
                self.joins[len(self.steps) - 1] = rng.choice(same)
                y = y + values[self.joins[len(self.steps) - 1]]
            values.append(y)
            x = y
        with torch.no_grad():
            head = _head(rng, x, flattens)
        if head is not None:
            self.steps.append(head.eval())

    def _draw(
        self, rng: random.Random, x: torch.Tensor, layers: list[Step], flattens: bool
    ) -> Step:
        kind = rng.random()
        if kind < 0.5 or not self.steps or not _is_exact(x):
            step = _layer(rng, x, layers, has_one_size=flattens)
        elif kind < 0.65:
            step = Step("norm", lambda x, norm: norm(x), _norm(rng, x.shape[1]))
        else:
            step = rng.choices([_activation, _pool, _pad, _slice], [3, 1, 2, 2])[0](rng, x)
        return step.eval()

    def forward(self, x):
        values = []
        for number, step in enumerate(self.steps):
            x = step(x)
            if number in self.joins:
                x = x + values[self.joins[number]]
            values.append(x)
        return x

    def __str__(self) -> str:
        return ", ".join(
            step.name + (f" + {self.joins[number]}" if number in self.joins else "")
            for number, step in enumerate(self.steps)
        )


class RandomModules(nn.Module):
    """Several modules beside each other, with an output for each.

    Attributes:
        plain_signs: The places at which they have signs of three values.
    """

    def __init__(self, seeds: Sequence[int], flattens: bool):
        super().__init__()
        self.nets = nn.ModuleList(RandomModule(seed, flattens) for seed in seeds)
        self.plain_signs = [
            path for path, part in self.named_modules() if isinstance(part, Step) and part.is_plain
        ]

    def forward(self, x):
        return [net(x) for net in self.nets]
