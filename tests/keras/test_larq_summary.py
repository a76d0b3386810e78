"""models.summary of larq_engine.keras has the same numbers as larq's, for the same networks."""

import pytest

from tests.converter.frameworks import require_keras

require_keras()

import keras  # noqa: E402
import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

import larq_engine.keras as lq  # noqa: E402


def make(module, frame, shape, kind):
    """Makes a network of many kinds of layers, in one or two dimensions, with one library."""
    sign = {"input_quantizer": "ste_sign", "kernel_quantizer": "ste_sign"}
    two = {"depthwise_quantizer": "ste_sign", "pointwise_quantizer": "dorefa_quantizer"}
    image = frame.layers.Input(shape)
    conv = getattr(module.layers, f"QuantConv{kind}")
    x = conv(16, 3, padding="same", kernel_quantizer="magnitude_aware_sign")(image)
    x = frame.layers.BatchNormalization()(x)
    y = conv(16, 3, padding="same", use_bias=False, pad_values=1.0, **sign)(x)
    x = frame.layers.Add()([x, frame.layers.BatchNormalization(scale=False, center=False)(y)])
    x = getattr(frame.layers, f"MaxPooling{kind}")(2)(x)
    if kind == "2D":
        x = module.layers.QuantDepthwiseConv2D(
            3, input_quantizer="ste_tern", depthwise_quantizer="ste_tern"
        )(x)
        x = frame.layers.BatchNormalization(center=False)(x)
        x = conv(8, 3, groups=4, strides=2, kernel_quantizer=module.quantizers.NoOp(1))(x)
        x = frame.layers.DepthwiseConv2D(2, depth_multiplier=2)(x)
    x = getattr(module.layers, f"QuantSeparableConv{kind}")(12, 2, **two)(x)
    x = getattr(frame.layers, f"AveragePooling{kind}")(2)(x)
    x = frame.layers.Activation("relu")(x)
    x = frame.layers.Flatten()(x)
    x = module.layers.QuantDense(10, kernel_quantizer=lambda x: x, use_bias=False)(x)
    x = frame.layers.Dense(4, trainable=False)(x)
    return frame.models.Model(image, x)


def numbers(profile):
    return {
        "weights": profile.weight_count(),
        "by bits": {bits: profile.weight_count(bits) for bits in (1, 2, 32)},
        "trained": profile.weight_count(trainable=True),
        "memory": profile.memory,
        "int8": profile.int8_fp_weights_memory,
        "float": profile.fp_equivalent_memory,
        "macs": profile.op_count("mac"),
        "macs by bits": {bits: profile.op_count("mac", bits) for bits in (1, 2, 32)},
    }


@pytest.mark.parametrize(("shape", "kind"), [((32, 28, 3), "2D"), ((64, 6), "1D")])
def test_numbers_are_larqs(shape, kind):
    # larq has no bits for weights whose quantizer is a function, so they get those of a float.
    theirs = make(larq, tf.keras, shape, kind)
    for layer in theirs.layers:
        for weight in layer.weights:
            if getattr(weight, "precision", 32) is None:
                weight.precision = 32
    expected = larq.models.ModelProfile(theirs)
    got = lq.models.ModelProfile(make(lq, keras, shape, kind))
    assert len(got.layer_profiles) == len(expected.layer_profiles)
    for ours, other in zip(got.layer_profiles, expected.layer_profiles, strict=True):
        assert numbers(ours) == numbers(other)
        assert ours.input_precision == other.input_precision
        assert ours.unique_op_precisions == other.unique_op_precisions
        wanted = other.output_shape
        assert ours.output_shape == (wanted[0] if isinstance(wanted, list) else wanted)
    assert numbers(got) == numbers(expected)
