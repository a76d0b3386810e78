"""Tests small facts that larq's own tests state, on the backend that Keras has in this process.

tests/statements.md lists where the other statements are tested.
"""

import logging

import numpy as np
import pytest

from tests.keras import backends, numpy_layers

backends.require_backend()

import keras  # noqa: E402
from keras import ops  # noqa: E402

import larq_engine.keras as lq  # noqa: E402

WITH_PADS = [
    *("QuantConv1D", "QuantConv2D", "QuantConv3D"),
    *("QuantSeparableConv1D", "QuantSeparableConv2D", "QuantDepthwiseConv2D"),
]


def reals(rng):
    """Returns numbers on both sides of 0, and zeros."""
    values = rng.uniform(-2, 2, (4, 11)).astype(np.float32)
    values[:, 1] = 0
    return values


@pytest.mark.parametrize("name", ["sign", "heaviside"])
def test_math(rng, name):
    x = reals(rng)
    expected = np.where(x < 0, -1, 1) if name == "sign" else np.where(x > 0, 1, 0)
    got = ops.convert_to_numpy(getattr(lq.math, name)(ops.convert_to_tensor(x)))
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", ["hard_tanh", "leaky_tanh"])
def test_activations(rng, name):
    x = reals(rng)
    function = lq.activations.get(name)
    assert function is getattr(lq.activations, name)
    got = ops.convert_to_numpy(function(ops.convert_to_tensor(x)))
    np.testing.assert_allclose(got, numpy_layers.activate(name, x)[0], rtol=1e-6)
    config = keras.activations.serialize(function)
    assert keras.activations.deserialize(config) is function


def test_constraints(rng):
    x = reals(rng)
    made = lq.constraints.weight_clip(clip_value=0.75)
    got = ops.convert_to_numpy(made(ops.convert_to_tensor(x)))
    np.testing.assert_array_equal(got, np.clip(x, -0.75, 0.75))
    again = keras.constraints.deserialize(keras.constraints.serialize(made))
    assert (type(again), again.clip_value) == (lq.constraints.WeightClip, 0.75)


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        *((1, "0.12 B"), (2, "0.25 B"), (8, "1.00 B"), (2**12, "512.00 B"), (2**13, "1.00 KiB")),
        *((2**22, "512.00 KiB"), (2**23, "1.00 MiB"), (2**33, "1.00 GiB")),
        *((2**42, "512.00 GiB"), (2**43, "1,024.00 GiB")),
    ],
)
def test_sizes_as_text(bits, text):
    assert lq.utils.memory_as_readable_str(bits) == text


def test_custom_objects():
    @lq.utils.register_keras_custom_object
    @lq.utils.set_precision(8)
    def toy_quantizer(x):
        return x

    assert toy_quantizer.precision == 8  # type: ignore[attr-defined]
    assert lq.quantizers.get("toy_quantizer") is toy_quantizer


@pytest.mark.parametrize(
    ("name", "positional", "weights"),
    [
        ("QuantDense", (5,), ["kernel"]),
        ("QuantConv2DTranspose", (5, 3), ["kernel"]),
        ("QuantDepthwiseConv2D", (5,), ["depthwise"]),
        ("QuantSeparableConv2D", (3, 3), ["depthwise", "pointwise"]),
    ],
)
def test_warnings_of_weights_without_a_constraint(caplog, name, positional, weights):
    signs = {f"{weight}_quantizer": "ste_sign" for weight in weights}
    clips = {f"{weight}_constraint": "weight_clip" for weight in weights}
    with caplog.at_level(logging.WARNING):
        getattr(lq.layers, name)(*positional, **signs, **clips)
    assert not caplog.records
    with caplog.at_level(logging.WARNING):
        getattr(lq.layers, name)(*positional, **signs)
    assert all(constraint in caplog.text for constraint in clips)
    assert len(caplog.records) == len(weights)


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("option", [{}, {"strides": 2}, {"dilation_rate": 2}])
@pytest.mark.parametrize("name", WITH_PADS)
def test_pads_of_ones_leave_shapes(name, option, data_format):
    """Shapes equal those with pads of zeros, which Keras makes itself; open sizes stay open."""
    rank = int(name[-2])
    first = () if "Depthwise" in name else (4,)
    for size in (15, None):
        sizes = (size,) * rank
        shape = (*sizes, 3) if data_format == "channels_last" else (3, *sizes)
        given = keras.Input(shape)
        plain, padded = (
            getattr(lq.layers, name)(
                *(*first, 3), padding="same", pad_values=value, data_format=data_format, **option
            )(given)
            for value in (0.0, 1.0)
        )
        assert padded.shape == plain.shape
        assert (None in padded.shape[1:]) == (size is None)


def test_a_mode_that_is_none():
    with pytest.raises(ValueError, match="expected the mode activations or weights"):
        lq.quantizers.DoReFa(mode="unknown")


@pytest.mark.parametrize("k_bit", [1, 2, 4, 6, 8])
@pytest.mark.parametrize("mode", ["activations", "weights"])
def test_steps_of_dorefa(rng, k_bit, mode):
    x = reals(rng)
    got = ops.convert_to_numpy(lq.quantizers.DoReFa(k_bit, mode)(ops.convert_to_tensor(x)))
    unit = np.clip(x, 0, 1)
    if mode == "weights":
        unit, got = np.tanh(x) / np.abs(np.tanh(x)).max() / 2 + 0.5, got / 2 + 0.5
    steps = 2**k_bit - 1
    np.testing.assert_allclose(got * steps, np.round(got * steps), atol=1e-4)
    assert np.abs(got - unit).max() <= 0.5 / steps + 1e-6


def test_older_names():
    assert lq.quantizers.DoReFaQuantizer is lq.quantizers.DoReFa
    assert lq.quantizers.NoOpQuantizer is lq.quantizers.NoOp
