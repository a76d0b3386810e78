"""The benchmark of earlier engines' networks compares signs that no rounding changes."""

import numpy as np
import pytest

from tests.converter.frameworks import require_keras

require_keras()

from benchmarks import published  # noqa: E402
from larq_engine import Interpreter, convert_keras_model  # noqa: E402

_WIDTH = 0.125


def build(name):
    network, _ = published.NETWORKS[name]
    return published.of_bytes(network(width=_WIDTH), batch=2)


def answers(content):
    interpreter = Interpreter(content)
    return lambda images: [interpreter.predict(images)]


@pytest.fixture
def images(rng):
    return lambda model: rng.integers(0, 256, model.input_shape).astype(np.uint8)


@pytest.mark.parametrize(
    "name", ["Espresso's perceptron, batch 8", "Espresso's CNN", "HEP-BNN's for CIFAR-10"]
)
def test_both_files_answer_as_keras(name, images):
    model = build(name)
    image = images(model)
    right = model(image, training=False).numpy()
    for content in (
        convert_keras_model(model),
        published.comparing.convert_with_tensorflow(model),
    ):
        assert published.find_error(image, right, answers(content)) is None


def test_one_other_sign_is_an_error(images):
    """A channel before the last layer is always 1, then always -1: one of them is wrong."""
    model = build("HEP-BNN's for FashionMNIST")
    image = images(model)
    right = model(image, training=False).numpy()
    norms = [each for each in model.submodules if type(each).__name__ == "BatchNormalization"]
    widest = max(norms, key=lambda norm: norm.gamma.shape[0])
    beta, errors = widest.beta.numpy(), []
    for sign in (1, -1):
        widest.beta.assign([sign * 1e3, *beta[1:]])
        answer = answers(published.comparing.convert_with_tensorflow(model))
        errors.append(published.find_error(image, right, answer))
    assert any(error and "off by" in error for error in errors)
