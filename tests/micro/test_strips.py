"""Layers in strips of lines take less memory, and compute the same."""

import re
from pathlib import Path

import numpy as np
import pytest

import larq_engine
from tests.micro import boards, c_model
from tests.micro.integer_networks import IntegerNetwork
from tests.model_builder import ABSENT, PADDING, ModelBuilder, add_quantize, bconv_options
from tests.oracle import Conv, pack_bits

_SEEDS = range(700, 710)
_LAYERS = 9
_SAMPLES = 3


def _least(content: bytes) -> tuple[int, int]:
    """Returns the arena with whole layers, and the least one with strips."""
    whole = larq_engine.export_c(content).arena_bytes
    with pytest.raises(ValueError, match="arena: expected at most 0 bytes") as caught:
        larq_engine.export_c(content, arena=0)
    found = re.search(r"(\d+) bytes would do$", str(caught.value))
    assert found is not None
    return whole, int(found[1])


def _expected(content: bytes, images: np.ndarray) -> list[np.ndarray]:
    with larq_engine.Interpreter(content, host="none") as interpreter:
        outputs = [interpreter.predict(image[None]) for image in images]
    columns = zip(*[y if isinstance(y, list) else [y] for y in outputs], strict=True)
    return [np.concatenate(column) for column in columns]


def _images(network: IntegerNetwork, seed: int) -> np.ndarray:
    shape = (_SAMPLES, *network.input.shape[1:])
    return np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)


@pytest.mark.parametrize("seed", _SEEDS)
def test_strips_compute_the_same(seed: int, tmp_path: Path) -> None:
    network = IntegerNetwork(seed)
    content = network.build(_LAYERS)
    whole, least = _least(content)
    assert least <= whole
    images = _images(network, seed)
    expected = _expected(content, images)
    for arena in dict.fromkeys((least, (least + whole) // 2)):
        assert larq_engine.export_c(content, arena=arena).arena_bytes <= arena
        folder = tmp_path / str(arena)
        outputs = c_model.run(content, [images], arena=arena, flags=c_model.SANITIZE, folder=folder)
        for y, y_expected in zip(outputs, expected, strict=True):
            np.testing.assert_array_equal(y, y_expected)


def _two_peaks() -> tuple[bytes, list[int]]:
    """Returns two convolutions with a pool after each, and the bytes of the large images."""
    random = np.random.default_rng(7)
    builder = ModelBuilder()
    x, size, channels, large = builder.tensor((1, 32, 32, 1), np.int32), 32, 32, []
    images = x
    for outputs in (32, 64):
        conv = Conv((1, size, size, channels), (3, 3), outputs, pad_value=1)
        y = builder.tensor(conv.output_shape, np.int8, scale=1.0, zero_point=0)
        weights = builder.constant(pack_bits(random.choice([-1, 1], conv.filter_shape)))
        factors = [builder.constant(np.full(outputs, n, np.float32)) for n in (0.5, 0)]
        operands = [images, weights, *factors, ABSENT]
        builder.custom("LceBconv2d", operands, [y], bconv_options(conv))
        large.append(size * size * outputs)
        size, channels = size // 2, outputs
        pooled = builder.tensor((1, size, size, outputs), np.int8, scale=1.0, zero_point=0)
        window = {"filterHeight": 2, "filterWidth": 2, "strideH": 2, "strideW": 2}
        builder.builtin("MAX_POOL_2D", [y], [pooled], padding=PADDING["VALID"], **window)
        images = add_quantize(builder, pooled, (1, size, size, outputs))
    return builder.finish([x], [images]), large


def test_runs_are_cut_so_that_nothing_is_computed_twice(tmp_path: Path) -> None:
    content, (first, second) = _two_peaks()
    whole = larq_engine.export_c(content).arena_bytes
    assert whole > max(first, second)
    small = larq_engine.export_c(content, arena=first // 2)
    assert small.arena_bytes <= first // 2 and "makes 0% more" in small.report
    _, least = _least(content)
    assert least < first // 3
    bits = pack_bits(np.random.default_rng(8).choice([-1, 1], (_SAMPLES, 32, 32, 32)))
    (y,) = c_model.run(content, [bits], arena=least, folder=tmp_path)
    np.testing.assert_array_equal(y, _expected(content, bits)[0])


def test_many_networks_take_less() -> None:
    smaller = 0
    for seed in _SEEDS:
        whole, least = _least(IntegerNetwork(seed).build(_LAYERS))
        smaller += least <= 0.8 * whole
    assert smaller >= len(_SEEDS) // 3


def _pooled() -> tuple[bytes, np.ndarray]:
    """Returns a convolution of bits to int8, which is the largest image, and a pool after it."""
    builder = ModelBuilder()
    conv = Conv((1, 16, 16, 64), (3, 3), 64, pad_value=0)
    random = np.random.default_rng(3)
    signs = random.choice([-1, 1], conv.filter_shape)
    x = builder.tensor((1, 16, 16, 2), np.int32)
    y = builder.tensor((1, 16, 16, 64), np.int8, scale=1.0, zero_point=0)
    pooled = builder.tensor((1, 8, 8, 64), np.int8, scale=1.0, zero_point=0)
    ones = builder.constant(np.full(64, 0.5, np.float32))
    zeros = builder.constant(np.zeros(64, np.float32))
    inputs = [x, builder.constant(pack_bits(signs)), ones, zeros, ABSENT]
    builder.custom("LceBconv2d", inputs, [y], bconv_options(conv))
    window = {"filterHeight": 2, "filterWidth": 2, "strideH": 2, "strideW": 2}
    builder.builtin("MAX_POOL_2D", [y], [pooled], padding=PADDING["VALID"], **window)
    bits = pack_bits(random.choice([-1, 1], (_SAMPLES, *conv.input_shape[1:])))
    return builder.finish([x], [pooled]), bits


_WHOLE = 16 * 16 * 64  # the image that the pool reads
_ONE_STRIP = 2 * 16 * 64
_TAPS = 9 * 2 * 4 + 4 * 64  # the words under a filter, and the ones outside of the image


def test_strips_are_no_lower_than_the_arena_needs() -> None:
    content, _ = _pooled()
    assert larq_engine.export_c(content).arena_bytes == _WHOLE + _TAPS
    half = larq_engine.export_c(content, arena=_WHOLE)
    assert half.arena_bytes == _WHOLE // 2 + _TAPS
    assert "LceBconv2d, 2 strips" in half.report and "MAX_POOL_2D, 2 strips" in half.report
    # No line of the large image lies in two strips.
    assert "2 steps are computed in strips" in half.report and "makes 0% more" in half.report
    assert half.flash_bytes == larq_engine.export_c(content).flash_bytes
    least = larq_engine.export_c(content, arena=_ONE_STRIP + _TAPS)
    assert least.arena_bytes == _ONE_STRIP + _TAPS and "8 strips" in least.report
    with pytest.raises(ValueError, match=rf"LceBconv2d .* {_ONE_STRIP + _TAPS} bytes would do$"):
        larq_engine.export_c(content, arena=_ONE_STRIP)


@pytest.mark.parametrize("board", ["m0_large", "m4", "m55", "rv32imac_zbb"])
def test_on_boards(board: str, tmp_path: Path) -> None:
    boards.require()
    content, bits = _pooled()
    larq_engine.export_c(content, arena=_ONE_STRIP + _TAPS).save(tmp_path / "model")
    elf = boards.build(tmp_path / "model", board, tmp_path / "built")
    outputs = boards.run(elf, board, bits.tobytes()).outputs
    assert outputs == _expected(content, bits)[0].tobytes()


def test_a_transposed_convolution_is_computed_as_a_whole(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    builder = ModelBuilder()
    x = builder.tensor((1, 16, 16, 6), np.int8, scale=0.03, zero_point=-9)
    filters = random.integers(-127, 128, (5, 3, 3, 6)).astype(np.int8)
    weights = builder.constant(filters, scale=[0.01], zero_point=[0])
    shape = builder.constant(np.array([1, 16, 16, 5], np.int32))
    large = builder.tensor((1, 16, 16, 5), np.int8, scale=0.05, zero_point=4)
    small = builder.tensor((1, 4, 4, 5), np.int8, scale=0.05, zero_point=4)
    same = {"padding": PADDING["SAME"], "strideH": 1, "strideW": 1}
    builder.builtin("TRANSPOSE_CONV", [shape, weights, x, ABSENT], [large], **same)
    window = {"filterHeight": 4, "filterWidth": 4, "strideH": 4, "strideW": 4}
    builder.builtin("MAX_POOL_2D", [large], [small], padding=PADDING["VALID"], **window)
    content = builder.finish([x], [small])
    images = random.integers(-128, 128, (_SAMPLES, 16, 16, 6)).astype(np.int8)
    whole, least = _least(content)
    assert least == whole == 16 * 16 * 5
    (y,) = c_model.run(content, [images], arena=least, folder=tmp_path)
    np.testing.assert_array_equal(y, _expected(content, images)[0])


_PADDED = {
    "below": ((0, 7), (0, 0)),
    "above": ((9, 0), (0, 0)),
    "on all sides": ((4, 5), (6, 7)),
    "less than a filter": ((2, 1), (1, 2)),
}


@pytest.mark.parametrize("pad_value", [1, -1, 0])
@pytest.mark.parametrize("name", _PADDED)
def test_lines_of_pads_alone(name: str, pad_value: int, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    builder = ModelBuilder()
    conv = Conv((1, 12, 12, 32), (3, 3), 32, padding=_PADDED[name], pad_value=pad_value)
    signs = random.choice([-1, 1], conv.filter_shape)
    x = builder.tensor((1, 12, 12, 32), np.int8, scale=1.0, zero_point=3)
    bits = add_quantize(builder, x, (1, 12, 12, 32))
    y = builder.tensor(conv.output_shape, np.int8, scale=2.0, zero_point=0)
    factors = [builder.constant(np.full(32, number, np.float32)) for number in (1, 0)]
    ends = [*factors, ABSENT]
    operands = [bits, builder.constant(pack_bits(signs)), *ends]
    builder.custom("LceBconv2d", operands, [y], bconv_options(conv))
    shape = (1, conv.output_shape[1] // 2, conv.output_shape[2] // 2, 32)
    small = builder.tensor(shape, np.int8, scale=2.0, zero_point=0)
    window = {"filterHeight": 2, "filterWidth": 2, "strideH": 2, "strideW": 2}
    builder.builtin("MAX_POOL_2D", [y], [small], padding=PADDING["VALID"], **window)
    content = builder.finish([x], [small])
    images = random.integers(-128, 128, (_SAMPLES, 12, 12, 32)).astype(np.int8)
    whole, least = _least(content)
    assert (least < whole) == (name == "less than a filter")
    (out,) = c_model.run(content, [images], arena=least, folder=tmp_path)
    np.testing.assert_array_equal(out, _expected(content, images)[0])


_OPERANDS = {
    "of channels": (8,),
    "of pixels": (16, 16, 1),
    "of lines": (16, 1, 8),
    "of columns": (1, 1, 16, 8),
    "whole": (16, 16, 8),
}


@pytest.mark.parametrize("is_constant", [True, False])
@pytest.mark.parametrize("name", _OPERANDS)
def test_operands_that_are_broadcast(name: str, is_constant: bool, tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    builder = ModelBuilder()
    numbers = {"scale": 0.1, "zero_point": 5}
    x = builder.tensor((1, 16, 16, 8), np.int8, **numbers)
    other = builder.tensor(_OPERANDS[name], np.int8, **numbers)
    if is_constant:
        values = random.integers(-128, 128, _OPERANDS[name]).astype(np.int8)
        other = builder.constant(values, scale=0.1, zero_point=5)
    both = builder.tensor((1, 16, 16, 8), np.int8, scale=0.3, zero_point=1)
    small = builder.tensor((1, 4, 4, 8), np.int8, scale=0.3, zero_point=1)
    builder.builtin("ADD", [x, other], [both])
    window = {"filterHeight": 4, "filterWidth": 4, "strideH": 4, "strideW": 4}
    builder.builtin("MAX_POOL_2D", [both], [small], padding=PADDING["VALID"], **window)
    content = builder.finish([x] if is_constant else [x, other], [small])
    inputs = [random.integers(-128, 128, (1, 16, 16, 8)).astype(np.int8)]
    if not is_constant:
        inputs.append(random.integers(-128, 128, (1, *_OPERANDS[name])).astype(np.int8))
    whole, least = _least(content)
    # A constant with lines of its own is read as a whole.
    has_lines = name in ("of pixels", "of lines", "whole")
    assert (least < whole) == (not (is_constant and has_lines))
    (out,) = c_model.run(content, inputs, arena=least, folder=tmp_path)
    given = [inputs[0], *(y.reshape(_OPERANDS[name]) for y in inputs[1:])]
    with larq_engine.Interpreter(content, host="none") as interpreter:
        expected = interpreter.predict(given if len(given) > 1 else given[0])
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("arena", [True, -1, 2.0, "16384"])
def test_arenas_that_are_no_bytes(arena: object) -> None:
    with pytest.raises(ValueError, match=r"arena: expected a number of bytes, such as 16384, got"):
        larq_engine.export_c(b"not read", arena=arena)


def test_numbers_of_numpy_are_bytes() -> None:
    content, _ = _pooled()
    assert larq_engine.export_c(content, arena=np.int64(_WHOLE)).arena_bytes <= _WHOLE
