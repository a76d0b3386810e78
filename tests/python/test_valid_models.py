"""Files that hosts run are refused neither before a host sees them nor by the delegate.

tests/model_file/convert_models.py made them with TensorFlow's converter.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import larq_engine
from tests.crash_box import load_and_run, load_in_plain_host
from tests.hosts import HOSTS

_FOLDER = Path(__file__).parents[1] / "model_file" / "data"
_NAMES = sorted(path.stem for path in _FOLDER.glob("*.tflite"))


def _read(name: str) -> bytes:
    return (_FOLDER / f"{name}.tflite").read_bytes()


def test_the_files_are_there():
    assert len(_NAMES) == 10


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", _NAMES)
def test_the_delegate_takes_them(name, host, box):
    assert box.call(load_in_plain_host, _read(name), host) == ""


# The model's sequences are longer than the 1 that stands for their open length.
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", sorted({*_NAMES} - {"open_sequences", "latin1_name"}))
def test_they_run(name, host, box):
    assert box.call(load_and_run, _read(name), host) == ("", "")


def _reverse(model: bytes, host: str) -> Any:
    rows = np.arange(10, dtype=np.float32).reshape(2, 5, 1).repeat(3, 2)
    return np.asarray(larq_engine.Interpreter(model, host=host).predict(rows))[..., 0]


@pytest.mark.parametrize("host", HOSTS)
def test_open_sequences_are_as_long_as_the_input(host, box):
    result = box.call(_reverse, _read("open_sequences"), host)
    np.testing.assert_array_equal(result, [[1, 0, 2, 3, 4], [7, 6, 5, 8, 9]])


@pytest.mark.parametrize("host", HOSTS)
def test_names_that_python_cannot_read_are_told(host, box):
    """The hosts' Python interface raises UnicodeDecodeError; their C++ takes any bytes."""
    kind, message = box.call(load_and_run, _read("latin1_name"), host)
    assert kind == "ValueError"
    assert "expected names of tensors in UTF-8, got b'Identit\\xe9'; " in message
