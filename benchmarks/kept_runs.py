"""Runs that are kept, and the cells of tables that show them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from benchmarks.contenders import OURS
from benchmarks.kept import Summary
from benchmarks.report import compare

COLUMNS = 100  # letters of a line of text
NOTHING = "-"  # stands for a figure that no file has

_GEOMETRIC = "geometric mean"


class Run:
    """A run of a benchmark, with the results of it that are kept."""

    def __init__(self, summary: Summary, peers: Iterable[str]) -> None:
        self.summary = summary
        self.threads: int = summary["settings"]["threads"]
        self._results = {(each["subject"], each["case"]): each for each in summary["results"]}
        self.cases = {each["case"]: str(each["title"]) for each in summary["results"]}
        self._ratios = compare(summary["results"], OURS.name, list(peers))
        self.peers = list(self._ratios)

    def has(self, subject: str, case: str) -> bool:
        return (subject, case) in self._results

    def ms(self, subject: str, case: str) -> float:
        return float(self._results[subject, case]["median_ns"] / 1e6)

    def quartiles(self, subject: str, case: str) -> tuple[float, float]:
        low, high = self._results[subject, case]["quartiles_ns"]
        return low / 1e6, high / 1e6

    def ratios(self, peer: str) -> dict[str, float]:
        """Returns by case how many times as fast larq_engine is as the peer."""
        return self._ratios[peer]["cases"]

    def mean(self, peer: str) -> float:
        return self._ratios[peer]["means"][_GEOMETRIC]

    @property
    def limit(self) -> tuple[str, float]:
        """Returns the core's newest instructions that count bits, and their GMAC/s in this run."""
        limits: dict[str, float] = self.summary["limits_gmac_per_s"]
        return list(limits.items())[-1]

    def share(self, subject: str, case: str) -> float:
        """Returns the rate of a contender as a part of the limit."""
        result = self._results[subject, case]
        return float(result["macs"] / result["median_ns"] / self.limit[1])

    @property
    def profiles(self) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = self.summary.get("profiles", {})
        return found


def times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def threads_of(run: Run) -> str:
    number = {1: "one", 2: "two"}.get(run.threads, str(run.threads))
    return f"{number} thread" + ("s" if run.threads > 1 else "")


def share(run: Run, subject: str, case: str) -> str:
    return percent(run.share(subject, case)) if run.has(subject, case) else NOTHING


def wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(sentence, COLUMNS, break_long_words=False, break_on_hyphens=False)


def facts(run: Run) -> str:
    rounds = run.summary["settings"]["rounds"]
    return f"{rounds} rounds, commit {run.summary['commit']}, {run.summary['compiler']}."


def quartiles(run: Run, subject: str, case: str, places: int) -> str:
    if not run.has(subject, case):
        return NOTHING
    low, high = run.quartiles(subject, case)
    return f"{run.ms(subject, case):.{places}f} ({low:.{places}f}-{high:.{places}f})"


def against(run: Run, peer: str, case: str) -> str:
    if not run.has(peer, case):
        return NOTHING
    return f"{run.ms(peer, case):.2f} ({times(run.ratios(peer)[case])})"
