"""What threads, batches and opening do to a model."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import avx2_alone, scaling, turns
from larq_engine import Interpreter
from larq_engine.converter.example import example_model
from tests.kernel_rows import kernel_rows
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
    assert len(batches) == 4 and all(float(cell) >= 0 for cell in batches)
    megabytes = [float(cell) for cell in batches[2:]]
    assert all(10 < size < 1000 for size in megabytes), "of a process with LiteRT"
    assert len(opening) == 4 and float(opening[0]) > 0


def test_openings_are_medians_in_milliseconds(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([[0.005, 0.002, 0.003, 0.001], [0.5, 0.2, 0.3, 0.1], [0.007, 0.004, 0.005, 0]])
    monkeypatch.setattr(scaling, "_OPENINGS", 3)
    monkeypatch.setattr(scaling, "_in_a_process", lambda *_: next(seconds))
    assert scaling.open_often(Path("model")) == ["7.0", "4.0", "5.0", "1.0"]


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
    assert float(scaling.time_batch(model, 2)[0]) >= 0

    class SecondImageDiffers(Interpreter):
        _images = 0

        def predict(self, image: np.ndarray) -> Any:
            self._images += 1
            return super().predict(-image if self._images == 2 else image)

    monkeypatch.setattr(scaling, "Interpreter", SecondImageDiffers)
    assert float(scaling.time_batch(model, 1)[0]) >= 0
    assert scaling.time_batch(model, 2) == ("WRONG", "")


def test_a_batch_that_the_file_does_not_allow(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(scaling, "_SECONDS", 0.001)
    net = Net(np.random.default_rng(0))
    image = net.input(net.rng.standard_normal((1, 5, 6, 8), np.float32))
    [part] = net.split(image, [1], axis=0)
    file = tmp_path / "model.tflite"
    file.write_bytes(net.finish(net.conv(part, 16)).content)
    assert float(scaling.time_batch(file, 1)[0]) >= 0
    assert scaling.time_batch(file, 2) == ("-", "-")


def test_another_failure_is_no_answer(monkeypatch: pytest.MonkeyPatch, model: Path) -> None:
    class Failing:
        def get_input_details(self) -> list[dict[str, Any]]:
            return [{"index": 0, "shape": (1, 2)}]

        def resize_tensor_input(self, index: int, shape: tuple[int, ...]) -> None:
            pass

        def allocate_tensors(self) -> None:
            raise RuntimeError("out of memory")

    monkeypatch.setattr(scaling.host.import_runtime(None), "Interpreter", lambda **_: Failing())
    with pytest.raises(RuntimeError, match="out of memory"):
        scaling.time_batch(model, 2)


@pytest.mark.skipif(avx2_alone.KERNEL not in kernel_rows(), reason="needs a CPU with AVX2")
def test_what_is_newer_than_avx2_is_hidden_from_xnnpack() -> None:
    """In a process of its own: it stays hidden."""
    code = (
        "from benchmarks.avx2_alone import HIDDEN, SHOWN, find_table, hide_newer\n"
        "hide_newer()\n"
        "table = find_table()\n"
        "print({table[i] for i in SHOWN}, {table[i] for i in HIDDEN})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "{1} {0}\n", done.stderr
