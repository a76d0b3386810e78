"""The doors of examples/digits.py that PyTorch has."""

import pytest

from tests.examples.digits_doors import check_door


@pytest.mark.parametrize("door", ["torch", "onnx"])
def test_the_file_answers_as_the_framework(tmp_path, door):
    check_door(door, tmp_path)
