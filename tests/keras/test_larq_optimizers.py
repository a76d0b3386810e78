"""Compares Bop and CaseOptimizer of larq_engine.keras with larq's own."""

import numpy as np
import pytest

from tests.converter.frameworks import require_keras

require_keras()

import keras  # noqa: E402
import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

import larq_engine.keras as lq  # noqa: E402


def schedules(rate):
    """Returns the same schedule of Keras 3 and Keras 2."""
    arguments = {"initial_learning_rate": rate, "decay_steps": 3, "decay_rate": 0.5}
    return [
        module.optimizers.schedules.ExponentialDecay(**arguments) for module in (keras, tf.keras)
    ]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({}, {}),
        ({"threshold": 1e-3, "gamma": 0.1},) * 2,
        *(
            [{name: scheduled, **rest} for scheduled in schedules(0.2)]
            for name, rest in [("gamma", {"threshold": 1e-2}), ("threshold", {"gamma": 0.1})]
        ),
    ],
)
def test_flips_are_larqs(rng, ours, theirs):
    start = np.where(rng.uniform(size=(8, 5)) < 0.5, -1, 1).astype(np.float32)
    variable, other = keras.Variable(start), tf.Variable(start)
    optimizer, expected = lq.optimizers.Bop(**ours), larq.optimizers.Bop(**theirs)
    flips = 0
    for _ in range(20):
        gradient = rng.normal(0, 1, start.shape).astype(np.float32)
        gradient[0] = 0  # never flips
        before = variable.numpy()
        optimizer.apply([tf.constant(gradient)], [variable])
        expected.apply_gradients([(tf.constant(gradient), other)])
        np.testing.assert_array_equal(variable.numpy(), other.numpy())
        flips += int((variable.numpy() != before).sum())
    assert flips > 10
    np.testing.assert_array_equal(variable.numpy()[0], start[0])


@pytest.mark.parametrize("threshold", [1e-3, schedules(0.1)[0]])
def test_the_configuration_of_bop(threshold):
    optimizer = lq.optimizers.Bop(threshold=threshold, gamma=0.3, name="flips")
    again = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert again.name == "flips"
    assert float(again.gamma) == np.float32(0.3)
    assert type(again.threshold) is type(optimizer.threshold)
    assert again.get_config() == optimizer.get_config()


def layers(module, frame):
    mark = {"kernel_quantizer": module.quantizers.NoOp(precision=1), "use_bias": False}
    return [
        frame.layers.Dense(16, use_bias=False),
        frame.layers.BatchNormalization(momentum=0.9),
        module.layers.QuantDense(8, input_quantizer="ste_sign", **mark),
        frame.layers.Dense(4),
    ]


def case_optimizer(module, sgd):
    bop = module.optimizers.Bop(threshold=1e-6, gamma=1e-2)
    return module.optimizers.CaseOptimizer(
        (module.optimizers.Bop.is_binary_variable, bop), default_optimizer=sgd
    )


def weights_of(rng, model):
    """Makes random kernels, with signs where Bop flips them; other weights stay."""
    weights = [rng.normal(0, 0.3, w.shape) if w.ndim == 2 else w for w in model.get_weights()]
    weights[5] = np.where(weights[5] < 0, -1.0, 1.0)
    return weights


def trained(module, frame, sgd, data, rng):
    model = frame.Sequential([frame.layers.Input((6,)), *layers(module, frame)])
    start = weights_of(rng, model)
    model.set_weights(start)
    model.compile(optimizer=case_optimizer(module, sgd), loss="mse")
    model.fit(*data, batch_size=8, epochs=3, shuffle=False, verbose=0)
    return model, start


@pytest.fixture
def float64():
    """Sets both kinds of Keras to float64: in float32 another core's roundings flip signs."""
    setters = (
        *(tf.keras.backend.set_floatx, tf.keras.mixed_precision.set_global_policy),
        *(keras.config.set_floatx, keras.config.set_dtype_policy),
    )
    # Layers use the policy. It is made from the type when it is first read, and does not follow the
    # type later: so both are set.
    for set_type in setters:
        set_type("float64")
    yield
    for set_type in setters:
        set_type("float32")


@pytest.fixture
def data(rng):
    return rng.normal(0, 1, (64, 6)), rng.normal(0, 1, (64, 4))


@pytest.mark.usefixtures("float64")
def test_training_with_two_optimizers_is_larqs(data):
    rate = 0.01  # at 0.05 one start in three diverges
    sgd = tf.keras.optimizers.legacy.SGD(rate)
    theirs, start = trained(larq, tf.keras, sgd, data, np.random.default_rng(1))
    ours, _ = trained(lq, keras, keras.optimizers.SGD(rate), data, np.random.default_rng(1))
    for got, expected, before in zip(ours.get_weights(), theirs.get_weights(), start, strict=True):
        # One of the two rounds its constants, 0.01 and 0.9, to float32.
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-7)
        assert (got != before).any()
    assert set(np.unique(ours.layers[2].kernel)) == {-1.0, 1.0}


@pytest.mark.usefixtures("float64")
def test_a_saved_model_goes_on_training(tmp_path, data, rng):
    model, _ = trained(lq, keras, keras.optimizers.Adam(0.01), data, rng)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    assert type(again.optimizer) is lq.optimizers.CaseOptimizer
    for each in (model, again):
        each.fit(*data, batch_size=8, epochs=2, shuffle=False, verbose=0)
    for got, expected in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9)


def test_an_optimizer_of_keras_2_is_refused():
    with pytest.raises(TypeError, match="expected an optimizer of Keras 3 as default_optimizer"):
        lq.optimizers.CaseOptimizer(default_optimizer=tf.keras.optimizers.legacy.SGD(0.1))
