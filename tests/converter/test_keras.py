"""Keras models and SavedModels become static .tflite files, or an error that says what to do."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from ai_edge_litert.interpreter import Interpreter as StockInterpreter

from larq_engine.converter import schema
from larq_engine.converter.api import convert_keras_model, convert_saved_model
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.keras import (
    keras_to_tflite,
    quantize_float_ops,
    saved_model_to_tflite,
)
from larq_engine.converter.layer_names import name_layer
from larq_engine.python.interpreter import Interpreter
from tests.converter.frameworks import require_keras
from tests.model_builder import ModelBuilder

require_keras()


import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

keras = tf.keras

# Operators that are left of a shape that is computed when the model runs.
SHAPE_OPS = {"SHAPE", "STRIDED_SLICE", "PACK", "BROADCAST_TO"}


@keras.utils.register_keras_serializable("larq_engine_tests")
class FakeQuantize(keras.layers.Layer):
    """Rounds to 8 bits in -3 to 3, as quantization-aware training does."""

    def call(self, x):
        return tf.quantization.fake_quant_with_min_max_vars(x, -3.0, 3.0)


@pytest.fixture(autouse=True)
def _same_weights_in_every_run():
    keras.utils.set_random_seed(1)


def binary_conv(filters=32):
    return larq.layers.QuantConv2D(
        filters,
        3,
        padding="same",
        pad_values=1.0,
        input_quantizer="ste_sign",
        kernel_quantizer="ste_sign",
        kernel_constraint="weight_clip",
        use_bias=False,
    )


def image_model(between=()):
    """Builds a float convolution, the layers `between`, a binary convolution and a pooling."""
    image = keras.Input((8, 8, 3), name="image")
    x = keras.layers.Conv2D(32, 3, padding="same")(image)
    for layer in between:
        x = layer(x)
    x = binary_conv()(x)
    x = keras.layers.GlobalAveragePooling2D(name="scores")(x)
    return keras.Model(image, x, name="net")


def read(content):
    (graph,) = schema.read(content).graphs
    return graph


def kinds(content):
    return [op.kind for op in read(content).ops]


def signature(content):
    [(key, _, inputs, outputs)] = schema.read(content).extra.signatures
    return (
        key.decode(),
        {name.decode(): tensor.shape for name, tensor in inputs},
        {name.decode(): tensor.shape for name, tensor in outputs},
    )


def assert_agrees(content, model, x):
    """Asserts that the file computes what Keras does; 1e-5 is rounding in another order of sums."""
    expected = model(x, training=False).numpy()
    np.testing.assert_allclose(Interpreter(content).predict(x), expected, rtol=1e-5, atol=1e-5)


# ---- conversions ---------------------------------------------------------------------------------


def test_a_model(rng):
    # Batch norm and dropout compute something else in training.
    model = image_model([keras.layers.BatchNormalization(), keras.layers.Dropout(0.5)])
    content = keras_to_tflite(model)
    assert signature(content) == ("serving_default", {"image": (1, 8, 8, 3)}, {"scores": (1, 32)})
    assert_agrees(content, model, rng.uniform(-1, 1, (4, 8, 8, 3)).astype(np.float32))


def test_weights_stay_float_in_a_float_model():
    content = keras_to_tflite(image_model())
    convolutions = [op for op in read(content).ops if op.kind == "CONV_2D"]
    assert [op.inputs[1].dtype for op in convolutions] == ["FLOAT32", "FLOAT32"]
    assert set(np.unique(convolutions[1].inputs[1].data)) == {-1.0, 1.0}


def test_shapes_are_constants(rng):
    image = keras.Input((4, 4, 2), name="image")
    x = keras.layers.Lambda(lambda x: tf.where(x >= 0, tf.ones_like(x), -tf.ones_like(x)))(image)
    x = keras.layers.Flatten()(x)
    x = keras.layers.Reshape((8, 4))(keras.layers.Dense(32)(x))
    model = keras.Model(image, x)
    content = keras_to_tflite(model)
    assert not SHAPE_OPS & set(kinds(content))
    assert all(tensor.signature is None for tensor in read(content).inputs)
    assert_agrees(content, model, rng.uniform(-1, 1, (3, 4, 4, 2)).astype(np.float32))


def test_a_fixed_batch_stays():
    image = keras.Input((4,), batch_size=3, name="image")
    content = keras_to_tflite(keras.Model(image, keras.layers.Dense(2, name="scores")(image)))
    assert signature(content)[1:] == ({"image": (3, 4)}, {"scores": (3, 2)})


def test_several_inputs_and_outputs_keep_their_order():
    left, right = keras.Input((4,), name="z-left"), keras.Input((5,), name="a-right")
    outputs = [
        keras.layers.Dense(size, name=name)(tensor)
        for size, name, tensor in ((2, "zz", left), (3, "aa", right), (4, "mm", right))
    ]
    content = keras_to_tflite(keras.Model([left, right], outputs))
    graph = read(content)
    assert [tensor.shape for tensor in graph.inputs] == [(1, 4), (1, 5)]
    assert [tensor.shape for tensor in graph.outputs] == [(1, 2), (1, 3), (1, 4)]
    assert signature(content)[1:] == (
        {"z_left": (1, 4), "a_right": (1, 5)},
        {"zz": (1, 2), "aa": (1, 3), "mm": (1, 4)},
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [("1x", "input_1x"), ("lambda", "input_lambda"), ("a.b", "a_b"), ("a_b", "a_b")],
)
def test_names_that_are_no_argument_names_in_python(name, expected):
    given = keras.Input((3,), name=name)
    content = keras_to_tflite(keras.Model(given, keras.layers.Dense(2, name="y")(given)))
    assert signature(content)[1:] == ({expected: (1, 3)}, {"y": (1, 2)})


def test_names_that_become_the_same():
    left, right = keras.Input((3,), name="a-b"), keras.Input((4,), name="a.b")
    content = keras_to_tflite(keras.Model([left, right], keras.layers.Concatenate()([left, right])))
    assert signature(content)[1] == {"a_b": (1, 3), "a_b_2": (1, 4)}


def test_names_that_tensorflow_takes_for_the_same_or_its_own():
    names = ["x", "X", "self"]
    inputs = [keras.Input((size,), name=name) for size, name in enumerate(names, 3)]
    content = keras_to_tflite(keras.Model(inputs, keras.layers.Concatenate(name="y")(inputs)))
    assert signature(content)[1:] == ({"x": (1, 3), "X": (1, 4), "self": (1, 5)}, {"y": (1, 12)})


def test_names_of_dictionaries_are_the_user_s(rng):
    """Layers have names of their own, which no caller knows."""
    left, right = keras.Input((4,), name="layer_l"), keras.Input((5,), name="layer_r")
    outputs = {
        "the score": keras.layers.Dense(2, name="aa")(left),
        "logits": keras.layers.Dense(3, name="bb")(right),
    }
    model = keras.Model({"u": left, "U-2": right}, outputs)
    content = keras_to_tflite(model)
    assert signature(content)[1:] == (
        {"U-2": (1, 5), "u": (1, 4)},
        {"logits": (1, 3), "the score": (1, 2)},
    )
    interpreter = Interpreter(content)
    assert interpreter.output_names == ["logits", "the score"]
    x = {
        key: rng.uniform(-1, 1, (1, size)).astype(np.float32)
        for key, size in (("u", 4), ("U-2", 5))
    }
    expected = model({key: tf.constant(value) for key, value in x.items()})
    results = interpreter.predict(x)
    for name in outputs:
        np.testing.assert_allclose(results[name], expected[name], rtol=1e-5, atol=1e-5)


def test_one_value_given_twice_and_an_input_given_back():
    given = keras.Input((3,), name="given")
    y = keras.layers.Dense(2)(given)
    graph = read(keras_to_tflite(keras.Model(given, [y, given, y])))
    assert graph.outputs == [graph.ops[0].output, graph.inputs[0], graph.ops[0].output]


class Branches(keras.Model):
    """A model in Python code with dictionaries and a condition on data."""

    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)

    def call(self, x):
        y = self.dense(x["second"])
        if tf.reduce_sum(x["first"]) > 0:
            y = self.dense(x["first"])
        return {"sum": y, "half": y / 2}


class Noting(keras.layers.Layer):
    """Records metrics of its input, in two ways that Keras has for that."""

    def __init__(self):
        super().__init__()
        self.mean = keras.metrics.Mean(name="mean_of_all")

    def call(self, x):
        self.add_metric(self.mean(x))
        self.add_metric(tf.reduce_max(x), name="largest")
        return x


def metrics_model():
    with larq.context.metrics_scope(["flip_ratio"]):
        model = image_model([Noting()])
    model.compile("sgd", "mse")
    return model


@pytest.mark.parametrize("trained", [False, True])
def test_metrics_are_left_out(trained):
    model = metrics_model()
    if trained:
        model.fit(np.ones((2, 8, 8, 3)), np.ones((2, 8, 8, 32)).mean((1, 2)), verbose=0)
    before = {metric.name: metric.result().numpy() for metric in model.metrics}
    assert any("flip_ratio" in name for name in before)
    assert {"mean_of_all", "largest"} < set(before)
    assert kinds(keras_to_tflite(model)) == kinds(keras_to_tflite(image_model()))
    assert {metric.name: metric.result().numpy() for metric in model.metrics} == before
    assert model.evaluate(np.full((1, 8, 8, 3), 2.0), verbose=0, return_dict=True)["largest"] > 0


def test_metrics_still_work_after_a_failure(monkeypatch):
    model = metrics_model()
    monkeypatch.setattr(type(model), "call", lambda *args, **kwargs: 1 // 0)
    with pytest.raises(Exception, match="integer division"):
        keras_to_tflite(model)
    (metric,) = [metric for metric in model.metrics if metric.name == "mean_of_all"]
    metric.update_state(3.0)
    assert metric.result().numpy() == 3.0


def test_a_state_goes_on_from_sample_to_sample(rng):
    steps = keras.Input((4, 3), batch_size=1)
    x = keras.layers.GRU(32, stateful=True)(steps)
    x = larq.layers.QuantDense(8, input_quantizer="ste_sign", kernel_quantizer="ste_sign")(x)
    model = keras.Model(steps, x)
    converted = convert_keras_model(model)
    assert converted.report.count("binary") == 1
    samples = rng.normal(size=(6, 4, 3)).astype(np.float32)
    expected = np.concatenate([model(sample[None]).numpy() for sample in samples])
    assert not np.array_equal(expected, model(samples[:1]).numpy().repeat(6, 0))
    np.testing.assert_array_equal(Interpreter(converted).predict(samples), expected)


def test_a_subclassed_model(rng):
    model = Branches()
    x = {name: rng.uniform(-1, 1, (1, 4)).astype(np.float32) for name in ("first", "second")}
    model({name: tf.constant(np.repeat(value, 5, 0)) for name, value in x.items()})
    content = keras_to_tflite(model)
    assert signature(content)[1:] == (
        {"first": (1, 4), "second": (1, 4)},
        {"sum": (1, 3), "half": (1, 3)},
    )
    for sign in (1, -1):
        data = {"first": np.full((1, 4), sign, np.float32), "second": x["second"]}
        expected = model({name: tf.constant(value) for name, value in data.items()})
        # TensorFlow orders dictionaries by their sorted keys.
        half, total = Interpreter(content).predict([data["first"], data["second"]])
        np.testing.assert_allclose(half, expected["half"], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(total, expected["sum"], rtol=1e-5, atol=1e-5)


class ManyOutputs(keras.Model):
    """A model with nested lists of outputs, more than nine of them."""

    def call(self, x):
        return [x * 2, [x[:, :size] for size in range(1, 12)]]


def test_last_layers_without_constants_have_their_names():
    """TensorFlow calls their results StatefulPartitionedCall:0 and :1."""
    x = keras.Input((8, 8, 32))
    scores = keras.layers.Dense(5, name="scores")(keras.layers.Flatten()(binary_conv()(x)))
    outputs = [
        keras.layers.Softmax(name="probabilities")(scores),
        keras.layers.ReLU(name="evidence")(keras.layers.Reshape((5, 1))(scores)),
    ]
    converted = convert_keras_model(keras.Model(x, outputs))
    graph = schema.read(converted).graphs[0]
    names = [tensor.name for tensor in graph.outputs]
    assert names[0] == "probabilities:SOFTMAX"
    assert names[1].startswith("evidence:")
    assert [name_layer(tensor.producer) for tensor in graph.outputs] == [
        "probabilities",
        "evidence",
    ]
    assert Interpreter(converted).output_names == ["probabilities", "evidence"]


def test_outputs_without_names():
    model = ManyOutputs()
    model(tf.zeros((2, 12)))
    graph = read(keras_to_tflite(model))
    assert [tensor.shape[1] for tensor in graph.outputs] == [12, *range(1, 12)]


def test_a_sequential_model_that_was_called(rng):
    model = keras.Sequential([keras.layers.Dense(3)])
    x = rng.uniform(-1, 1, (4, 6)).astype(np.float32)
    model(x)
    assert_agrees(keras_to_tflite(model), model, x)


def test_quantization_aware_models_become_int8():
    content = keras_to_tflite(image_model([FakeQuantize()]))
    graph = read(content)
    first, binary = (op for op in graph.ops if op.kind == "CONV_2D")
    # The scale 6 / 255 is the step of 8 bits from -3 to 3.
    (made,) = (op for op in graph.ops if op.kind == "QUANTIZE")
    assert made.output.dtype == "INT8"
    assert made.output.quantization.scale == pytest.approx((6 / 255,))
    # Tensors of unknown range stay as they are: the signs, and the weights of the binary layer.
    assert first.inputs[1].dtype == "FLOAT32"
    assert binary.inputs[1].dtype == "FLOAT32"
    assert set(np.unique(binary.inputs[1].data)) == {-1.0, 1.0}


def test_fake_quantization_inside_of_a_function():
    rounded = tf.function(lambda x: tf.quantization.fake_quant_with_min_max_args(x, -3.0, 3.0))
    content = keras_to_tflite(image_model([keras.layers.Lambda(rounded)]))
    assert {op.output.dtype for op in read(content).ops if op.kind == "QUANTIZE"} == {"INT8"}


def test_a_saved_model(tmp_path, rng):
    model = image_model([keras.layers.Lambda(lambda x: tf.zeros_like(x) + x)])
    model.save(tmp_path, save_format="tf")
    content = saved_model_to_tflite(tmp_path, unsafe=True)
    assert signature(content) == ("serving_default", {"image": (1, 8, 8, 3)}, {"scores": (1, 32)})
    assert not SHAPE_OPS & set(kinds(content))
    assert_agrees(content, model, rng.uniform(-1, 1, (4, 8, 8, 3)).astype(np.float32))


def test_a_quantization_aware_saved_model(tmp_path):
    image_model([FakeQuantize()]).save(tmp_path, save_format="tf")
    content = saved_model_to_tflite(str(tmp_path))
    assert {op.output.dtype for op in read(content).ops if op.kind == "QUANTIZE"} == {"INT8"}


def test_a_model_of_tf_keras_beside_keras_3():
    """Without TF_USE_LEGACY_KERAS, tf.keras is another Keras than that of the model."""
    script = (
        "import tf_keras, tensorflow as tf\n"
        "from larq_engine.converter.keras import keras_to_tflite\n"
        "assert tf.keras.Model is not tf_keras.Model\n"
        "model = tf_keras.Sequential([tf_keras.layers.Dense(2, input_shape=(3,))])\n"
        "print('TFL3' in str(keras_to_tflite(model)[:8]))"
    )
    environment = {name: os.environ[name] for name in os.environ if name != "TF_USE_LEGACY_KERAS"}
    result = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True
    )
    assert result.stdout.strip() == "True", result.stderr


# ---- default ranges ------------------------------------------------------------------------------


def float_ops_around_a_binary_one():
    """Builds a float convolution, our operators, and a float addition."""
    builder = ModelBuilder()
    image, y, bits, z, total = (
        builder.tensor(shape, dtype, name=name)
        for name, shape, dtype in (
            ("image", (1, 4, 4, 8), np.float32),
            ("y", (1, 4, 4, 32), np.float32),
            ("bits", (1, 4, 4, 1), np.int32),
            ("z", (1, 4, 4, 32), np.float32),
            ("total", (1, 4, 4, 32), np.float32),
        )
    )
    weights = builder.constant(np.linspace(-1, 1, 256, dtype=np.float32).reshape(32, 1, 1, 8))
    bias = builder.constant(np.zeros(32, np.float32))
    builder.builtin("CONV_2D", [image, weights, bias], [y], strideW=1, strideH=1)
    builder.custom("LceQuantize", [y], [bits])
    builder.custom("LceDequantize", [bits], [z])
    builder.builtin("ADD", [y, z], [total])
    return builder.finish([image], [total])


def test_a_default_range_makes_int8_of_float_operators():
    content = quantize_float_ops(float_ops_around_a_binary_one(), (-6.0, 6.0))
    graph = read(content)
    convolution, addition = (op for op in graph.ops if op.kind in ("CONV_2D", "ADD"))
    # The scale 12 / 255 is the step of 8 bits from -6 to 6; weights have ranges of their own.
    for value in (convolution.inputs[0], convolution.output, *addition.inputs, addition.output):
        assert value.dtype == "INT8"
        assert value.quantization.scale == pytest.approx((12 / 255,))
    weights = convolution.inputs[1]
    assert weights.dtype == "INT8"
    # Each output has 8 of 256 weights from -1 to 1; the largest of the first 8 is the first, 1.
    assert len(weights.quantization.scale) == 32
    assert weights.quantization.scale[0] == pytest.approx(1 / 127)
    # Our operators are untouched, and so are the tensors that they read and write.
    (quantize,) = (op for op in graph.ops if op.kind == "LceQuantize")
    (dequantize,) = (op for op in graph.ops if op.kind == "LceDequantize")
    assert quantize.inputs[0].dtype == dequantize.output.dtype == "FLOAT32"
    assert [tensor.dtype for tensor in (*graph.inputs, *graph.outputs)] == ["FLOAT32"] * 2


def test_a_default_range_leaves_known_ranges():
    content = keras_to_tflite(image_model([FakeQuantize()]))
    graph = read(quantize_float_ops(content, (-6.0, 6.0)))
    steps = {op.output.quantization.scale for op in graph.ops if op.output.dtype == "INT8"}
    assert {round(step * 255, 3) for (step,) in steps} >= {6.0, 12.0}


# ---- refusals ------------------------------------------------------------------------------------


def test_a_class():
    with pytest.raises(TypeError, match="the class Branches; make a model of it first"):
        keras_to_tflite(Branches)


@pytest.fixture
def policy():
    """Returns a function that sets the policy for new layers until the test ends."""
    yield keras.mixed_precision.set_global_policy
    keras.mixed_precision.set_global_policy("float32")


@pytest.mark.parametrize("name", ["mixed_float16", "mixed_bfloat16", "float64"])
def test_another_precision(policy, name):
    policy(name)
    model = image_model()
    with pytest.raises(ValueError, match=f"'net': expected the dtype policy float32, got {name}; "):
        keras_to_tflite(model)


def test_a_layer_of_another_precision():
    model = image_model([keras.layers.Conv2D(32, 1, dtype="mixed_float16", name="half")])
    with pytest.raises(
        ValueError, match="layer 'half': expected it to compute in float32, got flo"
    ):
        keras_to_tflite(model)


def test_unbuilt_models():
    built_but_never_called = Branches()
    built_but_never_called.built = True
    for model in (keras.Sequential([keras.layers.Dense(3)]), Branches(), built_but_never_called):
        with pytest.raises(ValueError, match="got one without known ones; give it an Input layer"):
            keras_to_tflite(model)


def test_open_sizes():
    image = keras.Input((None, None, 3), name="image")
    model = keras.Model(image, keras.layers.Conv2D(2, 3)(image))
    with pytest.raises(ConversionError, match=r"input 'image': .*\(None, None, None, 3\); build"):
        keras_to_tflite(model)


def test_open_sizes_in_a_saved_model(tmp_path):
    image = keras.Input((None, 3), name="image")
    keras.Model(image, keras.layers.Dense(2)(image)).save(tmp_path, save_format="tf")
    with pytest.raises(ConversionError, match=r"input 'image': .*\(None, None, 3\); build"):
        saved_model_to_tflite(tmp_path)


def test_graph_mode():
    model = image_model()
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="expected eager execution"):
        keras_to_tflite(model)


def test_operators_that_tensorflow_lite_lacks():
    matrix = keras.Input((4, 4), name="matrix")
    model = keras.Model(matrix, keras.layers.Lambda(tf.linalg.inv, name="inverse")(matrix))
    with pytest.raises(
        ConversionError, match=r"no operator for tf\.MatrixInverse \(in '.*inverse/MatrixInverse'\)"
    ) as caught:
        keras_to_tflite(model)
    assert "\n" not in str(caught.value)


def test_a_saved_model_without_the_signature(tmp_path):
    module = tf.Module()
    twice = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec([1, 2])])
    tf.saved_model.save(module, tmp_path, signatures={"twice": twice})
    with pytest.raises(
        ConversionError,
        match=r"signature 'serving_default', got \['twice'\]; name .*signature_keys",
    ):
        saved_model_to_tflite(tmp_path)
    content = saved_model_to_tflite(tmp_path, ["twice"])
    assert signature(content) == ("twice", {"x": (1, 2)}, {"output_0": (1, 2)})


def test_inputs_of_a_saved_model_are_in_the_order_of_their_names(tmp_path):
    names = ["e", "b", "f", "a", "d", "c"]
    specs = {name: tf.TensorSpec([1, 2], name=name) for name in names}
    module = tf.Module()
    total = tf.function(lambda **given: tf.add_n(list(given.values())))
    signatures = {"serving_default": total.get_concrete_function(**specs)}
    tf.saved_model.save(module, tmp_path, signatures=signatures)
    assert list(signature(saved_model_to_tflite(tmp_path))[1]) == sorted(names)


def test_several_signatures_of_a_saved_model(tmp_path, rng):
    kernel = tf.Variable(rng.uniform(-1, 1, (3, 4)).astype(np.float32))
    module = tf.Module()
    module.kernel = kernel

    @tf.function(input_signature=[tf.TensorSpec([None, 3], name="x")])
    def times(x):
        return {"product": x @ kernel}

    @tf.function(input_signature=[tf.TensorSpec([None, 3], name="x"), tf.TensorSpec([], name="y")])
    def plus(x, y):
        return {"sum": x @ kernel + y, "given": y}

    tf.saved_model.save(module, tmp_path, signatures={"times": times, "plus": plus})
    content = saved_model_to_tflite(tmp_path, ["times", "plus"])
    host = StockInterpreter(model_content=content)
    assert host.get_signature_list() == {
        "times": {"inputs": ["x"], "outputs": ["product"]},
        "plus": {"inputs": ["x", "y"], "outputs": ["given", "sum"]},
    }
    x, y = np.ones((1, 3), np.float32), np.float32(2)
    product = host.get_signature_runner("times")(x=x)["product"]
    np.testing.assert_allclose(product, x @ kernel.numpy(), rtol=1e-6)
    results = host.get_signature_runner("plus")(x=x, y=y)
    np.testing.assert_allclose(results["sum"], x @ kernel.numpy() + y, rtol=1e-6)
    assert results["given"] == y


@pytest.mark.parametrize("keys", ["serving_default", [], ["a", "a"], [1]])
def test_signature_keys_that_are_none(tmp_path, keys):
    with pytest.raises(ValueError, match="signature_keys: expected a list of different names"):
        convert_saved_model(tmp_path, signature_keys=keys)


def test_a_damaged_saved_model(tmp_path):
    image_model().save(tmp_path, save_format="tf")
    (tmp_path / "saved_model.pb").write_bytes(b"no protocol buffer")
    with pytest.raises((ConversionError, OSError), match=re.escape(str(tmp_path))):
        saved_model_to_tflite(tmp_path)


def test_the_remedy_of_a_separable_layer_works():
    """Such a layer has an input quantizer already, and no place for another one."""
    image, signs = keras.Input((8, 8, 64)), {"input_quantizer": "ste_sign"}
    kernels = {"depthwise_quantizer": "ste_sign", "pointwise_quantizer": "ste_sign"}
    whole = larq.layers.QuantSeparableConv2D(64, 3, name="separable", **signs, **kernels)(image)
    _, pointwise = convert_keras_model(keras.Model(image, whole)).report.layers
    assert pointwise.name == "separable" and pointwise.became == "weights only"
    assert "QuantDepthwiseConv2D, and QuantConv2D with input_quantizer" in pointwise.remedy
    x = larq.layers.QuantDepthwiseConv2D(3, depthwise_quantizer="ste_sign", **signs)(image)
    x = larq.layers.QuantConv2D(64, 1, kernel_quantizer="ste_sign", **signs)(x)
    report = convert_keras_model(keras.Model(image, x)).report
    assert [layer.became for layer in report.layers] == ["weights only", "binary"]
