"""Draws results in SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

# Points of multiply-accumulates and seconds for each label.
Series: TypeAlias = Mapping[str, Sequence[tuple[float, float]]]


def plot_macs(panels: Mapping[str, Series], title: str, file: Path) -> None:
    """Draws the latency of whole models over each panel's count of multiply-accumulates."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    figure.suptitle(title)
    all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (label, series) in zip(all_axes, panels.items(), strict=True):
        _scatter(axes, series, label, "ms an image")
    _write(figure, file)


def _scatter(axes: Axes, series: Series, x_label: str, y_label: str) -> None:
    for label, points in series.items():
        axes.scatter(
            [macs / 1e6 for macs, _ in points],
            [seconds * 1e3 for _, seconds in points],
            label=label,
            s=16,
        )
    axes.set(xscale="log", yscale="log", xlabel=x_label, ylabel=y_label)
    axes.grid(alpha=0.3)
    axes.legend()


def plot_models(summary: dict[str, Any], file: Path) -> None:
    """Draws the latency of each model and contender, and the parts of our time."""
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
    # These colours stand for no contender.
    _stack(below, {name: profiles.get(name, {}) for name in names}, len(contenders))
    below.set(ylabel="ms an image")
    below.set_title(f"where {summary['ours']} spends it")

    for axes in (above, below):
        axes.set_xticks(range(len(names)), names, rotation=15)
        axes.grid(axis="y", alpha=0.3)
        if axes.get_legend_handles_labels()[0]:  # no profile if ours was not measured
            axes.legend()
    _write(figure, file)


def plot_shares(shares: Mapping[str, Mapping[str, float]], title: str, file: Path) -> None:
    """Draws the parts of each model's time in percent."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    axes = figure.add_subplot()
    _stack(axes, shares, 0)
    axes.set_xticks(range(len(shares)), list(shares), rotation=15)
    axes.set(ylabel="percent of the time", title=title)
    figure.legend(loc="outside right upper")
    _write(figure, file)


def plot_sets(seconds: Mapping[str, Mapping[str, float]], title: str, file: Path) -> None:
    """Draws a group of bars for each name, one for each set of devices."""
    figure = Figure(figsize=(11, 5), layout="constrained")
    axes = figure.add_subplot()
    sets = list(dict.fromkeys(key for found in seconds.values() for key in found))
    width = 0.8 / len(sets)
    for number, key in enumerate(sets):
        places = [n + (number + 0.5) * width - 0.4 for n in range(len(seconds))]
        axes.bar(places, [1e6 * found[key] for found in seconds.values()], width, label=key)
    axes.set_xticks(range(len(seconds)), list(seconds))
    axes.set(ylabel="us", title=title)
    axes.grid(axis="y", alpha=0.3)
    axes.legend()
    _write(figure, file)


def _stack(axes: Axes, parts: Mapping[str, Mapping[str, float]], first_colour: int) -> None:
    """Draws a bar for each name, of parts one on the other."""
    names = list(parts)
    bottom = [0.0] * len(names)
    groups = dict.fromkeys(group for found in parts.values() for group in found)
    for number, group in enumerate(groups, first_colour):
        heights = [parts[name].get(group, 0.0) for name in names]
        axes.bar(names, heights, bottom=bottom, label=group, color=f"C{number}")
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]


def subjects(summary: dict[str, Any]) -> Sequence[str]:
    return list(dict.fromkeys(result["subject"] for result in summary["results"]))


def _title(summary: dict[str, Any]) -> str:
    return f"{summary['machine']['cpu']}, {summary['settings']['threads']} thread(s)"


def _write(figure: Figure, file: Path) -> None:
    # The file has no date, and the same names inside: equal results make equal files.
    with matplotlib.rc_context({"svg.hashsalt": "larq_engine"}):
        FigureCanvasSVG(figure).print_svg(  # type: ignore[no-untyped-call]
            file, metadata={"Date": None}
        )
