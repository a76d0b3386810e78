"""Keras models that pad by themselves are all binary, and equal Keras at several sizes."""

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import schema
from tests.converter.frameworks import require_keras

require_keras()

import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

keras = tf.keras

_BINARY = {"input_quantizer": "ste_sign", "kernel_quantizer": "ste_sign", "use_bias": False}


@pytest.fixture(autouse=True)
def _same_weights_in_every_run():
    keras.utils.set_random_seed(1)


def _sign(x):
    return larq.math.sign(x)


def _convert_and_compare(build, size, *others, exact=True):
    """Converts the model of one size and compares it with those of others that share its weights.

    Sums of signs are whole numbers, so that results are equal to the bit unless a batch norm or a
    float layer rounds.
    """
    model = build(size)
    converted = larq_engine.convert_keras_model(model)
    interpreter = larq_engine.Interpreter(converted)
    random = np.random.default_rng(1)
    for shape in (size, *others, size):
        same = build(shape)
        same.set_weights(model.get_weights())
        # Inputs have few digits, so that no sum comes as close to 0 as it rounds.
        x = np.round(random.uniform(-16, 16, (3, *shape))).astype(np.float32) / 16
        x[:, :2] = 0  # zeros, whose sign is +1
        interpreter.resize([x.shape])
        expected, got = same(x, training=False).numpy(), interpreter.predict(x)
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=0, atol=0 if exact else 1e-4)
    return converted, [op.kind for op in schema.read(converted).graphs[0].ops]


_PADS = {
    "symmetric": lambda taps: ((taps // 2, taps // 2),) * 2,
    "behind": lambda taps: ((0, 1), (0, 1)),
    "before": lambda taps: ((taps - 1, 0), (taps - 1, 0)),
    "unequal": lambda taps: ((3, 0), (1, 2)),
    "more than the filter": lambda taps: ((taps + 2, 1), (0, taps + 3)),
}


@pytest.mark.parametrize("pads", _PADS)
@pytest.mark.parametrize("taps", [3, 5, 7])
def test_zeros_around_signs(taps, pads):
    def build(size):
        image = keras.Input(size)
        x = keras.layers.ZeroPadding2D(_PADS[pads](taps))(keras.layers.Lambda(_sign)(image))
        x = larq.layers.QuantConv2D(8, taps, strides=2, kernel_quantizer="ste_sign")(x)
        return keras.Model(image, x)

    converted, kinds = _convert_and_compare(build, (32, 32, 5), (33, 33, 5), (15, 20, 5))
    assert kinds == ["LceQuantize", "LceBconv2d"]
    assert converted.report.count("binary") == 1


@pytest.mark.parametrize("pads", _PADS)
def test_zeros_around_values(pads):
    """The zeros come before the layer's own quantizer, which makes +1 of them."""

    def build(size):
        image = keras.Input(size)
        x = keras.layers.ZeroPadding2D(_PADS[pads](3))(image)
        return keras.Model(image, larq.layers.QuantConv2D(8, 3, strides=2, **_BINARY)(x))

    _, kinds = _convert_and_compare(build, (32, 32, 5), (33, 33, 5))
    assert kinds == ["LceQuantize", "LceBconv2d"]


def _residual_block(x, filters, stride, pad_signs):
    """Builds a block of a ResNet as PyTorch and Keras have it, with equal pads on both sides."""

    def convolve(x, stride):
        if pad_signs:
            x = keras.layers.ZeroPadding2D(1)(keras.layers.Lambda(_sign)(x))
            options = {**_BINARY, "input_quantizer": None}
        else:
            x, options = keras.layers.ZeroPadding2D(1)(x), _BINARY
        x = larq.layers.QuantConv2D(filters, 3, strides=stride, **options)(x)
        return keras.layers.BatchNormalization()(x)

    y = convolve(convolve(x, stride), 1)
    if stride > 1:
        x = keras.layers.Conv2D(filters, 1, strides=stride)(x)
    return keras.layers.Add()([x, y])


@pytest.mark.parametrize("pad_signs", [True, False])
def test_residual_network(pad_signs):
    def build(size):
        image = keras.Input(size)
        x = _residual_block(image, 32, 1, pad_signs)
        x = _residual_block(x, 64, 2, pad_signs)
        x = keras.layers.GlobalAveragePooling2D()(x)
        return keras.Model(image, keras.layers.Dense(10)(x))

    converted, kinds = _convert_and_compare(build, (32, 32, 32), (33, 33, 32), exact=False)
    assert converted.report.count("binary") == 4
    assert "PAD" not in kinds
    # The first of each pair of layers writes bits, as nothing comes before the second one's sign.
    graph = schema.read(converted).graphs[0]
    outputs = [op.output.dtype for op in graph.ops if op.kind == "LceBconv2d"]
    assert outputs == ["INT32", "FLOAT32"] * 2


@pytest.mark.parametrize("dilation", [1, 2, 4])
def test_causal_sequence(dilation):
    def build(size):
        sequence = keras.Input(size)
        x = sequence
        for filters in (32, 8):
            layer = larq.layers.QuantConv1D(
                filters, 3, padding="causal", dilation_rate=dilation, **_BINARY
            )
            x = layer(x)
        return keras.Model(sequence, x)

    converted, kinds = _convert_and_compare(build, (20, 32))
    assert converted.report.count("binary") == 2
    assert not {"PAD", "PADV2", "SPACE_TO_BATCH_ND"} & {*kinds}


@pytest.mark.parametrize("layer", ["Conv2D", "DepthwiseConv2D"])
def test_zeros_before_a_float_layer(layer):
    """Zeros stay before a layer with a stride; without one they are "same" for every size."""

    def build(size):
        image = keras.Input(size)
        options = {"filters": 4} if layer == "Conv2D" else {}
        x = keras.layers.ZeroPadding2D(((0, 1), (0, 1)))(image)
        x = getattr(keras.layers, layer)(kernel_size=3, strides=2, **options)(x)
        x = keras.layers.ZeroPadding2D(1)(x)
        x = getattr(keras.layers, layer)(kernel_size=3, **options)(x)
        return keras.Model(image, x)

    _, kinds = _convert_and_compare(build, (32, 32, 3), (33, 33, 3), exact=False)
    kind = "CONV_2D" if layer == "Conv2D" else "DEPTHWISE_CONV_2D"
    assert kinds == ["PAD", kind, kind]
