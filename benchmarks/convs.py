"""Measures the convolutions A to D against LCE, OpenVINO and XNNPACK: `python -m benchmarks.convs`.

All contenders compute between floats. For larq_engine, layers from bits to floats and from bits to
bits are measured, too: the less a layer does beside its product, the closer it can come to the
limit.
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
