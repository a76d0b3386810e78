"""Draws results, in SVG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure


def plot_grid(summary: dict[str, Any], file: Path) -> None:
    """Latency over multiply-accumulates: a dot for each layer, a series for each contender."""
    figure = Figure(figsize=(8, 6), layout="constrained")
    axes = figure.add_subplot()
    for subject in subjects(summary):
        found = [result for result in summary["results"] if result["subject"] == subject]
        axes.scatter(
            [result["macs"] / 1e6 for result in found],
            [result["median_ns"] / 1e6 for result in found],
            label=subject,
            s=16,
        )
    axes.set(xscale="log", yscale="log", xlabel="million multiply-accumulates", ylabel="ms a layer")
    axes.set_title(_title(summary))
    axes.grid(alpha=0.3)
    axes.legend()
    _write(figure, file)


def plot_models(summary: dict[str, Any], file: Path) -> None:
    """Latency of each model and contender, and where the time of ours goes."""
    figure = Figure(figsize=(11, 9), layout="constrained")
    above, below = figure.subplots(2, 1)
    names = list(dict.fromkeys(result["case"] for result in summary["results"]))
    contenders = subjects(summary)
    width = 0.8 / len(contenders)
    for number, subject in enumerate(contenders):
        medians = {
            result["case"]: result["median_ns"] / 1e6
            for result in summary["results"]
            if result["subject"] == subject
        }
        places = [names.index(name) + (number + 0.5) * width - 0.4 for name in medians]
        above.bar(places, list(medians.values()), width, label=subject)
    above.set(yscale="log", ylabel="ms an image")
    above.set_title(_title(summary))

    profiles = summary["profiles"]
    bottom = [0.0] * len(names)
    groups = dict.fromkeys(group for profile in profiles.values() for group in profile)
    for number, group in enumerate(groups, len(contenders)):  # colours that mean no contender
        heights = [profiles.get(name, {}).get(group, 0.0) for name in names]
        below.bar(names, heights, bottom=bottom, label=group, color=f"C{number}")
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    below.set(ylabel="ms an image")
    below.set_title(f"where {summary['ours']} spends it")

    for axes in (above, below):
        axes.set_xticks(range(len(names)), names, rotation=15)
        axes.grid(axis="y", alpha=0.3)
        if axes.get_legend_handles_labels()[0]:  # no profile if ours was not measured
            axes.legend()
    _write(figure, file)


def subjects(summary: dict[str, Any]) -> Sequence[str]:
    return list(dict.fromkeys(result["subject"] for result in summary["results"]))


def _title(summary: dict[str, Any]) -> str:
    return f"{summary['machine']['cpu']}, {summary['settings']['threads']} thread(s)"


def _write(figure: Figure, file: Path) -> None:
    # Without the date, and with the same names inside: equal results make equal files.
    with matplotlib.rc_context({"svg.hashsalt": "larq_engine"}):
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})
