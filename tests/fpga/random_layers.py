"""Random layers of bits, alone in a model, as hardware may have them."""

import numpy as np

from tests.model_builder import ABSENT, ACTIVATION, PADDING, ModelBuilder, bconv_options
from tests.oracle import Conv, pack_bits, pack_planes

_ACTIVATIONS = ("NONE", "RELU", "RELU6", "RELU_N1_TO_1")
_CHANNELS = (1, 2, 3, 5, 8, 16, 31, 32, 33, 40, 64, 96, 128, 160, 256)

# A simulation of this many bits under all windows of an image takes seconds.
_MOST_WORK = 60_000


def random_layer(seed: int) -> tuple[bytes, int]:
    """Returns a model of one layer, and the cycles in which it should compute a pixel."""
    rng = np.random.default_rng(seed)
    if rng.random() < 0.1:
        return _pool(rng), 1
    return _layer(rng)


def _layer(rng: np.random.Generator) -> tuple[bytes, int]:
    while True:
        groups = 2 if rng.random() < 0.1 else 1
        channels = int(rng.choice([64, 128])) if groups == 2 else int(rng.choice(_CHANNELS))
        bits_in = int(rng.choice([2, 4, 8])) if groups == 1 and rng.random() < 0.15 else 1
        bits_weights = 2 if bits_in > 1 and rng.random() < 0.3 else 1
        taps = tuple(int(n) for n in rng.integers(1, 6, 2))
        strides = tuple(int(n) for n in rng.integers(1, 4, 2))
        dilation = tuple(int(n) for n in rng.integers(1, 3, 2)) if rng.random() < 0.2 else (1, 1)
        sizes = tuple(int(n) for n in rng.integers(1, 9, 2))
        padding = _padding(rng)
        outputs = groups * int(rng.choice([1, 3, 7, 10, 16, 33, 64]))
        positions = _positions(sizes, taps, strides, dilation, padding)
        work = min(positions) and (
            taps[0]
            * taps[1]
            * channels
            // groups
            * bits_in
            * bits_weights
            * outputs
            * positions[0]
            * positions[1]
        )
        if 0 < work <= _MOST_WORK:
            break
    conv = Conv(
        (1, *sizes, channels),
        taps,
        outputs,
        groups=groups,
        stride=strides,
        dilation=dilation,
        padding=padding,
        pad_value=int(rng.choice([1, 0, -1])),
        activation=str(rng.choice(_ACTIVATIONS)),
        bits_in=bits_in,
        bits_weights=bits_weights,
    )
    most = 2**bits_weights - 1
    odd = 2 * rng.integers(0, most + 1, (outputs, *taps, channels // groups)) - most
    filters = pack_planes(odd, bits_weights) if bits_weights > 1 else pack_bits(odd)
    depth = taps[0] * taps[1] * channels // groups * (2**bits_in - 1) * most
    builder = ModelBuilder()
    x = builder.tensor((1, *sizes, bits_in * -(-channels // 32)), np.int32)
    weights = builder.constant(filters)
    kind = rng.choice(["bits", "int8", "float32"])
    shape = (1, *positions, outputs)
    if kind == "bits":
        spread = max(1, int(np.sqrt(depth)))
        thresholds = (depth // 2 + rng.integers(-spread, spread + 1, outputs)).astype(np.int32)
        y = builder.tensor((*shape[:-1], -(-outputs // 32)), np.int32)
        inputs = [weights, ABSENT, ABSENT, builder.constant(thresholds)]
    else:
        scale = float(3 * np.sqrt(depth) / 100 * rng.uniform(0.5, 2))
        quantization = {"scale": scale, "zero_point": int(rng.integers(-128, 128))}
        y = builder.tensor(shape, np.dtype(kind).type, **(quantization if kind == "int8" else {}))
        multiplier = rng.uniform(-1.5, 1.5, outputs).astype(np.float32)
        bias = rng.normal(0, np.sqrt(depth), outputs).astype(np.float32)
        inputs = [weights, builder.constant(multiplier), builder.constant(bias), ABSENT]
    builder.custom("LceBconv2d", [x, *inputs], [y], bconv_options(conv))
    return builder.finish([x], [y]), int(rng.integers(1, outputs + 1))


def _padding(rng: np.random.Generator) -> str | tuple[tuple[int, int], tuple[int, int]]:
    if rng.random() < 0.3:
        pads = rng.integers(0, 4, 4)
        return (int(pads[0]), int(pads[1])), (int(pads[2]), int(pads[3]))
    return str(rng.choice(["SAME", "VALID"]))


def _positions(
    sizes: tuple[int, ...],
    taps: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    padding: str | tuple[tuple[int, int], tuple[int, int]],
) -> tuple[int, int]:
    found = []
    for d in (0, 1):
        extent = (taps[d] - 1) * dilations[d] + 1
        if padding == "SAME":
            found.append(-(-sizes[d] // strides[d]))
        else:
            pads = 0 if padding == "VALID" else sum(padding[d])
            found.append(max(0, (sizes[d] + pads - extent) // strides[d] + 1))
    return found[0], found[1]


def floats_between_layers(seed: int) -> bytes:
    """Returns a layer, a pool of its floats, a batch norm with either sign, and another layer."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder()
    x = builder.tensor((1, 6, 6, 1), np.int32)

    def weights(outputs: int, channels: int) -> int:
        return builder.constant(pack_bits(rng.choice([-1, 1], (outputs, 3, 3, channels))))

    def floats(low: float, high: float) -> int:
        signs = rng.choice([-1, 1], 16)
        return builder.constant((signs * rng.uniform(low, high, 16)).astype(np.float32))

    summed, pooled, scaled, normed = (
        builder.tensor((1, size, size, 16), np.float32) for size in (6, 3, 3, 3)
    )
    signs = builder.tensor((1, 3, 3, 1), np.int32)
    y = builder.tensor((1, 1, 1, 1), np.int32)
    first = Conv((1, 6, 6, 20), (3, 3), 16, padding="SAME", pad_value=0)
    inputs = [x, weights(16, 20), floats(0.5, 2), floats(0, 20), ABSENT]
    builder.custom("LceBconv2d", inputs, [summed], bconv_options(first))
    window = {"filterHeight": 2, "filterWidth": 2, "strideH": 2, "strideW": 2}
    builder.builtin("MAX_POOL_2D", [summed], [pooled], **window, padding=PADDING["VALID"])
    builder.builtin("MUL", [pooled, floats(0.1, 3)], [scaled])
    builder.builtin("ADD", [scaled, floats(0, 30)], [normed])
    builder.custom("LceQuantize", [normed], [signs])
    last = Conv((1, 3, 3, 16), (3, 3), 10, padding="VALID")
    thresholds = builder.constant(rng.integers(60, 84, 10).astype(np.int32))
    inputs = [signs, weights(10, 16), ABSENT, ABSENT, thresholds]
    builder.custom("LceBconv2d", inputs, [y], bconv_options(last))
    return builder.finish([x], [y])


def residual_layers(seed: int) -> bytes:
    """Returns a layer whose int8 results go through another layer and are added, at any scales."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder()
    channels = int(rng.choice([1, 5, 8]))
    shape = (1, 5, 5, channels)
    scales = rng.uniform(0.02, 0.3, 3)
    # A sum may be far beyond its range, so that the limits and the zero point matter.
    scales[2] = scales[:2].sum() * rng.uniform(0.2, 2)
    x, y, z, total = (
        builder.tensor(shape, np.int8, scale=float(scale), zero_point=int(rng.integers(-128, 128)))
        for scale in (scales[0], scales[0], scales[1], scales[2])
    )
    signs, more = (builder.tensor((1, 5, 5, 1), np.int32) for _ in range(2))

    def add_layer(source: int, target: int, pad_value: int) -> None:
        conv = Conv(shape, (3, 3), channels, padding="SAME", pad_value=pad_value)
        weights = builder.constant(pack_bits(rng.choice([-1, 1], (channels, 3, 3, channels))))
        numbers = [
            builder.constant((rng.normal(0, 1, channels) * scales[1] * 20).astype(np.float32))
            for _ in range(2)
        ]
        builder.custom(
            "LceBconv2d", [source, weights, *numbers, ABSENT], [target], bconv_options(conv)
        )

    builder.custom("LceQuantize", [x], [signs])
    add_layer(signs, y, 1)
    builder.custom("LceQuantize", [y], [more])
    add_layer(more, z, 0)
    activation = ACTIVATION[str(rng.choice(_ACTIVATIONS))]
    builder.builtin("ADD", [y, z], [total], fusedActivationFunction=activation)
    return builder.finish([x], [total])


def joined_layers(seed: int, dtype: type) -> bytes:
    """Returns two layers side by side, of different latencies, and one that reads both."""
    rng = np.random.default_rng(seed)
    builder = ModelBuilder()
    channels = (64, int(rng.choice([5, 32])))
    is_int8 = dtype is np.int8
    scale = {"scale": 0.5, "zero_point": 3} if is_int8 else {}

    def image(channels: int) -> int:
        size = channels if is_int8 else -(-channels // 32)
        return builder.tensor((1, 5, 5, size), dtype, **scale)

    def add_layer(source: int, target: int, taps: int, depth: int, outputs: int) -> None:
        conv = Conv((1, 5, 5, depth), (taps, taps), outputs, padding="SAME", pad_value=1)
        weights = builder.constant(pack_bits(rng.choice([-1, 1], (outputs, taps, taps, depth))))
        last = [ABSENT, ABSENT, ABSENT]
        if is_int8:
            last[:2] = [builder.constant(np.full(outputs, n, np.float32)) for n in (0.5, 1)]
        else:
            last[2] = builder.constant(np.full(outputs, taps * taps * depth // 2, np.int32))
        builder.custom("LceBconv2d", [source, weights, *last], [target], bconv_options(conv))

    x = builder.tensor((1, 5, 5, 1), np.int32)
    parts, joined = [image(number) for number in channels], image(sum(channels))
    for part, taps, outputs in zip(parts, (3, 1), channels, strict=True):
        add_layer(x, part, taps, 32, outputs)
    builder.builtin("CONCATENATION", parts, [joined], axis=-1)
    if is_int8:
        return builder.finish([x], [joined])
    y = image(16)
    add_layer(joined, y, 3, sum(channels), 16)
    return builder.finish([x], [y])


def rows_of_windows() -> bytes:
    """Returns a layer of one tap, and one whose windows are 7 pixels of a row."""
    rng = np.random.default_rng(1)
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 16, 16, 1), np.int32) for _ in range(3))
    for source, target, taps in ((x, y, 1), (y, z, 7)):
        conv = Conv((1, 16, 16, 32), (1, taps), 32, padding="SAME", pad_value=1)
        weights = builder.constant(pack_bits(rng.choice([-1, 1], (32, 1, taps, 32))))
        thresholds = builder.constant(np.full(32, 16 * taps, np.int32))
        inputs = [source, weights, ABSENT, ABSENT, thresholds]
        builder.custom("LceBconv2d", inputs, [target], bconv_options(conv))
    return builder.finish([x], [z])


def one_channel(taps: int, threshold: int) -> bytes:
    """Returns a pool and a layer of one channel each, with a threshold that may be out of reach."""
    builder = ModelBuilder()
    size = 5 - taps
    x, pooled, y = (builder.tensor((1, n, n, 1), np.int32) for n in (4, size, size))
    options = {"filter_height": taps, "filter_width": taps, "padding": PADDING["VALID"]}
    strides = {"stride_height": 1, "stride_width": 1}
    builder.custom("LceBMaxPool2d", [x], [pooled], options | strides)
    conv = Conv((1, size, size, 1), (1, 1), 1, padding="VALID")
    weights = builder.constant(pack_bits(np.full((1, 1, 1, 1), -1)))
    thresholds = builder.constant(np.array([threshold], np.int32))
    inputs = [pooled, weights, ABSENT, ABSENT, thresholds]
    builder.custom("LceBconv2d", inputs, [y], bconv_options(conv))
    return builder.finish([x], [y])


def regrouped_signs() -> bytes:
    """Returns signs of values that a RESHAPE has put into other pixels."""
    rng = np.random.default_rng(1)
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 1), np.int32)
    y, grouped = (
        builder.tensor(shape, np.int8, scale=0.5, zero_point=3)
        for shape in ((1, 4, 4, 32), (1, 8, 8, 8))
    )
    signs = builder.tensor((1, 8, 8, 1), np.int32)
    conv = Conv((1, 4, 4, 32), (1, 1), 32, padding="VALID")
    weights = builder.constant(pack_bits(rng.choice([-1, 1], (32, 1, 1, 32))))
    numbers = [builder.constant(np.ones(32, np.float32)) for _ in range(2)]
    builder.custom("LceBconv2d", [x, weights, *numbers, ABSENT], [y], bconv_options(conv))
    shape = builder.constant(np.array([1, 8, 8, 8], np.int32))
    builder.builtin("RESHAPE", [y, shape], [grouped])
    builder.custom("LceQuantize", [grouped], [signs])
    return builder.finish([x], [signs])


def _pool(rng: np.random.Generator) -> bytes:
    """Returns a pool before a layer of one tap, as a pool alone has no products."""
    channels = int(rng.choice(_CHANNELS))
    sizes = tuple(int(n) for n in rng.integers(3, 9, 2))
    taps = tuple(int(n) for n in rng.integers(1, 4, 2))
    strides = tuple(int(n) for n in rng.integers(1, 4, 2))
    padding = str(rng.choice(["SAME", "VALID"]))
    positions = _positions(sizes, taps, strides, (1, 1), padding)
    words = -(-channels // 32)
    builder = ModelBuilder()
    x = builder.tensor((1, *sizes, words), np.int32)
    pooled = builder.tensor((1, *positions, words), np.int32)
    options = {
        "filter_height": taps[0],
        "filter_width": taps[1],
        "stride_height": strides[0],
        "stride_width": strides[1],
        "padding": PADDING[padding],
    }
    builder.custom("LceBMaxPool2d", [x], [pooled], options)
    conv = Conv((1, *positions, channels), (1, 1), channels, padding="VALID")
    filters = pack_bits(rng.choice([-1, 1], (channels, 1, 1, channels)))
    thresholds = np.full(channels, channels // 2, np.int32)
    y = builder.tensor((1, *positions, words), np.int32)
    inputs = [builder.constant(filters), ABSENT, ABSENT, builder.constant(thresholds)]
    builder.custom("LceBconv2d", [pooled, *inputs], [y], bconv_options(conv))
    return builder.finish([x], [y])
