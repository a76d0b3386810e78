"""Bounds how far two runs of one float graph may differ because float32 rounds.

This is a running error analysis over operators of the float model. It uses the largest magnitudes
that a run has shown, channel by channel where all channels are computed alike. A sum of d terms is
off by about sqrt(d) roundings of the sum of magnitudes, not d, because rounding errors go up as
often as down (the worst case would hide wrong bits in deep layers). If values and weights are whole
numbers and the sums stay below 2**24, nothing rounds and the bound is 0.
"""

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from larq_engine.converter.graph import Array, Op, Tensor
from larq_engine.converter.levels import find_levels
from larq_engine.converter.weights import WEIGHTED_KINDS, channel_axis
from larq_engine.python.operators import KNOWN_OPS

# Two runs round by half a unit in the last place per operation. The factor is doubled because fused
# constants round once more.
_ROUNDING = 4 * 2.0**-24

# A sum may be off by this many standard deviations.
_DEVIATIONS = 4

_EXACT_INTEGERS = 2.0**24

# Number of elements of a temporary array.
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Seen:
    """Facts that a run has shown of a tensor; `largest` has one magnitude per channel."""

    largest: Array
    whole: bool
    elements: int

    @staticmethod
    def of(tensor: Tensor, values: Array) -> "Seen":
        real = real_values(tensor, values)
        largest, whole = np.zeros(real.shape[-1:]), True
        for part in chunks(real):
            # Infinities are equal in both models, or differ by more than any bound.
            sizes = np.where(np.isinf(part), 0, np.abs(part))
            largest = np.maximum(largest, sizes.max(axis=0).reshape(largest.shape))
            whole = whole and bool(part.dtype.kind in "iub" or np.array_equal(part, np.rint(part)))
        return Seen(largest, whole, real.size)

    @property
    def has_nan(self) -> bool:
        return bool(np.isnan(self.largest).any())


def chunks(values: Array) -> Iterator[Array]:
    """Yields pieces of a tensor as [rows, channels], so that temporary arrays stay small."""
    channels = values.shape[-1] if values.ndim else 1
    pixels = values.reshape(-1, channels) if values.size else np.zeros((0, 1))
    rows = max(1, _CHUNK // channels) if channels else 1
    for start in range(0, len(pixels), rows):
        yield pixels[start : start + rows]


@dataclass(frozen=True)
class _Error:
    """Error of a tensor's values; each field has one number, or one for each channel.

    `parts` is the magnitude of the numbers that a value is the sum of. If these cancel, the value
    still has their rounding errors, in whatever order a model adds them: rules join constants.
    """

    bound: Array
    parts: Array


class ErrorBounds:
    """Computes bounds for the tensors of one graph, in the order of its operators."""

    def __init__(self) -> None:
        self._seen: dict[Tensor, Seen] = {}
        self._errors: dict[Tensor, _Error] = {}

    def of(self, tensor: Tensor) -> Array:
        """Returns the bound in real numbers, also if quantized; 0 for inputs and constants."""
        return self.error(tensor).bound

    def show(self, tensor: Tensor, values: Array, levels: Iterable[float] = ()) -> Seen:
        """Records the values of a tensor, before `add` is called for an operator that has it.

        If the values come from few bits, the largest of their `levels` counts. A converted model
        computes such values as sums of planes and a constant, which cancel where values are small.
        """
        seen = Seen.of(tensor, values)
        largest = np.maximum(seen.largest, max(map(abs, levels), default=0.0))
        self._seen[tensor] = replace(seen, largest=largest)
        return self._seen[tensor]

    def add(self, op: Op) -> None:
        """Derives the bounds of an operator's outputs; those that assign variables have none."""
        if not op.outputs:
            return
        error = _RULES.get(op.kind, _unknown)(self, op)
        for tensor in op.outputs:
            step = 0.0
            if tensor.quantization is not None and tensor.dtype in ("INT8", "UINT8", "INT16"):
                step = max(tensor.quantization.scale, default=0.0)
            self._errors[tensor] = _Error(error.bound + step, error.parts)

    def parts(self, tensor: Tensor) -> float:
        """Returns the magnitude of the numbers that the largest value is the sum of."""
        return _most(self.error(tensor).parts)

    def error(self, tensor: Tensor) -> _Error:
        known = self._errors.get(tensor)
        return known or _Error(np.zeros(()), self.seen(tensor).largest)

    def inputs(self, op: Op) -> list[_Error]:
        """Returns errors of inputs, fitted to operators that compute each channel by itself."""
        errors = map(self.error, _inputs(op))
        return [_Error(_fit(e.bound, op.output), _fit(e.parts, op.output)) for e in errors]

    def size(self, tensor: Tensor | None) -> float:
        """Returns the largest magnitude of a tensor's values."""
        return 0.0 if tensor is None else _most(self.seen(tensor).largest)

    def seen(self, tensor: Tensor) -> Seen:
        if tensor not in self._seen:
            unknown = Seen(np.zeros(()), False, tensor.elements)
            self._seen[tensor] = unknown if tensor.data is None else Seen.of(tensor, tensor.data)
        return self._seen[tensor]

    def rounding(self, op: Op) -> float:
        return _ROUNDING * self.size(op.output)


def real_values(tensor: Tensor, values: Array) -> Array:
    """Returns the real numbers that a tensor's values stand for."""
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


def _most(values: Array) -> float:
    return float(values.max(initial=0.0))


def _fit(values: Array, tensor: Tensor) -> Array:
    """Returns `values` if they are one for each channel of the tensor, else their maximum."""
    return values if values.shape in ((), (1,), tensor.shape[-1:]) else np.array(_most(values))


def _largest(arrays: Iterable[Array]) -> Array:
    return functools.reduce(np.maximum, arrays, np.zeros(()))


def _keep(bounds: ErrorBounds, op: Op) -> _Error:
    """Bounds operators that compute each channel from the same channel of the inputs."""
    errors = bounds.inputs(op)
    return _Error(_largest(e.bound for e in errors), _largest(e.parts for e in errors))


def _move(bounds: ErrorBounds, op: Op) -> _Error:
    errors = list(map(bounds.error, _inputs(op)))
    bound = max((_most(error.bound) for error in errors), default=0.0)
    return _one(bound, max((_most(error.parts) for error in errors), default=0.0))


def _one(bound: float, parts: float) -> _Error:
    """Returns an error that is the same for all channels."""
    return _Error(np.array(bound), np.array(parts))


def _terms(bounds: ErrorBounds, op: Op) -> float:
    """Returns how many values are summed for one output value."""
    return max(1.0, bounds.seen(_inputs(op)[0]).elements / max(1, bounds.seen(op.output).elements))


def _average(bounds: ErrorBounds, op: Op) -> _Error:
    error = _move(bounds, op)
    rounding = _DEVIATIONS * math.sqrt(_terms(bounds, op)) * _ROUNDING
    return _Error(error.bound + rounding * error.parts, error.parts)


def _sum(bounds: ErrorBounds, op: Op) -> _Error:
    error = _average(bounds, op)
    terms = _terms(bounds, op)
    return _Error(error.bound * terms, error.parts * terms)


def _add(bounds: ErrorBounds, op: Op) -> _Error:
    errors = bounds.inputs(op)
    parts = np.asarray(sum(error.parts for error in errors))
    carried = np.asarray(sum(error.bound for error in errors))
    whole = all(bounds.seen(tensor).whole for tensor in _inputs(op))
    exact = whole and _most(parts) < _EXACT_INTEGERS
    return _Error(carried if exact else carried + _ROUNDING * parts, parts)


def _multiply(bounds: ErrorBounds, op: Op) -> _Error:
    a, b = bounds.inputs(op)
    parts = a.parts * b.parts
    return _Error(a.bound * b.parts + b.bound * a.parts + _ROUNDING * parts, parts)


def _divide(bounds: ErrorBounds, op: Op) -> _Error:
    x = bounds.inputs(op)[0]
    divisor = op.inputs[1]
    if divisor is None or divisor.data is None or not divisor.data.all():
        return _unknown(bounds, op)
    least = np.abs(divisor.data).min(axis=tuple(range(divisor.data.ndim - 1)))
    least = _fit(least, op.output) if least.shape in ((), op.output.shape[-1:]) else least.min()
    return _Error(x.bound / least + _ROUNDING * x.parts / least, x.parts / least)


def _convolve(bounds: ErrorBounds, op: Op) -> _Error:
    """Bounds sums of products with constant weights; without constant weights, nothing is known."""
    x, weights, bias = _convolution_inputs(op)
    if weights is None or weights.data is None:
        return _unknown(bounds, op)
    values = real_values(weights, weights.data)
    values = np.moveaxis(values, channel_axis(op, values.ndim), 0)
    terms = max(1, values[:1].size)
    sums = np.concatenate([np.abs(part).sum(axis=1, dtype=np.float64) for part in _rows(values)])
    size = sums * max(bounds.size(x), _largest_level(x))
    added = [bias] if bias is not None and bounds.size(bias) else []
    parts = size + sum(bounds.seen(tensor).largest for tensor in added)
    whole = all(bounds.seen(tensor).whole for tensor in [x, weights, *added])
    if whole and _most(parts) < _EXACT_INTEGERS:
        rounding = np.zeros(())
    else:
        rounding = _DEVIATIONS * math.sqrt(terms) * _ROUNDING * size + _ROUNDING * parts
    return _Error(_fit(_most(bounds.of(x)) * sums + rounding, op.output), _fit(parts, op.output))


def _largest_level(x: Tensor) -> float:
    """Returns the largest level of values of a few bits, else 0.

    A converted model computes such values as sums of planes and a constant, which cancel where
    values are small.
    """
    levels = find_levels(x)
    return 0.0 if levels is None else max(map(abs, levels.levels))


def _rows(values: Array) -> Iterator[Array]:
    """Yields pieces along the first axis, with all other axes joined into one."""
    rows = max(1, _CHUNK // max(1, values[:1].size))
    for start in range(0, len(values), rows):
        part = values[start : start + rows]
        yield part.reshape(len(part), -1)


def _convolution_inputs(op: Op) -> tuple[Tensor, Tensor | None, Tensor | None]:
    layer = op.known.weights
    assert layer is not None
    x = op.inputs[layer.data]
    assert x is not None
    return x, op.input(1), op.input(layer.bias)


def _slope(bounds: ErrorBounds, op: Op) -> _Error:
    x = bounds.inputs(op)[0]
    if op.kind == "PRELU":
        steepest = np.maximum(1.0, bounds.inputs(op)[1].parts)
    else:
        steepest = np.array(max(1.0, abs(op.options.alpha)))
    parts = x.parts * steepest
    return _Error(x.bound * steepest + _ROUNDING * parts, parts)


def _bounded_slope(bounds: ErrorBounds, op: Op) -> _Error:
    """Bounds functions that are nowhere steeper than 1, or than beta for softmax."""
    steepest = abs(getattr(op.options, "beta", 1.0)) or 1.0
    size = bounds.size(op.output)
    return _one(_most(_move(bounds, op).bound) * steepest + 8 * _ROUNDING * size, size)


def _unknown(bounds: ErrorBounds, op: Op) -> _Error:
    """Bounds an operator that is not known: relative errors may grow tenfold."""
    relative = 0.0
    for tensor in _inputs(op):
        size, bound = bounds.size(tensor), _most(bounds.of(tensor))
        if bound > 0:
            relative += bound / size if size else 1.0
    size = bounds.size(op.output)
    return _one(10 * relative * size + 16 * _ROUNDING * size, size)


_RULES: dict[str, Callable[[ErrorBounds, Op], _Error]] = {
    **dict.fromkeys([op.name for op in KNOWN_OPS if op.moved is not None], _move),
    **dict.fromkeys(["REDUCE_MAX", "REDUCE_MIN"], _move),
    # These operators move values too, but keep each value in its channel.
    **dict.fromkeys(["BATCH_TO_SPACE_ND", "MAX_POOL_2D", "RESHAPE"], _keep),
    **dict.fromkeys(["RESIZE_NEAREST_NEIGHBOR", "SPACE_TO_BATCH_ND"], _keep),
    **dict.fromkeys([op.name for op in KNOWN_OPS if op.clamp is not None], _keep),
    **dict.fromkeys(["ABS", "DEQUANTIZE", "MAXIMUM", "MINIMUM", "NEG", "QUANTIZE"], _keep),
    **dict.fromkeys(["LOGISTIC", "TANH", "SOFTMAX", "LOG_SOFTMAX"], _bounded_slope),
    **dict.fromkeys(WEIGHTED_KINDS, _convolve),
    **dict.fromkeys(["ADD", "SUB"], _add),
    **dict.fromkeys(["AVERAGE_POOL_2D", "MEAN", "RESIZE_BILINEAR"], _average),
    **dict.fromkeys(["PRELU", "LEAKY_RELU"], _slope),
    "DIV": _divide,
    "MUL": _multiply,
    "SUM": _sum,
}
