"""Exported networks of integers have the bytes of the engine: on the PC, and on emulated cores."""

from pathlib import Path

import numpy as np
import pytest

import larq_engine
from tests import samples
from tests.micro import board_model, boards, c_model
from tests.micro.integer_networks import IntegerNetwork

_NETWORKS = 200
_LAYERS = 6
_SAMPLES = 3

# A run of any of them takes less: kernels call each other, but none calls itself.
_MOST_STACK = 1024


def _network(seed: int) -> tuple[bytes, list[np.ndarray], list[np.ndarray]]:
    """Returns a model, samples of its input, and what LiteRT or the engine computes of them."""
    network = IntegerNetwork(seed)
    content = network.build(_LAYERS)
    shape = (_SAMPLES, *network.input.shape[1:])
    images = np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)
    interpreter = larq_engine.Interpreter(content)
    runs = [interpreter.predict(images[i : i + 1]) for i in range(_SAMPLES)]
    parts = [run if isinstance(run, list) else [run] for run in runs]
    return content, [images], [np.concatenate(part) for part in zip(*parts, strict=True)]


def _assert_equal(got: list[np.ndarray], expected: list[np.ndarray]) -> None:
    assert len(got) == len(expected)
    for mine, theirs in zip(got, expected, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs.reshape(mine.shape))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    count = {"seed": 30, "checked_seed": 8, "board_seed": 2}
    for name in count.keys() & set(metafunc.fixturenames):
        seeds = samples.choose(metafunc.config, range(_NETWORKS), count[name])
        metafunc.parametrize(name, seeds)


def test_networks_on_the_pc(seed: int, tmp_path: Path) -> None:
    content, inputs, expected = _network(seed)
    _assert_equal(c_model.run(content, inputs, folder=tmp_path), expected)


def test_networks_under_sanitizers_in_plain_c(checked_seed: int, tmp_path: Path) -> None:
    content, inputs, expected = _network(checked_seed)
    flags = [*c_model.SANITIZE, "-DLE_PLAIN"]
    _assert_equal(c_model.run(content, inputs, flags=flags, folder=tmp_path), expected)


@pytest.mark.parametrize("board", [name for name in boards.BOARDS if name != "m0"])
def test_networks_on_boards(board_seed: int, board: str, tmp_path: Path) -> None:
    boards.require()
    content, inputs, expected = _network(board_seed)
    outcome = board_model.run_on(board, content, inputs, tmp_path)
    _assert_equal(outcome.outputs, expected)
    assert outcome.run.stack <= _MOST_STACK
    # Chips without floats would call a library for them.
    assert boards.floats_in(boards.model_object(outcome.program)) == []
