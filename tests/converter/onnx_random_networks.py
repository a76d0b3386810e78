"""Random binarized networks as ONNX, drawn by a seed: what exporters write for layers of few bits.

Quantizers in all their forms, pads, layers, norms, activations, residuals and shared parts follow
each other as in real networks. Float32 holds every sum exactly, and a value that meets a Sign is
never 0 by accident, so a result is right or wrong, to the bit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.converter.onnx_random import RandomNet

_INPUTS = [(3, 8, 8), (16, 7, 6), (20, 5, 9), (32, 6, 6), (33, 4, 7), (16, 12), (40, 9), (48,)]


class RandomNetwork(RandomNet):
    """A network under construction.

    Attributes:
        layers: How many layers can be binary.
        extra: Outputs beside the last value.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.layers = 0
        self.extra: list[str] = []
        # A conversion has one option for the sign of 0, so forms that need it are in networks of
        # their own.
        self.has_plain_signs = bool(self.rng.integers(3) == 0)
        self.kept: list[str] = []  # values that a residual may be added to later

    def channels(self, x: str) -> int:
        return self.shape(x)[1]

    def per_channel(self, x: str, *choices: float) -> np.ndarray:
        shape = (self.channels(x), *[1] * (len(self.shape(x)) - 2))
        return self.rng.choice(np.array(choices, np.float32), shape)


def random_network(seed: int) -> RandomNetwork:
    """Draws a network.

    `outputs` has the names of its outputs, and `found` their values.
    """
    made = RandomNetwork(seed)
    x = made.input(*_INPUTS[int(made.rng.integers(len(_INPUTS)))])
    if made.rng.integers(2) and len(made.shape(x)) > 2:
        x = _layer(made, x, is_float=True)
    for _ in range(int(made.rng.integers(1, 4))):
        made.kept.append(x)
        x = _block(made, x)
    made.outputs = _outputs(made, x)
    return made


def _block(made: RandomNetwork, x: str) -> str:
    for _ in range(int(made.rng.integers(3))):
        x = _step(made, x, _BETWEEN)
    x = quantized = _quantize(made, made.exact(x))
    for _ in range(int(made.rng.integers(3))):
        x = _step(made, x, _MOVES)
    y = _layer(made, x)
    if made.rng.integers(6) == 0:
        # A second layer reads the same values.
        other = _layer(made, quantized)
        if made.shape(other) == made.shape(y):
            y = made.op("Add", y, other)
        else:
            made.extra = [other]
    y = _after(made, y)
    if made.rng.integers(3) == 0:
        y = _residual(made, y)
    return made.exact(y)


def _step(made: RandomNetwork, x: str, steps: "list[Step]") -> str:
    found = steps[int(made.rng.integers(len(steps)))](made, x)
    return x if found is None else found


Step = Callable[[RandomNetwork, str], str | None]


def _outputs(made: RandomNetwork, x: str) -> list[str]:
    rank = len(made.shape(x))
    end = int(made.rng.integers(5))
    if rank > 2 and end == 0:
        x = made.op(made.pick("GlobalMaxPool" if rank == 4 else "Identity"), x)
    elif rank > 2 and end == 1:
        x = _quantize(made, x)
        x = _dense(made, made.op("Flatten", x))
    elif rank > 2 and end == 2 and made.opset >= 13:
        axes = np.arange(2, rank)
        x = made.op("ReduceSum", x, axes.astype(np.int64), keepdims=int(made.rng.integers(2)))
    elif rank == 2 and end < 3:
        x = _dense(made, _quantize(made, x))
    return list(dict.fromkeys([x, *made.extra]))


# ---- Quantizers ----------------------------------------------------------------------------------


def _quantize(made: RandomNetwork, x: str) -> str:
    forms = _SIGNS + (_PLAIN_SIGN_STEPS if made.has_plain_signs else _ZERO_STEPS) + _FEW_BITS * 2
    return forms[int(made.rng.integers(len(forms)))](made, x)


def _two(made: RandomNetwork) -> tuple[np.float32, np.float32]:
    """Draws the two values of a sign, mostly the usual ones."""
    low, high = made.pick(
        (-1, 1), (-1, 1), (-1, 1), (0, 1), (-0.5, 0.5), (-1, 0), (1, -1), (0.5, 2)
    )
    return np.float32(low), np.float32(high)


def _threshold(made: RandomNetwork, x: str) -> np.ndarray:
    if made.rng.integers(3):
        return np.float32(0)
    return made.per_channel(x, -1.0, 0.0, 0.25, 2.0)


def _bipolar(made: RandomNetwork, x: str) -> str:
    return made.op("BipolarQuant", x, np.float32(made.pick(1.0, 0.5, 2.0)))


def _compared(made: RandomNetwork, x: str) -> str:
    kinds = ["Greater", "Less"] + ["GreaterOrEqual", "LessOrEqual"] * (made.opset >= 12)
    threshold = _threshold(made, x)
    truth = made.op(made.pick(*kinds), *made.pick((x, threshold), (threshold, x)))
    if made.rng.integers(3) == 0:
        truth = made.op("Not", truth)
    return made.op("Where", truth, *_two(made))


def _cast(made: RandomNetwork, x: str) -> str:
    truth = made.op(made.pick("Greater", "Less"), x, _threshold(made, x))
    number = made.op("Cast", truth, to=1)
    if made.rng.integers(2):
        return number
    return made.op("Sub", made.op("Mul", number, np.float32(2)), np.float32(1))


def _shifted_sign(made: RandomNetwork, x: str) -> str:
    shift = np.float32(made.pick(0.1, -0.1, 0.5, -0.5))
    return made.op("Sign", made.op("Add", made.op("Sign", x), shift))


def _plain_sign(made: RandomNetwork, x: str) -> str:
    """Adds a Sign of values that are never 0: multiples of 1/64, moved by half of that."""
    made.options["sign_of_zero"] = str(made.pick("+1", "-1"))
    x = made.op("Clip", x, np.float32(-64), np.float32(64)) if made.opset >= 11 else x
    return made.op("Sign", made.op("Add", x, np.float32(1 / 128)))


def _sign_of_positive(made: RandomNetwork, x: str) -> str:
    """Adds a Sign of values that are not negative; it is 0 or 1, whatever `sign_of_zero` says."""
    return made.op("Sign", made.op(made.pick("Relu", "Abs"), x))


def _but_for_zero(made: RandomNetwork, x: str) -> str:
    sign = made.op("Sign", x)
    if made.opset < 11:
        return made.op("Sign", made.op("Add", sign, np.float32(0.5)))
    zero = made.op("Equal", x, np.float32(0))
    if made.rng.integers(2):
        return made.op("Where", zero, np.float32(made.pick(1, -1)), sign)
    return made.op("Add", sign, made.op("Cast", zero, to=1))


def _straight_through(made: RandomNetwork, x: str) -> str:
    """Adds x + (s - x), with x so small that nothing is rounded."""
    sign = made.op("Where", made.op("Greater", x, np.float32(0)), np.float32(1), np.float32(-1))
    rest = made.op("Sub", sign, x)
    return made.op("Add", *made.pick((x, rest), (rest, x)))


_SIGNS: list[Step] = [
    *(_bipolar, _bipolar, _compared, _compared, _compared, _cast, _sign_of_positive),
    _straight_through,
]
_PLAIN_SIGN_STEPS: list[Step] = [_plain_sign] * 3
_ZERO_STEPS: list[Step] = [_shifted_sign, _but_for_zero]


def _quant(made: RandomNetwork, x: str) -> str:
    """Adds QONNX's Quant with 1 to 4 bits."""
    signed = int(made.rng.integers(2))
    bits = np.float32(made.rng.integers(1 + signed, 5))
    scale = np.float32(made.pick(1.0, 0.5, 0.25))
    narrow = int(made.rng.integers(2)) if bits > 1 else 0
    mode = made.pick("ROUND", "ROUND", "FLOOR")
    numbers = (scale, np.float32(0), bits)
    options = {"signed": signed, "narrow": narrow, "rounding_mode": mode}
    return made.op("Quant", x, *numbers, **options)


def _levels(made: RandomNetwork, x: str) -> str:
    """Clips, scales, rounds and scales back, as DoReFa writes it."""
    if made.opset < 11:
        return _quant(made, x)
    most = float(made.pick(1, 3, 7, 15))
    low, high = made.pick((0.0, most), (-most, most), (-most - 1, most))
    step = made.pick(1.0, 0.5)
    limits = np.float32(low * step), np.float32(high * step)
    x = made.op("Div", made.op("Clip", x, *limits), np.float32(step))
    return made.op("Mul", made.op(made.pick("Round", "Round", "Floor"), x), np.float32(step))


_FEW_BITS: list[Step] = [_quant, _levels]


# ---- Between -------------------------------------------------------------------------------------


def _relu(made: RandomNetwork, x: str) -> str:
    return made.op(made.pick("Relu", "Neg", "Abs", "Identity"), x)


def _hard_tanh(made: RandomNetwork, x: str) -> str | None:
    if made.opset < 11:
        return None
    low, high = made.pick((-1.0, 1.0), (-1.5, 1.0), (0.0, 6.0), (-4.0, 4.0))
    return made.op("Clip", x, np.float32(low), np.float32(high))


def _prelu(made: RandomNetwork, x: str) -> str:
    return made.op("PRelu", x, made.per_channel(x, 0.25, 0.5, 0.0, -0.5))


def _leaky(made: RandomNetwork, x: str) -> str:
    return made.op("LeakyRelu", x, alpha=float(made.pick(0.5, 0.25)))


def _shift(made: RandomNetwork, x: str) -> str:
    kind = made.pick("Add", "Sub", "Max", "Min")
    return made.op(kind, x, made.per_channel(x, -1.0, 0.25, 0.5, 3.0))


def _scale(made: RandomNetwork, x: str) -> str:
    return made.op("Mul", x, made.per_channel(x, -1.0, 0.5, 1.0, 2.0))


def _norm(made: RandomNetwork, x: str) -> str:
    count = made.channels(x)
    numbers = [
        made.rng.choice(np.array([1, 0.5, -0.5, 0.25], np.float32), count),
        made.numbers(count, most=9, step=0.5),
        made.numbers(count),
        made.rng.choice(np.array([1, 4, 16], np.float32), count),
    ]
    return made.op("BatchNormalization", x, *numbers, epsilon=0.0)


_BETWEEN: list[Step] = [_relu, _hard_tanh, _prelu, _leaky, _shift, _scale, _norm, _norm]


# ---- Moves ---------------------------------------------------------------------------------------


def _pad(made: RandomNetwork, x: str) -> str | None:
    """Pads height and width with 0, 1, -1 or a number that the value has."""
    rank = len(made.shape(x))
    if rank < 3:
        return None
    pads = [0, 0, *made.rng.integers(0, 3, rank - 2), 0, 0, *made.rng.integers(0, 3, rank - 2)]
    value = float(made.pick(0.0, 1.0, -1.0, float(made.found[x].flat[0])))
    if made.opset < 11:
        return made.op("Pad", x, pads=[int(pad) for pad in pads], value=value)
    return made.op("Pad", x, np.array(pads, np.int64), np.float32(value))


def _cut(made: RandomNetwork, x: str) -> str | None:
    """Takes some channels or lines, every other one, or all of them in reverse order."""
    shape = made.shape(x)
    axis = int(made.rng.integers(1, len(shape)))
    size = shape[axis]
    start, end, step = made.pick(
        (0, 1 << 40, 2), (1, 1 << 40, 1), (0, size - 1, 1), (-size + 1, -1, 1), (-1, -(1 << 40), -1)
    )
    if size < 4 or made.opset < 10:
        return None
    numbers = [np.array([n], np.int64) for n in (start, end, axis, step)]
    return made.op("Slice", x, *numbers)


def _shuffle(made: RandomNetwork, x: str) -> str | None:
    """Shuffles the channels in groups, as ShuffleNet does."""
    _, channels, *sizes = made.shape(x)
    groups = next((n for n in (4, 2, 3) if channels % n == 0), 0)
    if not groups:
        return None
    grouped = np.array([-1, groups, channels // groups, *sizes], np.int64)
    x = made.op("Reshape", x, grouped)
    x = made.op("Transpose", x, perm=[0, 2, 1, *range(3, 3 + len(sizes))])
    return made.op("Reshape", x, np.array([-1, channels, *sizes], np.int64))


def _halves(made: RandomNetwork, x: str) -> str | None:
    channels = made.channels(x)
    parts = np.array([channels // 2, channels - channels // 2], np.int64)
    if made.opset < 13:
        first, second = made.op("Split", x, outputs=2, axis=1, split=parts.tolist())
    else:
        first, second = made.op("Split", x, parts, outputs=2, axis=1)
    if made.rng.integers(2):
        second = made.op("Neg", second)
    return made.op("Concat", second, first, axis=1)


def _max_pool(made: RandomNetwork, x: str) -> str | None:
    sizes = made.shape(x)[2:]
    if not sizes or min(sizes) < 4:
        return None
    taps = int(made.pick(2, 3))
    options = {"kernel_shape": [taps] * len(sizes), "strides": [int(made.pick(1, 2))] * len(sizes)}
    if taps == 3 and len(sizes) == 2 and made.rng.integers(2):
        options["pads"] = [1] * 4
    return made.op("MaxPool", x, **options)


def _larger(made: RandomNetwork, x: str) -> str | None:
    """Doubles each pixel in both directions."""
    sizes = made.shape(x)[2:]
    if len(sizes) != 2 or max(sizes) > 9 or made.opset < 13:
        return None
    scales = np.float32([1, 1, 2, 2])
    options = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return made.op("Resize", x, None, scales, **options)


def _deep(made: RandomNetwork, x: str) -> str | None:
    """Moves blocks of pixels into the channels."""
    shape = made.shape(x)
    if len(shape) != 4 or shape[2] % 2 or shape[3] % 2 or shape[1] > 40:
        return None
    return made.op("SpaceToDepth", x, blocksize=2)


def _turned(made: RandomNetwork, x: str) -> str | None:
    """Exchanges height and width, or does so twice, as around operators of other layouts."""
    if len(made.shape(x)) != 4:
        return None
    if made.rng.integers(2):
        return made.op("Transpose", x, perm=[0, 1, 3, 2])
    return made.op("Transpose", made.op("Transpose", x, perm=[0, 2, 3, 1]), perm=[0, 3, 1, 2])


_MOVES: list[Step] = [
    *(_pad, _pad, _pad, _cut, _shuffle, _halves, _max_pool, _larger, _deep, _turned),
]


# ---- Layers --------------------------------------------------------------------------------------


def _weights(made: RandomNetwork, shape: tuple[int, ...]) -> Any:
    """Draws weights, mostly of one bit, as constants or as operators that compute them."""
    form = int(made.rng.integers(8))
    sizes = made.rng.choice(np.array([1, 0.5, 2], np.float32), (shape[0], *[1] * (len(shape) - 1)))
    plain = made.rng.choice(np.array([-1.5, -0.25, 0.5, 3], np.float32), shape)
    signs = np.sign(plain)
    if form == 0:
        return signs
    if form == 1:
        return signs * sizes
    if form == 2:
        return made.op("BipolarQuant", made.net.constant(plain), np.float32(0.5))
    if form == 3:
        return made.op("Mul", made.op("Sign", made.net.constant(plain)), sizes)
    if form == 4:
        truth = made.op("Greater", made.net.constant(plain), np.float32(0))
        return made.op("Where", truth, sizes, -sizes)
    if form == 5:
        # AdaBin has two values around a middle.
        middles = made.rng.choice(np.array([0, 0.25, -0.5], np.float32), sizes.shape)
        return signs * sizes + middles
    if form == 6:
        bits = np.float32(made.rng.integers(2, 5))
        numbers = (np.float32(0.5), np.float32(0), bits)
        options = {"signed": 1, "narrow": 1, "rounding_mode": "ROUND"}
        return made.op(
            "Quant", made.net.constant(made.numbers(*shape, step=0.5)), *numbers, **options
        )
    return made.rng.choice(np.array([-1, 0, 1], np.float32), shape) * sizes


def _layer(made: RandomNetwork, x: str, *, is_float: bool = False) -> str:
    made.layers += not is_float
    if len(made.shape(x)) == 2:
        return _dense(made, x)
    channels, *sizes = made.shape(x)[1:]
    groups = 1 if is_float else _groups(made, channels)
    outputs = groups * max(1, int(made.pick(16, 24, 32)) // groups)
    taps = [min(int(made.pick(1, 3, 3, 2)), size) for size in sizes]
    gaps = [int(made.pick(1, 1, 1, 2)) for _ in sizes]
    gaps = [1 if (t - 1) * g >= s else g for t, g, s in zip(taps, gaps, sizes, strict=True)]
    shape = (outputs, channels // groups, *taps)
    weights = made.numbers(*shape, most=2) if is_float else _weights(made, shape)
    padding = made.pick(
        {},
        {"pads": [(t - 1) * g // 2 for t, g in zip(taps, gaps, strict=True)] * 2},
        {"pads": [(t - 1) * g // 2 for t, g in zip(taps, gaps, strict=True)] * 2},
        {"pads": [int(made.rng.integers(0, t + 1)) for t in taps * 2]},
    )
    bias = [made.numbers(outputs)] if made.rng.integers(2) else []
    strides = [int(made.pick(1, 1, 2)) for _ in sizes]
    options = {"strides": strides, "dilations": gaps, "group": groups, **padding}
    y = made.op("Conv", x, weights, *bias, **options)
    if made.rng.integers(8) == 0 and not is_float:
        # The same layer is used a second time, with other inputs.
        other = made.op("Conv", made.op("Neg", x), weights, *bias, **options)
        y = made.op("Max", y, other)
    return y


def _groups(made: RandomNetwork, channels: int) -> int:
    found = [n for n in (2, 4) if channels % n == 0]
    return int(made.pick(1, 1, 1, 1, 1, *found, channels))


def _dense(made: RandomNetwork, x: str) -> str:
    depth, units = made.shape(x)[1], int(made.pick(5, 16, 32))
    if made.rng.integers(2):
        weights = _weights(made, (units, depth))
        bias = [made.numbers(units)] if made.rng.integers(2) or made.opset < 11 else []
        return made.op("Gemm", x, weights, *bias, transB=1)
    weights = _weights(made, (units, depth))
    if not isinstance(weights, str):
        return made.op("MatMul", x, np.ascontiguousarray(weights.T))
    return made.op("MatMul", x, made.op("Transpose", weights, perm=[1, 0]))


# ---- After layers --------------------------------------------------------------------------------


def _after(made: RandomNetwork, y: str) -> str:
    steps = [*_BETWEEN, _norm, _norm, _pool, _pool, _max_pool, _halves, _turned]
    for _ in range(int(made.rng.integers(4))):
        y = _step(made, y, steps)
    return y


def _pool(made: RandomNetwork, x: str) -> str | None:
    sizes = made.shape(x)[2:]
    if len(sizes) != 2 or min(sizes) < 4:
        return None
    return made.op("AveragePool", x, kernel_shape=[2, 2], strides=[int(made.pick(1, 2))] * 2)


def _residual(made: RandomNetwork, y: str) -> str:
    """Adds the value to one from before, or concatenates both."""
    same = [x for x in made.kept if made.shape(x) == made.shape(y)]
    if same:
        return made.op(made.pick("Add", "Sub", "Max"), y, made.pick(*same))
    beside = [x for x in made.kept if made.shape(x)[2:] == made.shape(y)[2:]]
    if beside and len(made.shape(y)) > 2:
        return made.op("Concat", y, made.pick(*beside), axis=1)
    return y
