"""What threads, batches and opening do to a model."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import scaling, turns
from larq_engine import Interpreter
from larq_engine.converter.example import example_model
from tests.numpy_net import Net


@pytest.fixture
def model(tmp_path: Path) -> Path:
    file = tmp_path / "model.tflite"
    file.write_bytes(example_model())
    return file


def test_all_tables(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
                    model: Path) -> None:  # fmt: skip
    monkeypatch.setattr(turns, "_SECONDS", 0.001)
    monkeypatch.setattr(sys, "argv", ["scaling", str(model), "--batches", "3", "--rounds", "1"])
    scaling.main()
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if str(model) in line]
    threads, batches, opening = (row[1:] for row in rows)
    assert float(threads[2]) == pytest.approx(float(threads[0]) / float(threads[1]), rel=0.1)
    assert re.fullmatch(r"(\d+\.\d\d)-\1", threads[3]), "of one round"
    assert len(batches) == 4 and all(float(cell) > 0 for cell in batches)
    assert len(opening) == 4 and all(float(cell) >= 0 for cell in opening)


class _Model:
    """Answers with its number of threads."""

    input_shapes = ((1,),)

    def __init__(self, file: Path, num_threads: int) -> None:
        self._threads = num_threads

    def predict(self, image: np.ndarray) -> np.ndarray:
        return np.array([self._threads])


def test_other_outputs_have_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "Interpreter", _Model)
    monkeypatch.setattr(turns, "_SECONDS", 0.001)
    assert scaling.compare_threads(Path("model"), 2, 1) == ["", "outputs differ", "", ""]
    assert "differ" not in scaling.compare_threads(Path("model"), 1, 1)[1]


def test_a_batch_with_other_outputs_has_no_time(
    monkeypatch: pytest.MonkeyPatch, model: Path
) -> None:
    monkeypatch.setattr(scaling, "_SECONDS", 0.001)
    assert "WRONG" not in scaling.time_batches(model, [1, 2])

    class SecondImageDiffers(Interpreter):
        _images = 0

        def predict(self, image: np.ndarray) -> Any:
            self._images += 1
            return super().predict(-image if self._images == 2 else image)

    monkeypatch.setattr(scaling, "Interpreter", SecondImageDiffers)
    one, two, *_ = scaling.time_batches(model, [1, 2])
    assert float(one) > 0 and two == "WRONG"


def test_a_batch_that_the_file_does_not_allow(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(scaling, "_SECONDS", 0.001)
    net = Net(np.random.default_rng(0))
    joined = net.concatenate([net.input(np.ones((1, 4), np.float32)), net.constant([[1.0]])])
    file = tmp_path / "model.tflite"
    file.write_bytes(net.finish(joined).content)
    one, two, *sizes = scaling.time_batches(file, [1, 2])
    assert float(one) >= 0 and two == "-"
    assert float(sizes[0]) > 0 and sizes[1] == "-"


def test_avx512_is_hidden_from_xnnpack() -> None:
    """In a process of its own: it stays hidden."""
    code = (
        "from benchmarks import avx2_alone\n"
        "avx2_alone.hide_avx512()\n"
        "avx2_alone.hide_avx512()\n"
        "print('hidden')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "hidden\n", done.stderr
