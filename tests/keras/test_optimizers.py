"""Tests edge cases of CaseOptimizer and Bop, on the backend that Keras has in this process."""

import warnings

import numpy as np
import pytest

from tests.keras import backends

backends.require_backend()

import keras  # noqa: E402
from keras import ops  # noqa: E402

import larq_engine.keras as lq  # noqa: E402

IS_BINARY = lq.optimizers.Bop.is_binary_variable
RATE = 0.25


def numpy_of(tensor):
    return ops.convert_to_numpy(tensor)


def tensors(*values):
    return [ops.convert_to_tensor(np.float32(value)) for value in values]


def small_model(trainable_norm=True):
    """Makes binary layers that Bop trains, and a batch norm."""
    marked = {"kernel_quantizer": lq.quantizers.NoOp(precision=1), "use_bias": False}
    model = keras.Sequential(
        [
            keras.Input((10,)),
            lq.layers.QuantDense(20, activation="relu", **marked),
            keras.layers.BatchNormalization(trainable=trainable_norm, momentum=0.8),
            lq.layers.QuantDense(2, input_quantizer="ste_sign", activation="softmax", **marked),
        ]
    )
    for layer in model.layers[::2]:
        layer.kernel.assign(np.where(numpy_of(layer.kernel) < 0, -1, 1))
    return model


@pytest.fixture(scope="module")
def clusters():
    """Returns points of two clusters, and the cluster of each point."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 1000)
    centres = rng.normal(0, 1, (2, 10))
    points = centres[labels] + rng.normal(0, 0.5, (1000, 10))
    return points.astype(np.float32), np.eye(2, dtype=np.float32)[labels]


def fit(model, optimizer, data, **options):
    model.compile(optimizer, "categorical_crossentropy", metrics=["acc"])
    options = {"epochs": 2, "batch_size": 16, "verbose": 0, **options}
    return model.fit(*data, **options).history["acc"][-1]


@pytest.mark.parametrize("trainable_norm", [True, False])
def test_bop_beside_adam(clusters, trainable_norm):
    """If the norm is frozen, nothing is left for the default optimizer."""
    keras.utils.set_random_seed(1)
    model = small_model(trainable_norm)
    before = [numpy_of(weight) for weight in model.trainable_weights]
    case = lq.optimizers.CaseOptimizer(
        (IS_BINARY, lq.optimizers.Bop()), default_optimizer=keras.optimizers.Adam(0.01)
    )
    accuracy = fit(model, case, clusters)
    for old, weight in zip(before, model.trainable_weights, strict=True):
        assert (old != numpy_of(weight)).any()
    for layer in model.layers[::2]:
        assert set(np.unique(numpy_of(layer.kernel))) <= {-1.0, 1.0}
    assert accuracy > 0.75 or not trainable_norm


def test_a_model_without_weights_for_the_default_goes_into_a_file(tmp_path, clusters):
    keras.utils.set_random_seed(1)
    model = small_model(trainable_norm=False)
    case = lq.optimizers.CaseOptimizer(
        (IS_BINARY, lq.optimizers.Bop()), default_optimizer=keras.optimizers.Adam(0.01)
    )
    fit(model, case, clusters, epochs=1)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras")
    for each in (model, again):
        each.fit(*clusters, batch_size=16, shuffle=False, verbose=0)
    for got, want in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_schedules_and_scaled_losses(clusters):
    decay = keras.optimizers.schedules.InverseTimeDecay(3.0, decay_steps=1, decay_rate=0.5)
    keras.utils.set_random_seed(1)
    model = small_model()
    case = lq.optimizers.CaseOptimizer(
        (IS_BINARY, lq.optimizers.Bop(threshold=decay, gamma=decay)),
        default_optimizer=keras.optimizers.Adam(0.01),
    )
    before = numpy_of(model.layers[1].gamma)
    fit(model, keras.optimizers.LossScaleOptimizer(case), clusters, epochs=1)
    assert (before != numpy_of(model.layers[1].gamma)).any()
    assert set(np.unique(numpy_of(model.layers[0].kernel))) == {-1.0, 1.0}


def two_variables():
    return keras.Variable([1.0, 2.0], name="first"), keras.Variable([3.0, 4.0], name="second")


def sgd(**options):
    return keras.optimizers.SGD(RATE, **options)


def test_gradients_go_to_their_weights_in_any_order():
    first, second = two_variables()
    case = lq.optimizers.CaseOptimizer(
        (lambda variable: variable.name == "first", sgd()), default_optimizer=sgd()
    )
    case.build([first, second])
    case.apply(tensors([4.0, 4.0], [8.0, 8.0]), [second, first])
    np.testing.assert_array_equal(numpy_of(first), [-1.0, 0.0])
    np.testing.assert_array_equal(numpy_of(second), [2.0, 3.0])
    with pytest.raises(ValueError, match="Unknown variable"):
        case.apply(tensors([1.0]), [keras.Variable([1.0])])


def test_averages_are_what_fit_ends_with(rng):
    """With use_ema, an optimizer's weights end as averages, here by NumPy; others stay."""
    x, y = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((12, 3), (12, 2)))
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    kernel, bias = model.get_weights()
    averaged = sgd(use_ema=True, ema_momentum=0.5)
    case = lq.optimizers.CaseOptimizer(
        (lambda variable: variable.name == "kernel", averaged), default_optimizer=sgd()
    )
    model.compile(case, "mse")
    model.fit(x, y, batch_size=4, epochs=1, shuffle=False, verbose=0)
    average = np.zeros_like(kernel)
    for step in range(3):
        batch, wanted = x[4 * step : 4 * step + 4], y[4 * step : 4 * step + 4]
        error = 2 * (batch @ kernel + bias - wanted) / wanted.size
        kernel, bias = kernel - RATE * batch.T @ error, bias - RATE * error.sum(axis=0)
        average = kernel if step == 0 else (average + kernel) / 2
    np.testing.assert_allclose(model.get_weights()[0], average, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(model.get_weights()[1], bias, rtol=1e-4, atol=1e-5)


def test_weights_that_nothing_trains_are_told():
    first, second = two_variables()
    case = lq.optimizers.CaseOptimizer((lambda variable: variable.name == "first", sgd()))
    with pytest.warns(
        UserWarning, match=r"no optimizer trains '[^']*second'; .* default_optimizer"
    ):
        case.build([first, second])
    case.apply(tensors([4.0, 4.0], [8.0, 8.0]))
    np.testing.assert_array_equal(numpy_of(second), [3.0, 4.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lq.optimizers.CaseOptimizer((lambda _: True, sgd())).build([first, second])


def test_what_case_optimizer_refuses():
    one, other = sgd(name="one"), keras.optimizers.Adam(0.1, name="other")
    with pytest.raises(TypeError, match="expected a function first in pair 0, got bool"):
        lq.optimizers.CaseOptimizer((False, one))
    with pytest.raises(TypeError, match="expected an optimizer of Keras 3 second in pair 0, got s"):
        lq.optimizers.CaseOptimizer((bool, "sgd"))
    with pytest.raises(TypeError, match="expected an optimizer of Keras 3 as default_optimizer"):
        lq.optimizers.CaseOptimizer((IS_BINARY, one), default_optimizer=False)
    variables = [keras.Variable([1.0])]
    with pytest.raises(ValueError, match="expected weights for the optimizer 'one', got none"):
        lq.optimizers.CaseOptimizer((lambda _: False, one), default_optimizer=other).build(
            variables
        )
    with pytest.raises(ValueError, match=r"expected one optimizer .* got 'one' and 'other'"):
        lq.optimizers.CaseOptimizer((lambda _: True, one), (lambda _: True, other)).build(variables)


def test_case_optimizer_has_no_learning_rate():
    """Otherwise Keras' LearningRateScheduler would set it, without any effect."""
    case = lq.optimizers.CaseOptimizer(default_optimizer=sgd())
    with pytest.raises(AttributeError, match=r"CaseOptimizer has no learning rate; .*Hyperparam"):
        case.learning_rate = 0.1
    assert not hasattr(case, "learning_rate")


def test_variables_are_those_of_all_optimizers():
    first, second = two_variables()
    case = lq.optimizers.CaseOptimizer(
        (lambda variable: variable.name == "first", lq.optimizers.Bop()),
        default_optimizer=sgd(momentum=0.9),
    )
    case.build([first, second])
    own = [each for optimizer in case.optimizers for each in optimizer.variables]
    assert all(any(each is one for one in case.variables) for each in own)
    # Bop has one average, SGD one momentum.
    assert sum(tuple(each.shape) == (2,) for each in case.variables) == 2


def test_the_configuration_of_case_optimizer():
    case = lq.optimizers.CaseOptimizer(
        (IS_BINARY, lq.optimizers.Bop()), default_optimizer=keras.optimizers.Adam(0.01)
    )
    config = keras.optimizers.serialize(case)
    assert keras.optimizers.serialize(keras.optimizers.deserialize(config)) == config


def test_numbers_of_bop_can_be_set():
    bop = lq.optimizers.Bop(threshold=1e-3, gamma=0.5)
    bop.gamma = 0.25
    assert float(bop.gamma) == 0.25
    assert bop.get_config()["gamma"] == 0.25
    decay = keras.optimizers.schedules.PolynomialDecay(5e-4, 100)
    scheduled = lq.optimizers.Bop(threshold=decay)
    with pytest.raises(TypeError, match="expected a number as threshold, got a schedule"):
        scheduled.threshold = 1.0
    assert type(lq.optimizers.Bop.from_config(scheduled.get_config()).threshold) is type(decay)


def test_what_would_unmake_binary_weights_is_no_argument_of_bop():
    for name in ("use_ema", "weight_decay"):
        with pytest.raises(TypeError, match=name):
            lq.optimizers.Bop(**{name: True})
