"""Measures the convolutions A to D against LCE, OpenVINO and XNNPACK: `python -m benchmarks.convs`.

All contenders read and write floats. For larq_engine, layers that read bits, and layers that also
write bits, are measured, too: a layer that does less beside its product comes closer to the limit.
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
