"""Assertions of LCE's own tests of its converter, made for ours: outputs, types, errors.

The tests follow LCE's converter_test, end2end_test, strip_lcedequantize_test and interpreter_test.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import larq_engine
from tests.converter.frameworks import require_keras
from tests.oracle import pack_bits

require_keras()

import tensorflow as tf  # noqa: E402

from tests.converter.toy_weights import build  # noqa: E402

Convert = Callable[..., larq_engine.ConvertedModel]

FLOAT_MODELS = [
    "residual",
    "residual with tf.where",
    "sequential",
    "sequential with tf.where",
    "tutorial",
]


@pytest.fixture(params=["keras", "saved model"])
def convert(request: pytest.FixtureRequest, tmp_path: Any) -> Convert:
    """Returns one of the two ways from a Keras model to a .tflite file."""

    def convert_saved(model: Any, **options: Any) -> larq_engine.ConvertedModel:
        model.save(tmp_path, save_format="tf")
        return larq_engine.convert_saved_model(tmp_path, **options)

    return convert_saved if request.param == "saved model" else larq_engine.convert_keras_model


def predict(converted: bytes, images: np.ndarray) -> np.ndarray:
    outputs: np.ndarray = larq_engine.testing.Interpreter(converted, num_threads=2).predict(images)
    return outputs


# ---- converter_test ------------------------------------------------------------------------------


def test_a_path_is_no_model() -> None:
    with pytest.raises(ValueError, match=r"expected a Keras model, got the path './model.h5'"):
        larq_engine.convert_keras_model("./model.h5")


@pytest.mark.parametrize("target", ["arm", "xcore"])
def test_known_targets(target: str) -> None:
    model, images = build("sequential")
    converted = larq_engine.convert_keras_model(model, target=target)
    np.testing.assert_allclose(predict(converted, images), model(images), rtol=1e-3, atol=1e-3)


def test_an_unknown_target() -> None:
    model, _ = build("sequential")
    with pytest.raises(ValueError, match="but got 'x86'"):
        larq_engine.convert_keras_model(model, target="x86")


# ---- end2end_test --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FLOAT_MODELS)
def test_answers_are_those_of_keras(name: str, convert: Convert) -> None:
    model, images = build(name)
    expected = model(images).numpy()
    assert (expected != expected[:1]).any(), "the answer depends on the image"
    converted = convert(model)
    np.testing.assert_allclose(predict(converted, images), expected, rtol=1e-3, atol=1e-3)
    layers = converted.report.layers
    # The first layer has a float input.
    assert [layer.became for layer in layers[1:]] == ["binary"] * (len(layers) - 1)
    assert len(layers) == 4 if name != "tutorial" else 5


def test_quantization_aware_answers_are_those_of_keras(convert: Convert) -> None:
    model, images = build("int8")
    expected = model(images).numpy()
    assert (expected != expected[:1]).any(), "the answer depends on the image"
    converted = convert(model)
    # The tolerance is one step of int8, but less than two.
    np.testing.assert_allclose(predict(converted, images), expected, rtol=0.01, atol=0.025)
    assert [layer.became for layer in converted.report.layers] == ["binary"] * 2
    assert [layer.output_bits for layer in converted.report.layers] == [1, 8]


@pytest.mark.parametrize("output_type", [tf.int8, tf.float32])
@pytest.mark.parametrize("input_type", [tf.int8, tf.float32])
@pytest.mark.parametrize("name", ["residual", "int8"])
def test_types_of_inputs_and_outputs(
    name: str, input_type: Any, output_type: Any, convert: Convert
) -> None:
    model, images = build(name)
    converted = convert(
        model,
        inference_input_type=input_type,
        inference_output_type=output_type,
        experimental_default_int8_range=(-6.0, 6.0) if name == "residual" else None,
    )
    interpreter = larq_engine.Interpreter(converted)
    assert interpreter.input_types == [input_type.as_numpy_dtype]
    assert interpreter.output_types == [output_type.as_numpy_dtype]
    if name == "residual":
        return  # The range is made up, and so are the outputs.
    given = _to_int8(images, interpreter) if input_type == tf.int8 else images
    got = interpreter.predict(given)
    if output_type == tf.int8:
        steps = got.astype(np.float32) - interpreter.output_zero_points[0]
        got = interpreter.output_scales[0] * steps
    np.testing.assert_allclose(got, model(images).numpy(), rtol=0.01, atol=0.025)


def _to_int8(images: np.ndarray, interpreter: larq_engine.Interpreter) -> np.ndarray:
    steps = np.round(images / interpreter.input_scales[0]) + interpreter.input_zero_points[0]
    return np.clip(steps, -128, 127).astype(np.int8)


# ---- strip_lcedequantize_test --------------------------------------------------------------------


@pytest.mark.parametrize("output_type", [tf.int8, tf.float32])
@pytest.mark.parametrize("input_type", [tf.int8, tf.float32])
@pytest.mark.parametrize("name", ["sign", "int8 sign"])
def test_stripped_outputs_are_bits(name: str, input_type: Any, output_type: Any) -> None:
    model, images = build(name)
    converted = larq_engine.convert_keras_model(
        model,
        inference_input_type=input_type,
        inference_output_type=output_type,
        experimental_default_int8_range=(-6.0, 6.0) if name == "sign" else None,
    )
    assert larq_engine.Interpreter(converted).output_types == [output_type.as_numpy_dtype]
    interpreter = larq_engine.Interpreter(larq_engine.strip_lcedequantize_ops(converted))
    assert interpreter.input_types == [input_type.as_numpy_dtype]
    assert interpreter.output_types == [np.int32]
    given = _to_int8(images, interpreter) if input_type == tf.int8 else images
    signs = model(images).numpy()
    np.testing.assert_array_equal(interpreter.predict(given), pack_bits(signs))


# ---- interpreter_test ----------------------------------------------------------------------------


@pytest.mark.parametrize("iterate", [True, False])
def test_one_input_as_array_or_iterator(iterate: bool, rng: np.random.Generator) -> None:
    image = tf.keras.Input((24, 24, 3))
    model = tf.keras.Model(image, tf.keras.layers.Flatten()(image))
    interpreter = larq_engine.testing.Interpreter(larq_engine.convert_keras_model(model))
    assert interpreter.input_types == interpreter.output_types == [np.float32]
    assert interpreter.input_shapes == [(1, 24, 24, 3)]
    assert interpreter.output_shapes == [(1, 1728)]
    x = rng.uniform(-1, 1, (16, 24, 24, 3)).astype(np.float32)
    outputs = interpreter.predict((sample for sample in x) if iterate else x, 1)
    np.testing.assert_array_equal(outputs, x.reshape(16, -1))


@pytest.mark.parametrize("iterate", [True, False])
def test_two_inputs_as_arrays_or_iterator(iterate: bool, rng: np.random.Generator) -> None:
    images = [tf.keras.Input((24, 24, 2)), tf.keras.Input((24, 24, 1))]
    model = tf.keras.Model(images, [tf.keras.layers.Flatten()(image) for image in images])
    converted = larq_engine.convert_keras_model(model)
    interpreter = larq_engine.testing.Interpreter(converted, num_threads=2)
    assert interpreter.input_types == interpreter.output_types == [np.float32, np.float32]
    # LCE does not define their order; here it is that of Keras.
    assert interpreter.input_shapes == [(1, 24, 24, 2), (1, 24, 24, 1)]
    assert interpreter.output_shapes == [(1, 1152), (1, 576)]
    shapes = [(16, *shape[1:]) for shape in interpreter.input_shapes]
    x = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    samples = ([a, b] for a, b in zip(*x, strict=True)) if iterate else x
    for got, expected in zip(interpreter.predict(samples), x, strict=True):
        np.testing.assert_array_equal(got, expected.reshape(16, -1))
