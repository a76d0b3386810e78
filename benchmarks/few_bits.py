"""Measures layers of few bits a value against XNNPACK's int8 and float32: `python -m
benchmarks.few_bits`.

The convolutions A to D from float to float: few bits as a product for each pair of planes, more as
products of bytes. What beats float32 is what the converter goes by (rules_binary.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.contenders import OURS, XNNPACK_FLOAT32, XNNPACK_INT8, Contender
from benchmarks.conv_trials import make_trials
from benchmarks.interleave import finish, make_parser, measure
from benchmarks.shapes import CONV_SHAPES

# Bits of a value and of a weight, by how many products of planes they are.
BITS = (
    *((2, 1), (1, 2), (3, 1), (2, 2), (4, 1), (3, 2), (6, 1), (8, 1), (1, 8), (4, 2), (3, 3)),
    *((4, 3), (4, 4), (6, 6), (8, 6), (7, 7), (8, 8)),
)

CONTENDERS = (
    OURS,
    *(
        Contender(f"larq_engine {a}x{b}", OURS.runtime, f"{a}x{b}", Path(sys.executable))
        for a, b in BITS
    ),
    XNNPACK_FLOAT32,
    XNNPACK_INT8,
)


def main() -> int:
    description = (
        "Times the convolutions A to D with a few bits for each value and weight in this engine, "
        "and in int8 and float32 in XNNPACK, in turns. An engine whose output is wrong has no time."
    )
    options = make_parser("few_bits", description, rounds=10, seconds=0.1).parse_args()
    summary = measure(
        "few_bits",
        CONTENDERS,
        lambda progress: make_trials(CONV_SHAPES, CONTENDERS, progress),
        options,
    )
    return finish(summary, options.json)


if __name__ == "__main__":
    raise SystemExit(main())
