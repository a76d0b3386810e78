"""Draws the picture of the README from kept results: `python -m benchmarks.headline`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.contenders import LCE_INDIRECT, OPENVINO, OURS, XNNPACK_FLOAT32, XNNPACK_INT8
from benchmarks.kept import RESULTS, read_kept
from benchmarks.machine import ROOT
from larq_engine.reporting import svg
from larq_engine.reporting.charts import Bar, Bars, draw_bars

SOURCE = RESULTS / "intel-6-167.json"
PICTURE = ROOT / "docs" / "images" / "headline.svg"

# Contenders by their names in the file, with their labels and looks in the picture.
SHOWN = {
    OURS.name: ("larq_engine", "device-0"),
    OPENVINO.name: ("OpenVINO, binary", "device-1"),
    LCE_INDIRECT.name: ("Larq Compute Engine, its faster mode", "device-1"),
    XNNPACK_INT8.name: ("XNNPACK, int8", "device-2"),
    XNNPACK_FLOAT32.name: ("XNNPACK, float32", "device-2"),
}


def main() -> None:
    PICTURE.write_bytes(draw(read_kept(SOURCE)["convs"]))
    print(f"drawn: {PICTURE.relative_to(ROOT)}")


def draw(summary: Mapping[str, Any]) -> bytes:
    """Draws bars of the times of each layer, as an SVG file."""
    groups: dict[str, list[Bar]] = {}
    for name, (label, role) in SHOWN.items():
        for result in summary["results"]:
            if result["subject"] == name:
                ms = result["median_ns"] / 1e6
                bar = Bar(ms, role, f"{label}: {ms:.3f} ms")
                groups.setdefault(f"{result['title']}, 3x3", []).append(bar)
    features = ", ".join(
        feature for feature in ("avx512_vpopcntdq", "amx_int8") if feature in _features(summary)
    )
    source = (
        f"{summary['machine']['cpu']} ({features}), {summary['settings']['threads']} thread, "
        f"commit {summary['commit']}"
    )
    bars = [Bars(label, found) for label, found in groups.items()]
    told = "; ".join(f"{each.label}: {', '.join(bar.text for bar in each.bars)}" for each in bars)
    title = f"Milliseconds of a convolution of 115.6 million multiply-accumulates: {source}"
    return svg.as_file(draw_bars(bars, title, told, lambda ms: f"{ms:g} ms"))


def _features(summary: Mapping[str, Any]) -> list[str]:
    found: list[str] = summary["machine"]["features"]
    return found


if __name__ == "__main__":
    main()
