"""Compares larq_engine.keras with NumPy, on the backend that Keras has in this process.

`tools/test_keras_backends.sh` runs these tests on JAX and on PyTorch.
"""

import os
import subprocess

import numpy as np
import pytest

import larq_engine
from tests.keras import backends, numpy_layers
from tests.keras.cases import LAYERS, QUANTIZERS, numbers

backends.require_backend()

import keras  # noqa: E402

import larq_engine.keras as lq  # noqa: E402

_TINY = np.finfo(np.float32).tiny


def upstream_of(shape):
    return np.cos(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape)


def gradients_of_quantizer(name, arguments, x):
    quantizer = getattr(lq.quantizers, name)(**arguments)
    quantizer.build(x.shape)
    return backends.value_and_gradients(quantizer, x, upstream_of)


def test_the_backend_is_the_one_asked_for():
    assert keras.backend.backend() == backends.NAME


@pytest.mark.parametrize(("name", "arguments"), QUANTIZERS)
def test_quantizers(rng, name, arguments):
    x = numbers(rng)
    if name == "MagnitudeAwareSign" or "ternary_weight_networks" in arguments:
        x = x[np.abs(x).max(axis=1) < 1e30]  # no sum is infinite
    got = gradients_of_quantizer(name, arguments, x)
    # A backend may take a number below the normal numbers as itself or as 0.
    flushed = np.where(np.abs(x) < _TINY, np.float32(0), x)
    with np.errstate(over="ignore", invalid="ignore"):
        expected, other = (
            (value, back(upstream_of(value.shape)))
            for value, back in (
                numpy_layers.quantize(name, each, **arguments) for each in (x, flushed)
            )
        )
    # These have a tanh, which no two libraries compute alike.
    near = 1e-6 if name == "SwishSign" or "mode" in arguments else 1e-37
    for ours, wanted, instead in zip(got, expected, other, strict=True):
        wanted = np.where(np.isclose(ours, instead, 1e-5, near), ours, wanted)
        np.testing.assert_allclose(ours, wanted, rtol=1e-5, atol=near)


# The others' threshold is a mean.
@pytest.mark.parametrize(
    ("name", "arguments"),
    [(name, given) for name, given in QUANTIZERS if "ternary_weight_networks" not in given],
)
def test_infinite_values_and_no_numbers(name, arguments):
    x = np.float32([[np.inf, -np.inf, 1.0, np.nan]])
    got = gradients_of_quantizer(name, arguments, x)
    with np.errstate(all="ignore"):
        value, back = numpy_layers.quantize(name, x, **arguments)
        expected = value, back(upstream_of(value.shape))
    if backends.NAME == "torch" and not np.isnan(got[0][0, 3]):  # torch's sign of NaN is 0
        value[0, 3] = numpy_layers.quantize(name, np.zeros(1), **arguments)[0][0]
    for ours, wanted in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-5)


@pytest.mark.parametrize(("name", "positional", "arguments", "shape"), LAYERS)
def test_layers(rng, name, positional, arguments, shape):
    x = rng.uniform(-1.5, 1.5, shape).astype(np.float32)
    layer = getattr(lq.layers, name)(*positional, **arguments)
    layer.build(shape)
    weights = [rng.uniform(-1.5, 1.5, each.shape).astype(np.float32) for each in layer.weights]
    layer.set_weights(weights)
    got = backends.value_and_gradients(layer, x, upstream_of)
    expected = numpy_layers.layer(name, positional, arguments, x, weights, upstream_of)
    assert len(got) == len(expected) == 2 + len(weights)
    for ours, wanted in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-4, atol=1e-5)
    # The weights themselves stay latent.
    for ours, given in zip(layer.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(ours, given)


@pytest.mark.parametrize("pad_values", [0.0, 1.0])
def test_sizes_that_are_open(rng, pad_values):
    arguments = {**BINARY, "pad_values": pad_values}
    positional = (4, 3, 2, "same")
    given = keras.Input((None, None, 2))
    model = keras.Model(given, lq.layers.QuantConv2D(*positional, **arguments)(given))
    assert model.output_shape == (None, None, None, 4)
    for size in (5, 8):
        x = rng.uniform(-1, 1, (1, size, size + 1, 2)).astype(np.float32)
        expected, *_ = numpy_layers.layer(
            "QuantConv2D", positional, arguments, x, model.get_weights(), upstream_of
        )
        np.testing.assert_allclose(model.predict(x, verbose=0), expected, rtol=1e-5, atol=1e-5)


BINARY = {
    "input_quantizer": "ste_sign",
    "kernel_quantizer": "ste_sign",
    "kernel_constraint": "weight_clip",
}
RATE = 0.25


def dense_layers():
    """Returns arguments of two layers with weights of all kinds: latent, clipped and bias."""
    return [
        ((6,), {"kernel_quantizer": "ste_sign", "kernel_constraint": "weight_clip"}),
        ((3,), {**BINARY, "activation": "leaky_tanh"}),
    ]


def test_a_step_of_fit(rng):
    """Its gradients are those of the layers, one behind the other, and weights are clipped."""
    x, y = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((8, 5), (8, 3)))
    both = dense_layers()
    model = keras.Sequential(
        [
            keras.Input((5,)),
            *(lq.layers.QuantDense(*positional, **named) for positional, named in both),
        ]
    )
    weights = [rng.uniform(-1, 1, each.shape).astype(np.float32) for each in model.get_weights()]
    model.set_weights(weights)
    model.compile(keras.optimizers.SGD(RATE), "mse")
    model.fit(x, y, batch_size=8, epochs=1, verbose=0)

    def run(number, x, upstream):
        given = ("QuantDense", *both[number], x, weights[2 * number : 2 * number + 2])
        return numpy_layers.layer(*given, upstream=upstream)

    hidden, *_ = run(0, x, upstream_of)
    output, *_ = run(1, hidden, upstream_of)
    _, dhidden, *last = run(1, hidden, lambda _: 2 * (output - y) / y.size)
    _, _, *first = run(0, x, lambda _: dhidden)
    clipped = 0
    for got, before, gradient in zip(model.get_weights(), weights, [*first, *last], strict=True):
        expected = before - RATE * gradient
        if before.ndim == 2:
            clipped += int((np.abs(expected) > 1).sum())
            expected = np.clip(expected, -1, 1)
        assert np.abs(gradient).max() > 1e-3
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    assert clipped


def test_flips_of_bop(rng):
    start = np.where(rng.uniform(size=(8, 5)) < 0.5, -1, 1).astype(np.float32)
    variable, expected, average = keras.Variable(start), start.copy(), np.zeros_like(start)
    optimizer = lq.optimizers.Bop(threshold=1e-3, gamma=0.1)
    for _ in range(20):
        gradient = rng.normal(0, 1, start.shape).astype(np.float32)
        optimizer.apply([keras.ops.convert_to_tensor(gradient)], [variable])
        average += np.float32(0.1) * (gradient - average)
        expected = np.where(expected * average > np.float32(1e-3), -expected, expected)
        np.testing.assert_array_equal(keras.ops.convert_to_numpy(variable), expected)
    assert (expected != start).any()


def make_model():
    """Makes a model of float layers, binary layers, and weights that Bop flips."""
    model = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            keras.layers.Conv2D(16, 3, use_bias=False),
            keras.layers.BatchNormalization(momentum=0.5),
            lq.layers.QuantConv2D(16, 3, padding="same", pad_values=1.0, **BINARY),
            keras.layers.MaxPooling2D(),
            keras.layers.BatchNormalization(momentum=0.5),
            keras.layers.Flatten(),
            lq.layers.QuantDense(
                8,
                input_quantizer="approx_sign",
                kernel_quantizer=lq.quantizers.NoOp(precision=1),
                use_bias=False,
            ),
            keras.layers.BatchNormalization(momentum=0.5),
            keras.layers.Dense(4),
        ]
    )
    kernel = model.layers[6].kernel
    kernel.assign(np.where(keras.ops.convert_to_numpy(kernel) < 0, -1, 1))
    bop = lq.optimizers.Bop(threshold=1e-6, gamma=1e-2)
    flipped = (lq.optimizers.Bop.is_binary_variable, bop)
    adam = keras.optimizers.Adam(0.01)
    model.compile(lq.optimizers.CaseOptimizer(flipped, default_optimizer=adam), "mse")
    return model


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    x = rng.normal(0, 1, (64, 8, 8, 3)).astype(np.float32)
    return x, (4 * x[:, :4, 0, 0]).astype(np.float32)


def fit(model, data, epochs):
    return model.fit(*data, batch_size=16, epochs=epochs, shuffle=False, verbose=0).history["loss"]


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(1)
    return make_model()


def test_training_with_two_optimizers(model, data):
    before = model.get_weights()
    losses = fit(model, data, 4)
    assert losses[-1] < 0.7 * losses[0]
    assert all((old != new).any() for old, new in zip(before, model.get_weights(), strict=True))
    kernel = keras.ops.convert_to_numpy(model.layers[6].kernel)
    assert set(np.unique(kernel)) == {-1.0, 1.0}


def test_a_saved_model_goes_on_training(tmp_path, model, data):
    fit(model, data, 1)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert type(again.optimizer) is lq.optimizers.CaseOptimizer
    expected = model.predict(data[0], verbose=0)
    np.testing.assert_allclose(again.predict(data[0], verbose=0), expected, rtol=1e-5, atol=1e-6)
    for each in (model, again):
        fit(each, data, 1)
    for got, expected in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_conversion(tmp_path, model, data):
    """TensorFlow converts directly; on other backends the error says how to."""
    fit(model, data, 1)
    if backends.NAME == "tensorflow":
        converted = larq_engine.convert_keras_model(model)
        assert converted.report.count("binary") == 2
    else:
        with pytest.raises(ValueError, match=r"save the model .* run `larq-engine convert model"):
            larq_engine.convert_keras_model(model)
        model.save(tmp_path / "model.keras")
        run_in_tensorflow(tmp_path, "convert model.keras -o model.tflite")
        converted = (tmp_path / "model.tflite").read_bytes()
    got = larq_engine.Interpreter(converted).predict(data[0])
    np.testing.assert_allclose(got, model.predict(data[0], verbose=0), rtol=1e-4, atol=1e-4)


def run_in_tensorflow(folder, command):
    """Runs larq-engine in the environment that has TensorFlow; KERAS_BACKEND stays as here."""
    python = os.environ.get("LARQ_ENGINE_TEST_TENSORFLOW_PYTHON")
    if python is None and "tensorflow" not in os.environ.get("LARQ_ENGINE_REQUIRE_HOSTS", ""):
        pytest.skip("TensorFlow, which converts models of Keras, is not installed here")
    assert python is not None, "tools/test_keras_backends.sh found no environment with TensorFlow"
    root = os.path.dirname(os.path.dirname(larq_engine.__file__))
    done = subprocess.run(
        [os.path.abspath(python), "-m", "larq_engine", *command.split()],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
