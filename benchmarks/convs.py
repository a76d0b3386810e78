"""Measures the convolutions A to D against LCE, OpenVINO and XNNPACK: `python -m benchmarks.convs`.

Between floats, as all contenders can, and of larq_engine also from bits to floats and from bits to
bits: the closer a layer is to being nothing but its product, the closer to the limit it can come.
"""

from __future__ import annotations

from benchmarks.contenders import OPENVINO, OURS, OURS_BITS, OURS_BITS_FLOAT, PEERS
from benchmarks.conv_trials import make_trials
from benchmarks.interleave import finish, make_parser, measure
from benchmarks.shapes import CONV_SHAPES

CONTENDERS = (OURS, OURS_BITS_FLOAT, OURS_BITS, OPENVINO, *PEERS)


def main() -> int:
    description = (
        "Times the convolutions A to D in this engine, LCE, OpenVINO and XNNPACK, in turns. An "
        "engine whose output is wrong has no time."
    )
    options = make_parser("convs", description, rounds=10, seconds=0.1).parse_args()
    summary = measure(
        "convs",
        CONTENDERS,
        lambda progress: make_trials(CONV_SHAPES, CONTENDERS, progress),
        options,
    )
    return finish(summary, options.json)


if __name__ == "__main__":
    raise SystemExit(main())
