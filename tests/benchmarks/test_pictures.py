"""The documents' pictures are those of results in the repository."""

import json
import re
from pathlib import Path

import numpy as np

from benchmarks import headline, networks_page, pictures
from tools import report_screenshots


def test_each_picture_is_drawn_by_one_of_the_programs() -> None:
    of_reports = {f"report_{name}_{theme}.png" for name, theme in report_screenshots.PICTURES}
    of_examples = {f"examples_{name}.png" for name in ("digits", "faces", "keywords")}
    results = json.loads((networks_page.DOCS / "networks.json").read_text())
    of_networks = networks_page.pictures(results)
    drawn = {headline.PICTURE.name, pictures.ROOFLINE.name, *of_networks, *of_reports, *of_examples}
    assert {file.name for file in pictures.IMAGES.iterdir()} == drawn


def test_the_roofline_is_that_of_the_kept_results(tmp_path: Path) -> None:
    pictures.draw_roofline(tmp_path / "drawn.svg")
    texts, bars = _read(tmp_path / "drawn.svg")
    kept_texts, kept_bars = _read(pictures.ROOFLINE)
    assert "QuickNet" in " ".join(texts)
    assert texts == kept_texts
    assert len(bars) > 30
    # How exactly lines lie depends on the version of matplotlib.
    np.testing.assert_allclose(bars, kept_bars, rtol=0, atol=0.005)


def _read(picture: Path) -> tuple[list[str], np.ndarray]:
    """What is written, and the bars' shares of the widths of all and of the highest one."""
    svg = picture.read_text()
    corners = [
        np.array(re.findall(r"[ML] ([\d.]+) ([\d.]+)", path), float)
        for path in re.findall(r'<path d="([^"]*z\s*)" clip-path', svg)
    ]
    sizes = np.array([corner.max(0) - corner.min(0) for corner in corners])
    bars = sizes / [sizes[:, 0].sum(), sizes[:, 1].max()]
    return re.findall("<!-- (.*?) -->", svg), bars
