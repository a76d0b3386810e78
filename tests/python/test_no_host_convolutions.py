"""Convolutions of floats without a host: all sums are of few bits, and equal to LiteRT's."""

from typing import Any

import numpy as np
import pytest

import larq_engine
from tests.model_builder import ACTIVATION, PADDING, ModelBuilder
from tests.no_host import Array, check_equal, run_alone


def _quarters(rng: np.random.Generator, *shape: int) -> Array:
    return (rng.integers(-8, 9, shape) / 4).astype(np.float32)


def _model(
    op: str,
    weights: Array,
    channels: int,
    bias: Array,
    *,
    size: int = 9,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    **options: Any,
) -> bytes:
    """Builds a model of one convolution of images of any size."""
    builder = ModelBuilder()
    x = builder.tensor((1, size, size, channels), signature=(-1, -1, -1, channels))
    y = builder.tensor((1, 1, 1, len(bias)), signature=(-1, -1, -1, len(bias)))
    inputs = [x, builder.constant(weights), builder.constant(bias)]
    if op == "DEPTHWISE_CONV_2D":
        options.setdefault("depthMultiplier", weights.shape[3] // channels)
    builder.builtin(
        op,
        inputs,
        [y],
        padding=PADDING[padding],
        strideH=stride[0],
        strideW=stride[1],
        dilationHFactor=dilation[0],
        dilationWFactor=dilation[1],
        fusedActivationFunction=ACTIVATION[activation],
        **options,
    )
    return builder.finish([x], [y])


_WINDOWS: list[dict[str, Any]] = [
    {},
    {"stride": (2, 1), "padding": "VALID", "activation": "RELU"},
    {"dilation": (2, 2)},
    {"dilation": (1, 3), "padding": "VALID", "activation": "RELU6"},
    {"dilation": (3, 1), "stride": (1, 2), "activation": "RELU_N1_TO_1"},
    {"dilation": (7, 9)},  # most taps are outside the image
]


@pytest.mark.parametrize("window", _WINDOWS)
@pytest.mark.parametrize(
    ("channels", "filters"),
    [
        (3, (24, 3, 3, 3)),
        (16, (8, 2, 3, 16)),
        (16, (8, 3, 3, 4)),
        (15, (20, 1, 3, 3)),
        (6, (6, 3, 2, 1)),
        (64, (70, 1, 1, 32)),
    ],
)
def test_convolutions(rng, channels, filters, window):
    weights, bias = _quarters(rng, *filters), _quarters(rng, filters[0])
    model = _model("CONV_2D", weights, channels, bias, **window)
    for images, height, width in [(1, 9, 11), (3, 17, 60), (17, 9, 9)]:
        check_equal(model, [_quarters(rng, images, height, width, channels)])


@pytest.mark.parametrize("window", _WINDOWS)
@pytest.mark.parametrize(("channels", "multiplier"), [(1, 1), (5, 1), (16, 1), (3, 4), (48, 2)])
def test_depthwise_convolutions(rng, channels, multiplier, window):
    made = channels * multiplier
    weights, bias = _quarters(rng, 1, 3, 2, made), _quarters(rng, made)
    model = _model("DEPTHWISE_CONV_2D", weights, channels, bias, **window)
    for images, height, width in [(1, 9, 11), (3, 17, 60), (17, 9, 9)]:
        check_equal(model, [_quarters(rng, images, height, width, channels)])


def test_groups_between_layers_in_groups(rng):
    """Parts of an image, each of which is convolved in groups, are convolved in one step."""
    builder = ModelBuilder()
    x = builder.tensor((2, 5, 6, 8))
    parts, made = ([builder.tensor((2, 5, 6, 4)) for _ in range(2)] for _ in range(2))
    builder.builtin("SPLIT", [builder.constant(np.array(3, np.int32)), x], parts, numSplits=2)
    for part, result in zip(parts, made, strict=True):
        weights, bias = _quarters(rng, 4, 3, 3, 2), _quarters(rng, 4)
        operands = [part, builder.constant(weights), builder.constant(bias)]
        builder.builtin("CONV_2D", operands, [result], strideH=1, strideW=1)
    y = builder.tensor((2, 5, 6, 8))
    builder.builtin("CONCATENATION", made, [y], axis=3)
    check_equal(builder.finish([x], [y]), [_quarters(rng, 2, 5, 6, 8)])


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_special_values_reach_the_windows_that_have_them(rng, special):
    weights = np.maximum(_quarters(rng, 6, 3, 3, 2), 0.25)
    x = _quarters(rng, 1, 12, 12, 4)
    x[0, 4, 5, 1] = special
    model = _model("CONV_2D", weights, 4, _quarters(rng, 6), dilation=(2, 2), size=12)
    check_equal(model, [x])


def test_images_without_pixels(rng):
    model = _model("CONV_2D", _quarters(rng, 6, 3, 3, 2), 4, _quarters(rng, 6), dilation=(2, 2))
    assert run_alone(model, [np.zeros((0, 9, 9, 4), np.float32)])[0].shape == (0, 9, 9, 6)


@pytest.mark.parametrize(
    ("op", "filters", "channels", "options"),
    [
        ("CONV_2D", (8, 3, 3, 3), 16, {}),  # no number of groups
        ("CONV_2D", (6, 3, 3, 4), 16, {}),  # 4 groups of 6 filters
        ("CONV_2D", (8, 3, 3, 4), 16, {"dilation": (0, 1)}),
        ("CONV_2D", (8, 3, 3, 4), 16, {"dilation": (1 << 23, 1)}),
        ("DEPTHWISE_CONV_2D", (1, 3, 3, 8), 8, {"dilation": (-1, 1)}),
        ("DEPTHWISE_CONV_2D", (1, 3, 3, 8), 3, {"dilation": (2, 2), "depthMultiplier": 3}),
    ],
)
def test_forms_that_are_refused(rng, op, filters, channels, options):
    bias = _quarters(rng, filters[3 if op == "DEPTHWISE_CONV_2D" else 0])
    content = _model(op, _quarters(rng, *filters), channels, bias, **options)
    expected = f"computes by itself, got {op} 't1'|the file is corrupted"
    with pytest.raises(ValueError, match=expected):
        larq_engine.Interpreter(content, host="none")


def test_images_that_are_too_small_for_a_dilated_window(rng):
    weights, bias = _quarters(rng, 6, 3, 3, 2), _quarters(rng, 6)
    model = _model("CONV_2D", weights, 4, bias, dilation=(4, 4), padding="VALID")
    with pytest.raises(ValueError, match="got shape \\[1, 8, 8, 4\\]; feed larger images"):
        run_alone(model, [_quarters(rng, 1, 8, 8, 4)])


def _transposed(
    x: Array,
    weights: Array,
    size: tuple[int, int],
    bias: Array | None,
    *,
    stride: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    batch: int | None = None,
    scales: tuple[float, Array, float] | None = None,
) -> bytes:
    """Builds a model of one TRANSPOSE_CONV; int8 has the scales of input, weights and output."""
    builder = ModelBuilder()
    shape = (x.shape[0] if batch is None else batch, *size, len(weights))
    given, filters, made = {}, {}, {}
    if scales is not None:
        given, made = ({"scale": scale, "zero_point": 3} for scale in (scales[0], scales[2]))
        filters = {"scale": scales[1], "zero_point": [0] * len(scales[1])}
    image = builder.tensor(x.shape, x.dtype, **given)
    y = builder.tensor(shape, x.dtype, **made)
    inputs = [builder.constant(np.array(shape, np.int32)), builder.constant(weights, **filters)]
    inputs.append(image)
    if bias is not None:
        own = {}
        if scales is not None:
            own = {"scale": scales[1] * np.float32(scales[0]), "zero_point": [0] * len(scales[1])}
        inputs.append(builder.constant(bias, **own))
    builder.builtin(
        "TRANSPOSE_CONV",
        inputs,
        [y],
        padding=PADDING[padding],
        strideH=stride[0],
        strideW=stride[1],
    )
    return builder.finish([image], [y])


_TRANSPOSED: list[tuple[tuple[int, int], tuple[int, int], str]] = [
    ((3, 3), (2, 2), "SAME"),
    ((2, 2), (2, 2), "VALID"),
    ((4, 4), (2, 2), "SAME"),
    ((1, 1), (1, 1), "VALID"),
    ((5, 3), (1, 2), "VALID"),
    ((1, 2), (3, 3), "SAME"),  # pixels that no tap reaches
    ((2, 7), (3, 1), "VALID"),
]


def _sizes(
    image: tuple[int, int], taps: tuple[int, int], stride: tuple[int, int], padding: str
) -> list[tuple[int, int]]:
    """Returns the least and the greatest size of an output."""
    least, most = [], []
    for pixels, tap, step in zip(image, taps, stride, strict=True):
        first = (pixels - 1) * step + (1 if padding == "SAME" else tap)
        least.append(first)
        most.append(first + step - 1)
    return [(least[0], least[1]), (most[0], most[1])]


@pytest.mark.parametrize(("taps", "stride", "padding"), _TRANSPOSED)
@pytest.mark.parametrize(("channels", "made"), [(1, 1), (3, 70), (16, 5)])
def test_transposed_convolutions(rng, channels, made, taps, stride, padding):
    for images, height, width in [(1, 4, 5), (3, 7, 30), (17, 2, 1)]:
        for size in _sizes((height, width), taps, stride, padding):
            for has_bias in (False, True):
                x, weights = (
                    _quarters(rng, images, height, width, channels),
                    _quarters(rng, made, *taps, channels),
                )
                bias = _quarters(rng, made) if has_bias else None
                how = {"stride": stride, "padding": padding}
                check_equal(_transposed(x, weights, size, bias, **how), [x])


@pytest.mark.parametrize(
    ("taps", "stride", "padding"), [row for row in _TRANSPOSED if row[0] >= row[1]]
)
@pytest.mark.parametrize(("channels", "made"), [(1, 1), (3, 70), (16, 5)])
def test_transposed_convolutions_of_bytes(rng, channels, made, taps, stride, padding):
    for images, height, width in [(1, 4, 5), (3, 7, 30)]:
        for size in _sizes((height, width), taps, stride, padding):
            x = rng.integers(-128, 128, (images, height, width, channels)).astype(np.int8)
            weights = rng.integers(-128, 128, (made, *taps, channels)).astype(np.int8)
            bias = rng.integers(-20_000, 20_000, made).astype(np.int32)
            scales = rng.uniform(0.001, 0.01, made).astype(np.float32)
            step = float(np.float32(0.02 * scales.mean() * 75 * np.sqrt(channels * 4)))
            how = {"stride": stride, "padding": padding, "scales": (0.02, scales, step)}
            check_equal(_transposed(x, weights, size, bias, **how), [x])


def test_a_transposed_convolution_takes_any_batch(rng):
    """A host computes the batch that the file says and no other."""
    x, weights = _quarters(rng, 5, 3, 4, 2), _quarters(rng, 3, 3, 3, 2)
    model = _transposed(x, weights, (6, 8), None, stride=(2, 2))
    other = _transposed(x, weights, (6, 8), None, stride=(2, 2), batch=1)
    np.testing.assert_array_equal(run_alone(other, [x])[0], run_alone(model, [x])[0])


def test_a_transposed_convolution_of_another_size_is_refused(rng):
    x, weights = _quarters(rng, 1, 3, 4, 2), _quarters(rng, 3, 3, 3, 2)
    model = _transposed(x, weights, (6, 8), None, stride=(2, 2))
    with pytest.raises(ValueError, match=r"images of 3 x 4 x 2, .* got shape \[1, 3, 5, 2\]"):
        run_alone(model, [_quarters(rng, 1, 3, 5, 2)])


def test_transposed_convolutions_that_are_refused(rng):
    x, weights = _quarters(rng, 1, 3, 4, 2), _quarters(rng, 3, 3, 3, 2)
    small, scales = np.ones((3, 1, 1, 2), np.int8), (0.5, np.full(3, 0.5, np.float32), 0.5)
    for content in (
        _transposed(x, weights, (6, 8), None, stride=(0, 2)),
        _transposed(x, weights, (0, 8), None, stride=(2, 2)),
        _transposed(x, weights, (6, 8), _quarters(rng, 4), stride=(2, 2)),
        _transposed(x, _quarters(rng, 3, 3, 3, 3), (6, 8), None, stride=(2, 2)),
        _transposed(x, weights.astype(np.float16), (6, 8), None, stride=(2, 2)),
        # Pixels that no tap reaches.
        _transposed(
            x.astype(np.int8), small, (6, 8), np.ones(3, np.int32), stride=(2, 2), scales=scales
        ),
    ):
        with pytest.raises(ValueError, match=r"got TRANSPOSE_CONV 't|the file is corrupted"):
            larq_engine.Interpreter(content, host="none")
