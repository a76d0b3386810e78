"""Tests reads of quantized weights, and metrics of quantizers, on the backend that Keras has."""

import itertools
import threading

import numpy as np
import pytest

from tests.keras import backends, numpy_layers

backends.require_backend()

import keras  # noqa: E402
from keras import ops  # noqa: E402

import larq_engine.keras as lq  # noqa: E402

SCOPE = lq.context.quantized_scope


def numpy_of(tensor):
    return ops.convert_to_numpy(tensor)


def make_model(quantizer="ste_sign"):
    layers = [
        lq.layers.QuantConv2D(4, 3, kernel_quantizer=quantizer, kernel_constraint="weight_clip"),
        lq.layers.QuantDepthwiseConv2D(2, depthwise_quantizer="ste_tern"),
        lq.layers.QuantSeparableConv2D(3, 2, pointwise_quantizer="magnitude_aware_sign"),
        keras.layers.Flatten(),
        lq.layers.QuantDense(2),
    ]
    return keras.Sequential([keras.Input((6, 6, 3)), *layers])


def quantized(weights):
    """Returns the weights of that model as its layers compute with them, by NumPy."""
    names = {0: "SteSign", 2: "SteTern", 5: "MagnitudeAwareSign"}
    return [
        numpy_layers.quantize(names[number], weight)[0] if number in names else weight
        for number, weight in enumerate(weights)
    ]


def test_weights_are_read_as_the_scope_says():
    model = make_model()
    latent = model.get_weights()
    expected = quantized(latent)
    assert any((got != want).any() for got, want in zip(latent, expected, strict=True))
    with SCOPE(True):
        for got, want in zip(model.get_weights(), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)
        with SCOPE(False):
            np.testing.assert_array_equal(model.get_weights()[0], latent[0])
        np.testing.assert_array_equal(numpy_of(model.layers[0].kernel), expected[0])
    for got, want in zip(model.get_weights(), latent, strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("name", ["model.keras", "model.weights.h5", "model.h5"])
@pytest.mark.filterwarnings("ignore:.*HDF5 file:UserWarning")
def test_files_with_quantized_weights(tmp_path, rng, name):
    model, again = make_model(), make_model()
    latent = model.get_weights()
    with SCOPE(True):
        (model.save_weights if "weights" in name else model.save)(tmp_path / name)
    if "weights" in name:
        again.load_weights(tmp_path / name)
    else:
        again = keras.models.load_model(tmp_path / name, compile=False)
    for got, want in zip(again.get_weights(), quantized(latent), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    x = rng.uniform(-1, 1, (2, 6, 6, 3)).astype(np.float32)
    np.testing.assert_allclose(numpy_of(again(x)), numpy_of(model(x)), rtol=1e-4, atol=1e-5)


def test_each_thread_has_its_own_scope():
    seen = {}

    def look():
        seen["other"] = (lq.context.should_quantize(), set(lq.context.get_training_metrics()))

    with SCOPE(True), lq.context.metrics_scope(["flip_ratio"]):
        assert lq.context.should_quantize()
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert seen["other"] == (False, set())
    assert not lq.context.should_quantize()


def test_an_error_ends_the_scopes():
    with pytest.raises(RuntimeError), SCOPE(True), lq.context.metrics_scope(["flip_ratio"]):
        raise RuntimeError
    assert not lq.context.should_quantize()
    assert lq.context.get_training_metrics() == set()


# The last one's weights would change if they were quantized twice.
@pytest.mark.parametrize("quantizer", ["ste_sign", lq.quantizers.DoReFa(3, mode="weights")])
def test_training_in_a_scope_is_training(rng, quantizer):
    """Optimizers, constraints and JAX's loop read weights and write back what they read."""
    x, y = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((8, 6, 6, 3), (8, 2)))
    results = []
    for scope in (False, True):
        keras.utils.set_random_seed(1)
        model = make_model(quantizer)
        model.compile(keras.optimizers.SGD(1e-4, weight_decay=0.01), "mse")
        with SCOPE(scope):
            model.fit(x, y, epochs=2, batch_size=4, shuffle=False, verbose=0)
            predicted = model.predict(x, verbose=0)
        results.append([predicted, *model.get_weights()])
    for got, want in zip(*results, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    kernel = results[1][1]
    assert len(np.unique(kernel)) > 10, "the latent weights are still there"


def test_assignments_are_of_latent_weights():
    layer = lq.layers.QuantDense(1, kernel_quantizer="ste_sign", kernel_constraint="weight_clip")
    layer.build((1, 2))
    with SCOPE(True):
        layer.set_weights([np.float32([[0.25], [-0.5]]), np.zeros(1, np.float32)])
        layer.kernel.assign_add(np.float32([[0.5], [0.25]]))
        np.testing.assert_array_equal(layer.kernel.numpy(), [[1], [-1]])
    np.testing.assert_array_equal(layer.kernel.numpy(), [[0.75], [-0.25]])


def test_variables_of_ones_own():
    variable = keras.Variable([3.5, -1.0])
    same = lq.quantized_variable.QuantizedVariable.from_variable(variable, lambda x: 2 * x, 4)
    assert same is variable
    assert variable.precision == 4
    with SCOPE(True):
        np.testing.assert_array_equal(variable.numpy(), [7.0, -2.0])
    for arguments, name in (((1.0,), "variable"), ((variable, 1), "quantizer")):
        with pytest.raises(TypeError, match=f"{name}: expected .*, got "):
            lq.quantized_variable.QuantizedVariable.from_variable(*arguments)
    with pytest.raises(TypeError, match="precision: expected an int, got float"):
        lq.quantized_variable.QuantizedVariable.from_variable(variable, precision=1.0)


class Own(lq.layers_base.QuantizerBase, keras.layers.EinsumDense):
    """A layer of Keras that has no quantized counterpart here."""


class OwnCall(lq.layers_base.BaseLayer):
    """A layer with a weight and a call of its own."""

    def build(self, input_shape):
        super().build(input_shape)
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="normal")

    def call(self, inputs):
        with SCOPE(True):
            return inputs * self.scale

    def _get_quantizer(self, name):
        return lq.quantizers.SteSign() if name == "scale" else None


def test_layers_of_ones_own(rng):
    x = rng.uniform(-1, 1, (3, 4)).astype(np.float32)
    layer = Own(
        "ab,bc->ac", output_shape=2, input_quantizer="ste_sign", kernel_quantizer="ste_tern"
    )
    got = numpy_of(layer(x))
    kernel = numpy_layers.quantize("SteTern", layer.get_weights()[0])[0]
    np.testing.assert_allclose(got, np.where(x < 0, -1, 1) @ kernel, rtol=1e-5, atol=1e-6)
    assert layer.kernel.precision == 2
    again = Own.from_config(layer.get_config())
    assert type(again.kernel_quantizer) is lq.quantizers.SteTern
    scaled = OwnCall()
    got = numpy_of(scaled(x))
    np.testing.assert_array_equal(got, x * np.where(scaled.get_weights()[0] < 0, -1, 1))


class Doubled(lq.quantizers.Quantizer):
    """A quantizer whose call ends like those of larq's quantizers."""

    precision = 1

    def call(self, inputs):
        return super().call(2 * lq.math.sign(inputs))


class Learned(keras.layers.Layer):
    """A layer with a weight, as a quantizer."""

    def build(self, input_shape):
        self.scale = self.add_weight(name="scale", shape=(), initializer="ones")

    def call(self, inputs):
        return self.scale * inputs


@lq.utils.register_alias("halved")
@lq.utils.set_precision(3)
def halved(x):
    return x / 2


def test_quantizers_of_ones_own(rng):
    x = rng.uniform(-1, 1, (3, 4)).astype(np.float32)
    np.testing.assert_array_equal(numpy_of(Doubled()(x)), np.where(x < 0, -2, 2))
    layer = lq.layers.QuantDense(2, kernel_quantizer="halved", input_quantizer=Doubled())
    np.testing.assert_allclose(
        numpy_of(layer(x)), np.where(x < 0, -2, 2) @ layer.get_weights()[0] / 2, rtol=1e-5
    )
    assert layer.kernel.precision == 3
    assert layer.kernel_quantizer is halved


@pytest.mark.parametrize("argument", ["input_quantizer", "kernel_quantizer"])
def test_a_layer_as_quantizer_is_trained(rng, argument):
    x, y = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((8, 4), (8, 1)))
    quantizer = Learned()
    layer = lq.layers.QuantDense(1, **{argument: quantizer})
    model = keras.Sequential([keras.Input((4,)), layer])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit(x, y, verbose=0)
    assert any(weight is quantizer.scale for weight in model.trainable_weights)
    assert numpy_of(quantizer.scale) != 1


# ---- metrics -------------------------------------------------------------------------------------


def test_flip_ratio():
    metric = lq.metrics.FlipRatio()
    assert float(metric.result()) == 0
    updates = [([1, 1], 0, 1, 0), ([2, 2], 1, 2, 1), ([1, 2], 1.5, 3, 0.75)]
    for values, total, count, result in updates:
        metric.update_state(np.float32(values))
        assert (float(metric.total), float(metric.count)) == (total, count)
        assert float(metric.result()) == result
    metric.reset_state()
    metric.update_state(np.float32([2, 2]))  # the first of an epoch
    assert float(metric.result()) == 0
    metric.update_state(np.float32([2, 1]))
    assert float(metric.result()) == 0.5
    with pytest.raises(ValueError, match=r"expected the shape \(2,\), got \(3,\)"):
        metric.update_state(np.zeros(3))
    with pytest.raises(ValueError, match="expected values of a known shape"):
        lq.metrics.FlipRatio().build((None, 3))


def test_the_configuration_of_flip_ratio():
    metric = lq.metrics.FlipRatio(values_dtype="int16", name="mine", dtype="float16")
    again = keras.metrics.deserialize(keras.metrics.serialize(metric))
    assert (again.name, again.dtype, again.values_dtype) == ("mine", "float16", "int16")


def test_metrics_scope():
    with lq.context.metrics_scope(["flip_ratio"]) as metrics:
        assert metrics == lq.context.get_training_metrics() == {"flip_ratio"}
        assert lq.quantizers.get_kernel_quantizer("ste_sign").get_config()["metrics"]
        assert "metrics" not in lq.quantizers.get("ste_sign").get_config()
        assert lq.quantizers.get_kernel_quantizer(halved) is halved
    assert lq.context.get_training_metrics() == set()
    with (
        pytest.raises(ValueError, match="expected metrics among flip_ratio, got 'unknown'"),
        lq.context.metrics_scope(["flip_ratio", "unknown"]),
    ):
        pass
    with pytest.raises(ValueError, match="SteSign: expected metrics among flip_ratio, got 'm'"):
        lq.quantizers.SteSign(metrics=["m"])


@pytest.mark.parametrize("explicit", [False, True])
def test_flips_in_the_history(rng, explicit):
    """Flips are of the weights that layers use, at each step; JAX raises an error with advice."""
    x, y = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((8, 16), (8, 3)))
    quantizer = (
        lq.quantizers.SteSign(metrics=["flip_ratio"], name="mine") if explicit else "ste_sign"
    )
    scope = lq.context.metrics_scope([] if explicit else ["flip_ratio"])
    with scope:
        layer = lq.layers.QuantDense(3, kernel_quantizer=quantizer, kernel_constraint="weight_clip")
    if backends.NAME == "jax":
        with pytest.raises(ValueError, match=r"flip_ratio, got JAX.*; leave it out, and call Flip"):
            layer.build((1, 16))
        return
    model = keras.Sequential([keras.Input((16,)), layer])
    model.compile(keras.optimizers.SGD(0.5), "mse")
    seen = []

    class Watch(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            seen.append(np.where(self.model.get_weights()[0] < 0, -1, 1))

    history = model.fit(x, y, batch_size=2, shuffle=False, verbose=0, callbacks=[Watch()]).history
    flips = [np.mean(after != before) for before, after in itertools.pairwise(seen)]
    assert sum(flips) > 0
    name = f"flip_ratio/{layer.kernel_quantizer.name}"
    assert name == "flip_ratio/mine" or not explicit
    np.testing.assert_allclose(history[name][0], np.mean(flips), rtol=1e-5)
    assert len(model.get_weights()) == 2, "the metric's numbers are no weights"


def test_flips_in_a_callback(rng):
    """This is what the error on JAX proposes; it works on every backend."""
    x, y = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((8, 16), (8, 3)))
    layer = lq.layers.QuantDense(3, kernel_quantizer="ste_sign", kernel_constraint="weight_clip")
    model = keras.Sequential([keras.Input((16,)), layer])
    model.compile(keras.optimizers.SGD(0.5), "mse")
    metric = lq.metrics.FlipRatio()
    signs = []

    class Flips(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            with lq.context.quantized_scope(True):
                signs.append(self.model.layers[0].get_weights()[0])
            metric.update_state(signs[-1])

    model.fit(x, y, batch_size=2, shuffle=False, verbose=0, callbacks=[Flips()])
    flips = [np.mean(after != before) for before, after in itertools.pairwise(signs)]
    assert sum(flips) > 0
    np.testing.assert_allclose(float(metric.result()), np.mean(flips), rtol=1e-5)
