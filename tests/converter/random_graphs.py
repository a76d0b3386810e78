"""Random float graphs around signs, drawn by a seed: what stands before, at and behind them.

Before signs there are pads, transposes, clamps and affine functions of channels in the forms that
the converter recognises, and operators that only look like one of these. Signs are written in many
forms. Numbers between a convolution and its result are powers of two and multiples of them, so that
results are exact.
"""

from collections.abc import Callable

import numpy as np

from tests.converter.graphs import DENORMALS, EDGES, Net, Value, signs
from tests.model_builder import ACTIVATION

_BOUNDS = (-7.5, -1.0, -0.25, 0.0, 0.25, 1.0, 6.0)
_FACTORS = (-3.0, -1.0, -0.5, 0.3, 1.0, 1.5, 4.0)
_LARGE = np.array([3e38, -3e38, np.inf, -np.inf], np.float32)
_SMALLEST = np.float32(1e-30)
# After the scales of the graph this is below 2**24, beyond which a straight-through form loses its
# sign.
_MOST_STRAIGHT_THROUGH = np.float32(2.0**16)


class RandomGraph:
    """A graph under construction, and numbers for its input that show what it does."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.net = Net()
        # Numbers that values are compared with; `data` adds the numbers next to them.
        self.bounds = list(_BOUNDS)
        # False once an operator computes with values; hosts may then flush small numbers to 0.
        self.only_moves = True
        self.straight_through = False
        self.outputs: list[Value] = []
        sizes = [int(self.rng.integers(2, 6)) for _ in range(2)]
        self.x = self.net.input(1, *sizes, int(self.pick(3, 8, 32)))

    def pick(self, *choices: object) -> object:
        return choices[int(self.rng.integers(len(choices)))]

    def number(self, choices: tuple[float, ...], x: Value) -> float | np.ndarray:
        """Draws a number for all values, or one for each channel."""
        count = x.shape[-1] if self.rng.integers(2) else None
        found = self.rng.choice(np.array(choices, np.float32), count)
        self.bounds += np.ravel(found).tolist()
        return np.asarray(found, np.float32)

    def data(self) -> np.ndarray:
        shape = self.x.shape
        bounds = np.float32(self.bounds)
        near = [np.nextafter(bounds, np.float32(to)) for to in (-np.inf, np.inf)]
        numbers = np.concatenate([bounds, *near, bounds / 3, EDGES, _LARGE])
        small = (np.abs(numbers) < _SMALLEST) & (numbers != 0)
        if self.only_moves:
            numbers = np.concatenate([numbers, DENORMALS])
        else:
            # Results computed from them must not be below the normal numbers either.
            numbers[small] = np.copysign(_SMALLEST, numbers[small])
        if self.straight_through:
            numbers = np.clip(numbers, -_MOST_STRAIGHT_THROUGH, _MOST_STRAIGHT_THROUGH)
        data = self.rng.choice(numbers, shape)
        return np.where(self.rng.random(shape) < 0.3, self.rng.normal(0, 2, shape), data).astype(
            np.float32
        )


def random_graph(seed: int) -> RandomGraph:
    """Draws a graph of one or two binary layers and what may stand around their signs."""
    made = RandomGraph(seed)
    x = _layer(made, made.x, _some(made, made.x, _BEFORE, 5))
    if made.rng.integers(2):
        x = _layer(made, x, _some(made, x, _BETWEEN, 3))
    made.outputs.append(x)
    return made


Step = Callable[[RandomGraph, Value], Value]


def _some(made: RandomGraph, x: Value, steps: list[Step], most: int) -> Value:
    for _ in range(int(made.rng.integers(most + 1))):
        step = steps[int(made.rng.integers(len(steps)))]
        made.only_moves &= step in _MOVES
        x = step(made, x)
    return x


def _layer(made: RandomGraph, start: Value, x: Value) -> Value:
    """Adds a sign, what moves it, and a convolution; others may read values on the way."""
    net, rng = made.net, made.rng
    if x is not start and rng.integers(5) == 0:
        made.only_moves = False
        made.outputs.append(net.op("ABS", x))
    sign = _SIGNS[int(rng.integers(len(_SIGNS)))]
    made.only_moves &= sign is _larq
    s = sign(made, x)
    if rng.integers(8) == 0:
        made.outputs.append(net.op("ABS", s))
    s = _some(made, s, _BEHIND, 2)
    taps = [min(int(rng.integers(1, 4)), size) for size in s.shape[1:3]]
    filters = signs(rng, int(made.pick(2, 8, 33)), *taps, s.shape[3])
    if rng.integers(2):
        filters *= made.pick(0.5, 2.0)
    y = net.conv(s, filters, padding=str(made.pick("VALID", "SAME")))
    if rng.integers(2):
        y = net.op("ADD", y, np.float32(made.pick(0.5, -1.5)))
    return y


# ---- Before signs --------------------------------------------------------------------------------


def _pad(made: RandomGraph, x: Value) -> Value:
    pads = [(int(n), int(m)) for n, m in made.rng.integers(0, 2, (len(x.shape), 2))]
    pads[0] = (0, 0)
    value = made.pick(None, 0.0, 1.0, -1.0, 0.25, -2.0)
    return made.net.pad(x, pads, value)


def _transpose(made: RandomGraph, x: Value) -> Value:
    order = [0, *(1 + made.rng.permutation(len(x.shape) - 1)).tolist()]
    if made.rng.integers(2):
        return made.net.transpose(x, *order)
    return made.net.transpose(made.net.transpose(x, 0, 3, 1, 2), 0, 2, 3, 1)


def _clamp(made: RandomGraph, x: Value) -> Value:
    kind = made.pick("RELU", "RELU6", "RELU_N1_TO_1", "MAXIMUM", "MINIMUM")
    if kind in ("MAXIMUM", "MINIMUM"):
        return made.net.op(kind, x, made.number(_BOUNDS, x))
    return made.net.op(kind, x)


def _clamp_by_choice(made: RandomGraph, x: Value) -> Value:
    """Adds where(x ? bound, bound or x, x or bound), or that with two bounds, which is no clamp."""
    bound = made.number(_BOUNDS, x)
    other = bound if made.rng.integers(4) else made.number(_BOUNDS, x)
    sides = made.pick((x, bound), (bound, x))
    truth = made.net.op(str(made.pick(*_COMPARISONS)), *sides, dtype=np.bool_)
    return made.net.op("SELECT_V2", truth, *made.pick((x, other), (other, x)))


def _scale(made: RandomGraph, x: Value) -> Value:
    return made.net.op(str(made.pick("MUL", "DIV")), x, made.number(_FACTORS, x))


def _shift(made: RandomGraph, x: Value) -> Value:
    number = made.number(_BOUNDS, x)
    kind = str(made.pick("ADD", "SUB"))
    sides = made.pick((x, number), (number, x))
    activation = ACTIVATION[str(made.pick("NONE", "NONE", "RELU", "RELU_N1_TO_1"))]
    return made.net.op(kind, *sides, fusedActivationFunction=activation)


def _curve(made: RandomGraph, x: Value) -> Value:
    return made.net.op(str(made.pick("TANH", "NEG", "ABS")), x)


def _pool(made: RandomGraph, x: Value) -> Value:
    window = tuple(min(2, size) for size in x.shape[1:3])
    return made.net.max_pool(x, window, (1, 1), str(made.pick("VALID", "SAME")))


def _reshape(made: RandomGraph, x: Value) -> Value:
    _, height, width, channels = x.shape
    return made.net.reshape(
        x, *made.pick((1, width, height, channels), (1, 1, height * width, channels))
    )


_MOVES = (_pad, _transpose, _reshape)
_COMPARISONS = ("GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")
_BEFORE = [_pad, _transpose, _clamp, _clamp_by_choice, _scale, _shift, _curve, _pool, _reshape]


def _exact_scale(made: RandomGraph, x: Value) -> Value:
    count = x.shape[-1] if made.rng.integers(2) else None
    number = made.rng.choice(np.array([-2, -0.5, 0.25, 1, 4], np.float32), count)
    return made.net.op("MUL", x, np.asarray(number, np.float32))


def _exact_shift(made: RandomGraph, x: Value) -> Value:
    count = x.shape[-1] if made.rng.integers(2) else None
    number = made.rng.integers(-6, 7, count) * np.float32(0.5)
    return made.net.op(str(made.pick("ADD", "SUB")), x, np.asarray(number, np.float32))


_BETWEEN = [_exact_scale, _exact_shift, _clamp, _clamp_by_choice, _pool, _transpose, _pad]


# ---- Signs ---------------------------------------------------------------------------------------


def _larq(made: RandomGraph, x: Value) -> Value:
    return made.net.sign(x)


def _shifted(made: RandomGraph, x: Value) -> Value:
    shift = made.pick(0.1, -0.1, 0.9, 1.0, 1.5)
    return made.net.op("SIGN", made.net.op("ADD", made.net.op("SIGN", x), shift))


def _plain(made: RandomGraph, x: Value) -> Value:
    return made.net.op("SIGN", made.net.op("RELU", x) if made.rng.integers(2) else x)


def _truth(made: RandomGraph, x: Value) -> Value:
    bound = np.float32(0) if made.rng.integers(2) else made.number(_BOUNDS, x)
    sides = made.pick((x, bound), (bound, x))
    truth = made.net.op(str(made.pick(*_COMPARISONS)), *sides, dtype=np.bool_)
    return made.net.op("LOGICAL_NOT", truth, dtype=np.bool_) if made.rng.integers(3) == 0 else truth


def _select(made: RandomGraph, x: Value) -> Value:
    values = made.pick((1.0, -1.0), (-1.0, 1.0), (1.0, 0.0), (2.0, -2.0), (0.0, -1.0))
    return made.net.op("SELECT_V2", _truth(made, x), *values)


def _cast(made: RandomGraph, x: Value) -> Value:
    number = made.net.op("CAST", _truth(made, x), inDataType=6, outDataType=0)
    if made.rng.integers(2):
        return number
    return made.net.op("SUB", made.net.op("MUL", number, 2.0), 1.0)


def _two_truths(made: RandomGraph, x: Value) -> Value:
    """Adds two comparisons with 0, joined in some way."""
    truths = [
        made.net.op(kind, x, 0.0, dtype=np.bool_)
        for kind in made.rng.choice([*_COMPARISONS, "EQUAL", "NOT_EQUAL"], 2)
    ]
    if made.rng.integers(2):
        joined = made.net.op(str(made.pick("LOGICAL_AND", "LOGICAL_OR")), *truths, dtype=np.bool_)
        return made.net.op("SELECT_V2", joined, 1.0, -1.0)
    numbers = [made.net.op("CAST", truth, inDataType=6, outDataType=0) for truth in truths]
    return made.net.op(str(made.pick("ADD", "SUB", "MUL")), *numbers)


def _sign_or(made: RandomGraph, x: Value) -> Value:
    """Adds sign(x) with something else in some places."""
    s = made.net.op("SIGN", x)
    truth = made.net.op(str(made.pick(*_COMPARISONS, "EQUAL")), x, 0.0, dtype=np.bool_)
    values = made.pick((1.0, s), (s, -1.0), (s, 1.0), (made.net.op("NEG", s), s))
    return made.net.op("SELECT_V2", truth, *values)


def _of_relu_by_choice(made: RandomGraph, x: Value) -> Value:
    truth = made.net.op(str(made.pick(*_COMPARISONS)), x, 0.0, dtype=np.bool_)
    return made.net.op("SIGN", made.net.op("SELECT_V2", truth, *made.pick((x, 0.0), (0.0, x))))


def _inverse(made: RandomGraph, x: Value) -> Value:
    """Adds the clamped inverse of SIGN, which tells 0 from -0."""
    inverse = made.net.op("DIV", 1.0, made.net.op("SIGN", x))
    return made.net.op("RELU_N1_TO_1", inverse)


def _straight_through(made: RandomGraph, x: Value) -> Value:
    made.straight_through = True
    s = _larq(made, x)
    through = made.pick(x, made.net.op("RELU_N1_TO_1", x))
    if made.rng.integers(2):
        return made.net.op("ADD", through, made.net.op("SUB", s, through))
    return made.net.op("SUB", through, made.net.op("SUB", through, s))


_SIGNS = [
    *[_larq, _larq, _larq, _shifted, _plain, _select, _select, _cast, _two_truths, _sign_or],
    *[_of_relu_by_choice, _inverse, _straight_through],
]


# ---- Behind signs --------------------------------------------------------------------------------


def _pad_signs(made: RandomGraph, s: Value) -> Value:
    return made.net.pad(s, ((1, 0), (0, 1)), made.pick(1.0, -1.0, 0.0, None))


def _turn(made: RandomGraph, s: Value) -> Value:
    return made.net.op("NEG", s) if made.rng.integers(2) else made.net.op("MUL", s, -2.0)


def _join(made: RandomGraph, s: Value) -> Value:
    other = made.net.op("NEG", s) if made.rng.integers(2) else s
    return made.net.concatenate([s, other], int(made.rng.integers(1, 4)))


_BEHIND = [_pad_signs, _transpose, _pool, _reshape, _turn, _join]
