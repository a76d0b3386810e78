"""The model of `larq-engine example` runs, and is the one that `inspect` and the guides show."""

import numpy as np

import larq_engine
from larq_engine.command_line import main
from larq_engine.python import units


def test_the_example_is_a_binary_model_that_runs(tmp_path, rng, capsys):
    path = tmp_path / "example.tflite"
    assert main(["example", "-o", str(path)]) == 0
    assert capsys.readouterr().out == f"{path}: {units.size(path.stat().st_size)}\n"
    images = rng.standard_normal((3, 96, 96, 3)).astype(np.float32)
    model = larq_engine.Interpreter(path)
    scores = model.predict(images)
    assert scores.shape == (3, 10) and np.ptp(scores, axis=0).min() > 0
    assert [row.op for row in model.profile(runs=1)].count("LceBconv2d") == 2


def test_the_example_is_always_the_same(tmp_path):
    files = [tmp_path / name for name in ("a.tflite", "b.tflite")]
    for path in files:
        assert main(["example", "-o", str(path)]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_folder_that_is_not_there(tmp_path, capsys):
    assert main(["example", "-o", str(tmp_path / "no" / "a.tflite")]) == 1
    assert "expected an existing folder" in capsys.readouterr().err
