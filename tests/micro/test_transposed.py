"""Transposed convolutions on int8 values: C and the engine without a host make the same bytes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import larq_engine
from tests.micro import board_model, boards, c_model, transposed_models


def _check(got: list[np.ndarray], content: bytes, image: np.ndarray) -> None:
    expected = larq_engine.Interpreter(content, host="none").predict(image)
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)
        assert len(np.unique(theirs)) > 2


@pytest.mark.parametrize("seed", range(6))
def test_on_the_pc(seed: int, tmp_path: Path) -> None:
    content, image = transposed_models.model(seed)
    _check(c_model.run(content, [image], flags=c_model.SANITIZE, folder=tmp_path), content, image)


@pytest.mark.parametrize("board", ["m0_large", "m55", "rv32imac"])
def test_on_boards(board: str, tmp_path: Path) -> None:
    boards.require()
    content, image = transposed_models.model(9)
    _check(board_model.run_on(board, content, [image], tmp_path).outputs, content, image)


@pytest.mark.parametrize(
    "changed",
    [
        {"shape": (1, 11, 8, 5), "strides": (2, 2), "taps": (2, 2), "padding": "SAME"},
        {"shape": (1, 9, 8, 5), "strides": (2, 2), "taps": (3, 3), "padding": "VALID"},
        {"shape": (2, 10, 8, 5), "strides": (2, 2), "taps": (2, 2), "padding": "SAME"},
        {"shape": (1, 10, 8, 4), "strides": (2, 2), "taps": (2, 2), "padding": "SAME"},
        {"strides": (3, 3), "taps": (2, 2)},
    ],
    ids=str,
)
def test_other_sizes_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        larq_engine.export_c(transposed_models.model(1, 1, **changed)[0])
