"""Collects the samples of benchmarks.convs and turns them into statistics and a table.

Medians with quartiles, of single invocations over all rounds. A ratio is that of the medians in the
table, so that a reader can recompute it. "% of ..." relates a rate to a limit that this machine
showed in this run.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.shapes import ConvShape

# A run is noisy when its processes were kept off the core for more than this share of the time, or
# when the quartiles of a limit, measured in each round, are further apart.
NOISE = 0.03

Times = npt.NDArray[np.float64]


class Results:
    """Samples by contender and shape, and who is absent and why."""

    def __init__(self, ours: str, threads: int) -> None:
        self._ours = ours
        self._threads = threads
        self._shapes: dict[str, ConvShape] = {}
        self._kernels: dict[tuple[str, str], list[str]] = {}
        self._wall: dict[tuple[str, str], list[Times]] = {}
        self._cpu: dict[tuple[str, str], list[Times]] = {}
        self._limits: dict[str, list[float]] = defaultdict(list)
        self._compiler = "unknown: bgemm_bench is not built"
        self._absences: list[dict[str, str]] = []

    def add_absence(self, contender: str, shape: str, reason: str) -> None:
        """Records why there is no result; drops the times of one that failed on the way."""
        self._absences.append({"contender": contender, "shape": shape, "reason": reason})
        self._wall.pop((contender, shape), None)
        self._cpu.pop((contender, shape), None)

    def add_checked(self, contender: str, shape: ConvShape, kernels: list[str]) -> None:
        self._shapes[shape.name] = shape
        self._kernels[contender, shape.name] = kernels
        self._wall[contender, shape.name] = []
        self._cpu[contender, shape.name] = []

    def is_checked(self, contender: str, shape: ConvShape) -> bool:
        return (contender, shape.name) in self._wall

    def add_times(self, contender: str, shape: ConvShape, wall: Times, cpu: Times) -> None:
        self._wall[contender, shape.name].append(wall)
        self._cpu[contender, shape.name].append(cpu)

    def add_limits(self, measured: dict[str, Any] | None) -> None:
        if measured:
            self._compiler = measured["compiler"]
            for limit in measured["limits"]:
                self._limits[limit["name"]].append(limit["gmac_per_s"])

    @property
    def failed(self) -> bool:
        """Whether anything that was to be measured was not: missing, wrong or crashed."""
        return bool(self._absences)

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
            "ratios": compare(results, self._ours),
        }

    def _summarize_one(
        self, contender: str, shape_name: str, limits: dict[str, float]
    ) -> dict[str, Any]:
        shape = self._shapes[shape_name]
        low, median, high = np.percentile(
            np.concatenate(self._wall[contender, shape_name]), [25, 50, 75]
        )
        rate = shape.macs / median
        return {
            "case": shape_name,
            "shape": str(shape),
            "macs": shape.macs,
            "subject": contender,
            "kernels": self._kernels[contender, shape_name],
            "median_ns": median,
            "quartiles_ns": [low, high],
            "gmac_per_s": rate,
            "percent_of_limit": {name: 100 * rate / limit for name, limit in limits.items()},
        }

    def _describe_noise(self) -> dict[str, Any]:
        noise: dict[str, Any] = {}
        drifts = [_relative_spread(values) for values in self._limits.values() if len(values) > 1]
        if drifts:
            noise["drift_of_limit"] = max(drifts)
        wall = _total(self._wall)
        if wall and self._threads == 1:  # CPU time of several threads says nothing of waiting
            noise["time_held_off_the_core"] = max(0.0, 1 - _total(self._cpu) / wall)
        noise["noisy"] = any(value > NOISE for value in noise.values()) if noise else None
        return noise


def describe_noise(noisy: bool | None) -> str:
    """Says in a word what `noisy` of a run's noise means; None where nothing was measured."""
    return "unknown" if noisy is None else "NOISY" if noisy else "quiet"


def _total(samples: dict[tuple[str, str], list[Times]]) -> float:
    return sum(float(times.sum()) for rounds in samples.values() for times in rounds)


def _relative_spread(values: list[float]) -> float:
    low, median, high = np.percentile(values, [25, 50, 75])
    return float((high - low) / median)


def compare(results: list[dict[str, Any]], ours: str) -> dict[str, dict[str, float]]:
    """Says for each peer how many times as fast we are, by shape and as geometric mean."""
    medians = {(result["subject"], result["case"]): result["median_ns"] for result in results}
    ratios: dict[str, dict[str, float]] = {}
    for peer in dict.fromkeys(result["subject"] for result in results):
        cases = [case for subject, case in medians if subject == peer and (ours, case) in medians]
        if peer == ours or not cases:
            continue
        ratios[peer] = {case: medians[peer, case] / medians[ours, case] for case in cases}
        ratios[peer]["mean"] = math.exp(np.mean([math.log(r) for r in ratios[peer].values()]))
    return ratios


def format_table(summary: dict[str, Any]) -> str:
    """Lays out the whole report for a terminal."""
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
        f"limit     {limits or 'not measured: bazel build //benchmarks/kernels:bgemm_bench'}",
        f"noise     {describe_noise(noise['noisy'])}: {measures or 'nothing measured'}",
    ]


def _format_results(summary: dict[str, Any]) -> list[str]:
    results = sorted(summary["results"], key=lambda result: str(result["case"]))
    limits = list(results[0]["percent_of_limit"]) if results else []
    lines = [
        f"{'shape':<14}{'contender':<15}{'ms/layer':>9}  {'quartiles':<15}{'GMAC/s':>7}"
        + "".join(f"{f'% of {limit}':>{len(limit) + 8}}" for limit in limits)
    ]
    for result in results:
        low, high = (ns / 1e6 for ns in result["quartiles_ns"])
        lines.append(
            f"{result['shape']:<14}{result['subject']:<15}{result['median_ns'] / 1e6:>9.3f}  "
            f"{f'{low:.3f}-{high:.3f}':<15}{result['gmac_per_s']:>7.1f}"
            + "".join(
                f"{result['percent_of_limit'][limit]:>{len(limit) + 8}.1f}" for limit in limits
            )
            + "".join(f"  {kernel}" for kernel in result["kernels"])
        )
    return lines


def _format_ratios(summary: dict[str, Any]) -> list[str]:
    ratios: dict[str, dict[str, float]] = summary["ratios"]
    cases = list(dict.fromkeys(case for row in ratios.values() for case in row if case != "mean"))
    if not cases:
        return [f"no ratios: {summary['ours']} and a peer are needed on the same shape"]
    lines = [
        f"{summary['ours']} is this many times as fast as (mean: geometric)",
        f"{'':<15}" + "".join(f"{case:>8}" for case in [*cases, "mean"]),
    ]
    for peer, row in ratios.items():
        values = (f"{row[case]:>8.2f}" if case in row else f"{'-':>8}" for case in [*cases, "mean"])
        lines.append(f"{peer:<15}" + "".join(values))
    return lines


def _format_absences(summary: dict[str, Any]) -> list[str]:
    return [
        f"\nNOT MEASURED  {absence['contender']}, shape {absence['shape']}: {absence['reason']}"
        for absence in summary["absent"]
    ]
