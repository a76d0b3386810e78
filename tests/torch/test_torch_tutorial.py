"""The tutorial's doors that PyTorch has."""

import pytest

from tests.docs.tutorial import check


@pytest.mark.parametrize("door", ["PyTorch", "ONNX"])
def test_a_door(door, tmp_path, capfd):
    check(door, tmp_path, capfd)
