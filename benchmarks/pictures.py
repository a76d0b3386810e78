"""Draws the documents' pictures of results anew: `make pictures`.

Each is drawn from results in the repository. Those of docs/examples.md are of networks that the
examples train: examples/pictures.py draws them.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import headline, networks_page, roofline
from benchmarks.kept import RESULTS
from benchmarks.machine import ROOT
from benchmarks.result_files import read_results
from tools import report_screenshots

IMAGES = ROOT / "docs" / "images"
MODELS = RESULTS / "amd-25-1" / "models.json"
ROOFLINE = IMAGES / "roofline_quicknet.svg"
# A profile of QuickNet's file, and its placement.
QUICKNET = ROOT / "docs" / "quicknet"
CHOSEN = 7  # the operator that the report's pictures show: a binarized convolution


def main() -> None:
    headline.main()
    networks_page.main()
    draw_roofline(ROOFLINE)
    print(f"drawn: {ROOFLINE.relative_to(ROOT)}")
    placement = QUICKNET / "placement.json"
    report_screenshots.take_pictures(QUICKNET / "profile.json", placement, CHOSEN, IMAGES)


def draw_roofline(file: Path) -> None:
    summary = read_results(MODELS)
    roofline.draw(summary, "QuickNet", roofline.find_rooflines(summary)["QuickNet"], file)


if __name__ == "__main__":
    main()
