"""Measures layers of few channels against XNNPACK's float32: `python -m benchmarks.cliffs`.

Binary layers win by their products; those here have few, so that everything around the products
decides: making bits, finding taps, columns and depth that only fill up. Each is a single layer,
from float to float. XNNPACK runs it as a plain float layer, and as what the converter leaves to a
host: with the operators of its sign and padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks import expected
from benchmarks.contenders import OURS, XNNPACK_FLOAT32, XNNPACK_SIGN
from benchmarks.conv_trials import SEED, make_check
from benchmarks.interleave import Trial, finish, make_parser, measure
from benchmarks.progress import Progress
from larq_engine.converter.padding import same_pads
from tests.model_builder import PADDING, ModelBuilder, bconv_model
from tests.oracle import Conv, dot_products, signs

CONTENDERS = (OURS, XNNPACK_FLOAT32, XNNPACK_SIGN)

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Cliff:
    """A layer, of SAME padding: with +1 the binary one, with 0 the float one, as in conv_models."""

    name: str
    conv: Conv

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the layer."""
        return int(np.prod(self.conv.output_shape)) * self.conv.depth

    def __str__(self) -> str:
        return self.name


def layer(
    height: int, width: int, channels_in: int, channels_out: int, kernel: str, stride: int = 1
) -> Cliff:
    taps_y, taps_x = (int(taps) for taps in kernel.split("x"))
    conv = Conv(
        (1, height, width, channels_in), (taps_y, taps_x), channels_out, stride=(stride, stride)
    )
    over = f" stride {stride}" if stride > 1 else ""
    return Cliff(f"{height}x{width} {kernel}{over} {channels_in} to {channels_out}", conv)


LAYERS = (
    *(layer(56, 56, channels, 64, "3x3") for channels in (1, 2, 3, 4, 8, 16, 32, 33)),
    layer(224, 224, 3, 64, "7x7", stride=2),
    layer(112, 112, 3, 32, "3x3"),
    layer(128, 128, 1, 1, "3x3"),
    layer(128, 128, 1, 32, "5x5"),
    layer(1, 16000, 1, 16, "1x9"),
    layer(1, 16000, 1, 64, "1x9"),
    layer(56, 56, 33, 33, "1x1"),
    *(layer(56, 56, 64, channels, "1x1") for channels in (1, 3, 5, 7, 8, 16, 64)),
    *(layer(56, 56, channels, 16, "1x1") for channels in (1, 3, 8, 16, 32)),
    *(layer(56, 56, 64, channels, "3x3") for channels in (1, 3, 8)),
    *(layer(56, 56, channels, channels, "3x3") for channels in (4, 8, 16)),
)


def make_trials(progress: Progress) -> Iterator[Trial]:
    for seed, case in enumerate(LAYERS, start=SEED):
        conv = case.conv
        rng = np.random.default_rng(seed)
        filters = signs(rng.standard_normal(conv.filter_shape))
        multiplier = (rng.integers(1, 25, conv.channels_out) / 16).astype(np.float32)
        bias = (rng.integers(-64, 64, conv.channels_out) / 32).astype(np.float32)
        x = rng.uniform(-1, 1, conv.input_shape).astype(np.float32)
        progress.say(f"checking {case}", "NumPy")
        right = dot_products(conv, signs(x), filters) * multiplier + bias  # exact in float32
        build = partial(bconv_model, conv, filters, multiplier, bias)
        yield Trial(OURS, case, build, make_check(x, right), "equal")
        build = partial(build_left, conv, filters, multiplier, bias)
        yield Trial(XNNPACK_SIGN, case, build, make_check(x, right), "equal")
        right = expect_float(conv, x, filters) * multiplier + bias
        checked = f"to {expected.FLOAT_TOLERANCE:.0e}"
        build = partial(build_float, conv, filters, multiplier, bias)
        yield Trial(XNNPACK_FLOAT32, case, build, make_check(x, right), checked)


def expect_float(
    conv: Conv, x: npt.NDArray[np.float32], filters: npt.NDArray[np.float32]
) -> npt.NDArray[np.float64]:
    zeros = Conv(conv.input_shape, conv.kernel, conv.channels_out, stride=conv.stride, pad_value=0)
    return dot_products(zeros, x.astype(np.float64), filters.astype(np.float64))


def build_float(conv: Conv, filters: Floats, multiplier: Floats, bias: Floats) -> bytes:
    builder = ModelBuilder()
    x, y = builder.tensor(conv.input_shape), builder.tensor(conv.output_shape)
    add_float(builder, conv, "SAME", filters * multiplier[:, None, None, None], bias, x, y)
    return builder.finish([x], [y])


def build_left(conv: Conv, filters: Floats, multiplier: Floats, bias: Floats) -> bytes:
    """As TensorFlow keeps larq's layers: the sign is three operators, padding with 1 another."""
    builder = ModelBuilder()
    x, y = builder.tensor(conv.input_shape), builder.tensor(conv.output_shape)
    some, sum_, sign = (builder.tensor(conv.input_shape) for _ in range(3))
    builder.builtin("SIGN", [x], [some])
    builder.builtin("ADD", [some, builder.constant(np.float32(0.1))], [sum_])
    builder.builtin("SIGN", [sum_], [sign])
    pads = [
        same_pads(size, taps, stride, 1)
        for size, taps, stride in zip(conv.input_shape[1:3], conv.kernel, conv.stride, strict=True)
    ]
    if any(map(any, pads)):
        table = np.array([(0, 0), *pads, (0, 0)], np.int32)
        padded = builder.tensor(np.add(conv.input_shape, table.sum(axis=1)).tolist())
        inputs = [sign, builder.constant(table), builder.constant(np.float32(1))]
        builder.builtin("PADV2", inputs, [padded])
        sign = padded
    add_float(builder, conv, "VALID", filters * multiplier[:, None, None, None], bias, sign, y)
    return builder.finish([x], [y])


def add_float(
    builder: ModelBuilder, conv: Conv, padding: str, weights: Floats, bias: Floats, x: int, y: int
) -> None:
    stride_y, stride_x = conv.stride
    builder.builtin(
        "CONV_2D",
        [x, builder.constant(weights), builder.constant(bias)],
        [y],
        padding=PADDING[padding],
        strideH=stride_y,
        strideW=stride_x,
    )


def main() -> int:
    description = (
        "Times layers of few channels in this engine, and in float32 in XNNPACK, in turns. An "
        "engine whose output is wrong has no time."
    )
    options = make_parser("cliffs", description, rounds=15, seconds=0.02).parse_args()
    return finish(measure("cliffs", CONTENDERS, make_trials, options), options.json)


if __name__ == "__main__":
    raise SystemExit(main())
