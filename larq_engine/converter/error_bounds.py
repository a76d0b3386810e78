"""How far two runs of one float graph may be apart because float32 rounds.

A running error analysis over the operators of the float model, with the largest magnitudes that a
run has shown. A sum of d terms is off by about sqrt(d) roundings of the sum of sizes, not d:
rounding errors are as often up as down (the worst case would hide wrong bits in deep layers). Where
values and weights are whole numbers and the sums stay below 2**24, nothing rounds and the bound is
0.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from larq_engine.converter.graph import Array, Op, Tensor

# Two runs, each rounding by half a unit in the last place per operation, and as much again because
# fused constants round once more.
_ROUNDING = 4 * 2.0**-24

# Sums may stray this many standard deviations.
_DEVIATIONS = 4

_EXACT_INTEGERS = 2.0**24

# Elements of a temporary array.
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Seen:
    """What a run has shown of a tensor."""

    largest: float
    whole: bool

    @staticmethod
    def of(values: Array) -> "Seen":
        largest, whole = 0.0, True
        for part in _chunks(values.reshape(-1)):
            largest = max(largest, float(np.abs(part).max()))
            whole = whole and bool(part.dtype.kind in "iub" or np.array_equal(part, np.rint(part)))
        return Seen(largest, whole)


def _chunks(values: Array) -> Iterator[Array]:
    """Pieces along the first axis: temporary arrays stay small, whatever the size of weights."""
    rows = max(1, _CHUNK // max(1, values[:1].size))
    for start in range(0, len(values), rows):
        yield values[start : start + rows]


class ErrorBounds:
    """Bounds for the tensors of one graph, asked for in the order of its operators."""

    def __init__(self, seen: Mapping[Tensor, Seen]) -> None:
        self._seen = seen
        self._bounds: dict[Tensor, float] = {}

    def of(self, tensor: Tensor) -> float:
        """The bound in real numbers (quantized tensors too); 0 for inputs and constants."""
        return self._bounds.get(tensor, 0.0)

    def add(self, op: Op) -> None:
        """Derives the bounds of an operator's outputs."""
        rule = _RULES.get(op.kind, _unknown)
        bound = rule(self, op)
        for tensor in op.outputs:
            step = 0.0
            if tensor.quantization is not None and tensor.dtype in ("INT8", "UINT8", "INT16"):
                step = max(tensor.quantization.scale, default=0.0)
            self._bounds[tensor] = bound + step

    def size(self, tensor: Tensor | None) -> float:
        """The largest magnitude of a tensor's values."""
        if tensor is None:
            return 0.0
        return self.seen(tensor).largest

    def seen(self, tensor: Tensor) -> Seen:
        if tensor.data is not None:
            return Seen.of(real_values(tensor))
        return self._seen.get(tensor, Seen(0.0, False))

    def rounding(self, op: Op) -> float:
        return _ROUNDING * self.size(op.output)


def real_values(tensor: Tensor, values: Array | None = None) -> Array:
    """The numbers that a tensor's values stand for."""
    values = tensor.data if values is None else values
    assert values is not None
    quantization = tensor.quantization
    if quantization is None or not quantization.scale or values.dtype.kind not in "iu":
        return values
    shape = [1] * values.ndim
    if len(quantization.scale) > 1:
        shape[quantization.axis] = len(quantization.scale)
    scale = np.array(quantization.scale).reshape(shape)
    zero_point = np.array(quantization.zero_point or (0,)).reshape(
        shape if len(quantization.zero_point) > 1 else [1] * values.ndim
    )
    return np.asarray((values - zero_point) * scale)


def _inputs(op: Op) -> list[Tensor]:
    return [tensor for tensor in op.inputs if tensor is not None]


def _pass(bounds: ErrorBounds, op: Op) -> float:
    return max((bounds.of(tensor) for tensor in _inputs(op)), default=0.0)


def _average(bounds: ErrorBounds, op: Op) -> float:
    x = _inputs(op)[0]
    terms = max(1, x.elements // max(1, op.output.elements))
    size = bounds.size(x)
    return _pass(bounds, op) + _DEVIATIONS * math.sqrt(terms) * _ROUNDING * size


def _sum(bounds: ErrorBounds, op: Op) -> float:
    x = _inputs(op)[0]
    terms = max(1, x.elements // max(1, op.output.elements))
    size = bounds.size(x) * terms
    return bounds.of(x) * terms + _DEVIATIONS * math.sqrt(terms) * _ROUNDING * size


def _add(bounds: ErrorBounds, op: Op) -> float:
    inputs = _inputs(op)
    # Sums of large numbers that cancel round as the large numbers do.
    size = max(bounds.size(tensor) for tensor in [*inputs, op.output])
    whole = all(bounds.seen(tensor).whole for tensor in inputs) and size < _EXACT_INTEGERS
    return sum(map(bounds.of, inputs)) + (0.0 if whole else _ROUNDING * size)


def _multiply(bounds: ErrorBounds, op: Op) -> float:
    a, b = _inputs(op)
    carried = bounds.of(a) * bounds.size(b) + bounds.of(b) * bounds.size(a)
    return carried + bounds.rounding(op)


def _divide(bounds: ErrorBounds, op: Op) -> float:
    a, b = _inputs(op)
    if b.data is None or not b.data.all():
        return _unknown(bounds, op)
    return bounds.of(a) / float(np.abs(b.data).min()) + bounds.rounding(op)


def _convolve(bounds: ErrorBounds, op: Op) -> float:
    """Sums of products with constant weights; without constants, of whatever is there."""
    x, weights, bias = _convolution_inputs(op)
    if weights is None or weights.data is None:
        return _unknown(bounds, op)
    values = np.moveaxis(real_values(weights), _CHANNEL_AXES.get(op.kind, 0), 0)
    terms = max(1, values[:1].size)
    axes = tuple(range(1, values.ndim))
    sums = max(float(np.abs(part).sum(axis=axes).max()) for part in _chunks(values))
    size = sums * bounds.size(x)
    whole = bounds.seen(x).whole and bounds.seen(weights).whole and size < _EXACT_INTEGERS
    rounding = 0.0 if whole else _DEVIATIONS * math.sqrt(terms) * _ROUNDING * size
    biased = _ROUNDING * max(bounds.size(bias), bounds.size(op.output)) if bias is not None else 0.0
    if bias is not None and bounds.size(bias) == 0:
        biased = 0.0
    return bounds.of(x) * sums + rounding + biased


# Where the output channels are among the weights' dimensions, if not first.
_CHANNEL_AXES = {"DEPTHWISE_CONV_2D": 3, "BATCH_MATMUL": 1, "CONV_3D": 4, "CONV_3D_TRANSPOSE": 3}


def _convolution_inputs(op: Op) -> tuple[Tensor, Tensor | None, Tensor | None]:
    if op.kind in ("TRANSPOSE_CONV", "CONV_3D_TRANSPOSE"):
        x, weights, bias = op.inputs[2], op.input(1), op.input(3)
    else:
        x, weights, bias = op.inputs[0], op.input(1), op.input(2)
    assert x is not None
    return x, weights, bias


def _slope(bounds: ErrorBounds, op: Op) -> float:
    x = _inputs(op)[0]
    steepest = bounds.size(op.input(1)) if op.kind == "PRELU" else abs(op.options.alpha)
    return bounds.of(x) * max(1.0, steepest) + bounds.rounding(op)


def _bounded_slope(bounds: ErrorBounds, op: Op) -> float:
    """Functions that are nowhere steeper than 1 (softmax: than its beta)."""
    steepest = abs(getattr(op.options, "beta", 1.0)) or 1.0
    return _pass(bounds, op) * steepest + 8 * bounds.rounding(op)


def _unknown(bounds: ErrorBounds, op: Op) -> float:
    """Nothing is known of the operator: relative errors may grow tenfold."""
    relative = 0.0
    for tensor in _inputs(op):
        size = bounds.size(tensor)
        if bounds.of(tensor) > 0:
            relative += bounds.of(tensor) / size if size else 1.0
    return 10 * relative * bounds.size(op.output) + 16 * bounds.rounding(op)


_RULES: dict[str, Callable[[ErrorBounds, Op], float]] = {
    **dict.fromkeys(
        [
            "ABS",
            "BATCH_TO_SPACE_ND",
            "BROADCAST_TO",
            "CONCATENATION",
            "DEPTH_TO_SPACE",
            "DEQUANTIZE",
            "EXPAND_DIMS",
            "GATHER",
            "MAXIMUM",
            "MAX_POOL_2D",
            "MINIMUM",
            "MIRROR_PAD",
            "NEG",
            "PACK",
            "PAD",
            "PADV2",
            "QUANTIZE",
            "REDUCE_MAX",
            "REDUCE_MIN",
            "RELU",
            "RELU6",
            "RELU_N1_TO_1",
            "RESHAPE",
            "RESIZE_NEAREST_NEIGHBOR",
            "SLICE",
            "SPACE_TO_BATCH_ND",
            "SPACE_TO_DEPTH",
            "SPLIT",
            "SPLIT_V",
            "SQUEEZE",
            "STRIDED_SLICE",
            "TILE",
            "TRANSPOSE",
            "UNPACK",
        ],
        _pass,
    ),
    **dict.fromkeys(["LOGISTIC", "TANH", "SOFTMAX", "LOG_SOFTMAX"], _bounded_slope),
    **dict.fromkeys(
        [
            "CONV_2D",
            "CONV_3D",
            "CONV_3D_TRANSPOSE",
            "DEPTHWISE_CONV_2D",
            "FULLY_CONNECTED",
            "BATCH_MATMUL",
            "TRANSPOSE_CONV",
        ],
        _convolve,
    ),
    **dict.fromkeys(["ADD", "SUB"], _add),
    **dict.fromkeys(["AVERAGE_POOL_2D", "MEAN", "RESIZE_BILINEAR"], _average),
    **dict.fromkeys(["PRELU", "LEAKY_RELU"], _slope),
    "DIV": _divide,
    "MUL": _multiply,
    "SUM": _sum,
}
