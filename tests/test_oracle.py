"""The oracle against TensorFlow Lite's builtin operators, which share nothing with this project."""

import itertools

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter as StockInterpreter

from tests import oracle
from tests.model_builder import ACTIVATION, PADDING, ModelBuilder
from tests.oracle import Conv


def run_stock(model: bytes, x: np.ndarray) -> np.ndarray:
    interpreter = StockInterpreter(model_content=model)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def builtin_convolution(conv: Conv, x: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """Computes CONV_2D, which pads with zero; given pads are a PAD before it."""
    builder = ModelBuilder()
    x_tensor = source = builder.tensor(conv.input_shape)
    padding = conv.padding
    if not isinstance(padding, str):
        pads = np.array([(0, 0), *padding, (0, 0)], np.int32)
        x_tensor = builder.tensor([n + sum(p) for n, p in zip(conv.input_shape, pads, strict=True)])
        builder.builtin("PAD", [source, builder.constant(pads)], [x_tensor])
        padding = "VALID"
    result = builder.tensor(conv.output_shape)
    bias = builder.constant(np.zeros(conv.channels_out, np.float32))
    builder.builtin(
        "CONV_2D",
        [x_tensor, builder.constant(filters), bias],
        [result],
        padding=PADDING[padding],
        strideH=conv.stride[0],
        strideW=conv.stride[1],
        dilationHFactor=conv.dilation[0],
        dilationWFactor=conv.dilation[1],
        fusedActivationFunction=ACTIVATION[conv.activation],
    )
    return run_stock(builder.finish([source], [result]), x)


@pytest.mark.parametrize("kernel", [(1, 1), (3, 3), (2, 5), (7, 7)])
@pytest.mark.parametrize("padding", ["SAME", "VALID", ((0, 3), (8, 1))], ids=str)
def test_convolution_equals_builtin(kernel, padding, rng):
    checked = 0
    for size, stride, dilation, groups in itertools.product(
        [(9, 10), (3, 2), (1, 1)], [(1, 1), (2, 3)], [(1, 1), (3, 2)], [1, 2]
    ):
        conv = Conv((2, *size, 8), kernel, 6, groups, stride, dilation, padding, pad_value=0)
        if 0 in conv.output_shape:
            continue
        x = oracle.signs(rng.standard_normal(conv.input_shape))
        filters = oracle.signs(rng.standard_normal(conv.filter_shape))
        zero_padded = builtin_convolution(conv, x, filters)
        np.testing.assert_array_equal(oracle.dot_products(conv, x, filters), zero_padded)
        checked += 1
        # Padding with v adds v times the filter's values that lie outside of the image. These are
        # all values less those that a convolution of an image of ones adds up.
        inside = builtin_convolution(conv, np.ones_like(x), filters)
        outside = filters.sum(axis=(1, 2, 3)) - inside
        for value in (1, -1):
            padded = Conv(**{**vars(conv), "pad_value": value})
            got = oracle.dot_products(padded, x, filters)
            expected = zero_padded + (0 if padding == "VALID" else value * outside)
            np.testing.assert_array_equal(got, expected)
    assert checked >= {"SAME": 24}.get(padding, 4)


@pytest.mark.parametrize("activation", ACTIVATION)
def test_activation_equals_builtin(activation, rng):
    conv = Conv((1, 5, 5, 4), (2, 2), 3, pad_value=0, activation=activation)
    x = oracle.signs(rng.standard_normal(conv.input_shape))
    filters = oracle.signs(rng.standard_normal(conv.filter_shape))
    dots = oracle.dot_products(conv, x, filters)
    got = oracle.float_output(dots, activation, np.ones(3), np.zeros(3))
    np.testing.assert_array_equal(got, builtin_convolution(conv, x, filters))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_max_pool_equals_builtin(padding, rng):
    for size, window, stride in itertools.product(
        [(7, 6), (3, 3)], [(1, 1), (2, 3), (3, 3)], [(1, 1), (2, 3)]
    ):
        x = rng.standard_normal((2, *size, 5)).astype(np.float32)
        got = oracle.max_pool(x, window, stride, padding)
        builder = ModelBuilder()
        source, result = builder.tensor(x.shape), builder.tensor(got.shape)
        builder.builtin(
            "MAX_POOL_2D",
            [source],
            [result],
            padding=PADDING[padding],
            strideH=stride[0],
            strideW=stride[1],
            filterHeight=window[0],
            filterWidth=window[1],
        )
        np.testing.assert_array_equal(got, run_stock(builder.finish([source], [result]), x))


def test_bits_are_packed_from_the_lowest_with_zero_tail():
    x = np.ones((1, 35), np.float32)
    x[0, [0, 31, 33]] = -1
    np.testing.assert_array_equal(oracle.pack_bits(x), [[1 - 2**31, 2]])


def test_unpack_reverses_pack_and_rejects_a_dirty_tail(rng):
    x = oracle.signs(rng.standard_normal((3, 70)))
    words = oracle.pack_bits(x)
    np.testing.assert_array_equal(oracle.unpack_bits(words, 70), x)
    words[1, 2] |= 1 << 6
    with pytest.raises(AssertionError, match="bits past channel 70"):
        oracle.unpack_bits(words, 70)


def test_signs_of_special_values():
    x = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, -1e-45], np.float32)
    np.testing.assert_array_equal(oracle.signs(x), [1, 1, 1, 1, -1, -1])


def test_check_int8_rejects_a_wrong_rounding():
    oracle.check_int8(np.array([3, -128, 127]), np.array([2.5, -500.0, 500.0]), 1.0, 0)
    with pytest.raises(AssertionError, match="steps from the unrounded value"):
        oracle.check_int8(np.array([2]), np.array([2.6]), 1.0, 0)


def test_threshold_is_compared_with_the_number_of_different_bits():
    # 3 of 9 products are -1: the dot product is 3, and 3 bits differ.
    got = oracle.threshold_bits(np.array([3, 3, 3]), 9, np.array([2, 3, -(2**31)]))
    np.testing.assert_array_equal(got, [-1, 1, -1])
