"""Tests drawings as files."""

import json
import math
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import larq_engine
from larq_engine.placing.profile_file import parse_profile
from larq_engine.reporting.charts import ticks
from tests.reporting.hostile import hostile_fields
from tests.reporting.profiles import residual_fields, residual_profile, write_pair

_NAMES = {"slowest", "graph", "totals", "operators", "batches", "limits"}
_SVG = "{http://www.w3.org/2000/svg}"


def test_svg_files_are_whole_drawings(tmp_path):
    files = larq_engine.report(*write_pair(tmp_path)).to_plots("svg")
    assert set(files) == {f"{name}.svg" for name in _NAMES}
    for content in files.values():
        root = ElementTree.fromstring(content)
        assert root.tag == f"{_SVG}svg"
        assert root.find(f"{_SVG}title").text and root.find(f"{_SVG}desc").text
    texts = {text.text for text in ElementTree.fromstring(files["graph.svg"]).iter(f"{_SVG}text")}
    assert {"52 FULLY_CONNECTED", "block_15/conv", "⇄ 602 kB, 59.2 µs"} <= texts


def test_svg_files_of_hostile_names_are_xml(tmp_path):
    files = [tmp_path / "profile.json", tmp_path / "placed.json"]
    for file, fields in zip(files, hostile_fields(), strict=True):
        file.write_text(json.dumps(fields))
    for content in larq_engine.report(*files).to_plots("svg").values():
        tags = {element.tag for element in ElementTree.fromstring(content).iter()}
        shapes = {f"{_SVG}{tag}" for tag in ("svg", "title", "desc", "style", "g")}
        assert tags <= shapes | {f"{_SVG}{tag}" for tag in ("rect", "path", "text")}


def test_bars_are_as_long_as_their_values():
    """The bar of a limit that is a third of the time is a third as long."""
    content = larq_engine.report(residual_profile()).to_plots("svg")["limits.svg"]
    root = ElementTree.fromstring(content)
    bars = [float(box.get("width")) for box in root.iter(f"{_SVG}rect")][1:]
    assert len(bars) == 51
    assert all(bar == pytest.approx(640 / 3, abs=0.01) for bar in bars)


def test_what_was_not_measured_is_not_drawn():
    fields = residual_fields(1)
    fields["totals"] = [total for total in fields["totals"] if total["batch"] == 1]
    for entry in fields["measurements"]:
        entry["limit_seconds"] = None
    profile = parse_profile(json.dumps(fields).encode())
    assert set(larq_engine.report(profile).to_plots("svg")) == {
        "graph.svg",
        "operators.svg",
        "slowest.svg",
        "totals.svg",
    }


def test_png_files(tmp_path):
    files = larq_engine.report(*write_pair(tmp_path)).to_plots("png")
    assert set(files) == {f"{name}.png" for name in _NAMES}
    assert all(content.startswith(b"\x89PNG") for content in files.values())


def test_png_files_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ImportError, match=r"expected the package matplotlib.*take the SVG files"):
        larq_engine.report(residual_profile(1)).to_plots("png")


@pytest.mark.parametrize("end", [0.0, 1e-9, 3.3e-4, 0.9999, 1.0, 1.9, 7.0, 12345.0])
def test_ticks_are_round_and_few(end):
    found = ticks(end)
    assert found[0] == 0 and 1 <= len(found) <= 8
    if end:
        assert end * (1 + 1e-9) >= found[-1] > end / 2
        step = found[1] / 10 ** math.floor(math.log10(found[1]))
        assert any(np.isclose(step, round_one) for round_one in (1, 2, 2.5, 5, 10))
