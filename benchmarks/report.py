"""Collects the samples of a benchmark and turns them into statistics and a table.

Medians with quartiles are those of single invocations over all rounds. A ratio is that of the
medians in the table, so that a reader can recompute it. "% of ..." relates a rate to a limit that
this machine showed in this run.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from larq_engine.python.text_table import align_columns

# A run is noisy if its processes were kept off the core for more than this share of the time, or if
# the quartiles of the limit of a kernel that ran, measured in each round, are further apart.
NOISE = 0.03

Times = npt.NDArray[np.float64]


_BUILD_LIMITS = "tools/run_bazel.sh build //benchmarks/kernels:bgemm_bench"


class Case(Protocol):
    """A layer or model that is measured; `str()` describes it."""

    @property
    def name(self) -> str: ...
    @property
    def macs(self) -> int: ...


class Results:
    """Samples by contender and case, and absent contenders with reasons."""

    def __init__(self, ours: str, peers: Sequence[str], threads: int) -> None:
        self._ours = ours
        self._peers = peers
        self._threads = threads
        self._cases: dict[str, Case] = {}
        self._kernels: dict[tuple[str, str], list[str]] = {}
        self._tolerances: dict[tuple[str, str], str] = {}
        self._wall: dict[tuple[str, str], list[Times]] = {}
        self._cpu: dict[tuple[str, str], list[Times]] = {}
        self._limits: dict[str, list[float]] = defaultdict(list)
        self._compiler = "unknown: bgemm_bench is not built"
        self._absences: list[dict[str, str]] = []

    def add_failure(self, contender: str, case: str, reason: str) -> None:
        """Records why there is no result; drops the times of a contender that failed on the way."""
        self._absences.append({"contender": contender, "case": case, "reason": reason})
        for known in (self._wall, self._cpu, self._kernels):
            known.pop((contender, case), None)

    def add_checked(self, contender: str, case: Case, kernels: list[str], tolerance: str) -> None:
        self._cases[case.name] = case
        self._kernels[contender, case.name] = kernels
        self._tolerances[contender, case.name] = tolerance
        self._wall[contender, case.name] = []
        self._cpu[contender, case.name] = []

    def is_checked(self, contender: str, case: Case) -> bool:
        return (contender, case.name) in self._wall

    def add_times(self, contender: str, case: Case, wall: Times, cpu: Times | None) -> None:
        self._wall[contender, case.name].append(wall)
        if cpu is not None:
            self._cpu[contender, case.name].append(cpu)

    def add_limits(self, measured: dict[str, Any] | None) -> None:
        if measured:
            self._compiler = measured["compiler"]
            for limit in measured["limits"]:
                self._limits[limit["name"]].append(limit["gmac_per_s"])

    def summarize(self) -> dict[str, Any]:
        limits = {name: float(np.median(values)) for name, values in self._limits.items()}
        comparable = limits if self._threads == 1 else {}  # a limit is that of one core
        results = [self._summarize_one(*key, comparable) for key in self._wall]
        return {
            "compiler": self._compiler,
            "ours": self._ours,
            "absent": self._absences,
            "noise": self._describe_noise(),
            "limits_gmac_per_s": limits,
            "results": results,
            "ratios": compare(results, self._ours, self._peers),
        }

    def _summarize_one(
        self, contender: str, case_name: str, limits: dict[str, float]
    ) -> dict[str, Any]:
        case = self._cases[case_name]
        low, median, high = np.percentile(
            np.concatenate(self._wall[contender, case_name]), [25, 50, 75]
        )
        rate = case.macs / median
        return {
            "case": case_name,
            "title": str(case),
            "macs": case.macs,
            "subject": contender,
            "kernels": self._kernels[contender, case_name],
            "checked": self._tolerances[contender, case_name],
            "median_ns": median,
            "quartiles_ns": [low, high],
            "gmac_per_s": rate,
            "percent_of_limit": {name: 100 * rate / limit for name, limit in limits.items()},
        }

    def _limits_that_ran(self) -> list[list[float]]:
        """Returns the limits of the kernels that ran; all limits if none did.

        On a Zen 4 the loop of one set of instructions differs by 9 % from process to process, while
        the loops of the other sets stay within 1 %.
        """
        kernels = {kernel for kernels in self._kernels.values() for kernel in kernels}
        ran = [
            values
            for name, values in self._limits.items()
            if any(kernel.endswith(name) for kernel in kernels)
        ]
        return ran or list(self._limits.values())

    def _describe_noise(self) -> dict[str, Any]:
        noise: dict[str, Any] = {}
        drifts = [_relative_spread(values) for values in self._limits_that_ran() if len(values) > 1]
        if drifts:
            noise["drift_of_limit"] = max(drifts)
        cpu = _total(self._cpu)
        if cpu and self._threads == 1:  # CPU time of several threads does not show waiting
            noise["time_held_off_the_core"] = max(0.0, 1 - cpu / _total(self._wall))
        noise["noisy"] = any(value > NOISE for value in noise.values()) if noise else None
        return noise


def describe_noise(noisy: bool | None) -> str:
    """Returns a word for `noisy` of a run's noise; None is for nothing measured."""
    return "unknown" if noisy is None else "NOISY" if noisy else "quiet"


def _total(samples: dict[tuple[str, str], list[Times]]) -> float:
    return sum(float(times.sum()) for rounds in samples.values() for times in rounds)


def _relative_spread(values: list[float]) -> float:
    low, median, high = np.percentile(values, [25, 50, 75])
    return float((high - low) / median)


def compare(
    results: Sequence[dict[str, Any]], ours: str, peers: Sequence[str]
) -> dict[str, dict[str, dict[str, float]]]:
    """Returns how many times as fast we are as each peer, by case, and the means of that."""
    medians = {(result["subject"], result["case"]): result["median_ns"] for result in results}
    macs = {result["case"]: result["macs"] for result in results}
    ratios = {}
    for peer in peers:
        cases = {
            case: median / medians[ours, case]
            for (subject, case), median in medians.items()
            if subject == peer and (ours, case) in medians
        }
        if cases:
            weights = [macs[case] for case in cases]
            ratios[peer] = {"cases": cases, "means": find_means(list(cases.values()), weights)}
    return ratios


def find_means(ratios: Sequence[float], macs: Sequence[int]) -> dict[str, float]:
    return {
        "geometric mean": math.exp(np.mean(np.log(ratios))),
        "plain mean": float(np.mean(ratios)),
        "mean by MACs": float(np.average(ratios, weights=macs)),
    }


def format_table(summary: dict[str, Any]) -> str:
    """Returns the whole report as text for a terminal."""
    return "\n".join(
        [
            *_format_heading(summary),
            "",
            *_format_results(summary),
            "",
            *_format_ratios(summary),
            *_format_absences(summary),
        ]
    )


def _format_heading(summary: dict[str, Any]) -> list[str]:
    machine, settings, noise = summary["machine"], summary["settings"], summary["noise"]
    versions = {
        package: number
        for packages in summary["versions"].values()
        for package, number in packages.items()
        if package != "numpy"
    }
    limits = ", ".join(
        f"{name} {rate:.1f} GMAC/s a core" for name, rate in summary["limits_gmac_per_s"].items()
    )
    measures = ", ".join(
        f"{name.replace('_', ' ')} {100 * value:.1f} %"
        for name, value in noise.items()
        if name != "noisy"
    )
    return [
        f"CPU       {machine['cpu']} ({machine['cpu_ids']}): {' '.join(machine['features'])}",
        f"commit    {summary['commit']}, compiler {summary['compiler']}",
        f"versions  {', '.join(f'{name} {number}' for name, number in versions.items())}",
        f"run       {settings['rounds']} rounds, {settings['threads']} thread(s) on core(s) "
        f"{machine['pinned_to']}",
        f"limit     {limits or f'not measured: {_BUILD_LIMITS}'}",
        f"noise     {describe_noise(noise['noisy'])}: {measures or 'nothing measured'}",
    ]


def _format_results(summary: dict[str, Any]) -> list[str]:
    results = summary["results"]
    limits = list(results[0]["percent_of_limit"]) if results else []
    numbers = ["MMAC", "ms", "GMAC/s", *(f"% of {limit}" for limit in limits)]
    titles = ["case", "contender", numbers[0], numbers[1], "quartiles", *numbers[2:]]
    rows = []
    for result in results:
        low, high = (ns / 1e6 for ns in result["quartiles_ns"])
        rows.append(
            [
                result["title"],
                result["subject"],
                f"{result['macs'] / 1e6:.1f}",
                f"{result['median_ns'] / 1e6:.3f}",
                f"{low:.3f}-{high:.3f}",
                f"{result['gmac_per_s']:.1f}",
                *(f"{result['percent_of_limit'][limit]:.1f}" for limit in limits),
                result["checked"],
                " ".join(result["kernels"]),
            ]
        )
    return align_columns([*titles, "checked", "kernels"], rows, numbers)


def _format_ratios(summary: dict[str, Any]) -> list[str]:
    ratios = summary["ratios"]
    if not ratios:
        return [f"no ratios: {summary['ours']} and a peer are needed on the same case"]
    peers = list(ratios)
    rows = [
        [name, *(_format_ratio(ratios[peer][part].get(name)) for peer in peers)]
        for part in ("cases", "means")
        for name in dict.fromkeys(name for peer in peers for name in ratios[peer][part])
    ]
    title = f"{summary['ours']} is this many times as fast as"
    return [title, *align_columns(["", *peers], rows, peers)]


def _format_ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"


def _format_absences(summary: dict[str, Any]) -> list[str]:
    return [
        f"\nNOT MEASURED  {absence['contender']}, {absence['case']}: {absence['reason']}"
        for absence in summary["absent"]
    ]
