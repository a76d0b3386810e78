"""Draws where a model's time goes: `python -m benchmarks.roofline models.json [-o FOLDER]`.

Reads what `python -m benchmarks.models --json` wrote and draws a file for each model: each step of
larq_engine as wide as its time and, if it multiplies bits, as high as the share of the limit that
it reaches: the limit that the core had in the same run for the kernel's instructions. So the area
that is filled is the time that the products must take, and the area above it what is lost.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.models import FLOAT_CONVOLUTIONS
from benchmarks.plots import plot_roofline
from benchmarks.result_files import read_results
from larq_engine.python.profile import HOST
from larq_engine.python.text_table import align_columns

COLUMNS = (
    "at the limit",
    "lost in convolutions",
    "float convolutions",
    "other steps",
    "host",
    "share of the limit",
)


@dataclass(frozen=True)
class Roofline:
    """Where the time of one image goes, in milliseconds."""

    steps: tuple[tuple[float, float | None], ...]  # time, share of the limit; None without bits
    float_convolutions: float  # of those
    host: float

    @property
    def convolutions(self) -> float:
        return sum(ms for ms, share in self.steps if share is not None)

    @property
    def at_limit(self) -> float:
        return sum(ms * share for ms, share in self.steps if share is not None)

    @property
    def other_steps(self) -> float:
        return sum(ms for ms, share in self.steps if share is None) - self.float_convolutions

    def row(self) -> list[str]:
        """In the order of COLUMNS."""
        lost = self.convolutions - self.at_limit
        times = (self.at_limit, lost, self.float_convolutions, self.other_steps, self.host)
        shares = [f"{self.at_limit / self.convolutions:.0%}"] if self.convolutions else ["-"]
        return [*(f"{ms:.2f}" for ms in times), *shares]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.roofline", description=__doc__)
    parser.add_argument(
        "results",
        type=Path,
        metavar="models.json",
        help="results of one thread that `python -m benchmarks` left",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        help="where to draw (default: the folder of models.json)",
    )
    options = parser.parse_args()
    try:
        summary = read_results(options.results)
        rooflines = find_rooflines(summary)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    folder = options.output or options.results.parent
    folder.mkdir(parents=True, exist_ok=True)
    for name, roofline in rooflines.items():
        draw(summary, name, roofline, folder / f"{name}.svg")
    rows = [[name, *roofline.row()] for name, roofline in rooflines.items()]
    print("\n".join(align_columns(["ms", *COLUMNS], rows, COLUMNS)))
    return 0


def draw(summary: Mapping[str, Any], name: str, roofline: Roofline, file: Path) -> None:
    """That of one of the models that were measured."""
    about = f"{summary['machine']['cpu']}, one thread, commit {summary['commit']}"
    plot_roofline(roofline.steps, roofline.host, f"{name}: {about}", file)


def find_rooflines(summary: Mapping[str, Any]) -> dict[str, Roofline]:
    """Of each model that was measured.

    Raises:
        ValueError: The results are of something else, of several threads, or without limits.
    """
    if "steps" not in summary:
        raise ValueError(
            f"expected what `python -m benchmarks.models --json` wrote, got results of "
            f"'{summary['benchmark']}'"
        )
    threads = summary["settings"]["threads"]
    if threads != 1:
        raise ValueError(f"expected results of 1 thread, got {threads}: a limit is that of a core")
    limits = summary["limits_gmac_per_s"]
    if not limits:
        raise ValueError("expected limits of the core, got none; measure with `make bench`")
    return {name: find_roofline(steps, limits) for name, steps in summary["steps"].items()}


def find_roofline(steps: Sequence[Mapping[str, Any]], limits: Mapping[str, float]) -> Roofline:
    """Each step with the share that it reaches of the limit of its kernel's instructions."""
    shares = []
    for step in steps:
        if step["op"] == HOST:
            continue
        is_binary = step["op"] == "LceBconv2d"
        limit = limits.get(step["kernel"].rpartition("_")[2]) if is_binary else None
        at_limit = step["macs"] / (limit * 1e6) if limit else None
        shares.append((step["ms"], None if at_limit is None else at_limit / step["ms"]))
    return Roofline(
        tuple(shares),
        sum(step["ms"] for step in steps if step["op"] in FLOAT_CONVOLUTIONS),
        sum(step["ms"] for step in steps if step["op"] == HOST),
    )


if __name__ == "__main__":
    raise SystemExit(main())
