"""Draws the documents' pictures of results anew: `make pictures`.

Each picture is drawn from results in the repository. Only the pictures of docs/examples.md, which
show networks that the examples train, are drawn by examples/pictures.py.
"""

from __future__ import annotations

from benchmarks import headline, networks_page
from benchmarks.machine import ROOT
from tools import report_screenshots

IMAGES = ROOT / "docs" / "images"
# Folder with a profile of QuickNet's file, and its placement.
QUICKNET = ROOT / "docs" / "quicknet"
CHOSEN = 7  # the operator that the report's pictures show: a binarized convolution


def main() -> None:
    headline.main()
    networks_page.main()
    placement = QUICKNET / "placement.json"
    report_screenshots.take_pictures(QUICKNET / "profile.json", placement, CHOSEN, IMAGES)


if __name__ == "__main__":
    main()
