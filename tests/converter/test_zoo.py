"""The models of larq_zoo, converted by one call, answer as Keras does.

Their weights are made so that no binarized value of the test images is near zero (see
benchmarks/zoo_models.py): float rounding flips no sign, and the tolerance need not allow for it.
Without --full only QuickNetSmall runs.
"""

import fcntl
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks import zoo
from benchmarks.contenders import PEERS_PYTHON, Contender, Worker
from tests.converter.frameworks import require_keras

require_keras()

# XNORNet's weights in float are 400 MB; LCE leaves a layer of them unpacked.
XNORNET_BYTES = 30_000_000


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "name" in metafunc.fixturenames:
        full = metafunc.config.getoption("--full")
        metafunc.parametrize("name", zoo.MODELS if full else ["QuickNetSmall"])


@pytest.fixture
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Runs one model at a time in all test processes together, as the largest take gigabytes."""
    with open(tmp_path_factory.getbasetemp().parent / "zoo.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.mark.usefixtures("alone")
def test_answers_as_keras_and_is_not_larger_than_lce(name: str) -> None:
    case = zoo.examine(name)
    assert zoo.find_error(case) is None
    if name == "XNORNet":
        assert case["bytes"] < XNORNET_BYTES
    theirs = zoo.read_lce_facts()[name]
    if "failure" in theirs:
        return
    assert case["bytes"] <= theirs["bytes"]
    # Weights are unpacked before the first inference.
    case["operators"].pop("LceUnpackWeights", None)
    assert sum(case["operators"].values()) <= sum(theirs["operators"].values())


@pytest.mark.skipif(not PEERS_PYTHON.exists(), reason="LCE is not installed here (`make peers`)")
@pytest.mark.usefixtures("alone")
def test_runs_in_lce(name: str, tmp_path: Path) -> None:
    file, answers = tmp_path / "model.tflite", tmp_path / "answers.npz"
    case = zoo.examine(
        name, "--compatibility", "lce", "--file", str(file), "--answers", str(answers)
    )
    assert zoo.find_error(case) is None
    with np.load(answers) as recorded:
        images, expected = recorded["images"], recorded["outputs"]
    worker = Worker(Contender("LCE", "lce", name, PEERS_PYTHON))
    try:
        worker.load(name, file.read_bytes(), threads=1)
        outputs = np.concatenate([worker.run(name, image[np.newaxis])[0] for image in images])
    finally:
        worker.close()
    assert zoo.find_error(zoo.compare(outputs, expected)) is None


def test_facts_name_every_model() -> None:
    assert set(zoo.read_lce_facts()) == set(zoo.MODELS)


RIGHT = np.array([[0.0, 1.0, 0.5], [0.2, 0.0, 0.1]], np.float32)


def test_comparison_accepts_rounding() -> None:
    assert zoo.find_error(zoo.compare(RIGHT + np.float32(1e-6), RIGHT)) is None


@pytest.mark.parametrize("value", [1e-2, -1e-2, math.nan, math.inf])
def test_comparison_finds_a_wrong_value(value: float) -> None:
    outputs = RIGHT.copy()
    outputs[1, 2] += value
    error = zoo.find_error(zoo.compare(outputs, RIGHT))
    assert error is not None
    assert "within 0.0001" in error


def test_comparison_finds_another_class() -> None:
    right = np.array([[0.0, 1.0, 0.99999]], np.float32)
    error = zoo.find_error(zoo.compare(right[:, [0, 2, 1]], right))
    assert error is not None
    assert "class" in error


def test_comparison_refuses_another_shape() -> None:
    with pytest.raises(ValueError, match=r"expected the shape \(2, 3\), got \(1, 3\)"):
        zoo.compare(RIGHT[:1], RIGHT)
