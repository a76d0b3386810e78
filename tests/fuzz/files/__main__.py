"""Feeds mutated .tflite files to a host with the plug-in, and says what became of them.

    python -m tests.fuzz.files --cases 50000                  # through larq_engine.Interpreter
    python -m tests.fuzz.files --cases 50000 --mode bare      # a stock interpreter, no check
    python -m tests.fuzz.files --replay 1234                  # one case, in this process

The exit status is 1 if a crash is the plug-in's, and through the Interpreter if there is any crash:
its check has to refuse the files that crash hosts.
"""

import argparse
import os
import sys
from pathlib import Path

from tests.fuzz.files.campaign import MODES, replay, run_campaign

# glibc's checking allocator looks at the memory around each block that is freed. So a file that
# spoils memory crashes there, and not a later file. The allocator can be chosen only before a
# program starts.
_CHECKED_MEMORY = {
    "LD_PRELOAD": "libc_malloc_debug.so.0",
    "GLIBC_TUNABLES": "glibc.malloc.check=3",
}


def _check_memory() -> None:
    """Starts this program again if the checking allocator is not in use."""
    if not all(os.environ.get(name) == value for name, value in _CHECKED_MEMORY.items()):
        command = [sys.executable, "-m", "tests.fuzz.files", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, **_CHECKED_MEMORY})


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.files", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--cases", type=int, default=10000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--mode", choices=MODES, default="checked", help="what runs them")
    parser.add_argument("--host", help="the first installed one if not given")
    parser.add_argument("--save", type=Path, help="folder for the files that crash")
    parser.add_argument("--replay", type=int, metavar="CASE", help="run this case only")
    parser.add_argument("--without", type=int, nargs="*", default=[], help="mutations to leave out")
    options = parser.parse_args()
    if options.replay is not None:
        return replay(options.replay, options.without, options.mode, options.host, options.save)
    return run_campaign(
        range(options.first, options.first + options.cases),
        options.mode,
        options.host,
        options.save,
    )


if __name__ == "__main__":
    _check_memory()
    sys.exit(main())
