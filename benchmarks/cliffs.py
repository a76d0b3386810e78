"""Measures layers of few channels against XNNPACK's float32: `python -m benchmarks.cliffs`.

Binary layers win by their products; those here have few, so that everything around the products
decides: making bits, finding taps, columns and depth that only fill up. Each is a single layer,
from float to float.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks import expected
from benchmarks.contenders import OURS, XNNPACK_FLOAT32
from benchmarks.conv_trials import SEED, make_check
from benchmarks.interleave import Trial, finish, make_parser, measure
from benchmarks.progress import Progress
from tests.model_builder import PADDING, ModelBuilder, bconv_model
from tests.oracle import Conv, dot_products, signs

CONTENDERS = (OURS, XNNPACK_FLOAT32)


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
        right = expect_float(conv, x, filters) * multiplier + bias
        checked = f"to {expected.FLOAT_TOLERANCE:.0e}"
        build = partial(build_float, conv, filters, multiplier, bias)
        yield Trial(XNNPACK_FLOAT32, case, build, make_check(x, right), checked)


def expect_float(
    conv: Conv, x: npt.NDArray[np.float32], filters: npt.NDArray[np.float32]
) -> npt.NDArray[np.float64]:
    zeros = Conv(conv.input_shape, conv.kernel, conv.channels_out, stride=conv.stride, pad_value=0)
    return dot_products(zeros, x.astype(np.float64), filters.astype(np.float64))


def build_float(
    conv: Conv,
    filters: npt.NDArray[np.float32],
    multiplier: npt.NDArray[np.float32],
    bias: npt.NDArray[np.float32],
) -> bytes:
    builder = ModelBuilder()
    x, y = builder.tensor(conv.input_shape), builder.tensor(conv.output_shape)
    weights = builder.constant(filters * multiplier[:, None, None, None])
    stride_y, stride_x = conv.stride
    builder.builtin(
        "CONV_2D",
        [x, weights, builder.constant(bias)],
        [y],
        padding=PADDING["SAME"],
        strideH=stride_y,
        strideW=stride_x,
    )
    return builder.finish([x], [y])


def main() -> int:
    description = "Layers of few channels against XNNPACK's float32, checked, interleaved."
    options = make_parser("cliffs", description, rounds=15, seconds=0.02).parse_args()
    return finish(measure("cliffs", CONTENDERS, make_trials, options), options.json)


if __name__ == "__main__":
    raise SystemExit(main())
