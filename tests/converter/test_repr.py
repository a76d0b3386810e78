"""A conversion as notebooks and `help` show it."""

import pickle
import pydoc
from xml.etree import ElementTree

import larq_engine
from tests.command_line.models import float_model


def test_a_converted_model_is_shown_in_a_line():
    converted = larq_engine.convert_tflite(float_model())
    assert isinstance(converted, bytes)
    shown = f"<ConvertedModel of {len(converted)} bytes, layers: 1 binary, 1 weights only>"
    assert repr(converted) == str(converted) == shown
    assert bytes(converted) == converted == pickle.loads(pickle.dumps(converted))


def test_help_has_no_methods_of_bytes():
    text = pydoc.render_doc(larq_engine.ConvertedModel, renderer=pydoc.plaintext)  # type: ignore[attr-defined]
    assert "report" in text
    assert "rstrip" not in text
    assert len(text.splitlines()) < 40
    assert "rstrip" in dir(larq_engine.convert_tflite(float_model(), check=False))


def test_tables_for_notebooks():
    converted = larq_engine.convert_tflite(float_model())
    report = converted.report
    profile = larq_engine.Interpreter(converted).profile(runs=1)
    for shown, rows in ((report, report.layers), (profile, profile.rows)):
        root = ElementTree.fromstring(f"<div>{shown._repr_html_()}</div>")
        assert len(root.findall("table/tbody/tr")) == len(rows)
        names = [row[0 if shown is report else 1].text for row in root.findall("table/tbody/tr")]
        assert names == [row.name for row in rows]
