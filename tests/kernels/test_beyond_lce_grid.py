"""Tests what LCE's grids leave out, and cases in which LCE itself refuses or is wrong.

Images smaller than the kernel, zero and minus-one padding with every output, groups in every
kernel, every activation, batches, resizes, special values, exact rounding.
"""

import itertools

import numpy as np
import pytest

import larq_engine
from tests import oracle, samples
from tests.kernels.lce_cases import KERNELS, ConvCase, check_conv
from tests.model_builder import (
    ACTIVATION,
    ModelBuilder,
    add_quantize,
    bconv_model,
    bmaxpool_model,
)
from tests.oracle import Conv

_PAD_VALUES = {"ZERO": 0, "ONE": 1, "MINUS_ONE": -1}


@pytest.mark.parametrize("pad", _PAD_VALUES)
@pytest.mark.parametrize("size", [(1, 1), (2, 1), (2, 2), (3, 4)], ids=lambda s: f"{s[0]}x{s[1]}")
def test_images_smaller_than_the_kernel(size, pad, request):
    seed = request.config.getoption("--seed")
    cases = [
        Conv((2, *size, 36), kernel, 5, 1, stride, dilation, "SAME", _PAD_VALUES[pad])
        for kernel, stride, dilation in itertools.product(
            [(3, 3), (5, 5), (7, 2)], [(1, 1), (2, 2), (2, 1)], [(1, 1), (2, 3)]
        )
    ]
    for conv in [c for c in cases if samples.takes(request.config, c, one_in=3)] or cases[:1]:
        check_conv(conv, seed, activations=ACTIVATION)


# Given pads of height and width: unequal ones, none on one side, and more than the filter has taps.
_PADS = [((1, 1), (1, 1)), ((0, 1), (2, 0)), ((0, 0), (3, 0)), ((9, 1), (2, 8))]


@pytest.mark.parametrize("value", _PAD_VALUES)
@pytest.mark.parametrize("pads", _PADS, ids=str)
def test_given_pads(pads, value, request):
    seed = request.config.getoption("--seed")
    cases = [
        Conv((2, *size, 64), kernel, 6, groups, stride, dilation, pads, _PAD_VALUES[value])
        for size, kernel, groups, stride, dilation in itertools.product(
            [(1, 1), (6, 5), (9, 10)],
            [(3, 3), (5, 5), (7, 2)],
            [1, 2],
            [(1, 1), (2, 2), (3, 2)],
            [(1, 1), (2, 3)],
        )
    ]
    cases = [conv for conv in cases if 0 not in conv.output_shape]
    for conv in [c for c in cases if samples.takes(request.config, c)]:
        check_conv(conv, seed, activations=("RELU6",))


@pytest.mark.parametrize("pad", _PAD_VALUES)
def test_every_activation_with_every_padding_and_output(pad, request):
    conv = Conv((2, 6, 7, 70), (3, 3), 37, pad_value=_PAD_VALUES[pad])
    check_conv(conv, request.config.getoption("--seed"), activations=ACTIVATION)


@pytest.mark.parametrize("pad", _PAD_VALUES)
@pytest.mark.parametrize(
    ("channels", "groups"), [(64, 2), (96, 3), (128, 2), (128, 4), (192, 2), (256, 8)]
)
def test_groups(channels, groups, pad, request):
    seed = request.config.getoption("--seed")
    cases = [
        Conv((2, 5, 4, channels), kernel, outputs * groups, groups, stride, dilation, "SAME",
             _PAD_VALUES[pad])
        for kernel, outputs, stride, dilation in itertools.product(
            [(1, 1), (3, 3), (2, 5)], [1, 3, 8], [(1, 1), (2, 1)], [(1, 1), (1, 2)]
        )
    ]  # fmt: skip
    for conv in [c for c in cases if samples.takes(request.config, c)] or cases[:1]:
        check_conv(conv, seed, activations=("RELU",))


@pytest.mark.parametrize("pad", _PAD_VALUES)
@pytest.mark.parametrize("bits_in", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("bits_weights", [1, 2, 4, 7, 8])
def test_values_and_weights_of_several_bits(bits_in, bits_weights, pad, request):
    seed = request.config.getoption("--seed")
    cases = [
        Conv((2, 6, 5, channels), kernel, 9 * groups, groups, stride, dilation, padding,
             _PAD_VALUES[pad], bits_in=bits_in, bits_weights=bits_weights)
        for (channels, groups), kernel, stride, dilation, padding in itertools.product(
            [(1, 1), (40, 1), (64, 2)], [(1, 1), (3, 3)], [(1, 1), (2, 1)], [(1, 1), (1, 2)],
            ["SAME", ((1, 2), (0, 3))],
        )
    ]  # fmt: skip
    for conv in [c for c in cases if samples.takes(request.config, c, one_in=12)] or cases[:1]:
        check_conv(conv, seed, activations=("RELU6",))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("pad", _PAD_VALUES)
def test_bytes(pad, kernel, rng):
    """A uint8 image has the values 2 * x - 255."""
    for channels, size in ((1, 28), (3, 9), (40, 5), (784, 1)):
        conv = Conv((2, size, size, channels), (min(size, 3),) * 2, 70, pad_value=_PAD_VALUES[pad],
                    bits_in=8)  # fmt: skip
        case = ConvCase(conv, rng)
        case.limits = None
        image = rng.integers(0, 256, conv.input_shape).astype(np.uint8)
        dots = oracle.dot_products(conv, 2 * image.astype(np.float32) - 255, case.filters)
        case.check(
            larq_engine.Interpreter(case.model(np.uint8), kernel=kernel).predict(image), dots
        )


def _random_padding(rng: np.random.Generator) -> str | tuple:
    kind = rng.integers(0, 3)
    if kind < 2:
        return ("SAME", "VALID")[kind]
    return tuple(tuple(map(int, pads)) for pads in rng.integers(0, 7, (2, 2)))


def test_random_geometries(request, rng):
    """Every size and option varies at once, which no grid covers."""
    seed = request.config.getoption("--seed")
    for _ in range(1000 if request.config.getoption("--full") else 60):
        groups = int(rng.choice([1, 1, 2, 3]))
        channels = int(rng.integers(1, 150)) if groups == 1 else 32 * groups * rng.integers(1, 4)
        conv = Conv(
            (int(rng.integers(1, 4)), *map(int, rng.integers(1, 12, 2)), int(channels)),
            tuple(map(int, rng.integers(1, 6, 2))),
            groups * int(rng.integers(1, 20)),
            groups,
            tuple(map(int, rng.integers(1, 4, 2))),
            tuple(map(int, rng.integers(1, 4, 2))),
            _random_padding(rng),
            int(rng.integers(-1, 2)),
            bits_in=int(rng.choice([1, 1, 1, 2, 3, 6])),
            bits_weights=int(rng.choice([1, 1, 1, 2, 4, 8])),
        )
        if 0 in conv.output_shape:
            conv = Conv(**{**vars(conv), "padding": "SAME"})
        check_conv(conv, seed, activations=[str(rng.choice(list(ACTIVATION)))])


@pytest.mark.parametrize("padding", ["SAME", ((0, 2), (2, 1))], ids=str)
@pytest.mark.parametrize("pad", _PAD_VALUES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_resize_after_run_with_every_output(kernel, pad, padding, rng):
    value = _PAD_VALUES[pad]
    first = Conv((1, 6, 5, 40), (3, 3), 35, stride=(2, 1), padding=padding, pad_value=value)
    case = ConvCase(first, rng)
    interpreter = larq_engine.Interpreter(case.model(), kernel=kernel)
    for shape in [(1, 6, 5, 40), (3, 2, 2, 40), (1, 1, 1, 40), (2, 17, 20, 40), (1, 6, 5, 40)]:
        interpreter.resize([shape])
        x = rng.standard_normal(shape).astype(np.float32)
        conv = Conv(**{**vars(first), "input_shape": shape})
        dots = oracle.dot_products(conv, oracle.signs(x), case.filters)
        case.check(interpreter.predict(x), dots)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("sign", [1, -1])
def test_all_bits_equal_or_opposite(sign, kernel):
    """The extremes of every accumulator: plus and minus the whole depth."""
    for channels in (32, 64, 100, 3072):
        conv = Conv((1, 6, 6, channels), (5, 5), 3, padding="VALID")
        filters = np.full(conv.filter_shape, sign, np.float32)
        model = bconv_model(conv, filters, np.ones(3, np.float32), np.zeros(3, np.float32))
        got = larq_engine.Interpreter(model, kernel=kernel).predict(
            np.ones(conv.input_shape, np.float32)
        )
        np.testing.assert_array_equal(got, np.full(conv.output_shape, sign * conv.depth))


@pytest.mark.parametrize("kernel", KERNELS)
def test_int8_rounds_half_away_from_zero(kernel, rng):
    """Multiplier 1/2 puts every second dot product on a tie, both below zero and above."""
    conv = Conv((1, 9, 9, 33), (1, 1), 16)
    filters = oracle.signs(rng.standard_normal(conv.filter_shape))
    x = rng.standard_normal(conv.input_shape).astype(np.float32)
    half, zeros = np.full(16, 0.5, np.float32), np.zeros(16, np.float32)
    for zero_point in (0, 7, -100):
        model = bconv_model(conv, filters, half, zeros, outputs=["int8"], zero_point=zero_point)
        halves = oracle.dot_products(conv, oracle.signs(x), filters) / 2
        assert (halves % 1 == 0.5).any() and halves.min() < 0 < halves.max()
        away = np.sign(halves) * np.floor(np.abs(halves) + 0.5)
        got = larq_engine.Interpreter(model, kernel=kernel).predict(x)
        np.testing.assert_array_equal(got, np.clip(away + zero_point, -128, 127))


@pytest.mark.parametrize("kernel", KERNELS)
def test_int8_saturates(kernel):
    conv = Conv((1, 3, 3, 64), (1, 1), 2)
    filters = np.stack([np.ones((1, 1, 64)), -np.ones((1, 1, 64))]).astype(np.float32)
    large, zeros = np.full(2, 1e30, np.float32), np.zeros(2, np.float32)
    model = bconv_model(conv, filters, large, zeros, outputs=["int8"], scale=1e-3)
    got = larq_engine.Interpreter(model, kernel=kernel).predict(
        np.ones(conv.input_shape, np.float32)
    )
    np.testing.assert_array_equal(got[..., 0], np.full((1, 3, 3), 127))
    np.testing.assert_array_equal(got[..., 1], np.full((1, 3, 3), -128))


@pytest.mark.parametrize("op", ["LceBconv2d", "LceBConv2d"])
def test_both_spellings(op, rng):
    conv = Conv((1, 4, 4, 32), (3, 3), 4)
    filters = oracle.signs(rng.standard_normal(conv.filter_shape))
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    x = rng.standard_normal(conv.input_shape).astype(np.float32)
    got = larq_engine.Interpreter(bconv_model(conv, filters, ones, zeros, op=op)).predict(x)
    np.testing.assert_array_equal(got, oracle.dot_products(conv, oracle.signs(x), filters))


def _quantize(x: np.ndarray, **quantization) -> np.ndarray:
    builder = ModelBuilder()
    source = builder.tensor(x.shape, x.dtype, name="x", **quantization)
    bits = add_quantize(builder, source, x.shape)
    return larq_engine.Interpreter(builder.finish([source], [bits])).predict(x)


@pytest.mark.parametrize("channels", [7, 32, 129])
def test_special_floats_quantize_to_plus_one(channels):
    """-0.0 and NaN are not less than zero."""
    special = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-45, -1e-45], np.float32)
    signs = np.array([1, 1, 1, 1, 1, -1, 1, -1], np.float32)
    for shift in range(8):
        x = np.resize(np.roll(special, shift), (1, 3, channels))
        np.testing.assert_array_equal(
            _quantize(x), oracle.pack_bits(np.resize(np.roll(signs, shift), x.shape))
        )


@pytest.mark.parametrize("zero_point", [-128, -42, -1, 0, 23, 127])
def test_every_int8_value_is_compared_with_the_zero_point(zero_point, rng):
    x = rng.permutation(np.arange(-128, 128)).astype(np.int8).reshape(1, 2, 128)
    got = _quantize(x, scale=0.1, zero_point=zero_point)
    np.testing.assert_array_equal(got, oracle.pack_bits(oracle.signs(x, zero_point)))


@pytest.mark.parametrize("rank", [1, 2, 3, 5])
def test_quantize_and_dequantize_of_any_rank(rank, rng):
    shape = (*(1, 2, 2, 3)[: rank - 1], 45)
    x = rng.standard_normal(shape).astype(np.float32)
    builder = ModelBuilder()
    source, y = builder.tensor(shape, name="x"), builder.tensor(shape, name="y")
    builder.custom("LceDequantize", [add_quantize(builder, source, shape)], [y])
    interpreter = larq_engine.Interpreter(builder.finish([source], [y]))
    np.testing.assert_array_equal(interpreter.predict(x), oracle.signs(x))


def test_windows_larger_than_the_image_pool_it_whole(rng):
    for size, window, stride in itertools.product([1, 2, 3], [3, 5, 9], [1, 2, 4]):
        x = rng.standard_normal((2, size, size + 1, 40)).astype(np.float32)
        expected = oracle.max_pool(oracle.signs(x), (window, window), (stride, 1), "SAME")
        model = bmaxpool_model(x.shape, expected.shape, (window, window), (stride, 1), "SAME")
        got = larq_engine.Interpreter(model).predict(x)
        np.testing.assert_array_equal(oracle.unpack_bits(got, 40), expected)
