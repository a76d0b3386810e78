"""Tests `larq-engine convert` of Keras files and SavedModels, each in a new process."""

import subprocess
import sys

import numpy as np
import pytest

import larq_engine
from tests.converter.frameworks import require_keras

require_keras()

import keras as keras_3  # noqa: E402
import larq  # noqa: E402
import tensorflow as tf  # noqa: E402

import larq_engine.keras as lq  # noqa: E402

keras = tf.keras


def _convert(model, output):
    command = [sys.executable, "-m", "larq_engine", "convert", str(model), "-o", str(output)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("name", ["model.h5", "model.keras", "saved"])
@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file:UserWarning")
def test_models_of_larq(tmp_path, rng, name):
    model = keras.Sequential(
        [
            keras.layers.Input((6, 6, 32)),
            larq.layers.QuantConv2D(
                32, 3, padding="same", input_quantizer="ste_sign", kernel_quantizer="ste_sign"
            ),
        ]
    )
    path, output = tmp_path / name, tmp_path / "out.tflite"
    model.save(path, **({"save_format": "tf"} if name == "saved" else {}))
    result = _convert(path, output)
    assert result.returncode == 0, result.stderr
    assert "1 layer: 1 binary" in result.stdout
    x = rng.uniform(-1, 1, (2, 6, 6, 32)).astype(np.float32)
    np.testing.assert_array_equal(larq_engine.Interpreter(output).predict(x), model(x))


def test_a_model_of_keras_3(tmp_path, rng):
    layer = lq.layers.QuantConv2D(
        32, 3, padding="same", input_quantizer="ste_sign", kernel_quantizer="ste_sign"
    )
    model = keras_3.Sequential([keras_3.Input((6, 6, 32)), layer])
    path, output = tmp_path / "model.keras", tmp_path / "out.tflite"
    model.save(path)
    result = _convert(path, output)
    assert result.returncode == 0, result.stderr
    assert "1 layer: 1 binary" in result.stdout
    x = rng.uniform(-1, 1, (2, 6, 6, 32)).astype(np.float32)
    np.testing.assert_array_equal(larq_engine.Interpreter(output).predict(x), model(x))


@pytest.mark.parametrize("name", ["model.h5", "model.keras", "saved"])
def test_what_is_no_model(tmp_path, name):
    path, output = tmp_path / name, tmp_path / "out.tflite"
    if name == "saved":
        path.mkdir()
    else:
        path.write_bytes(b"no model")
    result = _convert(path, output)
    assert result.returncode == 1
    [line] = result.stderr.splitlines()
    assert line.startswith("larq-engine: error: ")
    assert str(path) in line
    assert not output.exists()
