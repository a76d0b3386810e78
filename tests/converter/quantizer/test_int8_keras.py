"""Keras models and SavedModels that become int8 with the help of samples."""

import numpy as np
import pytest

import larq_engine
from larq_engine.converter import schema
from tests.converter.frameworks import require_keras

require_keras()

import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

keras = tf.keras
layers = keras.layers

_SHAPE = (16, 16, 32)


def _block(x):
    options = {"input_quantizer": "ste_sign", "kernel_quantizer": "ste_sign", "pad_values": 1.0}
    y = larq.layers.QuantConv2D(64, 3, padding="same", use_bias=False, **options)(x)
    return layers.Add()([x, layers.BatchNormalization()(y)])


def _model() -> keras.Model:
    """Makes a model like QuickNet, with float layers between groups of binary layers."""
    keras.utils.set_random_seed(1)
    x = layers.Input(_SHAPE)
    y = layers.BatchNormalization()(layers.Conv2D(64, 3, padding="same", use_bias=False)(x))
    y = layers.MaxPool2D()(layers.ReLU()(_block(_block(y))))
    y = layers.Conv2D(64, 3, padding="same")(y)
    y = layers.GlobalAveragePooling2D()(layers.ReLU()(_block(y)))
    return keras.Model(x, layers.Softmax()(layers.Dense(192, name="scores")(y)))


def _samples() -> list[list[np.ndarray]]:
    rng = np.random.default_rng(2)
    return [[rng.normal(size=(1, *_SHAPE)).astype(np.float32)] for _ in range(6)]


@pytest.mark.parametrize("int8_ends", [False, True])
def test_a_keras_model(int8_ends):
    types = {}
    if int8_ends:
        types = {"inference_input_type": tf.int8, "inference_output_type": tf.int8}
    converted = larq_engine.convert_keras_model(_model(), representative_dataset=_samples, **types)
    report = converted.report
    assert report.count("binary") == 3
    assert report.count("int8") == 3
    graph = schema.read(converted).graphs[0]
    ends = [*graph.inputs, *graph.outputs]
    assert {tensor.dtype for tensor in ends} == {"INT8" if int8_ends else "FLOAT32"}
    # Each layer whose results are summed up and signed writes int8, and the sign reads that.
    signed = [op for op in graph.ops if op.kind == "LceQuantize" and op.inputs[0].dtype == "INT8"]
    assert len(signed) == 2
    # The sums stay in float, and half a step is in a binary layer's bias.
    sums = [op for op in graph.ops if op.kind == "ADD"]
    assert len(sums) == 3 and all(op.output.dtype == "FLOAT32" for op in sums)
    assert report.int8.signs[0].changed < 0.02 * report.int8.signs[0].signs
    assert report.int8.outputs[0].largest < 0.05
    assert "int8, with the ranges of 6 samples" in str(report)
    assert report.to_json()


def test_signatures(tmp_path):
    model = _model()
    signature = tf.function(lambda x: {"scores": model(x)})
    concrete = signature.get_concrete_function(tf.TensorSpec((1, *_SHAPE), tf.float32, name="x"))
    other = tf.function(lambda x: {"twice": model(2.0 * x)})
    twice = other.get_concrete_function(tf.TensorSpec((1, *_SHAPE), tf.float32, name="x"))
    tf.saved_model.save(model, str(tmp_path), signatures={"one": concrete, "two": twice})
    keys = ["one", "two"]
    samples = [{"x": sample} for (sample,) in _samples()]
    converted = larq_engine.convert_saved_model(
        tmp_path, signature_keys=keys, representative_dataset=dict.fromkeys(keys, samples)
    )
    assert converted.report.int8.samples == 12
    assert {output.name for output in converted.report.int8.outputs} == {"scores", "twice"}
    with pytest.raises(ValueError, match=r"signatures \['one', 'two'\] to samples, got list"):
        larq_engine.convert_saved_model(
            tmp_path, signature_keys=keys, representative_dataset=_samples()
        )
