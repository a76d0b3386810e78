"""Files of Keras models, larq's layers in them, and the errors for other files."""

import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from larq_engine.converter.errors import ConversionError
from larq_engine.converter.keras import keras_to_tflite
from larq_engine.converter.keras_files import load_keras
from tests.converter.frameworks import require_keras

require_keras()

import keras as keras_3  # noqa: E402
import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

import larq_engine.keras as lq  # noqa: E402

keras = tf.keras


class Unknown(keras.layers.Layer):
    """A layer that no file can describe."""


def larq_model(*layers):
    return keras.Sequential(
        [
            keras.layers.Input((4, 4, 8)),
            larq.layers.QuantConv2D(
                8,
                3,
                input_quantizer="approx_sign",
                kernel_quantizer="magnitude_aware_sign",
                kernel_constraint="weight_clip",
            ),
            *layers,
        ]
    )


@pytest.mark.parametrize("name", ["model.h5", "model.hdf5", "model.keras"])
@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file:UserWarning")
def test_models_of_larq(tmp_path, rng, name):
    model = larq_model()
    model.save(tmp_path / name)
    x = rng.uniform(-1, 1, (2, 4, 4, 8)).astype(np.float32)
    np.testing.assert_array_equal(load_keras(tmp_path / name)(x), model(x))


@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file:UserWarning")
def test_a_process_that_has_not_imported_tensorflow(tmp_path):
    """The right Keras is chosen, and only the result is printed, as the command line needs it."""
    path = tmp_path / "model.h5"
    larq_model().save(path)
    script = (
        "import sys\n"
        "from larq_engine.converter.keras import keras_to_tflite\n"
        "from larq_engine.converter.keras_files import load_keras\n"
        "print(len(keras_to_tflite(load_keras(sys.argv[1]))))"
    )
    chosen = ("TF_USE_LEGACY_KERAS", "TF_CPP_MIN_LOG_LEVEL")
    environment = {name: os.environ[name] for name in os.environ if name not in chosen}
    result = subprocess.run(
        [sys.executable, "-c", script, path], env=environment, capture_output=True, text=True
    )
    assert result.stdout.strip() == str(len(keras_to_tflite(load_keras(path)))), result.stderr
    # E lines are errors, such as that of a CUDA driver that is missing.
    assert [line for line in result.stderr.splitlines() if line[:5] != "E0000"] == []


@pytest.mark.parametrize("name", ["model.h5", "model.keras"])
def test_a_file_of_something_else(tmp_path, name):
    (tmp_path / name).write_bytes(b"TFL3" * 100)
    with pytest.raises(ConversionError, match=rf"{name}': expected a file that Keras wrote"):
        load_keras(tmp_path / name)


def test_an_archive_of_something_else(tmp_path):
    with zipfile.ZipFile(tmp_path / "model.keras", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    with pytest.raises(ConversionError, match="expected a file that Keras wrote"):
        load_keras(tmp_path / "model.keras")


@pytest.mark.parametrize("name", ["model.h5", "model.weights.h5"])
def test_weights_alone(tmp_path, name):
    larq_model().save_weights(tmp_path / name)
    with pytest.raises(ConversionError, match="got weights only; build the model, load them"):
        load_keras(tmp_path / name)


@pytest.mark.parametrize("name", ["model.h5", "model.keras"])
@pytest.mark.filterwarnings("ignore:.*HDF5 file:UserWarning")
def test_a_file_of_keras_3(tmp_path, rng, name):
    """Such a file is loaded with TensorFlow as the backend, even if another one was chosen."""
    model = keras_3.Sequential(
        [
            keras_3.Input((4, 4, 8)),
            lq.layers.QuantConv2D(8, 3, input_quantizer="ste_sign", kernel_quantizer="ste_tern"),
        ]
    )
    model.save(tmp_path / name)
    x = rng.uniform(-1, 1, (2, 4, 4, 8)).astype(np.float32)
    np.testing.assert_array_equal(load_keras(tmp_path / name)(x), model(x))
    script = (
        "import os, sys\n"
        "from larq_engine.converter.keras_files import load_keras\n"
        "print(len(load_keras(sys.argv[1]).layers), os.environ['KERAS_BACKEND'])"
    )
    command = [sys.executable, "-c", script, str(tmp_path / name)]
    environment = {**os.environ, "KERAS_BACKEND": "jax"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.stdout.strip() == "1 jax", result.stderr


def test_a_layer_that_is_not_known(tmp_path):
    """Keras could learn of it only by importing a module that the file names."""
    file = tmp_path / "model.keras"
    larq_model(Unknown()).save(file)
    with pytest.raises(ConversionError, match=r"Unknown, which is no part[\s\S]*build the model"):
        load_keras(file)
    with pytest.raises(
        ConversionError, match=r"cannot load it: .*Unknown[\s\S]*build it in Python"
    ):
        load_keras(file, unsafe=True)


@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file:UserWarning")
def test_a_file_that_is_cut_off(tmp_path):
    file = tmp_path / "model.h5"
    larq_model().save(file)
    file.write_bytes(file.read_bytes()[:3000])
    with pytest.raises(ConversionError, match=rf"model '{file}': .*got another or a damaged one"):
        load_keras(file)
