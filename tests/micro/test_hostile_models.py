"""Files that would lead exported C beyond its memory are refused; corners of legal ones hold."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import larq_engine
from tests.micro import c_model
from tests.model_builder import ABSENT, PADDING, ModelBuilder, bconv_options, one_op_model
from tests.oracle import Conv, pack_bits

_WINDOW = {
    "filterHeight": 2,
    "filterWidth": 2,
    "strideH": 2,
    "strideW": 2,
    "padding": PADDING["SAME"],
}
_AXES = np.array([1, 2], np.int32)
_IMAGE, _ROW = (1, 4, 4, 3), (1, 8)
_BYTES = {"dtype": np.int8, "scale": 0.1}
_SOFTMAX = {"dtype": np.int8, "scale": 2.0**-8, "zero_point": -128}
_FLOATS: dict[str, Any] = {"dtype": np.float32}

# The operator, what its input and output are, shapes of both, of which the second is too small, and
# the other operands.
_CASES: list[tuple[str, dict[str, Any], dict[str, Any], Any, Any, list[Any], dict[str, Any]]] = [
    ("RELU", _FLOATS, _FLOATS, _ROW, (1, 4), [], {}),
    ("RELU", _BYTES, _BYTES, _ROW, (1, 4), [], {}),
    ("LOGISTIC", _FLOATS, _FLOATS, _ROW, (1, 4), [], {}),
    ("SOFTMAX", _FLOATS, _FLOATS, _ROW, (1, 4), [], {"beta": 1.0}),
    ("SOFTMAX", _BYTES, _SOFTMAX, _ROW, (1, 4), [], {"beta": 1.0}),
    ("QUANTIZE", _FLOATS, _BYTES, _ROW, (1, 4), [], {}),
    ("DEQUANTIZE", _BYTES, _FLOATS, _ROW, (1, 4), [], {}),
    ("ADD", _FLOATS, _FLOATS, _ROW, (1, 4), ["x"], {}),
    ("MUL", _BYTES, _BYTES, _ROW, (1, 4), ["x"], {}),
    ("MAX_POOL_2D", _FLOATS, _FLOATS, _IMAGE, (1, 2, 2, 1), [], _WINDOW),
    ("MAX_POOL_2D", _BYTES, _BYTES, _IMAGE, (1, 1, 2, 3), [], _WINDOW),
    ("AVERAGE_POOL_2D", _BYTES, _BYTES, _IMAGE, (1, 2, 2, 1), [], _WINDOW),
    ("MEAN", _FLOATS, _FLOATS, _IMAGE, (1, 2), [_AXES], {"keepDims": False}),
    ("MEAN", _BYTES, _BYTES, _IMAGE, (1, 2), [_AXES], {"keepDims": False}),
    ("ARG_MAX", _BYTES, {"dtype": np.int32}, _IMAGE, (1, 2), [np.array(3, np.int32)], {}),
    ("ARG_MAX", _FLOATS, {"dtype": np.int32}, _IMAGE, (1, 2), [np.array(3, np.int32)], {}),
    ("PAD", _BYTES, _BYTES, _ROW, (1, 8), [np.array([[0, 0], [1, 1]], np.int32)], {}),
    ("CONCATENATION", _BYTES, _BYTES, _ROW, (1, 12), ["x"], {"axis": 1}),
]


@pytest.mark.parametrize("case", _CASES, ids=lambda case: f"{case[0]}-{case[1]['dtype'].__name__}")
def test_outputs_that_are_too_small(case: Any) -> None:
    kind, x, y, shape, small, operands, options = case
    content = one_op_model(
        kind, {**x, "shape": shape}, {**y, "shape": small}, ["x", *operands], **options
    )
    with pytest.raises(ValueError, match="expected"):
        larq_engine.export_c(content)


def test_constants_that_operators_make_are_not_left_out() -> None:
    """An operator that reads constants alone has no step, so that nobody would write its value."""
    builder = ModelBuilder()
    x = builder.tensor(_ROW, np.int8, scale=0.1)
    made, y = (builder.tensor(_ROW, np.int8, scale=0.1) for _ in range(2))
    constant = builder.constant(np.arange(8, dtype=np.int8).reshape(_ROW), scale=0.1)
    builder.builtin("RELU", [constant], [made])
    builder.builtin("ADD", [x, made], [y])
    with pytest.raises(ValueError, match="expected"):
        larq_engine.export_c(builder.finish([x], [y]))


def test_an_output_that_is_a_constant() -> None:
    builder = ModelBuilder()
    x = builder.tensor(_ROW, np.int8, scale=0.1)
    y = builder.tensor(_ROW, np.int8, scale=0.1)
    builder.builtin("RELU", [x], [y])
    constant = builder.constant(np.arange(8, dtype=np.int8).reshape(_ROW), scale=0.1)
    with pytest.raises(ValueError, match="expected"):
        larq_engine.export_c(builder.finish([x], [y, constant]))


def test_pads_in_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for pad_value in (1, 0, -1):
        builder = ModelBuilder()
        conv = Conv((1, 5, 6, 32), (3, 3), 33, padding=((2, 0), (1, 3)), pad_value=pad_value)
        x = builder.tensor((1, 5, 6, 1), np.int32)
        y = builder.tensor((1, 5, 8, 2), np.int32)
        filters = builder.constant(pack_bits(rng.choice([-1, 1], conv.filter_shape)))
        threshold = builder.constant(rng.integers(120, 160, 33).astype(np.int32))
        inputs = [x, filters, ABSENT, ABSENT, threshold]
        builder.custom("LceBconv2d", inputs, [y], bconv_options(conv))
        content = builder.finish([x], [y])
        image = rng.integers(-(2**31), 2**31, (1, 5, 6, 1)).astype(np.int32)
        (got,) = c_model.run(
            content, [image], flags=c_model.SANITIZE, folder=tmp_path / str(pad_value + 1)
        )
        expected = larq_engine.Interpreter(content, host="none").predict(image)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kind", ["ARG_MAX", "ARG_MIN"])
def test_indices_of_64_bits_are_seen_by_the_caller(kind: str, tmp_path: Path) -> None:
    """A compiler that sees the whole program may not take the write for one of another type."""
    content = one_op_model(
        kind,
        {"shape": (1, 5), "dtype": np.int8, "scale": 1.0},
        {"shape": (1,), "dtype": np.int64},
        ["x", np.array(1, np.int32)],
        outputType=4,
    )
    larq_engine.export_c(content).save(tmp_path)
    (tmp_path / "main.c").write_text(
        '#include "model.c"\n'
        "static int64_t f(const int8_t* x) {\n"
        "  model_arena arena; int64_t y = 77; model_run(&arena, x, &y); return y; }\n"
        "int main(void) { const int8_t x[5] = {3, 9, -4, 9, -4}; return (int)f(x); }\n"
    )
    command = ["gcc", "-std=c99", "-O3", "-o", "program", "main.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([str(tmp_path / "program")], check=False)
    assert done.returncode == {"ARG_MAX": 1, "ARG_MIN": 2}[kind]


def test_a_large_bias_that_takes_a_product_back_to_int8(tmp_path: Path) -> None:
    """A product far beyond int8 has a float's error of its size, and the bias brings it back."""
    rng = np.random.default_rng(2)
    builder = ModelBuilder()
    conv = Conv((1, 1, 1, 64), (1, 1), 64)
    x = builder.tensor((1, 1, 1, 2), np.int32)
    y = builder.tensor((1, 1, 1, 64), np.int8, scale=1.0, zero_point=5)
    filters = builder.constant(pack_bits(rng.choice([-1, 1], conv.filter_shape)))
    multiplier = rng.uniform(900, 1100, 64).astype(np.float32)
    bias = (multiplier * rng.integers(-8, 9, 64) * 2 + rng.uniform(-99, 99, 64)).astype(np.float32)
    inputs = [x, filters, builder.constant(multiplier), builder.constant(bias), ABSENT]
    builder.custom("LceBconv2d", inputs, [y], bconv_options(conv))
    content = builder.finish([x], [y])
    images = rng.integers(-(2**31), 2**31, (200, 1, 1, 2)).astype(np.int32)
    (got,) = c_model.run(content, [images], folder=tmp_path)
    interpreter = larq_engine.Interpreter(content, host="none")
    expected = np.concatenate([interpreter.predict(image[None]) for image in images])
    np.testing.assert_array_equal(got, expected)
    assert np.count_nonzero(np.abs(expected.astype(int)) < 127) > 100


def test_many_steps_are_planned_in_seconds() -> None:
    builder = ModelBuilder()
    x = first = builder.tensor(_ROW, np.int8, scale=0.1)
    for _ in range(600):
        y = builder.tensor(_ROW, np.int8, scale=0.1)
        builder.builtin("RELU", [x], [y])
        x = y
    assert larq_engine.export_c(builder.finish([first], [x])).arena_bytes == 8
