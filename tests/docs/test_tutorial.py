"""Runs the tutorial's programs that need TensorFlow; tests/torch runs the other ones."""

import pytest

from tests.converter.frameworks import require_keras
from tests.docs.tutorial import check, program

pytest.importorskip("sklearn", reason="scikit-learn, for its digits, is not installed here")


def test_what_to_replace_for_the_float_network_is_there_once():
    assert program("PyTorch").count("    BinaryConv(32, 64, 3, bias=False),\n") == 1


@pytest.mark.parametrize("door", ["Keras 3", "larq", "A .tflite file"])
def test_a_door(door, tmp_path, capfd):
    require_keras()
    check(door, tmp_path, capfd)
