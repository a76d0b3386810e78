"""Two builds of the plug-in are compared in turns."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import avx2_alone, libraries, turns
from larq_engine.converter.example import example_model
from larq_engine.python import library

_PATHS = ("before.so", "after.so")
_ROUNDS = 2


class _Models:
    """Stands in for libraries.Model: has the answers, and notes what was opened and run."""

    def __init__(self, answers: dict[str, list[np.ndarray]]) -> None:
        self._answers = answers
        self.opened: list[str] = []
        self.kernels: set[str] = set()
        self.runs: Counter[str] = Counter()

    def __call__(self, file: Path, plug_in: str, threads: int, kernel: str) -> "_Models._Model":
        self.opened.append(plug_in)
        self.kernels.add(kernel)
        return self._Model(self, plug_in)

    class _Model:
        input_shape = (1,)

        def __init__(self, models: "_Models", plug_in: str) -> None:
            self._models, self._plug_in = models, plug_in

        def predict(self, image: np.ndarray) -> list[np.ndarray]:
            self._models.runs[self._plug_in] += 1
            return self._models._answers[self._plug_in]


@pytest.fixture(autouse=True)
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "_SECONDS", 0.001)


def _compare(
    monkeypatch: pytest.MonkeyPatch, before: list[np.ndarray], after: list[np.ndarray]
) -> tuple[_Models, tuple[str, ...]]:
    models = _Models(dict(zip(_PATHS, (before, after), strict=True)))
    monkeypatch.setattr(libraries, "Model", models)
    return models, libraries.compare(Path("model.tflite"), _PATHS, 1, _ROUNDS)


def test_both_libraries_run_and_the_first_one_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    same = [np.array([1, np.nan], np.float32), np.arange(3)]
    models, row = _compare(monkeypatch, same, [output.copy() for output in same])
    assert models.opened == [*_PATHS, _PATHS[0]] * _ROUNDS
    # More runs than one comparison a round needs show that both were timed.
    assert min(models.runs[path] for path in _PATHS) > _ROUNDS
    assert float(row[1]) >= 0
    assert float(row[2]) >= 0


@pytest.mark.parametrize(
    "other",
    [
        [np.zeros(2), np.arange(3) + 1],
        [-np.zeros(2), np.arange(3)],
        [np.zeros((2, 1)), np.arange(3)],
    ],
    ids=["one of two", "sign of zero", "shape"],
)
def test_other_outputs_have_no_time(
    monkeypatch: pytest.MonkeyPatch, other: list[np.ndarray]
) -> None:
    _, row = _compare(monkeypatch, [np.zeros(2), np.arange(3)], other)
    assert row == ("model.tflite", "", "outputs differ", "", "", "")


@pytest.mark.parametrize(("value", "is_near"), [(4.04, True), (4.1, False), (np.nan, False)])
def test_rounding_may_be_allowed(
    monkeypatch: pytest.MonkeyPatch, value: float, is_near: bool
) -> None:
    answers = {_PATHS[0]: [np.array([1.0, 4.0])], _PATHS[1]: [np.array([1.0, value])]}
    monkeypatch.setattr(libraries, "Model", _Models(answers))
    row = libraries.compare(Path("model.tflite"), _PATHS, 1, _ROUNDS, rounding=0.02)
    assert (row[2] != "outputs differ") == is_near


@pytest.mark.parametrize("option", [[], ["--avx2"]])
def test_avx2_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: list[str]) -> None:
    """Newer instructions are hidden before a model is opened, and all models have the kernel."""
    before, after = tmp_path / "before.so", library.delegate_path()
    before.touch()
    same = [np.zeros(2)]
    models = _Models({str(before): same, after: same})
    opened_when_hidden = []
    monkeypatch.setattr(libraries, "Model", models)
    monkeypatch.setattr(
        avx2_alone, "hide_newer", lambda: opened_when_hidden.append(len(models.opened))
    )
    monkeypatch.setattr(sys, "argv", ["libraries", str(before), "model.tflite", *option])
    libraries.main()
    assert opened_when_hidden == ([0] if option else [])
    assert models.kernels == {avx2_alone.KERNEL if option else "auto"}


def test_a_real_model(tmp_path: Path) -> None:
    (tmp_path / "model.tflite").write_bytes(example_model())
    plug_in = library.delegate_path()
    _, before, after, *_ = libraries.compare(tmp_path / "model.tflite", (plug_in, plug_in), 1, 1)
    assert float(before) > 0
    assert float(after) > 0


@pytest.mark.parametrize("before", ["missing.so", library.delegate_path()])
def test_what_is_no_other_build_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], before: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["libraries", before, "model.tflite"])
    with pytest.raises(SystemExit):
        libraries.main()
    assert "expected another build than" in capsys.readouterr().err
