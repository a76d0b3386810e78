"""Draws the picture of the README from kept results: `python -m benchmarks.headline`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.contenders import LCE_INDIRECT, OURS, XNNPACK_FLOAT32, XNNPACK_INT8
from benchmarks.docs import CORES
from benchmarks.kept import RESULTS, read_kept
from benchmarks.machine import ROOT
from larq_engine.reporting import svg
from larq_engine.reporting.charts import Bar, Bars, draw_bars

# Two cores that many servers and PCs have, with AVX-512 and without it.
SHOWN_CORES = ("amd-25-17", "amd-25-1")
MODELS = ("QuickNet", "QuickNetLarge", "BiRealNet")
PICTURE = ROOT / "docs" / "images" / "headline.svg"

# Contenders by their names in the files, with their labels and looks in the picture.
SHOWN = {
    OURS.name: ("larq_engine", "device-0"),
    LCE_INDIRECT.name: ("Larq Compute Engine, its faster mode", "device-1"),
    XNNPACK_INT8.name: ("XNNPACK, int8", "device-2"),
    XNNPACK_FLOAT32.name: ("XNNPACK, float32", "device-2"),
}


def main() -> None:
    PICTURE.write_bytes(draw(read_runs()))
    print(f"drawn: {PICTURE.relative_to(ROOT)}")


def read_runs() -> dict[str, Mapping[str, Any]]:
    """Reads the runs of whole models with one thread, by the names of cores."""
    return {CORES[core]: read_kept(RESULTS / f"{core}.json")["models"] for core in SHOWN_CORES}


def draw(runs: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Draws bars of the times of each model on each core, as an SVG file."""
    bars = [
        Bars(f"{model}, {core}", list(_bars(run, model)))
        for model in MODELS
        for core, run in runs.items()
    ]
    description = "; ".join(
        f"{each.label}: {', '.join(bar.text for bar in each.bars)}" for each in bars
    )
    source = ", ".join(f"{core} at commit {run['commit']}" for core, run in runs.items())
    title = f"Milliseconds of an image in whole binarized models, one thread: {source}"
    return svg.as_file(draw_bars(bars, title, description, lambda ms: f"{ms:g} ms"))


def _bars(run: Mapping[str, Any], model: str) -> Iterator[Bar]:
    for name, (label, role) in SHOWN.items():
        for result in run["results"]:
            if (result["subject"], result["case"]) == (name, model):
                ms = result["median_ns"] / 1e6
                yield Bar(ms, role, f"{label}: {ms:.1f} ms")


if __name__ == "__main__":
    main()
