"""The documents' pictures are those of results in the repository."""

import json
import re
from pathlib import Path

from benchmarks import headline, networks_page, pictures
from tools import report_screenshots


def test_each_picture_is_drawn_by_one_of_the_programs() -> None:
    of_reports = {f"report_{name}_{theme}.png" for name, theme in report_screenshots.PICTURES}
    of_examples = {"examples_digits.png", "examples_keywords.png"}
    results = json.loads((networks_page.DOCS / "networks.json").read_text())
    of_networks = networks_page.pictures(results)
    drawn = {headline.PICTURE.name, pictures.ROOFLINE.name, *of_networks, *of_reports, *of_examples}
    assert {file.name for file in pictures.IMAGES.iterdir()} == drawn


def test_the_roofline_is_that_of_the_kept_results(tmp_path: Path) -> None:
    pictures.draw_roofline(tmp_path / "drawn.svg")
    assert _texts(tmp_path / "drawn.svg") == _texts(pictures.ROOFLINE)


def _texts(picture: Path) -> list[str]:
    """How exactly lines lie depends on the version of matplotlib; what is written does not."""
    return re.findall("<!-- (.*?) -->", picture.read_text())
