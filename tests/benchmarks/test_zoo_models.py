"""The made-up weights make comparisons of the zoo's models sound, which these tests check."""

from typing import Any

import numpy as np
import pytest

from tests.converter.frameworks import require_keras

require_keras()

from benchmarks import zoo_models  # noqa: E402  imports TensorFlow

tf = zoo_models.tf


@pytest.fixture(scope="module")
def prepared() -> tuple[Any, zoo_models.Images]:
    model = zoo_models.build("QuickNetSmall")
    images = zoo_models.draw_images(model)
    zoo_models.prepare(model, images)
    return model, images


@pytest.fixture(scope="module")
def binarized(prepared: tuple[Any, zoo_models.Images]) -> list[zoo_models.Array]:
    """Returns the quantizers' inputs, computed by Keras, with the channels as columns."""
    model, images = prepared
    inputs = [layer.input for layer in model.layers if getattr(layer, "input_quantizer", None)]
    assert len(inputs) == 16
    return [
        x.reshape(-1, x.shape[-1])
        for x in tf.keras.Model(model.input, inputs).predict(images, verbose=0)
    ]


def test_nothing_binarized_is_near_zero(binarized: list[zoo_models.Array]) -> None:
    for x in binarized:
        assert (np.abs(x).min(axis=0) > x.std(axis=0) * zoo_models.MARGIN / 2).all()


def test_signs_depend_on_the_image(binarized: list[zoo_models.Array]) -> None:
    for x in binarized:
        of_images = np.sign(x).reshape(zoo_models.IMAGES, -1)
        differs = (of_images != of_images[0]).any(axis=0)
        assert differs.mean() > 0.5


def test_classes_are_not_squashed(prepared: tuple[Any, zoo_models.Images]) -> None:
    model, images = prepared
    outputs = model.predict(images, verbose=0)
    assert (outputs.max(axis=1) < 0.5).all()
    assert len(set(outputs.argmax(axis=1))) > 1


def test_weights_are_the_same_each_time(prepared: tuple[Any, zoo_models.Images]) -> None:
    again = zoo_models.build("QuickNetSmall")
    zoo_models.prepare(again, prepared[1])
    for ours, theirs in zip(again.get_weights(), prepared[0].get_weights(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("boundaries", [[0.0], [1 / 6, 1 / 2, 5 / 6]])
def test_shift_is_small_and_clears_the_boundaries(boundaries: list[float]) -> None:
    rng = np.random.default_rng(0)
    values, edges = rng.normal(size=(5000, 8)), np.array(boundaries)
    shift = zoo_models.find_shift(values, edges)
    assert shift.any()
    assert np.abs(shift).max() < 0.1
    distances = np.abs((values + shift)[..., np.newaxis] - edges).min(axis=(0, 2))
    assert (distances >= zoo_models.MARGIN * values.std(axis=0) * 0.99).all()
