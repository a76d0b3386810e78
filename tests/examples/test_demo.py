"""The demo runs, and fails when the result is wrong."""

import sys
from pathlib import Path

import numpy as np
import pytest

import larq_engine

_EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def demo(monkeypatch):
    monkeypatch.syspath_prepend(str(_EXAMPLES))
    for name in ("demo", "float_oracle", "make_model"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import demo

    return demo


def test_demo_shows_times_and_agrees(demo, capsys):
    assert demo.main(threads=2) == 0
    printed = capsys.readouterr().out
    assert printed.count("LceBconv2d") == 10
    assert "host runtime  8 ADD, " in printed
    assert "the results agree" in printed and "WRONG" not in printed


def test_demo_fails_on_a_wrong_result(demo, capsys, monkeypatch):
    evaluate = demo.evaluate

    def off_by_little(*arguments):
        return evaluate(*arguments) + 1e-3

    monkeypatch.setattr(demo, "evaluate", off_by_little)
    assert demo.main(threads=1) == 1
    assert "WRONG" in capsys.readouterr().out


def test_the_bundled_model_is_the_one_that_the_script_makes(demo, rng):
    """The same results, as another version of a serializer may order the bytes otherwise."""
    import make_model

    images = rng.integers(0, 256, (2, 128, 128, 3)).astype(np.float32)
    made = larq_engine.Interpreter(make_model.make_model()).predict(images)
    np.testing.assert_array_equal(larq_engine.Interpreter(make_model.MODEL).predict(images), made)
