"""What is read before a host sees a model: whole files pass, and damage is always a ValueError."""

import struct

import numpy as np
import pytest

from larq_engine.python.model_file import read_model
from tests.model_builder import ModelBuilder


@pytest.fixture(scope="module")
def model() -> bytes:
    """Vectors in options, a signature, quantization, constants and a custom operator."""
    builder = ModelBuilder()
    x = builder.tensor((1, 4), np.int8, name="x", scale=0.5, zero_point=-3, signature=(-1, 4))
    y = builder.tensor((2, 2), np.int8, name="y", scale=0.5, zero_point=-3)
    z = builder.tensor((2, 1), np.int32, name="z")
    shape = builder.constant(np.array([2, 2], np.int32))
    builder.builtin("RESHAPE", [x, shape], [y], newShape=[2, 2])
    builder.custom("LceQuantize", [y], [z], {"some": 1, "options": -7})
    builder.signature({"x": x}, {"z": z})
    builder.model.description = "a model"
    return builder.finish([x], [z])


def test_a_whole_model_passes_unchanged(model, tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(model)
    assert read_model(model) == read_model(path) == read_model(bytearray(model)) == model


def test_every_truncation_is_found(model):
    for size in range(len(model)):
        with pytest.raises(ValueError, match=rf"^model \({size} bytes\): expected .*; "):
            read_model(model[:size])


@pytest.mark.parametrize("value", [0, 1, 2**31 - 1, 2**31, 2**32 - 4])
def test_every_damaged_word_is_found_or_harmless(model, value):
    """Offsets that lead outside raise; what is no offset may be anything."""
    found = 0
    for position in range(0, len(model) - 3, 4):
        damaged = bytearray(model)
        struct.pack_into("<I", damaged, position, value)
        try:
            assert read_model(damaged) == damaged
        except ValueError as error:
            assert type(error) is ValueError
            assert str(error).startswith(f"model ({len(model)} bytes): ")
            found += 1
    assert found > 20
