"""Measures LCE's grid of 48 convolutions against XNNPACK: `python -m benchmarks.grid`.

The grid is that of Larq Compute Engine's paper, which compares its binary convolutions with float
and int8 ones of the same sizes. As there, the last lines are means of the ratios.
"""

from __future__ import annotations

from benchmarks import plots
from benchmarks.contenders import OURS, XNNPACK_FLOAT32, XNNPACK_INT8
from benchmarks.conv_trials import make_trials
from benchmarks.interleave import finish, make_parser, measure
from benchmarks.shapes import GRID_SHAPES

CONTENDERS = (OURS, XNNPACK_FLOAT32, XNNPACK_INT8)


def main() -> int:
    description = (
        "Times 48 convolutions, which LCE's authors chose, in this engine and in XNNPACK, in "
        "turns. An engine whose output is wrong has no time."
    )
    options = make_parser("grid", description, rounds=5, seconds=0.03).parse_args()
    summary = measure(
        "grid",
        CONTENDERS,
        lambda progress: make_trials(GRID_SHAPES, CONTENDERS, progress),
        options,
    )
    return finish(summary, options.json, plots.plot_grid)


if __name__ == "__main__":
    raise SystemExit(main())
