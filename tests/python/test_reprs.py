"""Objects are shown as a line that says what a person wants to know of them."""

import sys
import types

import pytest

import larq_engine
from larq_engine.batch import Predictor
from larq_engine.converter.example import example_model


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
    made = types.ModuleType("pandas")
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


def test_without_pandas_an_error_says_how_to_get_it(monkeypatch, model, result):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for thing in (result, larq_engine.Interpreter(model).profile(runs=1)):
        with pytest.raises(ImportError, match=r"expected the package pandas.*pip install pandas"):
            thing.to_pandas()
