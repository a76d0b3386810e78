"""The documents' pictures are those of results in the repository."""

import json

from benchmarks import headline, networks_page, pictures
from tools import report_screenshots


def test_each_picture_is_drawn_by_one_of_the_programs() -> None:
    of_reports = {f"report_{name}_{theme}.png" for name, theme in report_screenshots.PICTURES}
    of_examples = {f"examples_{name}.png" for name in ("digits", "faces", "keywords")}
    results = json.loads((networks_page.DOCS / "networks.json").read_text())
    of_networks = networks_page.pictures(results)
    of_study = {"fpga_modules.svg"}  # benchmarks.placing.fpga_study, which imports TensorFlow
    drawn = {headline.PICTURE.name, *of_networks, *of_reports, *of_examples, *of_study}
    assert {file.name for file in pictures.IMAGES.iterdir()} == drawn
