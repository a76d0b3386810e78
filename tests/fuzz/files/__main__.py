"""Feeds mutated .tflite files to a host with the plug-in, and says what became of them.

    python -m tests.fuzz.files --cases 50000                  # through larq_engine.Interpreter
    python -m tests.fuzz.files --cases 50000 --mode bare      # a stock interpreter, no check
    python -m tests.fuzz.files --replay 1234                  # one case, in this process

Ends with 1 if a crash is the plug-in's, and through the Interpreter if there is any: its check is
to refuse what crashes hosts.
"""

import argparse
import sys
from pathlib import Path

from tests.fuzz.files.campaign import MODES, replay, run_campaign


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.files", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--cases", type=int, default=10000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--mode", choices=MODES, default="checked", help="what runs them")
    parser.add_argument("--runtime", help="the host runtime; the first installed one if not given")
    parser.add_argument("--save", type=Path, help="folder for the files that crash")
    parser.add_argument("--replay", type=int, metavar="CASE", help="run this case only")
    parser.add_argument("--without", type=int, nargs="*", default=[], help="mutations to leave out")
    options = parser.parse_args()
    if options.replay is not None:
        return replay(options.replay, options.without, options.mode, options.runtime, options.save)
    return run_campaign(
        range(options.first, options.first + options.cases),
        options.mode,
        options.runtime,
        options.save,
    )


if __name__ == "__main__":
    sys.exit(main())
