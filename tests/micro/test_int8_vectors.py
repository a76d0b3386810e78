"""Int8 operators of odd sizes, on chips whose kernels take several values at once.

Random networks (test_integer_networks.py) rarely have them, and the PC compiles plain C.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from tests.micro import board_model, boards
from tests.model_builder import PADDING, ModelBuilder

_SCALE = 1 / 16
_ZERO = -7
_SIZES = (6, 5)
_ONE_TAP_APART = {"dilationHFactor": 1, "dilationWFactor": 1}


class _Operators:
    """A model of one input, whose operators all read it and make an output each."""

    def __init__(self, channels: int) -> None:
        self._rng = np.random.default_rng(channels)
        self._channels = channels
        self._builder = ModelBuilder()
        self._shape = (1, *_SIZES, channels)
        self._x = self._value(channels)
        self._outputs: list[int] = []

    def build(self) -> bytes:
        return self._builder.finish([self._x], self._outputs)

    def conv(self, taps: int, outputs: int, groups: int = 1, dilation: int = 1) -> None:
        filters = (outputs, taps, taps, self._channels // groups)
        apart = {"dilationHFactor": dilation, "dilationWFactor": dilation}
        self._layer("CONV_2D", filters, outputs, axis=0, **apart)

    def depthwise(self, times: int) -> None:
        outputs = self._channels * times
        filters = (1, 3, 3, outputs)
        options = {"depthMultiplier": times, **_ONE_TAP_APART}
        self._layer("DEPTHWISE_CONV_2D", filters, outputs, axis=3, **options)

    def max_pool(self) -> None:
        y = self._value(self._channels)
        options = {"filterHeight": 3, "filterWidth": 2, **self._windows()}
        self._builder.builtin("MAX_POOL_2D", [self._x], [y], **options)
        self._outputs.append(y)

    def add(self, shape: Sequence[int]) -> None:
        values = self._rng.integers(-128, 128, shape).astype(np.int8)
        other = self._builder.constant(values, scale=_SCALE / 3, zero_point=9)
        y = self._value(self._channels)
        self._builder.builtin("ADD", [self._x, other], [y])
        self._outputs.append(y)

    def signs(self) -> None:
        bits = self._builder.tensor((1, *_SIZES, -(-self._channels // 32)), np.int32)
        y = self._value(self._channels)
        self._builder.custom("LceQuantize", [self._x], [bits])
        self._builder.custom("LceDequantize", [bits], [y])
        self._outputs.append(y)

    def _value(self, channels: int) -> int:
        shape = (1, *_SIZES, channels)
        return self._builder.tensor(shape, np.int8, scale=_SCALE, zero_point=_ZERO)

    def _windows(self) -> dict[str, int]:
        return {"strideH": 1, "strideW": 1, "padding": PADDING["SAME"]}

    def _layer(
        self, kind: str, filters: tuple[int, ...], outputs: int, *, axis: int, **options: int
    ) -> None:
        depth = int(np.prod(filters)) // outputs
        scale = self._rng.uniform(0.5, 1.5, outputs).astype(np.float32) / 64 / np.sqrt(depth)
        scale, zeros = scale.astype(np.float32), [0] * outputs
        weights = self._builder.constant(
            self._rng.integers(-127, 128, filters).astype(np.int8),
            scale=scale,
            zero_point=zeros,
            quantized_dimension=axis,
        )
        bias = self._builder.constant(
            self._rng.integers(-900, 900, outputs).astype(np.int32),
            scale=scale * _SCALE,
            zero_point=zeros,
            quantized_dimension=0,
        )
        y = self._value(outputs)
        self._builder.builtin(kind, [self._x, weights, bias], [y], **self._windows(), **options)
        self._outputs.append(y)


# Rests of vectors of 16, of words of 4, and of words of 32 bits.
@pytest.mark.parametrize("channels", [1, 3, 18, 51])
@pytest.mark.parametrize("board", ["m3", "m4", "m55"])
def test_odd_sizes(board: str, channels: int, tmp_path: Path) -> None:
    boards.require()
    operators = _Operators(channels)
    for outputs in (1, 2, 3, 4, 7):
        operators.conv(3, outputs)
        operators.conv(1, outputs)
    operators.conv(3, 5, dilation=2)
    if channels % 3 == 0:
        operators.conv(3, 6, groups=3)
        operators.conv(2, 15, groups=3)
    operators.depthwise(1)
    operators.depthwise(2)
    operators.max_pool()
    operators.add((channels,))
    operators.add((1,))
    operators.add((1, 1, _SIZES[1], 1))
    operators.signs()
    content = operators.build()
    shape = (2, *_SIZES, channels)
    images = np.random.default_rng(0).integers(-128, 128, shape).astype(np.int8)
    interpreter = larq_engine.Interpreter(content)
    runs = [interpreter.predict(images[i : i + 1]) for i in range(2)]
    outcome = board_model.run_on(board, content, [images], tmp_path)
    for number, got in enumerate(outcome.outputs):
        expected = np.concatenate([run[number] for run in runs])
        np.testing.assert_array_equal(got, expected, err_msg=f"output {number}")
