"""Compares quantizers with larq's own: values and gradients, also at the edges."""

import importlib

import numpy as np
import pytest

from tests.converter.frameworks import require_keras

require_keras()

import keras  # noqa: E402
import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

import larq_engine.keras as lq  # noqa: E402
from tests.keras.cases import QUANTIZERS, numbers  # noqa: E402

NAMES = {
    "ste_sign",
    "approx_sign",
    "swish_sign",
    "ste_heaviside",
    "magnitude_aware_sign",
    "ste_tern",
    "dorefa_quantizer",
}


def value_and_gradient(quantizer, x, upstream):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = quantizer(x)
    return y.numpy(), tape.gradient(y, x, output_gradients=upstream).numpy()


@pytest.mark.parametrize(("name", "arguments"), QUANTIZERS)
def test_values_and_gradients_are_larqs(rng, name, arguments):
    x = numbers(rng)
    if name == "MagnitudeAwareSign" or "ternary_weight_networks" in arguments:
        x = x[np.abs(x).max(axis=1) < 1e30]  # no sum is infinite
    upstream = rng.normal(0, 1, x.shape).astype(np.float32)
    got = value_and_gradient(getattr(lq.quantizers, name)(**arguments), x, upstream)
    expected = value_and_gradient(getattr(larq.quantizers, name)(**arguments), x, upstream)
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])


@pytest.mark.parametrize(("name", "arguments"), QUANTIZERS)
def test_infinite_values_and_no_numbers(name, arguments):
    x = np.float32([[np.inf, -np.inf, np.nan, 1.0]])
    upstream = np.float32([[1.0, 2.0, 3.0, 4.0]])
    got = value_and_gradient(getattr(lq.quantizers, name)(**arguments), x, upstream)
    expected = value_and_gradient(getattr(larq.quantizers, name)(**arguments), x, upstream)
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])


def test_weights_of_zero():
    x = np.zeros((2, 3), np.float32)
    for arguments in ({"mode": "weights"}, {"mode": "weights", "k_bit": 4}):
        got, expected = (
            value_and_gradient(module.quantizers.DoReFa(**arguments), x, x + 1)
            for module in (lq, larq)
        )
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", ["ste_sign", "approx_sign", "swish_sign", "ste_heaviside"])
def test_functions(rng, name):
    x = numbers(rng)
    got, expected = (
        value_and_gradient(getattr(module.quantizers, name), x, x) for module in (lq, larq)
    )
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("name", "arguments"), QUANTIZERS)
def test_configurations(name, arguments):
    made = getattr(lq.quantizers, name)(**arguments)
    again = lq.quantizers.get(lq.quantizers.serialize(made))
    assert type(again) is type(made)
    assert again.get_config() == made.get_config()
    # Arguments by the names that larq gives them.
    own = getattr(larq.quantizers, name)(**arguments).get_config()
    of_every_layer = keras.layers.Layer().get_config()
    assert {key: made.get_config()[key] for key in own if key not in of_every_layer} == {
        key: own[key] for key in own if key not in of_every_layer
    }
    assert again.precision == getattr(larq.quantizers, name)(**arguments).precision


@pytest.mark.parametrize("name", sorted(NAMES))
def test_names(name):
    quantizer = lq.quantizers.get(name)
    assert type(quantizer).__name__ == type(larq.quantizers.get(name)).__name__
    assert type(lq.quantizers.get(type(quantizer).__name__)) is type(quantizer)


def test_all_that_larq_has_is_there():
    assert set(larq.quantizers.__all__) <= set(dir(lq.quantizers))
    aliases = {key for key in tf.keras.utils.get_custom_objects() if key == key.lower()}
    assert {key for key in aliases if key.split("_")[-1] in ("sign", "tern", "heaviside")} <= NAMES


@pytest.mark.parametrize("given", ["sign", 3, "SteSigns", {}, {"class_name": "SteSign"}])
def test_what_is_no_quantizer(given):
    with pytest.raises(ValueError, match=r"expected one of approx_sign, .* got "):
        lq.quantizers.get(given)


def test_a_mode_that_is_none():
    with pytest.raises(ValueError, match="expected the mode activations or weights, got 'both'"):
        lq.quantizers.DoReFa(mode="both")


def test_a_quantizer_is_a_layer(rng):
    given = keras.Input((3,))
    model = keras.Model(given, lq.quantizers.ApproxSign()(given))
    x = numbers(rng)[:, :3]
    np.testing.assert_array_equal(model(x), larq.quantizers.ApproxSign()(x))


def test_activations(rng):
    x = numbers(rng)
    for name in ("hard_tanh", "leaky_tanh"):
        got, expected = (
            value_and_gradient(getattr(module.activations, name), x, x) for module in (lq, larq)
        )
        np.testing.assert_array_equal(got, expected)


def test_weight_clip(rng):
    x = numbers(rng)
    for arguments in ({}, {"clip_value": 0.3}):
        for name in ("weight_clip", "WeightClip"):
            got = getattr(lq.constraints, name)(**arguments)(tf.constant(x))
            expected = getattr(larq.constraints, name)(**arguments)(tf.constant(x))
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", ["larq_engine.keras", "larq_engine.keras.layers"])
def test_what_is_absent(name):
    module = importlib.import_module(name)
    with pytest.raises(AttributeError, match=rf"{name} has no 'Quant'; .* \w+, \w+"):
        _ = module.Quant
