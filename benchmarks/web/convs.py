"""Measures the convolutions A to D in a browser: `python -m benchmarks.web.convs`.

They are those of benchmarks/convs.py, beside the limits of a core in WebAssembly. Forms of ours run
in the page's own thread, as messages between threads would count for layers this short. LiteRT.js
takes no int8 inputs, so there is no int8 layer to compare with.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.contenders import OURS, OURS_BITS, OURS_BITS_FLOAT
from benchmarks.conv_trials import make_trials
from benchmarks.interleave import finish, make_parser, measure
from benchmarks.shapes import CONV_SHAPES
from benchmarks.web.browser import Browser, make_server
from benchmarks.web.contenders import LITERT_FLOAT32, OURS_IN_PAGE

CONTENDERS = (
    *(replace(form, runtime=OURS_IN_PAGE.runtime) for form in (OURS, OURS_BITS_FLOAT, OURS_BITS)),
    LITERT_FLOAT32,
)


def main() -> int:
    description = (
        "Times the convolutions A to D in larq_engine's package and in LiteRT.js, in one page of "
        "Chromium and in turns. An engine whose output is wrong has no time."
    )
    options = make_parser("web.convs", description, rounds=10, seconds=0.2).parse_args()
    with make_server() as server, Browser(server, options.threads) as browser:
        summary = measure(
            "web_convs",
            CONTENDERS,
            lambda progress: make_trials(CONV_SHAPES, CONTENDERS, progress),
            options,
            browser.place(),
        )
    return finish(summary, options.json)


if __name__ == "__main__":
    raise SystemExit(main())
