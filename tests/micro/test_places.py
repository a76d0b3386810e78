"""Operators that bring elements to other places, in C and by the engine without a host."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import larq_engine
from tests.micro import board_model, boards, c_model, float_models
from tests.model_builder import ModelBuilder, one_op_model

_IMAGE = (1, 4, 6, 12)


def _ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


_Case = tuple[str, tuple[int, ...], list[np.ndarray], tuple[int, ...], dict[str, Any]]

# The operator, its input's shape, its other operands, its output's shape, and its options.
_CASES: list[_Case] = [
    ("TRANSPOSE", _IMAGE, [_ints(0, 3, 1, 2)], (1, 12, 4, 6), {}),
    ("TRANSPOSE", _IMAGE, [_ints(0, 2, 1, 3)], (1, 6, 4, 12), {}),
    ("TRANSPOSE", (1, 2, 3, 4, 5), [_ints(4, 2, 0, 3, 1)], (5, 3, 1, 4, 2), {}),
    ("SLICE", _IMAGE, [_ints(0, 1, 2, 0), _ints(1, 2, -1, 7)], (1, 2, 4, 7), {}),
    ("SLICE", (1, 9), [_ints(0, 3), _ints(1, 4)], (1, 4), {}),
    (
        "STRIDED_SLICE",
        _IMAGE,
        [_ints(0, 1, 5, 0), _ints(1, 4, 0, 12), _ints(1, 2, -2, 1)],
        (1, 2, 3, 12),
        {},
    ),
    (
        "STRIDED_SLICE",
        _IMAGE,
        [_ints(9, 9, -1), _ints(9, 9, 9), _ints(1, 1, 1)],
        (1, 4, 6),
        {"beginMask": 1, "endMask": 1, "ellipsisMask": 2, "shrinkAxisMask": 4},
    ),
    (
        "STRIDED_SLICE",
        (1, 5, 3),
        [_ints(0, 7, 1), _ints(1, 7, -1), _ints(1, 1, 1)],
        (1, 1, 3, 3),
        {"newAxisMask": 2},
    ),
    ("REVERSE_V2", _IMAGE, [_ints(1)], _IMAGE, {}),
    ("REVERSE_V2", (1, 7), [_ints(-1)], (1, 7), {}),
    ("DEPTH_TO_SPACE", _IMAGE, [], (1, 8, 12, 3), {"blockSize": 2}),
    ("SPACE_TO_DEPTH", _IMAGE, [], (1, 2, 3, 48), {"blockSize": 2}),
    ("RESIZE_NEAREST_NEIGHBOR", _IMAGE, [_ints(8, 12)], (1, 8, 12, 12), {}),
    ("RESIZE_NEAREST_NEIGHBOR", _IMAGE, [_ints(2, 18)], (1, 2, 18, 12), {"halfPixelCenters": True}),
    ("TILE", (1, 3, 5), [_ints(1, 2, 3)], (1, 6, 15), {}),
    ("BROADCAST_TO", (1, 3, 1), [_ints(2, 1, 3, 4)], (2, 1, 3, 4), {}),
]


def _model(case: _Case, dtype: type) -> bytes:
    kind, shape, operands, made, options = case
    scale = {"scale": 0.1, "zero_point": -3} if dtype is np.int8 else {}
    x = {"shape": shape, "dtype": dtype, **scale}
    return one_op_model(kind, x, {**x, "shape": made}, ["x", *operands], **options)


def _values(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    return np.random.default_rng(1).integers(-128, 128, shape).astype(dtype)


_each_case = pytest.mark.parametrize("case", _CASES, ids=lambda case: case[0])


@_each_case
@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_on_the_pc(case: _Case, dtype: type, tmp_path: Path) -> None:
    content, values = _model(case, dtype), _values(case[1], dtype)
    (got,) = c_model.run(content, [values], flags=c_model.SANITIZE, folder=tmp_path)
    expected = larq_engine.Interpreter(content, host="none").predict(values)
    np.testing.assert_array_equal(got.reshape(expected.shape), expected)


def _network() -> tuple[bytes, np.ndarray]:
    """Returns what networks do with images: a part, turned around, as pixels of twice the size."""
    builder = ModelBuilder()
    alike: dict[str, Any] = {"scale": 0.1, "zero_point": -3}

    def tensor(*shape: int) -> int:
        return builder.tensor(shape, np.int8, **alike)

    x, turned, larger, whole = tensor(*_IMAGE), tensor(1, 6, 4, 12), tensor(1, 12, 8, 3), []
    builder.builtin("TRANSPOSE", [x, builder.constant(_ints(0, 2, 1, 3))], [turned])
    builder.builtin("DEPTH_TO_SPACE", [turned], [larger], blockSize=2)
    parts = [tensor(1, 8, 3) for _ in range(12)]
    builder.builtin("UNPACK", [larger], parts, num=12, axis=1)
    for axis, shape in ((1, (1, 12, 8, 3)), (3, (1, 8, 3, 12)), (-2, (1, 8, 12, 3))):
        whole.append(tensor(*shape))
        builder.builtin("PACK", parts[::-1], [whole[-1]], valuesCount=12, axis=axis)
    return builder.finish([x], whole), _values(_IMAGE, np.int8)


def test_packed_parts_on_the_pc(tmp_path: Path) -> None:
    content, values = _network()
    float_models.check(content, [values], tmp_path, flags=c_model.SANITIZE)


@pytest.mark.parametrize("board", ["m0_large", "m4", "rv32imac"])
def test_on_boards(board: str, tmp_path: Path) -> None:
    boards.require()
    content, values = _network()
    got = board_model.run_on(board, content, [values], tmp_path).outputs
    expected = larq_engine.Interpreter(content, host="none").predict(values)
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_array_equal(mine.reshape(theirs.shape), theirs)


@_each_case
def test_outputs_of_another_shape_are_refused(case: _Case) -> None:
    kind, shape, operands, made, options = case
    smaller = (*made[:-1], made[-1] + 1)
    with pytest.raises(ValueError, match="expected"):
        larq_engine.export_c(_model((kind, shape, operands, smaller, options), np.int8))


def test_pixels_at_other_distances_are_refused() -> None:
    case: _Case = ("RESIZE_NEAREST_NEIGHBOR", (1, 4, 5, 1), [_ints(4, 7)], (1, 4, 7, 1), {})
    with pytest.raises(ValueError, match="expected elements at equal distances, got others"):
        larq_engine.export_c(_model(case, np.int8))


def test_elements_are_not_scaled() -> None:
    x = {"shape": (1, 9), "dtype": np.int8, "scale": 0.1}
    y = {"shape": (1, 4), "dtype": np.int8, "scale": 0.2}
    with pytest.raises(ValueError, match="expected"):
        larq_engine.export_c(one_op_model("SLICE", x, y, ["x", _ints(0, 3), _ints(1, 4)]))


def test_too_many_elements_are_refused() -> None:
    case: _Case = ("TILE", (1, 2**13), [_ints(2**13, 1)], (2**13, 2**13), {})
    with pytest.raises(ValueError, match="expected"):
        larq_engine.export_c(_model(case, np.int8))
