"""Steps of functions of one byte: a table of 256 results, as the engine makes it
(larq_engine/runtime/ops/byte_table_op.cc)."""

import math
from collections.abc import Callable

import numpy as np

from larq_engine.converter.graph import Op, Tensor
from larq_engine.exporting.op_checks import data, scale_of, unsupported
from larq_engine.micro.plan import Constant, Reference, Step
from larq_engine.micro.step_maker import StepMaker, check_types

# The range of the ratios of two scales that XNNPACK takes.
_RATIOS = (2.0**-8, 2.0**7)
_INT32 = np.iinfo(np.int32)

# No byte is that many steps above the zero point.
_MOST_STEPS = 1 << 9


def _bytes(tensor: Tensor) -> range:
    return range(-128, 128) if tensor.dtype == "INT8" else range(256)


def _step(maker: StepMaker, op: Op, function: Callable[[int], int]) -> Step:
    """Makes the table of a function of steps above the input's zero point."""
    x, y = data(op, 0), op.output
    check_types(op, "INT8", "UINT8")
    zero, y_zero = scale_of(op, x)[1], scale_of(op, y)[1]
    values = _bytes(y)
    table = np.zeros(256, np.uint8)
    for byte in _bytes(x):
        result = min(max(function(byte - zero) + y_zero, values[0]), values[-1])
        table[byte & 255] = result & 255
    source, target = maker.memory(x), maker.memory(y)
    return Step(
        headers=("le_int8_values.h",),
        function="le_table_run",
        arguments=[Reference("table"), x.elements, source, target],
        reads=[source],
        writes=[target],
        constants=[Constant("table", "uint8_t", table)],
        in_place=source,
    )


class _Multiplier:
    """A factor in fixed point, as TensorFlow Lite's own kernels multiply by it."""

    def __init__(self, factor: float) -> None:
        fraction, self._shift = math.frexp(factor)
        self._bits = math.floor(fraction * 2**31 + 0.5)
        if self._bits == 2**31:
            self._bits //= 2
            self._shift += 1
        if self._shift < -31:
            self._bits = self._shift = 0

    def __call__(self, value: int) -> int:
        shifted = value << min(max(self._shift, 0), 30)
        shifted = min(max(shifted, int(_INT32.min)), int(_INT32.max))
        product = _rounded(shifted * self._bits, 31)
        return _rounded(product, max(-self._shift, 0))


def _rounded(value: int, bits: int) -> int:
    return (value + (1 << bits) // 2) >> bits


def _ratio(op: Op) -> float:
    return float(scale_of(op, data(op, 0))[0]) / float(scale_of(op, op.output)[0])


def _rescale(maker: StepMaker, op: Op) -> Step:
    x, y = data(op, 0), op.output
    check_types(op, "INT8", "UINT8")
    ratio = float(scale_of(op, x)[0] / scale_of(op, y)[0])
    if x.dtype == y.dtype and _RATIOS[0] <= ratio <= _RATIOS[1]:
        parts = int(np.rint(256 * ratio))
        return _step(maker, op, lambda steps: (steps * parts + 128) >> 8)
    return _step(maker, op, _Multiplier(_ratio(op)))


def _clamp(low: float, high: float) -> Callable[[StepMaker, Op], Step]:
    def step(maker: StepMaker, op: Op) -> Step:
        check_types(op, "INT8")
        multiplier, scale = _Multiplier(_ratio(op)), scale_of(op, op.output)[0]

        def limit(value: float) -> int:
            steps = float(np.clip(np.float32(value) / scale, -_MOST_STEPS, _MOST_STEPS))
            return int(math.copysign(math.floor(abs(steps) + 0.5), steps))

        lowest, highest = limit(low), limit(high)
        return _step(maker, op, lambda steps: min(max(multiplier(steps), lowest), highest))

    return step


def _function(
    function: Callable[[float], float], scale: float, zero: int
) -> Callable[[StepMaker, Op], Step]:
    def step(maker: StepMaker, op: Op) -> Step:
        check_types(op, "INT8")
        if scale_of(op, op.output) != (np.float32(scale), zero):
            raise unsupported(op, f"expected an output of the scale {scale} and zero point {zero}")
        in_scale = scale_of(op, data(op, 0))[0]

        def result(steps: int) -> int:
            value = np.float32(function(float(np.float32(steps) * in_scale)))
            return int(np.rint(value / np.float32(scale)))

        return _step(maker, op, result)

    return step


def _logistic(x: float) -> float:
    # The engine adds and divides in float32.
    with np.errstate(over="ignore"):
        exponential = np.float32(np.exp(np.float64(-x)))
    return float(np.float32(1) / (np.float32(1) + exponential))


KERNELS = {
    "QUANTIZE": _rescale,
    "RELU": _clamp(0, math.inf),
    "RELU6": _clamp(0, 6),
    "RELU_N1_TO_1": _clamp(-1, 1),
    "LOGISTIC": _function(_logistic, 2**-8, -128),
    "TANH": _function(math.tanh, 2**-7, 0),
}
