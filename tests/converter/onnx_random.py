"""Random ONNX models, drawn by a seed, of all operators that the converter reads.

Each operator is evaluated as it is added, so that the next one can be drawn to fit. Numbers are
small multiples of powers of two, so that float32 holds every sum exactly. Operators whose results
are rounded come last.
"""

from collections.abc import Callable

import numpy as np

from tests.converter.onnx_models import OPSET, OnnxNet, run_node

# The results of a convolution, sums of up to 150 products, are exact for values up to this one.
_LARGEST = 2.0**14


class ReferenceFailsError(Exception):
    """ONNX's reference cannot compute an operator, so there is nothing to compare with."""


class RandomNet:
    """A model under construction, with numbers for its inputs and the values that they lead to."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        opset = int(self.rng.choice([OPSET, OPSET, 18, 13, 12, 11, 10, 9]))
        self.net = OnnxNet(opset)
        self.opset = opset
        self.inputs: list[np.ndarray] = []
        self.found: dict[str, np.ndarray] = {}
        self.batch = int(self.rng.integers(1, 4))
        self.opens = bool(self.rng.integers(2))
        self.rounds = False
        self.options: dict[str, str] = {}  # options of the conversion
        self.outputs: list[str] = []

    def pick(self, *choices: object) -> object:
        return choices[int(self.rng.integers(len(choices)))]

    def numbers(self, *shape: int, most: int = 3, step: float = 1.0) -> np.ndarray:
        return (self.rng.integers(-most, most + 1, shape) * step).astype(np.float32)

    def like(self, x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Returns other numbers for an input, in another shape."""
        return self.numbers(*shape, most=8, step=0.5).astype(x.dtype)

    def input(self, *shape: int) -> str:
        batch: int | str = "batch" if self.opens else self.batch
        name = self.net.input(batch, *shape)
        self.inputs.append(self.numbers(self.batch, *shape, most=8, step=0.5))
        self.found[name] = self.inputs[-1]
        return name

    def op(self, kind: str, *inputs: object, outputs: int = 1, **attributes: object) -> object:
        made = self.net.op(kind, *inputs, outputs=outputs, **attributes)
        node = self.net.nodes[-1]
        known = self.found | self.net.numbers
        values = {name: known[name] for name in node.input if name}
        try:
            results = run_node(node, values, self.opset)
        except Exception as error:
            self.net.nodes.pop()
            raise ReferenceFailsError from error
        self.found.update(zip(node.output, results, strict=True))
        return made

    def shape(self, x: str) -> tuple[int, ...]:
        return self.found[x].shape

    def exact(self, x: str) -> str:
        """Returns the value, or its sign if its numbers have too many digits for exact sums."""
        values = np.abs(self.found[x].astype(np.float64))
        digits = 64 * values
        if not np.array_equal(digits, np.rint(digits)) or digits.max(initial=0) > _LARGEST:
            return self.op("BipolarQuant", x, np.float32(self.pick(1.0, 0.5)))
        return x


def random_model(seed: int) -> RandomNet:
    """Draws a model.

    `outputs` has the names of its outputs, and `found` their values.
    """
    made = RandomNet(seed)
    x = made.input(*_INPUTS[int(made.rng.integers(len(_INPUTS)))])
    values = [x]
    for _ in range(int(made.rng.integers(3, 10))):
        x = made.exact(x)
        rank = len(made.shape(x))
        if rank < 2:
            break
        steps = _EACH + {2: _ROW_STEPS, 3: _IMAGE_STEPS, 4: _IMAGE_STEPS}.get(rank, [])
        try:
            found = steps[int(made.rng.integers(len(steps)))](made, x)
        except ReferenceFailsError:
            continue
        if found is not None:
            x = found
            values.append(x)
    return _end(made, x)


_INPUTS = [(3, 8, 8), (4, 7, 6), (2, 5, 9), (1, 8, 8), (4, 12), (3, 9), (12,), (32,), (4, 3, 5, 2)]

Step = Callable[[RandomNet, str], str | None]


def _end(made: RandomNet, x: str) -> RandomNet:
    x = made.exact(x)
    if made.rng.integers(3) == 0:
        made.rounds = True
        kind = made.pick("Softmax", "LogSoftmax", "Sigmoid", "Tanh", "Exp", "ReduceMean", "Div")
        rank = len(made.shape(x))
        if kind == "Div":
            x = made.op("Div", x, np.float32(3))
        elif kind == "ReduceMean":
            x = _mean(made, x) if rank > 1 else made.op("Tanh", x)
        elif kind == "Exp":
            x = made.op("Exp", made.op("BipolarQuant", x, np.float32(1)))
        elif "oftmax" in kind:
            # The reference evaluator takes the logarithm of 0 if a share of the softmax is too
            # small.
            x = made.op("Div", made.op("BipolarQuant", x, np.float32(3)), np.float32(2))
            x = made.op(kind, x, axis=rank - 1 if made.opset < 13 else int(made.rng.integers(rank)))
        else:
            x = made.op(kind, x)
    made.outputs = [x]
    return made


# ---- Value by value ------------------------------------------------------------------------------


def _unary(made: RandomNet, x: str) -> str:
    return made.op(made.pick("Relu", "Neg", "Abs", "Identity", "Dropout"), x)


def _clip(made: RandomNet, x: str) -> str:
    low, high = made.pick(
        (-1.0, 1.0), (0.0, 6.0), (0.0, 1.0), (-2.5, 3.0), (0.0, None), (None, 4.0)
    )
    if made.opset < 11:
        ends = {name: end for name, end in (("min", low), ("max", high)) if end is not None}
        return made.op("Clip", x, **ends)
    limits = [None if end is None else np.float32(end) for end in (low, high)]
    return made.op("Clip", x, *limits)


def _leaky(made: RandomNet, x: str) -> str:
    return made.op("LeakyRelu", x, alpha=0.5)


def _constant_for(made: RandomNet, x: str) -> np.ndarray:
    """Returns a constant whose shape fits the value: a number, one for each channel, and so on."""
    shape = made.shape(x)
    ones = tuple(1 if made.rng.integers(2) else size for size in shape[1:])
    per_channel = (shape[1], *[1] * (len(shape) - 2)) if len(shape) > 1 else (1,)
    kept = made.pick((), (1,), per_channel, ones, (1, *ones), shape[1:])
    return made.numbers(*kept, step=0.25)


def _with_constant(made: RandomNet, x: str) -> str:
    kind, constant = made.pick("Add", "Sub", "Mul", "Max", "Min"), _constant_for(made, x)
    return made.op(kind, *made.pick((x, constant), (constant, x)))


def _divide(made: RandomNet, x: str) -> str:
    return made.op("Div", x, np.float32(made.pick(2.0, -0.5)))


def _with_itself(made: RandomNet, x: str) -> str:
    """Adds a branch that is joined with the value that it began with, as residual networks do."""
    other = _unary(made, x)
    if len(made.shape(x)) == 4 and made.rng.integers(2):
        turn = [0, 2, 3, 1]
        other = made.op("Relu", made.op("Transpose", x, perm=turn))
        other = made.op("Transpose", other, perm=[0, 3, 1, 2])
    return made.op(made.pick("Add", "Sub", "Max", "Sum"), other, x)


def _prelu(made: RandomNet, x: str) -> str:
    shape = made.shape(x)
    slopes = made.pick((1,), (shape[1], *[1] * (len(shape) - 2)), shape[1:])
    return made.op("PRelu", x, made.numbers(*slopes, step=0.25))


def _sign(made: RandomNet, x: str) -> str:
    form = int(made.rng.integers(4))
    if form == 0:
        return made.op("BipolarQuant", x, np.float32(made.pick(1.0, 0.5, 2.0)))
    if form == 1:
        return made.op("Sign", made.op("Add", made.op("Sign", x), np.float32(0.5)))
    kind = made.pick("Greater", "Less", *(["GreaterOrEqual", "LessOrEqual"] * (made.opset >= 12)))
    if kind in ("Greater", "Less") and made.rng.integers(2):
        kind = "Equal" if made.opset >= 11 else kind
    truth = made.op(kind, x, _constant_for_compare(made, x))
    if form == 2 and kind != "Equal":
        truth = made.op("Not", truth)
    if made.rng.integers(2):
        return made.op("Cast", truth, to=1)
    return made.op("Where", truth, np.float32(1), np.float32(-1))


def _constant_for_compare(made: RandomNet, x: str) -> np.ndarray:
    return np.float32(0) if made.rng.integers(2) else _smaller(made, x)


def _smaller(made: RandomNet, x: str) -> np.ndarray:
    shape = made.shape(x)
    return made.numbers(*[size if made.rng.integers(2) else 1 for size in shape[1:]], step=0.25)


def _batch_norm(made: RandomNet, x: str) -> str | None:
    shape = made.shape(x)
    if len(shape) < 2:
        return None
    channels = shape[1]
    numbers = [
        made.numbers(channels, step=0.5),
        made.numbers(channels, most=9, step=0.25),
        made.numbers(channels),
        made.rng.choice(np.array([0.25, 1, 4], np.float32), channels),
    ]
    return made.op("BatchNormalization", x, *numbers, epsilon=0.0)


# ---- Shapes --------------------------------------------------------------------------------------


def _transpose(made: RandomNet, x: str) -> str | None:
    rank = len(made.shape(x))
    if rank < 3:
        return None
    turn = [0, *(1 + made.rng.permutation(rank - 1)).tolist()]
    return made.op("Transpose", x, perm=turn)


def _flatten(made: RandomNet, x: str) -> str | None:
    form = int(made.rng.integers(3))
    if form == 0:
        return made.op("Flatten", x)
    return made.op(
        "Reshape",
        x,
        np.array([0, -1] if form == 1 else [-1, int(np.prod(made.shape(x)[1:]))], np.int64),
    )


def _reshape(made: RandomNet, x: str) -> str:
    shape = made.shape(x)
    size = int(np.prod(shape[1:]))
    factor = next(f for f in (4, 3, 2, 5, 7, 1) if size % f == 0)
    wanted = made.pick((size,), (factor, -1), (-1, factor), (-1, factor, 1), (factor, 1, -1))
    return made.op("Reshape", x, np.array([0, *wanted], np.int64))


def _unsqueeze(made: RandomNet, x: str) -> str | None:
    rank = len(made.shape(x))
    if rank > 3:
        return None
    axis = int(made.rng.integers(1, rank + 1))
    if made.opset < 13:
        return made.op("Unsqueeze", x, axes=[axis])
    return made.op("Unsqueeze", x, np.array([axis], np.int64))


def _squeeze(made: RandomNet, x: str) -> str | None:
    axes = [axis for axis, size in enumerate(made.shape(x)) if size == 1 and axis]
    if not axes:
        return None
    if made.opset < 13:
        return made.op("Squeeze", x, axes=axes)
    return made.op("Squeeze", x, np.array(axes, np.int64))


def _concat(made: RandomNet, x: str) -> str:
    axis = int(made.rng.integers(1, len(made.shape(x))))
    parts = [x, _unary(made, x)]
    if made.rng.integers(3) == 0 and not made.opens:
        parts.append(made.net.constant(made.numbers(*made.shape(x))))
    return made.op("Concat", *parts, axis=axis)


def _slice(made: RandomNet, x: str) -> str | None:
    shape = made.shape(x)
    axis = int(made.rng.integers(1, len(shape)))
    start, step = int(made.rng.integers(0, shape[axis])), int(made.rng.integers(1, 3))
    if made.opset < 10:
        return made.op("Slice", x, starts=[start], ends=[999], axes=[axis])
    numbers = [np.array([n], np.int64) for n in (start, made.pick(999, shape[axis]), axis, step)]
    return made.op("Slice", x, *numbers)


def _split(made: RandomNet, x: str) -> str | None:
    shape = made.shape(x)
    axis = int(made.rng.integers(1, len(shape)))
    if shape[axis] < 2:
        return None
    parts = [1, shape[axis] - 1]
    if made.opset < 13:
        first, second = made.op("Split", x, outputs=2, axis=axis, split=parts)
    else:
        first, second = made.op("Split", x, np.array(parts, np.int64), outputs=2, axis=axis)
    return made.op("Concat", second, first, axis=axis)


def _pad(made: RandomNet, x: str) -> str:
    rank = len(made.shape(x))
    pads = [0, *made.rng.integers(0, 3, rank - 1).tolist()]
    pads += [0, *made.rng.integers(0, 2, rank - 1).tolist()]
    value = float(made.pick(0.0, 1.0, -1.0))
    if made.opset < 11:
        return made.op("Pad", x, pads=pads, value=value)
    return made.op("Pad", x, np.array(pads, np.int64), np.float32(value))


# ---- Images and sequences ------------------------------------------------------------------------


def _padding(made: RandomNet, taps: list[int], pooled: bool = False) -> dict[str, object]:
    form = int(made.rng.integers(4))
    if form == 0:
        return {"auto_pad": made.pick("SAME_UPPER", "SAME_LOWER", "VALID")}
    most = [max(1, count if not pooled else count - 1 + (count == 1)) for count in taps]
    if form == 1:
        return {}
    if form == 2:
        return {"pads": [count // 2 for count in taps] * 2}
    return {"pads": [int(made.rng.integers(0, m + (not pooled))) for m in most * 2]}


def _conv(made: RandomNet, x: str) -> str | None:
    channels, *sizes = made.shape(x)[1:]
    taps = [int(made.pick(1, 3, 2)) for _ in sizes]
    gaps = [int(made.pick(1, 1, 2)) for _ in sizes]
    padding = _padding(made, taps)
    if any((t - 1) * g >= s for t, g, s in zip(taps, gaps, sizes, strict=True)):
        return None
    if channels > 8 or any(gap > 1 for gap in gaps):
        padding.pop("auto_pad", None)  # the reference evaluator pads dilated windows too little
    groups = int(made.pick(1, 1, channels, 2 if channels % 2 == 0 else 1))
    outputs = groups * int(made.rng.integers(1, 4 if groups > 1 else 7))
    weights = made.numbers(outputs, channels // groups, *taps, most=2)
    if made.rng.integers(2):
        weights = np.where(weights >= 0, np.float32(1), np.float32(-1))
    strides = [int(made.pick(1, 1, 2)) for _ in sizes]
    bias = [made.numbers(outputs)] if made.rng.integers(2) else []
    options = {"strides": strides, "dilations": gaps, "group": groups, **padding}
    return made.op("Conv", x, weights, *bias, **options)


def _pool(made: RandomNet, x: str) -> str | None:
    sizes = made.shape(x)[2:]
    kind = made.pick("MaxPool", "AveragePool")
    taps = [int(made.pick(1, 2, *([3] if kind == "MaxPool" else []))) for _ in sizes]
    if any(count > size for count, size in zip(taps, sizes, strict=True)):
        return None
    options = {"kernel_shape": taps, **_padding(made, taps, pooled=True)}
    if len(sizes) == 1:
        # The reference evaluator fails if a sequence is padded.
        options = {"kernel_shape": taps}
    if kind == "MaxPool" and len(set(options.get("pads", [0]))) > 1:
        # If pads are unequal, the reference evaluator of onnx 1.23 applies them otherwise than
        # ONNX's own shape inference does.
        del options["pads"]
    # With strides, the reference evaluator's SAME padding differs from what ONNX says.
    strides = (1, 1) if "auto_pad" in options else (1, 2)
    options["strides"] = [int(made.pick(*strides)) for _ in sizes]
    if kind == "AveragePool":
        options["count_include_pad"] = int(made.rng.integers(2))
    # With unequal pads and ceil_mode, the reference evaluator adds windows that do not exist.
    if made.opset >= 10 and not options.keys() & {"auto_pad", "pads"}:
        options["ceil_mode"] = int(made.rng.integers(2))
    return made.op(kind, x, **options)


def _global_pool(made: RandomNet, x: str) -> str | None:
    sizes = int(np.prod(made.shape(x)[2:]))
    # In sequences, the reference evaluator takes the maximum over the channels, too.
    kinds = ["GlobalMaxPool" if len(made.shape(x)) == 4 else "Identity"]
    kinds += ["GlobalAveragePool"] * (sizes in (1, 2, 4, 8, 16, 32, 64))
    return made.op(made.pick(*kinds), x)


def _reduce(made: RandomNet, x: str) -> str | None:
    rank = len(made.shape(x))
    axes = sorted(made.rng.choice(np.arange(1, rank), int(made.rng.integers(1, rank)), False))
    axes = [int(axis) for axis in axes]
    size = int(np.prod([made.shape(x)[axis] for axis in axes]))
    return _mean(made, x, axes) if size in (1, 2, 4, 8, 16, 32, 64) else None


def _mean(made: RandomNet, x: str, axes: list[int] | None = None) -> str:
    axes = axes or list(range(1, len(made.shape(x))))
    keeps = int(made.rng.integers(2))
    if made.opset < 18:
        return made.op("ReduceMean", x, axes=axes, keepdims=keeps)
    return made.op("ReduceMean", x, np.array(axes, np.int64), keepdims=keeps)


# ---- Rows ----------------------------------------------------------------------------------------


def _gemm(made: RandomNet, x: str) -> str:
    depth = made.shape(x)[1]
    units, turned = int(made.rng.integers(1, 9)), int(made.rng.integers(2))
    weights = made.numbers(units, depth, most=1)
    bias = made.pick((), (units,), (1, units), (1,), None)
    c = [] if bias is None else [made.numbers(*bias)]
    if made.opset < 11 and not c:
        c = [made.numbers(units)]
    numbers = {"alpha": made.pick(1.0, 0.5), "beta": made.pick(1.0, 2.0), "transB": turned}
    return made.op("Gemm", x, weights if turned else weights.T.copy(), *c, **numbers)


def _matmul(made: RandomNet, x: str) -> str:
    depth = made.shape(x)[-1]
    return made.op("MatMul", x, made.numbers(depth, int(made.rng.integers(1, 9)), most=1))


_EACH: list[Step] = [
    *(_unary, _clip, _leaky, _with_constant, _with_constant, _divide, _with_itself, _prelu),
    *(_sign, _sign, _batch_norm, _transpose, _reshape, _unsqueeze, _squeeze, _concat, _slice),
    *(_split, _pad, _reduce, _matmul),
]
_IMAGE_STEPS: list[Step] = [_conv] * 7 + [_pool] * 4 + [_flatten, _flatten, _global_pool]
_ROW_STEPS: list[Step] = [_gemm] * 5
