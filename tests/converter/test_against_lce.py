"""LCE itself runs what we convert for it, and converts the same models to no fewer operators.

Without --full a sample of the models runs.
"""

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import larq_engine
from benchmarks.contenders import HERE, PEERS_PYTHON, TENSORFLOW_OF_LCE, Contender, Worker
from larq_engine.converter import schema
from tests.converter.frameworks import require_keras

pytestmark = pytest.mark.skipif(
    not PEERS_PYTHON.exists(), reason="LCE is not installed here (`make peers`)"
)

require_keras()

from tests.converter.toy_models import BUILDERS, RANGE  # noqa: E402
from tests.converter.toy_weights import build  # noqa: E402

SAMPLE = ["sequential", "int8"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("name", BUILDERS if metafunc.config.getoption("full") else SAMPLE)


def convert_with_lce(name: str, model: Any, folder: Path) -> bytes:
    weights, output = folder / "weights.npz", folder / "model.tflite"
    np.savez(weights, *model.get_weights())
    script = "tests.converter.convert_toy_with_lce"
    process = subprocess.run(
        [PEERS_PYTHON, "-m", script, name, weights, output],
        cwd=HERE.parent,
        env={**os.environ, **TENSORFLOW_OF_LCE},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    return output.read_bytes()


def run_in_lce(content: bytes, images: np.ndarray) -> np.ndarray:
    worker = Worker(Contender("LCE", "lce", "toy", PEERS_PYTHON))
    try:
        worker.load("toy", content, threads=1)
        return np.concatenate([worker.run("toy", image[np.newaxis])[0] for image in images])
    finally:
        worker.close()


def count_operators(content: bytes) -> Counter[str]:
    return Counter(op.kind for graph in schema.read(content).graphs for op in graph.ops)


def test_runs_in_lce(name: str) -> None:
    model, images = build(name)
    converted = larq_engine.convert_keras_model(model, compatibility="lce")
    ours = larq_engine.Interpreter(converted).predict(images)
    # int8 models may be off by one step: the older TensorFlow in LCE rounds averages otherwise, and
    # LCE rounds 1 to 43 steps where Keras and this project have 42.
    tolerance = (2 * RANGE / 255 if name.startswith("int8") else 0) + 1e-5
    np.testing.assert_allclose(run_in_lce(converted, images), ours, rtol=0, atol=tolerance)


def test_has_no_more_operators_than_from_lce(name: str, tmp_path: Path) -> None:
    model, _ = build(name)
    theirs = convert_with_lce(name, model, tmp_path)
    for compatibility in ("larq_engine", "lce"):
        ours = larq_engine.convert_keras_model(model, compatibility=compatibility)
        counts = count_operators(ours), count_operators(theirs)
        assert counts[0].total() <= counts[1].total(), counts
        assert counts[0]["LceBconv2d"] >= counts[1]["LceBconv2d"], counts
        assert len(ours) <= len(theirs)
