"""The networks of earlier engines learn, convert to files of their sizes, and answer as Keras.

The trained networks are narrower, and trained for fewer steps; sizes are those of the whole
networks.
"""

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.converter.frameworks import require_keras

require_keras()
pytest.importorskip("sklearn", reason="scikit-learn, for its digits, is not installed here")

import tensorflow as tf  # noqa: E402

import larq_engine  # noqa: E402

_EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def networks():
    """Imports the program from its folder, as when it is started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(_EXAMPLES))
        import networks

        yield networks


# BMXNet: An Open-Source Binary Neural Network Implementation Based on MXNet, table 1.
@pytest.mark.parametrize(("name", "most"), [("lenet", 206_000), ("resnet18", 1_500_000)])
def test_files_are_no_larger_than_bmxnets(networks, name, most):
    tf.keras.utils.set_random_seed(1)
    model = networks.NETWORKS[name].build()
    networks.comparing.make_up_norms(model)
    converted = larq_engine.convert_keras_model(model, check=False)
    assert len(converted) <= most
    assert converted.report.count("float") == 2


_SPOKEN = pytest.mark.skipif(
    shutil.which("espeak-ng") is None, reason="espeak-ng is not installed here"
)

# Names, width to train, epochs, and the share of held-out images that must be right.
_TRAINED = [
    ("lenet", 0.5, 3, 0.93),
    ("espresso-mlp", 0.125, 3, 0.93),
    ("hep-fashion", 0.5, 2, 0.9),
    ("dorefa-net", 0.25, 4, 0.85),
    ("xnor-net", 0.25, 4, 0.85),
    pytest.param(*("keywords", 1, 12, 0.8), marks=_SPOKEN),
]


@pytest.mark.slow
@pytest.mark.drawn("networks that learn")
@pytest.mark.parametrize(("name", "width", "epochs", "least"), _TRAINED)
def test_networks_learn_and_answer_as_keras(networks, name, width, epochs, least):
    network = networks.NETWORKS[name]
    narrow = replace(network, build=partial(network.build, width=width), epochs=epochs)
    model, training, held_out = networks.learn(narrow)
    files = networks.comparing.convert(model, training.images)
    found = networks.comparing.judge(model, files, held_out)
    assert found.ours >= least
    assert found.like_keras >= 0.995
    assert abs(found.ours - found.keras) <= 0.0025
    assert len(files.ours) < len(files.theirs) / 10


@pytest.mark.parametrize("hertz", [200, 1000, 8000])
def test_a_tone_is_in_its_band(networks, hertz):
    """The bands' centres are equally far apart on the mel scale, up to half the rate."""
    from published import sounds

    tone = 30_000 * np.sin(2 * np.pi * hertz * np.arange(22_050) / 22_050)
    image = sounds.spectrogram(np.rint(tone).astype(np.int16))
    assert image.shape == (32, 32, 1)
    assert image.max() == 255
    mels = [2595 * np.log10(1 + each / 700) for each in (hertz, 11_025)]
    expected = 33 * mels[0] / mels[1] - 1
    assert (np.abs(image[:, :, 0].argmax(axis=1) - expected) <= 1).all()


def test_results_are_added_to_a_file(networks, tmp_path):
    file = tmp_path / "results.json"
    networks.add_to(file, "lenet", {"accuracy": {"keras": 0.5}, "ms": {"ours": 2.0}})
    networks.add_to(file, "quicknet", {"ms": {"ours": 3.0}})
    networks.add_to(file, "lenet", {"ms": {"ours": 1.0}})
    assert json.loads(file.read_text()) == {
        "lenet": {"accuracy": {"keras": 0.5}, "ms": {"ours": 1.0}},
        "quicknet": {"ms": {"ours": 3.0}},
    }
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def in_three_places(part):
    """Returns each image, also moved by a pixel to the left and to the right."""
    images = np.concatenate([np.roll(part.images, by, axis=2) for by in (-1, 0, 1)])
    return type(part)(images, np.tile(part.labels, 3))


@pytest.mark.slow
@pytest.mark.drawn("examples that learn")
@pytest.mark.parametrize("name", ["quicknet", "bireal-net", "melius-net"])
def test_int8_is_as_accurate_in_files_of_60_percent(networks, name):
    model, training, held_out = networks.learn(networks.NETWORKS[name])
    files = networks.comparing.convert(model, training.images)
    assert len(files.ours_int8) <= 0.6 * len(files.ours)
    found = networks.comparing.judge(model, files, in_three_places(held_out))
    assert found.ours >= 0.95
    assert found.ours_int8 >= found.ours - 0.005
    assert found.like_keras >= 0.995
