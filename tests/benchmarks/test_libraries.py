"""Two builds of the plug-in in turns."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks import libraries, turns
from larq_engine.converter.example import example_model
from larq_engine.python import library


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(turns, "_SECONDS", 0.001)
    (tmp_path / "model.tflite").write_bytes(example_model())
    return tmp_path / "model.tflite"


def test_a_build_beside_itself(model: Path) -> None:
    plug_in = library.delegate_path()
    name, before, after, *_ = libraries.compare(model, (plug_in, plug_in), 1, 2)
    assert name == str(model)
    assert float(before) > 0
    assert float(after) > 0


def test_other_outputs_have_no_time(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plug_in = library.delegate_path()
    monkeypatch.setattr(np, "array_equal", lambda a, b: False)
    row = libraries.compare(model, (plug_in, plug_in), 1, 2)
    assert row == (str(model), "", "outputs differ", "", "", "")
