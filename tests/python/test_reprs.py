"""Objects are shown as a line that says what a person wants to know of them."""

import math
import sys
import types
from dataclasses import fields, replace
from typing import Any

import pytest

import larq_engine
from larq_engine.batch import Predictor
from larq_engine.converter.example import example_model
from larq_engine.python.profile import ProfileRow, RowTable


@pytest.fixture(scope="module")
def model():
    return example_model()


@pytest.fixture(scope="module")
def result(model, tmp_path_factory):
    file = tmp_path_factory.mktemp("reprs") / "<i>model.tflite"
    file.write_bytes(model)
    return larq_engine.profile(file, rounds=1, seconds=0.01)


def test_each_says_what_it_is_in_a_line(model, result):
    placed = larq_engine.place(model, result)
    interpreter = larq_engine.Interpreter(model)
    shown = {
        f"<Interpreter of {len(model)} bytes on cpu, 1 thread: ": interpreter,
        f"<Predictor of a model of {len(model)} bytes: column 'a' to 'b'>": Predictor(
            bytes(model), "a", outputs="b"
        ),
        "<Predictor of 'none.tflite': inputs by name to outputs by name>": Predictor("none.tflite"),
        f"<PlacedModel of {len(placed)} bytes, 6 operators: ": placed,
        "<Placement of 6 operators: ": placed.placement,
        f"<ConvertedModel of {len(model)} bytes, ": model,
        "<Report on <i>model.tflite: One image takes: ": larq_engine.report(result),
        "<ProfileResult of <i>model.tflite, 6 operators; ": result,
        "<ProfileTable of ": interpreter.profile(runs=1),
    }
    for begin, thing in shown.items():
        text = repr(thing)
        assert text.startswith(begin) and text.endswith(">"), text
        assert len(text) < 500 and text.isprintable()
    assert "float32 (1, 96, 96, 3)" in repr(interpreter) and "(1, 10)" in repr(interpreter)
    assert str(placed) == repr(placed)
    interpreter.close()
    assert repr(interpreter) == "<closed Interpreter>"


def test_notebooks_show_a_profile_with_all_texts_escaped(result):
    page = result._repr_html_()
    assert "&lt;i&gt;model.tflite" in page and "<i>" not in page
    assert page.count("<tr>") == len(result.profile.measurements) + 1
    assert "engine, CPU" in page and "LiteRT" in page


@pytest.fixture
def pandas(monkeypatch):
    """Stands for the package: a data frame is the rows that it was given."""
    made: Any = types.ModuleType("pandas")
    made.DataFrame = types.SimpleNamespace(from_records=lambda rows: rows)
    monkeypatch.setitem(sys.modules, "pandas", made)


@pytest.mark.usefixtures("pandas")
def test_pandas_gets_a_row_for_each_measurement(model, result):
    rows = result.to_pandas()
    assert [(row["device"], row["seconds"], row["kernel"]) for row in rows] == [
        (entry.device, entry.seconds.median, entry.kernel) for entry in result.profile.measurements
    ]
    convolution = next(row for row in rows if row["op"] == "LceBconv2d")
    assert convolution["nodes"] == "2" and convolution["layer"] and convolution["macs"] > 0
    table = larq_engine.Interpreter(model).profile(runs=1)
    assert table.to_pandas() == table.to_dict()["rows"]


def test_all_profiles_have_one_kind_of_row(model, result):
    table = larq_engine.Interpreter(model).profile(runs=1)
    for made in (result, table):
        assert isinstance(made, RowTable) and len(made) == len(list(made)) > 0
        assert made[0] == next(iter(made)) and made[-1:] == made.rows[-1:]
        for row in made:
            assert isinstance(row, ProfileRow)
            assert {field.name for field in fields(ProfileRow)} <= row.to_dict().keys()
    theirs = next(row for row in table if row.op == "LceBconv2d")
    ours = next(row for row in result if row.op == "LceBconv2d" and row.device == "cpu")
    for name in ("name", "tensor", "node", "device", "kernel"):
        assert getattr(ours, name) == getattr(theirs, name)


def test_a_row_is_its_measurement_and_has_a_share_of_its_devices_whole_model(result):
    wholes = {total.device: total.seconds.median for total in result.profile.totals}
    for row, entry in zip(result, result.profile.measurements, strict=True):
        assert row.measurement is entry
        assert (row.device, row.kernel or None) == (entry.device, entry.kernel)
        assert (row.calls, row.ms_per_call) == (entry.seconds.runs, 1e3 * entry.seconds.median)
        assert row.percent == pytest.approx(100 * entry.seconds.median / wholes[row.device])
        assert row.nodes == tuple(result.profile.ops[op].node for op in entry.ops)
        assert sorted((row.node, *row.absorbed)) == list(row.nodes)
        assert (row.gmac_per_s is not None) == (row.macs > 0 and row.ms_per_call > 0)
    titles = next(line for line in str(result).splitlines() if line.startswith("ops ")).split()
    assert titles[7:9] == ["ms", "%"]


def test_a_row_without_a_whole_model_has_no_share(result):
    rows = replace(result, profile=replace(result.profile, totals=())).rows
    assert all(math.isnan(row.percent) for row in rows)


def test_without_pandas_an_error_says_how_to_get_it(monkeypatch, model, result):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for thing in (result, larq_engine.Interpreter(model).profile(runs=1)):
        with pytest.raises(ImportError, match=r"expected the package pandas.*pip install pandas"):
            thing.to_pandas()
