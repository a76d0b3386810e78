"""Whole models in a browser: their checks, and what passes between the page and Python."""

import base64
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks.contenders import OURS, ContenderError
from benchmarks.web import browser, contenders, models
from larq_engine import Interpreter
from tests.model_builder import ModelBuilder
from tools.browser import ScriptError


@pytest.fixture
def model(rng: np.random.Generator) -> bytes:
    builder = ModelBuilder()
    x, y = builder.tensor((1, 8)), builder.tensor((1, 4))
    weights = builder.constant(rng.normal(size=(4, 8)).astype(np.float32))
    builder.builtin("FULLY_CONNECTED", [x, weights, -1], [y])
    return builder.finish([x], [y])


def _checked(model: bytes, change: Callable[[Any], Any], error: str | None) -> str | None:
    """Checks the answers of a runner whose outputs are changed; the other check says `error`."""
    python = Interpreter(model, host="none")
    images = [np.full((1, 8), value, np.float32) for value in (1, 2)]

    def other_check(answer: Any) -> str | None:
        for image in images:
            answer(image)
        return error

    check = models.also_equal_to_python(other_check, lambda: model)
    return check(lambda x: [change(python.predict(x))])


def test_the_same_bits_pass(model: bytes) -> None:
    assert _checked(model, lambda y: y, None) is None


def test_a_bit_that_differs_is_told(model: bytes) -> None:
    def change(y: Any) -> Any:
        changed = y.copy()
        changed[0, 2] = np.nextafter(changed[0, 2], np.float32(9), dtype=np.float32)
        return changed

    assert "1 of 4, 1 of 4" in (_checked(model, change, None) or "")


def test_what_another_check_says_comes_first(model: bytes) -> None:
    assert _checked(model, lambda y: y + 1, "far off") == "far off"


def test_a_page_has_one_thread_of_its_own() -> None:
    one, two = (set(contenders.contenders(threads)) for threads in (1, 2))
    assert one - two == {contenders.OURS_IN_PAGE}
    assert [each.name for each in one if not each.is_other_engine] != []
    assert {each for each in two if not each.is_other_engine} == {OURS}


def test_tensors_of_the_page_become_arrays() -> None:
    values = np.array([[1, -2, 3], [4, 5, -6]], np.int8)
    text = base64.b64encode(values.tobytes()).decode()
    array = browser.to_array({"type": "int8", "shape": [2, 3], "base64": text})
    np.testing.assert_array_equal(array, values)
    assert array.dtype == np.int8


class _FailingPage:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def evaluate(self, expression: str) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ScriptError("bench.load()", "Error: no file\n    at load"), "Error: no file"),
        (RuntimeError("the browser ended"), "the browser ended"),
        (TimeoutError("the browser: no answer for 60 s"), "the browser: no answer for 60 s"),
    ],
)
def test_errors_of_the_page_are_those_of_a_contender(error: Exception, told: str) -> None:
    page = browser.Browser.__new__(browser.Browser)
    page._page = _FailingPage(error)
    with pytest.raises(ContenderError) as failure:
        page.call("load")
    assert str(failure.value) == told


def test_an_unknown_model_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["web.models", "keyword"])
    with pytest.raises(SystemExit) as error:
        models.parse_options("web.models", "")
    assert error.value.code == 2
    assert "expected one of QuickNetSmall, QuickNet" in capsys.readouterr().err
