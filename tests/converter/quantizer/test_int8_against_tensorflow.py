"""Models without binary layers, against TensorFlow's own quantizer with the same samples."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from larq_engine.converter import schema
from larq_engine.converter.api import convert_tflite
from larq_engine.converter.graph import Graph, Tensor
from tests.converter.frameworks import require_keras
from tests.converter.graphs import run_stock

require_keras()

import tensorflow as tf  # noqa: E402

keras = tf.keras
layers = keras.layers

_SHAPE = (12, 12, 32)


def _conv(x: Any, filters: int = 16, size: int = 3, **options: Any) -> Any:
    return layers.Conv2D(filters, size, bias_initializer="random_normal", **options)(x)


def _residual(x: Any) -> Any:
    y = _conv(x)
    return _conv(layers.ReLU()(layers.Add()([y, _conv(y, padding="same")])))


def _concatenated(x: Any) -> Any:
    y = _conv(x, activation="relu6")
    return _conv(layers.Concatenate()([y, _conv(y, 8, padding="same", activation="relu6")]))


def _separable(x: Any) -> Any:
    y = layers.DepthwiseConv2D(3, strides=2, padding="same", activation="relu")(x)
    return _conv(y, 24, 1)


def _pooled(x: Any) -> Any:
    y = layers.MaxPool2D()(_conv(x, padding="same"))
    y = layers.AveragePooling2D()(_conv(y, padding="same"))
    return layers.Dense(10)(layers.Flatten()(y))


def _mean(x: Any) -> Any:
    return layers.Dense(10)(layers.GlobalAveragePooling2D()(_conv(x, 32)))


def _affine(x: Any) -> Any:
    # The concatenation keeps the batch norm from being fused into a layer.
    pooled = layers.MaxPool2D(2, 1, padding="same")(_conv(x))
    y = layers.Concatenate()([_conv(x), pooled])
    norm = layers.BatchNormalization(beta_initializer="random_normal", gamma_initializer="uniform")
    return _conv(norm(y))


def _activations(x: Any) -> Any:
    y = tf.nn.leaky_relu(_conv(x, padding="same"), 0.25)
    y = tf.nn.sigmoid(_conv(y, padding="same")) * tf.nn.tanh(_conv(y, padding="same"))
    y = _conv(y)
    return layers.Softmax()(layers.Dense(10)(layers.Flatten()(y * tf.nn.relu6(y + 3.0) / 6.0)))


def _moved(x: Any) -> Any:
    y = tf.pad(_conv(x, padding="same"), [[0, 0], [1, 1], [1, 1], [0, 0]])
    left, right = tf.split(y, 2, axis=3)
    return _conv(left[:, 1:, :, :], 12) - _conv(right[:, :-1, :, :], 12)


def _dead(x: Any) -> Any:
    """Makes a layer with channels of nothing but zeros, and one that is tiny beside its bias."""
    y = layers.Conv2D(16, 3, name="dead")
    result = y(x)
    kernel = y.kernel.numpy()
    kernel[..., :3] = 0
    y.set_weights([kernel, np.linspace(-1, 1, 16)])
    return _conv(result)


_NETS: dict[str, Callable[[Any], Any]] = {
    function.__name__.strip("_"): function
    for function in (
        _residual,
        _concatenated,
        _separable,
        _pooled,
        _mean,
        _affine,
        _activations,
        _moved,
        _dead,
    )
}

# Networks whose scales TensorFlow derives from overwritten values; see `_is_overwritten`.
_IN_PLACE = ("residual", "affine")


@pytest.mark.parametrize("net", _NETS)
def test_as_tensorflow_quantizes(net, rng):
    keras.utils.set_random_seed(1)
    x = layers.Input(_SHAPE, batch_size=1)
    model = keras.Model(x, _NETS[net](x))
    samples = [rng.normal(size=(1, *_SHAPE)).astype(np.float32) for _ in range(8)]
    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    content = converter.convert()
    converter.optimizations = [tf.lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ([sample] for sample in samples)
    converter.inference_input_type = converter.inference_output_type = tf.int8
    theirs = converter.convert()
    ours = convert_tflite(
        content,
        representative_dataset=samples,
        inference_input_type="int8",
        inference_output_type="int8",
        check=False,
    )
    _compare(schema.read(ours).graphs[0], schema.read(theirs).graphs[0])
    if net in _IN_PLACE:
        return
    data = rng.integers(-128, 128, (1, *_SHAPE), dtype=np.int8)
    (got,), (expected,) = run_stock(ours, [data]), run_stock(theirs, [data])
    assert np.abs(got.astype(int) - expected.astype(int)).max() <= 1


def _compare(ours: Graph, theirs: Graph) -> None:
    assert [op.kind for op in ours.ops] == [op.kind for op in theirs.ops]
    for our, their in zip(ours.ops, theirs.ops, strict=True):
        assert our.version >= their.version
        pairs = zip([*our.inputs, *our.outputs], [*their.inputs, *their.outputs], strict=True)
        for number, (left, right) in enumerate(pairs):
            if left is None or right is None:
                assert left is right
            elif not _is_overwritten(right):
                _compare_tensors(left, right, f"{our.kind} '{our.name}' #{number}")


def _is_overwritten(theirs: Tensor) -> bool:
    """Tells whether an ADD may have written its sum in place of the tensor.

    TensorFlow reads the values for its calibration after the run, so its scale is then the sum's.
    """
    readers = [op.kind for op in theirs.consumers]
    return not theirs.is_constant and readers == ["ADD"]


def _compare_tensors(ours: Tensor, theirs: Tensor, name: str) -> None:
    assert ours.dtype == theirs.dtype, name
    if theirs.quantization is not None:
        assert ours.quantization is not None, name
        scale, their_scale = ours.quantization.scale, theirs.quantization.scale
        np.testing.assert_allclose(scale, their_scale, rtol=2e-6, err_msg=name)
        assert ours.quantization.zero_point == theirs.quantization.zero_point, name
        assert ours.quantization.axis == theirs.quantization.axis, name
    if theirs.data is not None:
        assert ours.data is not None, name
        off = np.abs(ours.data.astype(np.int64) - theirs.data.astype(np.int64)).max()
        # A bias has more or fewer steps in proportion to the error of its scale.
        assert off <= (np.abs(theirs.data).max() * 4e-6 + 1 if ours.dtype == "INT32" else 0), name


@pytest.mark.parametrize("net", ["residual", "affine"])
def test_ranges_are_those_of_keras(net, rng):
    """The ranges equal those of Keras' own results where TensorFlow's calibration is off."""
    keras.utils.set_random_seed(1)
    x = layers.Input(_SHAPE, batch_size=1)
    y = _NETS[net](x)
    model = keras.Model(x, [y, *(layer.output for layer in keras.Model(x, y).layers[1:])])
    samples = [rng.normal(size=(1, *_SHAPE)).astype(np.float32) for _ in range(4)]
    content = tf.lite.TFLiteConverter.from_keras_model(keras.Model(x, y)).convert()
    converted = convert_tflite(content, representative_dataset=samples, check=False)
    results = [model.predict(sample, verbose=0) for sample in samples]
    expected = {(np.min(values), np.max(values)) for values in zip(*results, strict=True)}
    found = [
        (tensor.low, tensor.high)
        for tensor in converted.report.int8.tensors
        if "QUANTIZE" not in tensor.name and "MUL" not in tensor.name
    ]
    assert len(found) >= 4
    for pair in found:
        assert any(np.allclose(pair, other, atol=1e-5) for other in expected), pair
