"""LCE's own test grids for its four operators, against the oracle instead of its C++ tests.

One test is one input shape and one kernel; it loops over the rest, and its message names the case.
"""

import itertools

import numpy as np
import pytest

import larq_engine
from tests import oracle, samples
from tests.kernels.lce_cases import check_conv, generator
from tests.model_builder import ModelBuilder, add_quantize, bmaxpool_model, packed_shape
from tests.oracle import Conv

_PADDINGS = {"VALID": ("VALID", 0), "SAME_ZERO": ("SAME", 0), "SAME_ONE": ("SAME", 1)}


def _exists(conv: Conv) -> bool:
    """Tells whether the case is valid.

    Groups have 32 channels or a multiple of 32, and VALID windows must fit the image.
    """
    per_group = conv.channels_in / conv.groups
    whole = conv.groups == 1 or (per_group % 32 == 0 and conv.channels_out % conv.groups == 0)
    return whole and 0 not in conv.output_shape


def _check_all(convs, request, activations=("NONE",)) -> None:
    seed = request.config.getoption("--seed")
    existing = [conv for conv in convs if _exists(conv)]
    for conv in [c for c in existing if samples.takes(request.config, c)] or existing[:1]:
        check_conv(conv, seed, activations=activations)


@pytest.mark.parametrize("channels", [4, 64, 96, 128, 192, 256])
def test_bconv_small(channels, request):
    kernels = [(1, 1, 1), (3, 3, 4), (3, 3, 64)]
    _check_all(
        (
            Conv((1, 4, 4, channels), (h, w), n, groups, padding=padding, pad_value=value)
            for (h, w, n), groups, (padding, value) in itertools.product(
                kernels, [1, 2], [_PADDINGS["VALID"], _PADDINGS["SAME_ONE"]]
            )
        ),
        request,
    )


@pytest.mark.parametrize("padding", _PADDINGS)
def test_bconv_deeper_than_16_bits(padding, request):
    name, value = _PADDINGS[padding]
    conv = Conv((1, 6, 6, 3072), (5, 5), 4, padding=name, pad_value=value)
    assert conv.depth > 2**16
    check_conv(conv, request.config.getoption("--seed"), activations=("NONE", "RELU"))


_BIG_INPUTS = [
    (1, 7, 7, 4),
    (3, 8, 5, 64),
    (5, 7, 7, 96),
    (1, 8, 5, 128),
    (1, 7, 7, 192),
    (1, 8, 5, 256),
    (1, 7, 7, 512),
]
_BIG_KERNELS = [
    (1, 1, 1),
    (3, 3, 1),
    (2, 3, 2),
    (1, 1, 3),
    (3, 3, 4),
    (2, 3, 5),
    (1, 1, 6),
    (3, 3, 7),
    (2, 3, 32),
]


def _big_convs(shape, kernel):
    height, width, channels = kernel
    for groups, stride, dilation, (padding, value) in itertools.product(
        [1, 2, 4], [(1, 1), (2, 3)], [(1, 1), (3, 2)], _PADDINGS.values()
    ):
        yield Conv(shape, (height, width), channels, groups, stride, dilation, padding, value)


@pytest.mark.parametrize("kernel", _BIG_KERNELS, ids=lambda k: "x".join(map(str, k)))
@pytest.mark.parametrize("shape", _BIG_INPUTS, ids=lambda s: "x".join(map(str, s)))
def test_bconv_big(shape, kernel, request):
    _check_all(_big_convs(shape, kernel), request, activations=("NONE", "RELU"))


def test_the_grid_and_its_sample(request):
    """The grid has LCE's size, and its sample has every value of every parameter."""
    grid = [
        conv
        for shape, kernel in itertools.product(_BIG_INPUTS, _BIG_KERNELS)
        for conv in _big_convs(shape, kernel)
    ]
    activations, threads = 2, 2
    assert len(grid) * activations * threads == 9072
    existing = [conv for conv in grid if _exists(conv)]
    sample = [conv for conv in existing if samples.takes(request.config, conv)]
    for name in vars(grid[0]):
        values = {getattr(conv, name) for conv in existing}
        assert {getattr(conv, name) for conv in sample} == values, name


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(
    "shape",
    [(1, 7, 7, 1), (1, 8, 5, 1), (2, 7, 7, 64), (2, 8, 5, 64), (1, 7, 7, 130), (1, 8, 5, 200)],
    ids=lambda s: "x".join(map(str, s)),
)
def test_bmaxpool(shape, padding, request):
    for window, stride in itertools.product(
        [(1, 1), (2, 2), (2, 3), (3, 3)], [(1, 1), (2, 2), (2, 3)]
    ):
        rng = generator((shape, window, stride), request.config.getoption("--seed"))
        x = rng.standard_normal(shape).astype(np.float32)
        expected = oracle.max_pool(oracle.signs(x), window, stride, padding)
        model = bmaxpool_model(shape, expected.shape, window, stride, padding)
        for threads in (1, 2):
            got = larq_engine.Interpreter(model, num_threads=threads).predict(x)
            np.testing.assert_array_equal(
                oracle.unpack_bits(got, shape[3]), expected, err_msg=f"{window=} {stride=}"
            )


_QUANTIZE_SHAPES = [
    (1, 1, 1, 1),
    (1, 7, 7, 1),
    (3, 2, 5, 2),
    (1, 7, 7, 31),
    (2, 4, 3, 32),
    (1, 8, 5, 33),
    (1, 7, 7, 64),
    (2, 3, 2, 68),
]


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_])
@pytest.mark.parametrize("shape", _QUANTIZE_SHAPES, ids=lambda s: "x".join(map(str, s)))
def test_dequantize_reverses_quantize(shape, dtype, rng):
    signs = oracle.signs(rng.standard_normal(shape))
    for zero_point, scale in [(0, 1.0)] if dtype != np.int8 else [(0, 1.0), (23, 0.5), (-127, 2.0)]:
        builder = ModelBuilder()
        named = {"scale": scale, "zero_point": zero_point} if dtype == np.int8 else {}
        x = builder.tensor(shape, dtype, name="x", **named)
        bits = add_quantize(builder, x, shape)
        y = builder.tensor(shape, dtype, name="y", **named)
        builder.custom("LceDequantize", [bits], [y])
        interpreter = larq_engine.Interpreter(builder.finish([x], [bits, y]))
        if dtype == np.bool_:
            data = signs > 0
        else:
            # Halves round away from zero, as the kernels round 1 / scale.
            step = np.floor(1 / scale + 0.5) if dtype == np.int8 else 1
            data = np.clip(zero_point + step * signs, -128, 127).astype(dtype)
        packed, back = interpreter.predict(data)
        assert packed.shape == packed_shape(shape)
        np.testing.assert_array_equal(packed, oracle.pack_bits(signs))
        np.testing.assert_array_equal(back, data)
