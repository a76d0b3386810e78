"""Models of Keras 3 become static .tflite files, or an error that says what to do."""

import numpy as np
import pytest

from larq_engine.converter import schema
from larq_engine.converter.api import conversion_report, convert_keras_model, convert_tflite
from larq_engine.converter.errors import ConversionError
from larq_engine.python.interpreter import Interpreter
from tests.converter.frameworks import require_keras

require_keras()

import keras  # noqa: E402
import tensorflow as tf  # noqa: E402

import larq_engine.keras as lq  # noqa: E402

BINARY = {
    "input_quantizer": "ste_sign",
    "kernel_quantizer": "ste_sign",
    "kernel_constraint": "weight_clip",
    "use_bias": False,
}


@pytest.fixture(autouse=True)
def _same_weights_in_every_run():
    keras.utils.set_random_seed(1)


def signature(content):
    [(key, _, inputs, outputs)] = schema.read(content).extra.signatures
    return (
        key.decode(),
        {name.decode(): tensor.shape for name, tensor in inputs},
        {name.decode(): tensor.shape for name, tensor in outputs},
    )


def became(converted):
    return {layer.name: layer.became for layer in converted.report.layers}


def assert_agrees(content, model, x):
    """Asserts that the file computes what Keras does; 1e-5 is rounding in another order of sums."""
    expected = model(x, training=False)
    np.testing.assert_allclose(Interpreter(content).predict(x), expected, rtol=1e-5, atol=1e-5)


def images(rng, *shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


def test_a_model(rng):
    image = keras.Input((8, 8, 3), name="image")
    x = keras.layers.Conv2D(32, 3, padding="same", name="first")(image)
    x = keras.layers.BatchNormalization()(x)
    x = keras.layers.Dropout(0.5)(x)
    x = lq.layers.QuantConv2D(32, 3, padding="same", pad_values=1.0, name="second", **BINARY)(x)
    x = keras.layers.GlobalAveragePooling2D(name="scores")(x)
    model = keras.Model(image, x, name="net")
    converted = convert_keras_model(model)
    assert signature(converted) == ("serving_default", {"image": (1, 8, 8, 3)}, {"scores": (1, 32)})
    assert became(converted) == {"first": "float", "second": "binary"}
    assert "agree with the float model" in converted.report.self_check
    assert_agrees(converted, model, images(rng, 4, 8, 8, 3))
    assert conversion_report(model).count("binary") == 1


def test_all_kinds_of_layers(rng):
    image = keras.Input((16, 16, 4), name="image")
    x = keras.layers.Conv2D(64, 3, name="first")(image)
    signs = [
        lq.layers.QuantConv2D(64, 3, padding="same", name="zeros", **BINARY),
        lq.layers.QuantConv2D(64, 3, padding="same", pad_values=1.0, name="ones", **BINARY),
        lq.layers.QuantConv2D(64, 3, strides=2, padding="same", name="strided", **BINARY),
        lq.layers.QuantConv2D(
            64, 3, groups=2, padding="same", name="groups", **{**BINARY, "use_bias": True}
        ),
        lq.layers.QuantConv2D(
            64, 3, name="scaled", **{**BINARY, "kernel_quantizer": "magnitude_aware_sign"}
        ),
        *(
            lq.layers.QuantConv2D(64, 1, name=name, **{**BINARY, "input_quantizer": name})
            for name in ("approx_sign", "swish_sign", "ste_heaviside")
        ),
    ]
    for layer in signs:
        x = layer(x)
    x = lq.layers.QuantDepthwiseConv2D(3, depthwise_quantizer="ste_sign", name="depthwise")(x)
    x = keras.layers.Reshape((9, 64))(x)
    for padding in ("valid", "same", "causal"):
        x = lq.layers.QuantConv1D(64, 3, padding=padding, name=f"row_{padding}", **BINARY)(x)
    x = keras.layers.Flatten()(x)
    x = lq.layers.QuantDense(16, name="dense", **BINARY)(x)
    model = keras.Model(image, x)
    # All values are whole numbers, so that no rounding decides about a sign.
    first = model.get_layer("first")
    whole = [np.round(20 * weight) for weight in first.get_weights()]
    model.set_weights([np.where(weight < 0, -1, np.ceil(weight)) for weight in model.get_weights()])
    first.set_weights(whole)
    converted = convert_keras_model(model)
    # Keras compiles each grouped convolution as a function, and TensorFlow then keeps no layer's
    # name.
    renamed = {
        name.replace("convolution1", "groups"): what for name, what in became(converted).items()
    }
    assert renamed == {
        "first": "float",
        **{layer.name: "binary" for layer in signs},
        "depthwise": "weights only",
        **{f"row_{padding}": "binary" for padding in ("valid", "same", "causal")},
        "dense": "binary",
    }
    x = rng.integers(-9, 10, (2, 16, 16, 4)).astype(np.float32)
    np.testing.assert_array_equal(Interpreter(converted).predict(x), model(x))


def test_shapes_in_files_of_keras_export_are_constants(rng, tmp_path):
    image = keras.Input((8, 8, 3))
    x = keras.layers.Reshape((-1, 4))(keras.layers.Conv2D(4, 3)(image))
    model = keras.Model(image, keras.layers.Dense(5)(keras.layers.Flatten()(x)))
    model.export(tmp_path, verbose=False)
    content = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path)).convert()
    with pytest.raises(ValueError, match="got SHAPE"):
        Interpreter(content, host="none")
    converted = convert_tflite(content)
    x = images(rng, 3, 8, 8, 3)
    with Interpreter(converted, host="none") as interpreter:
        np.testing.assert_allclose(interpreter.predict(x), model(x), rtol=1e-5, atol=1e-5)


def test_several_inputs_and_outputs(rng):
    left, right = keras.Input((3,), name="left"), keras.Input((2,), name="right")
    x = keras.layers.Concatenate()([left, right])
    outputs = [keras.layers.Dense(4, name="b")(x), keras.layers.Dense(3, name="a")(x)]
    model = keras.Model([left, right], outputs)
    content = convert_keras_model(model)
    assert signature(content)[1:] == (
        {"left": (1, 3), "right": (1, 2)},
        {"b": (1, 4), "a": (1, 3)},
    )
    given = [images(rng, 5, 3), images(rng, 5, 2)]
    for got, expected in zip(Interpreter(content).predict(given), model(given), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_inputs_keep_their_order():
    """A SavedModel keeps no order of its inputs."""
    names = ["e", "b-in", "Z", "a", "d", "c"]
    inputs = [keras.Input((size,), name=name) for size, name in enumerate(names, 1)]
    model = keras.Model(inputs, keras.layers.Concatenate()(inputs))
    interpreter = Interpreter(convert_keras_model(model))
    assert interpreter.input_shapes == [(1, size) for size in range(1, 7)]


@pytest.mark.parametrize("shared", [False, True])
def test_outputs_keep_their_order(shared):
    """This includes outputs from the tenth on, and several outputs of one layer."""
    given = keras.Input((3,), name="given")
    sizes = range(12, 0, -1)
    if shared:
        same = keras.layers.Activation("relu", name="same")
        outputs = [same(keras.layers.Dense(size)(given)) for size in sizes]
    else:
        outputs = [keras.layers.Dense(size, name=f"size_{size}")(given) for size in sizes]
    content = convert_keras_model(keras.Model(given, outputs))
    names = [f"output_{n}" if shared else f"size_{size}" for n, size in enumerate(sizes)]
    assert signature(content)[2] == {
        name: (1, size) for name, size in zip(names, sizes, strict=True)
    }
    assert list(signature(content)[2]) == names


def test_dictionaries(rng):
    given = keras.Input((3,), name="u")
    model = keras.Model({"u": given}, {"score": keras.layers.Dense(2)(given)})
    content = convert_keras_model(model)
    assert signature(content)[1:] == ({"u": (1, 3)}, {"score": (1, 2)})


def test_a_sequential_model(rng):
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, name="scores")])
    content = convert_keras_model(model)
    assert list(signature(content)[2]) == ["scores"]
    assert_agrees(content, model, images(rng, 5, 4))


class Branches(keras.Model):
    """A subclassed model, whose shapes are known only after a call."""

    def __init__(self):
        super().__init__(name="branches")
        self.first = keras.layers.Dense(32, name="inner")
        self.second = lq.layers.QuantDense(8, name="binary", **BINARY)

    def call(self, x):
        return self.second(self.first(x))


def test_a_model_of_ones_own(rng):
    model = Branches()
    x = images(rng, 5, 32)
    model(x)
    converted = convert_keras_model(model)
    assert became(converted) == {"inner": "float", "binary": "binary"}
    assert_agrees(converted, model, x)


def test_names_of_layers():
    """Keras 3 numbers the scopes of calls, and layers have numbers in their names, too."""
    image = keras.Input((6, 6, 8), name="image")
    x = keras.layers.Conv2D(8, 1, name="conv_1")(image)
    shared = keras.layers.Conv2D(8, 1, name="conv")
    x = shared(shared(x))
    block = keras.Sequential(
        [keras.layers.Conv2D(8, 1, name="conv"), keras.layers.Conv2D(8, 1, name="conv_2")],
        name="block_7",
    )
    model = keras.Model(image, keras.layers.Dense(2, name="scores_1")(block(x)), name="net_3")
    names = [layer.name for layer in convert_keras_model(model).report.layers]
    assert names == ["conv_1", "conv", "conv", "block_7/conv", "block_7/conv_2", "scores_1"]


def test_pads_stay_as_the_model_has_them(rng):
    """TensorFlow's converter would turn them into "same", which pads otherwise at other sizes."""
    image = keras.Input((8, 8, 32), name="image")
    x = keras.layers.ZeroPadding2D(((0, 1), (0, 1)))(image)
    model = keras.Model(image, lq.layers.QuantConv2D(32, 3, strides=2, **BINARY)(x))
    converted = convert_keras_model(model)
    x = images(rng, 1, 7, 7, 32)
    interpreter = Interpreter(converted)
    interpreter.resize([x.shape])
    np.testing.assert_array_equal(
        interpreter.predict(x), model.layers[2](tf.pad(x, [(0, 0), (0, 1), (0, 1), (0, 0)]))
    )


def test_a_model_that_was_not_built():
    with pytest.raises(ValueError, match="got one without known ones; give it an Input layer"):
        convert_keras_model(keras.Sequential([keras.layers.Dense(3)]))


def test_open_sizes():
    image = keras.Input((None, None, 3), name="image")
    model = keras.Model(image, keras.layers.Conv2D(2, 3)(image), name="open")
    with pytest.raises(ConversionError, match=r"model 'open': input 'image': .*None, None, 3\); b"):
        convert_keras_model(model)


def test_another_precision():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, dtype="mixed_float16")])
    with pytest.raises(ValueError, match="expected it to compute in float32, got float16"):
        convert_keras_model(model)


def test_operators_that_tensorflow_lite_lacks():
    class Inverse(keras.layers.Layer):
        def call(self, x):
            return tf.linalg.inv(x)

    matrix = keras.Input((4, 4), name="matrix")
    model = keras.Model(matrix, Inverse(name="inverse")(matrix), name="net")
    with pytest.raises(ConversionError, match=r"model 'net': .* no operator for tf\.MatrixInverse"):
        convert_keras_model(model)


def test_recurrent_layers_are_refused_unless_they_are_unrolled():
    sound = keras.Input((6, 4), name="sound")
    rolled = keras.Model(sound, keras.layers.LSTM(3, name="memory")(sound), name="net")
    with pytest.raises(
        ConversionError, match=r"list of 'net.*/memory.*' requires element_shape .* unroll=True"
    ) as caught:
        convert_keras_model(rolled)
    assert "\n" not in str(caught.value)
    unrolled = keras.Model(sound, keras.layers.LSTM(3, unroll=True)(sound))
    unrolled.set_weights(rolled.get_weights())
    values = np.random.default_rng(0).normal(size=(1, 6, 4)).astype(np.float32)
    with Interpreter(convert_keras_model(unrolled)) as interpreter:
        np.testing.assert_allclose(interpreter.predict(values), rolled(values), atol=1e-5)


def test_the_class_of_a_model():
    with pytest.raises(TypeError, match="the class Branches; make a model of it first"):
        convert_keras_model(Branches)


@pytest.mark.parametrize(
    ("bits", "bits_weights", "padding", "strides"),
    [
        (2, 1, "same", 1),
        (3, 2, "valid", 2),
        (1, 4, "same", 2),
        (4, 4, "valid", 1),
        (5, 7, "same", 1),
        (8, 3, "same", 2),
    ],
)
def test_several_bits(bits, bits_weights, padding, strides, rng, monkeypatch):
    """Sums are Keras' whole numbers of steps; layers are binary even if hosts are faster."""
    for limit in ("_MOST_PLANE_PRODUCTS", "_MOST_PLANE_PRODUCTS_BESIDE_INT8"):
        monkeypatch.setattr(f"larq_engine.converter.rules_binary.{limit}", 64)
    layer = lq.layers.QuantConv2D(
        12, 3, strides, padding, use_bias=False, input_quantizer=lq.quantizers.DoReFa(bits),
        kernel_quantizer=lq.quantizers.DoReFa(bits_weights, mode="weights"),
    )  # fmt: skip
    model = keras.Sequential([keras.Input((8, 7, 24)), layer])
    converted = convert_keras_model(model)
    (found,) = converted.report.layers
    assert (found.became, found.input_bits, found.weight_bits) == ("binary", bits, bits_weights)
    # No such number times up to 255 is so near a half that roundings of 1 ULP matter.
    x = (rng.integers(-300, 700, (2, 8, 7, 24)) / np.float32(400.3)).astype(np.float32)
    steps = (2**bits - 1) * (2**bits_weights - 1)
    expected = np.asarray(model(x, training=False)) * steps
    np.testing.assert_allclose(expected, np.rint(expected), rtol=0, atol=0.25)
    got = np.asarray(Interpreter(converted).predict(x)) * steps
    np.testing.assert_array_equal(np.rint(got), np.rint(expected))
