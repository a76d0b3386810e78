"""Errors that come before TensorFlow is imported, and those where it is not installed."""

import sys
from pathlib import Path

import pytest

from larq_engine.converter.keras import (
    keras_to_tflite,
    quantize_float_ops,
    saved_model_to_tflite,
)
from larq_engine.converter.keras_checks import check_keras_3_backend
from larq_engine.converter.keras_files import load_keras


@pytest.mark.parametrize("path", ["model.h5", Path("folder/model.h5")])
def test_a_path_instead_of_a_model(path):
    with pytest.raises(ValueError, match=r"expected a Keras model, got the path '.*model\.h5'"):
        keras_to_tflite(path)


def test_no_model():
    with pytest.raises(TypeError, match=r"expected a Keras model, got dict; .*saved_model\.save"):
        keras_to_tflite({})


def test_the_content_of_a_file():
    with pytest.raises(TypeError, match="expected a Keras model, got bytes; call convert_tflite"):
        keras_to_tflite(b"TFL3")


def test_no_directory():
    with pytest.raises(TypeError, match="expected the path of a folder, got int; call convert_ker"):
        saved_model_to_tflite(3)


def test_a_missing_directory(tmp_path):
    with pytest.raises(FileNotFoundError, match="expected a folder, got nothing; give the folder"):
        saved_model_to_tflite(tmp_path / "nothing")


def test_a_file_instead_of_a_directory(tmp_path):
    (tmp_path / "model.tflite").write_bytes(b"")
    with pytest.raises(
        NotADirectoryError, match=r"expected a folder, got a file; .* convert_tflit"
    ):
        saved_model_to_tflite(str(tmp_path / "model.tflite"))


def test_a_directory_without_a_saved_model(tmp_path):
    (tmp_path / "keras_metadata.pb").write_bytes(b"")
    with pytest.raises(FileNotFoundError, match=r"saved_model\.pb .*, got keras_metadata\.pb; "):
        saved_model_to_tflite(tmp_path)


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"expected a \.h5 or \.keras file, got none"):
        load_keras(tmp_path / "model.h5")


def test_without_tensorflow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    (tmp_path / "saved_model.pb").write_bytes(b"")
    (tmp_path / "model.h5").write_bytes(b"")
    for call in (
        lambda: saved_model_to_tflite(tmp_path),
        lambda: load_keras(tmp_path / "model.h5"),
        lambda: quantize_float_ops(b"", (-6.0, 6.0)),
    ):
        with pytest.raises(ImportError, match=r"pip install 'PATH\[converter\]'") as caught:
            call()
        assert "in a virtual environment without the extra 'torch'" in str(caught.value)


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_another_backend_of_keras_3(backend):
    with pytest.raises(
        ValueError, match=rf"expected the backend tensorflow, .* got {backend}; save .* `larq-engin"
    ):
        check_keras_3_backend(backend)
