"""All benchmarks one after the other: `python -m benchmarks [PART...] [--results FOLDER]`.

Each part is a process of its own and leaves a file, and its plot beside it, in FOLDER. The exit
status is 1 if a part did not measure something that it should have measured.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.machine import ROOT

# Maps a part to the file that it leaves, and its command.
PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "kernels": {"kernels": ("benchmarks.bgemm",)},
    "convs": {"convs": ("benchmarks.convs",)},
    "models": {
        "models": ("benchmarks.models", "--threads", "1"),
        "models-2-threads": ("benchmarks.models", "--threads", "2"),
    },
    "web": {
        "web_models": ("benchmarks.web.models", "--threads", "1"),
        "web_models-2-threads": ("benchmarks.web.models", "--threads", "2"),
        "web_convs": ("benchmarks.web.convs",),
        "web_start": ("benchmarks.web.start",),
    },
}


def main() -> int:
    options, flags = parse_options()
    options.results.mkdir(parents=True, exist_ok=True)
    failed = []
    for title, command in plan(options.parts, options.results, flags):
        print(f"\n== {title}\n", flush=True)
        start = time.monotonic()
        if subprocess.run(command, cwd=ROOT).returncode:
            failed.append(title)
        print(f"{title}: {time.monotonic() - start:.0f} s", flush=True)
    if failed:
        print(f"\nNOT ALL MEASURED: {', '.join(failed)}; the reasons are above", file=sys.stderr)
    return 1 if failed else 0


def parse_options() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Runs benchmarks one after the other. Other options, such as --rounds 3, go to "
        "each part but kernels: `python -m benchmarks.models --help` lists them.",
    )
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"what to run: some of {', '.join(PARTS)} (default: all)",
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=ROOT / ".build" / "bench",
        metavar="FOLDER",
        help="where each part leaves a JSON file and drawings (default: .build/bench)",
    )
    options, flags = parser.parse_known_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"PART: expected one of {', '.join(PARTS)}; got {part!r}")
    options.parts = options.parts or list(PARTS)
    return options, flags


def plan(
    parts: Sequence[str], results: Path, flags: Sequence[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yields the name of each file that the parts leave, and the command that makes it."""
    for part in dict.fromkeys(parts):
        for title, (module, *arguments) in PARTS[part].items():
            command = [sys.executable, "-m", module, *arguments]
            file = results.resolve() / f"{title}.json"
            yield title, [*command, "--json", str(file), *(flags if part != "kernels" else ())]


if __name__ == "__main__":
    raise SystemExit(main())
