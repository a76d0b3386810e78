"""models.summary and its profile have the numbers that were counted by hand."""

import math

import numpy as np
import pytest

from tests.keras import backends

backends.require_backend()

import keras  # noqa: E402

import larq_engine.keras as lq  # noqa: E402

SIGN = "ste_sign"


def layers_2d():
    tern = lq.quantizers.SteTern()
    return [
        lq.layers.QuantConv2D(32, 3, kernel_quantizer=SIGN, padding="same", name="first"),
        keras.layers.MaxPooling2D(),
        lq.layers.QuantDepthwiseConv2D(
            *(3, 3, "same", 1.0),
            input_quantizer=tern,
            depthwise_quantizer=tern,
            use_bias=False,
        ),
        keras.layers.BatchNormalization(scale=False),
        lq.layers.QuantSeparableConv2D(
            *(32, 3),
            padding="same",
            input_quantizer=SIGN,
            depthwise_quantizer=SIGN,
            pointwise_quantizer=SIGN,
        ),
        keras.layers.Flatten(),
        keras.layers.Dense(10, trainable=False, name="last"),
    ]


# For each layer: products of weights by bits, biases, bits of inputs, shape, bits of products.
ROWS_2D = [
    ({1: 32 * 9}, 32, None, (-1, 64, 64, 32), 32),
    ({}, 0, None, (-1, 32, 32, 32), None),
    ({2: 32 * 9}, 0, 2, (-1, 11, 11, 32), 2),
    ({}, 64, None, (-1, 11, 11, 32), None),
    ({1: 32 * 9 + 32 * 32}, 32, 1, (-1, 11, 11, 32), 1),
    ({}, 0, None, (-1, 11 * 11 * 32), None),
    ({32: 11 * 11 * 32 * 10}, 10, None, (-1, 10), 32),
]


def layers_1d():
    separable = {"depthwise_quantizer": SIGN, "pointwise_quantizer": SIGN}
    return [
        lq.layers.QuantConv1D(32, 3, kernel_quantizer=SIGN, padding="same"),
        keras.layers.MaxPooling1D(2),
        lq.layers.QuantSeparableConv1D(16, 3, padding="same", input_quantizer=SIGN, **separable),
        keras.layers.Flatten(),
        keras.layers.Dense(10, trainable=False),
    ]


ROWS_1D = [
    ({1: 32 * 3 * 6}, 32, None, (-1, 64, 32), 32),
    ({}, 0, None, (-1, 32, 32), None),
    ({1: 32 * 3 + 16 * 32}, 16, 1, (-1, 32, 16), 1),
    ({}, 0, None, (-1, 32 * 16), None),
    ({32: 32 * 16 * 10}, 10, None, (-1, 10), 32),
]


@pytest.mark.parametrize(
    ("shape", "layers", "rows"),
    [((64, 64, 1), layers_2d, ROWS_2D), ((64, 6), layers_1d, ROWS_1D)],
)
def test_each_layer(shape, layers, rows):
    model = keras.Sequential([keras.Input(shape), *layers()])
    profile = lq.models.ModelProfile(model)
    totals = np.zeros(3, np.int64)
    for layer, row in zip(profile.layer_profiles, rows, strict=True):
        kernels, biases, input_bits, output, op_bits = row
        numbers = {**kernels, 32: kernels.get(32, 0) + biases}
        pixels = math.prod(output[1:-1])
        macs = sum(kernels.values()) * pixels
        assert layer.input_precision == input_bits
        assert (layer.output_shape, layer.output_pixels) == (output, pixels)
        assert layer.weight_count() == sum(numbers.values())
        assert layer.unique_param_bitwidths == sorted(bits for bits, n in numbers.items() if n)
        assert layer.memory == sum(bits * n for bits, n in numbers.items())
        assert layer.fp_equivalent_memory == 32 * sum(numbers.values())
        assert layer.int8_fp_weights_memory == sum(min(bits, 8) * n for bits, n in numbers.items())
        assert layer.unique_op_precisions == ([op_bits] if op_bits else [])
        assert layer.op_count() == macs
        assert layer.op_count("mac", 1) == (macs if op_bits == 1 else 0)
        totals += [layer.weight_count(), layer.memory, macs]
    assert [profile.weight_count(), profile.memory, profile.op_count()] == totals.tolist()
    trained = [profile.weight_count(trainable=each) for each in (True, False)]
    assert sum(trained) == profile.weight_count()
    # The last layer, and of the batch norm the mean (with the offset in it) and the variance.
    norm = 64 if layers is layers_2d else 0
    assert trained[1] == rows[-1][0][32] + 10 + norm


def test_a_model_in_a_model():
    layers = layers_2d()
    whole = keras.Sequential([keras.Input((64, 64, 1)), *layers])
    profile = lq.models.ModelProfile(whole)
    inner = keras.Sequential([keras.Input((32, 32, 32)), *layers[2:5]], name="inner")
    again = keras.Sequential([keras.Input((64, 64, 1)), *layers[:2], inner, *layers[5:]])
    nested = lq.models.ModelProfile(again)
    part, parts = nested.layer_profiles[2], profile.layer_profiles[2:5]
    assert part.input_precision == parts[0].input_precision
    assert part.output_shape == parts[-1].output_shape
    for count in ("weight_count", "op_count"):
        assert getattr(part, count)() == sum(getattr(each, count)() for each in parts)
    for size in ("memory", "int8_fp_weights_memory", "fp_equivalent_memory"):
        assert getattr(part, size) == sum(getattr(each, size) for each in parts)
    assert nested.generate_summary() == profile.generate_summary()


def test_the_text(capsys):
    model = keras.Sequential([keras.Input((64, 64, 1)), *layers_2d()], name="net")
    lq.models.summary(model)
    layers, sums = capsys.readouterr().out.split("net: sums\n")
    lines = layers.splitlines()
    assert lines[0] == "net: layers"
    assert lines[1].split("  ")[0] == "Layer"
    titles = ["1-bit weights", "2-bit weights", "32-bit weights", "KiB", "1-bit MACs"]
    assert all(title in lines[1] for title in titles)
    first = next(line for line in lines if line.startswith("first"))
    # Binary weights, a float bias, their KiB, and products, which float inputs make float products.
    assert first.split()[-7:] == ["288", "0", "32", "0.16", "0", "0", f"{288 * 64 * 64:,}"]
    total = lines[-1].split()
    assert total[0] == "Total"
    assert total[1:4] == [f"{32 * 9 + 32 * 9 + 1024:,}", "288", f"{32 + 64 + 32 + 38730:,}"]
    assert f"{32 * 9 * 64 * 64 + 288 * 121 + (288 + 1024) * 121 + 38720:,}" in sums
    assert "share of binary ones" in sums
    assert "share of ternary ones" in sums


def test_without_operations():
    model = keras.Sequential([keras.Input((64, 64, 1)), *layers_2d()])
    texts = []
    lq.models.summary(model, print_fn=texts.append, include_macs=False)
    assert len(texts) == 2
    assert "MAC" not in "".join(texts)


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = lq.layers.QuantConv2D(8, 3, kernel_quantizer=SIGN)
        self.dense = keras.layers.Dense(10)

    def call(self, inputs):
        return self.dense(keras.ops.mean(self.conv(inputs), axis=(1, 2)))


def test_what_is_not_known():
    """In a model that is a function of the user's own, layers have weights and no shapes."""
    model = Own()
    model(np.zeros((1, 8, 8, 3), np.float32))
    conv, dense = lq.models.ModelProfile(model).layer_profiles
    assert (conv.output_shape, conv.op_count()) == (None, None)
    assert conv.weight_count(1) == 9 * 3 * 8
    assert dense.weight_count() == 8 * 10 + 10
    texts = []
    lq.models.summary(model, print_fn=texts.append)
    assert "?" in texts[0]
    with pytest.raises(ValueError, match="op_type: expected mac, got 'add'"):
        conv.op_count("add")


def test_open_sizes_and_no_weights():
    given = keras.Input((None, None, 3))
    model = keras.Model(given, lq.layers.QuantConv2D(8, 3, kernel_quantizer=SIGN)(given))
    profile = lq.models.ModelProfile(model).layer_profiles[-1]
    assert profile.output_shape == (-1, -1, -1, 8)
    assert profile.op_count() is None
    empty = keras.Sequential([keras.Input((4, 4)), keras.layers.Flatten()])
    assert lq.models.ModelProfile(empty).memory == 0
    lq.models.summary(empty, print_fn=lambda text: None)


def test_a_model_that_is_not_built():
    with pytest.raises(ValueError, match="expected a model that was built, got one without"):
        lq.models.summary(keras.Sequential(name="net"))
