"""Tests HyperparameterScheduler, on the backend that Keras has in this process."""

import numpy as np
import pytest

from tests.keras import backends

backends.require_backend()

import keras  # noqa: E402

import larq_engine.keras as lq  # noqa: E402

Scheduler = lq.callbacks.HyperparameterScheduler


def inverse(step):
    return 1.0 / (1.0 + step)


def fit(callbacks, optimizer, epochs=1):
    rng = np.random.default_rng(1)
    x, y = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((20, 4), (20, 3)))
    marked = lq.quantizers.NoOp(precision=1)
    layers = [lq.layers.QuantDense(5, kernel_quantizer=marked), keras.layers.Dense(3)]
    model = keras.Sequential([keras.Input((4,)), *layers])
    model.compile(optimizer, "mse")
    return model.fit(
        x, y, batch_size=10, epochs=epochs, shuffle=False, verbose=0, callbacks=callbacks
    ).history


def test_each_epoch(capsys):
    optimizer = keras.optimizers.Adam(0.01)
    history = fit([Scheduler(inverse, "learning_rate", verbose=1)], optimizer, epochs=2)
    np.testing.assert_allclose(float(optimizer.learning_rate), 0.5)
    np.testing.assert_allclose(history["learning_rate"], [1.0, 0.5])
    assert capsys.readouterr().out.splitlines() == [
        "Epoch 0: learning_rate is now 1.",
        "Epoch 1: learning_rate is now 0.5.",
    ]


def test_each_step_of_all_epochs():
    optimizer = keras.optimizers.Adam(0.01)
    fit([Scheduler(inverse, "learning_rate", update_freq="step")], optimizer, epochs=2)
    np.testing.assert_allclose(float(optimizer.learning_rate), inverse(3))


def test_the_optimizers_in_a_case_optimizer():
    bop, adam = lq.optimizers.Bop(threshold=1e-6, gamma=1e-3), keras.optimizers.Adam(0.01)
    case = lq.optimizers.CaseOptimizer(
        (lq.optimizers.Bop.is_binary_variable, bop), default_optimizer=adam
    )
    chosen = [("gamma", bop), ("threshold", bop), ("learning_rate", adam)]
    history = fit(
        [Scheduler(inverse, name, one, log_name=f"my {name}") for name, one in chosen], case, 3
    )
    for name, one in chosen:
        np.testing.assert_allclose(float(getattr(one, name)), inverse(2), rtol=1e-6)
        np.testing.assert_allclose(history[f"my {name}"], [1, 1 / 2, 1 / 3], rtol=1e-6)


def test_training_feels_it():
    """With a learning rate of 0 from the second epoch on, the loss of its batches stays."""
    optimizer = keras.optimizers.SGD(0.1)
    history = fit([Scheduler(lambda epoch: 0.1 * (epoch == 0), "learning_rate")], optimizer, 4)
    assert history["loss"][0] > history["loss"][1]
    np.testing.assert_allclose(history["loss"][2:], history["loss"][1], rtol=1e-5)


def test_a_schedule_that_reads_the_value():
    optimizer = keras.optimizers.SGD(0.5)
    fit([Scheduler(lambda epoch, rate: rate / 2, "learning_rate")], optimizer, 2)
    np.testing.assert_allclose(float(optimizer.learning_rate), 0.125)


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("missing", "got 'missing', which it does not have"),
        ("lr", r"got 'lr', .*; take learning_rate \(in Keras 2 also lr\)"),
        ("momentum", "got 'momentum', a float that is part of the compiled step"),
    ],
)
def test_what_it_cannot_set(name, what):
    with pytest.raises(ValueError, match=what):
        fit([Scheduler(inverse, name)], keras.optimizers.SGD(0.1, momentum=0.5))


def test_how_often():
    with pytest.raises(ValueError, match="expected the update_freq epoch or step, got 'wrong'"):
        Scheduler(inverse, "learning_rate", update_freq="wrong")
