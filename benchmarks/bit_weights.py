"""Measures dense layers whose weights are bits and whose inputs are not, against XNNPACK: `python
-m benchmarks.bit_weights`.

Both run the same file; XNNPACK's way is `fuse=off`, with weights that are unpacked when it is
loaded. Results are compared before. The last column is the time to read the bits once.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import larq_engine
from benchmarks.machine import pin_to_cores
from benchmarks.turns import compare_rounds, time_round
from larq_engine.python.text_table import align_columns
from tests.model_builder import ModelBuilder
from tests.oracle import pack_bits

_SIZES = (512, 1024, 2048, 4096)
_BATCHES = (1, 8)
_TITLES = ("layer", "rows", "ms", "XNNPACK", "ratio", "range", "noise", "to read, ms")
_IN_SCALE, _WEIGHT_SCALE = 1 / 64, 1 / 127


def build_layer(size: int, rows: int, dtype: Any, rng: np.random.Generator) -> bytes:
    """A square layer of random +-1 weights, int8 or float32."""
    is_int8 = dtype == np.int8
    builder = ModelBuilder()
    out_scale = float(np.float32(np.sqrt(size) / 64))

    def quantized(scale: float) -> dict[str, Any]:
        return {"scale": scale} if is_int8 else {}

    x = builder.tensor((rows, size), dtype, name="x", **quantized(_IN_SCALE))
    bits = builder.constant(pack_bits(rng.choice([-1, 1], size * size).astype(np.float32)))
    scale = builder.constant(np.full(1, 127 if is_int8 else 0.5, np.float32))
    weights = builder.tensor((size, size), dtype, name="w", **quantized(_WEIGHT_SCALE))
    builder.custom("LceUnpackWeights", [bits, scale], [weights], {"axis": 0})
    bias_values = rng.integers(-999, 999, size)
    bias = builder.constant(
        bias_values.astype(np.int32 if is_int8 else np.float32),
        **quantized(_IN_SCALE * _WEIGHT_SCALE),
    )
    y = builder.tensor((rows, size), dtype, name="y", **quantized(out_scale))
    builder.builtin("FULLY_CONNECTED", [x, weights, bias], [y])
    return builder.finish([x], [y])


def _check(opened: list[larq_engine.Interpreter], image: np.ndarray) -> None:
    ours, hosts = (np.asarray(model.predict(image)) for model in opened[:2])
    if ours.dtype == np.int8:
        np.testing.assert_array_equal(ours, hosts)
    else:
        np.testing.assert_allclose(ours, hosts, atol=0.01)


def _seconds_to_read(size: int) -> float:
    words = np.ones(size * size // 64, np.uint64)
    best = np.inf
    for _ in range(50):
        begun = time.perf_counter()
        np.bitwise_or.reduce(words)
        best = min(best, time.perf_counter() - begun)
    return float(best)


def measure(
    size: int, rows: int, dtype: Any, kernel: str, rounds: int, *, resized: bool = False
) -> tuple[str, ...]:
    """A row of the table, one thread; `resized`: the file says that there is one row."""
    rng = np.random.default_rng(size)
    model = build_layer(size, 1 if resized else rows, dtype, rng)
    image = rng.integers(-128, 128, (rows, size)).astype(dtype)
    times = []
    for _ in range(rounds):
        opened = [
            larq_engine.Interpreter(model, **options)
            for options in ({"kernel": kernel}, {"fuse": False}, {"kernel": kernel})
        ]
        _check(opened, image)
        times.append(time_round(opened, image))
    name = f"{size}x{size} {np.dtype(dtype).name}"
    return (name, str(rows), *compare_rounds(times), f"{_seconds_to_read(size) * 1e3:.3f}")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bit_weights",
        description="Times dense layers whose weights are bits, and whose inputs are int8 or "
        "float32, in this engine and in XNNPACK, on one thread and in turns.",
    )
    parser.add_argument(
        "--rounds", type=int, default=3, metavar="N", help="rounds of turns (default: 3)"
    )
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=_SIZES,
        metavar="N",
        help=f"inputs and outputs of a layer (default: {' '.join(map(str, _SIZES))})",
    )
    parser.add_argument(
        "--rows",
        type=int,
        nargs="+",
        default=_BATCHES,
        metavar="N",
        help=f"samples at once (default: {' '.join(map(str, _BATCHES))})",
    )
    parser.add_argument(
        "--kernel",
        default="auto",
        metavar="NAME",
        help="the engine's kernel, as `larq-engine about` lists it (default: auto)",
    )
    parser.add_argument(
        "--resized",
        action="store_true",
        help="the file declares one sample, and the models are resized to --rows",
    )
    options = parser.parse_args()
    pin_to_cores(1)
    table = [
        measure(size, rows, dtype, options.kernel, options.rounds, resized=options.resized)
        for dtype in (np.int8, np.float32)
        for size in options.sizes
        for rows in options.rows
    ]
    print("\n".join(align_columns(_TITLES, table, _TITLES[1:])))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
