"""The models before hardware and behind it make the whole model, together with the hardware."""

import ctypes
from pathlib import Path

import numpy as np
import pytest

from larq_engine import Interpreter
from larq_engine.converter import schema
from larq_engine.fpga.api import export_verilog
from larq_engine.fpga.runs import choose_run
from larq_engine.fpga.streams import from_pixels, from_words, to_pixels, to_words
from tests.fpga.device.pipeline_library import make_library
from tests.fpga.random_layers import joined_layers, residual_layers

_LIVE = Path(__file__).resolve().parents[2] / "web" / "live"


class _Image(ctypes.Structure):
    _fields_ = (
        ("data_in", ctypes.c_char_p),
        ("pixels_in", ctypes.c_size_t),
        ("in_step", ctypes.c_size_t),
        ("data_out", ctypes.c_char_p),
        ("pixels_out", ctypes.c_size_t),
        ("out_step", ctypes.c_size_t),
    )


def _run(library: Path, pixels: list[int], in_bits: int, made: int, out_bits: int) -> list[int]:
    """Sends the pixels of an image through a simulated pipeline."""
    steps = [-(-bits // 8) for bits in (in_bits, out_bits)]
    sent = b"".join(pixel.to_bytes(steps[0], "little") for pixel in pixels)
    out = ctypes.create_string_buffer(made * steps[1])
    image = _Image(sent, len(pixels), steps[0], ctypes.cast(out, ctypes.c_char_p), made, steps[1])
    run = ctypes.CDLL(str(library)).pipeline_run
    run.restype = ctypes.c_uint64
    assert run(ctypes.byref(image), 4, 1) > 0
    content = out.raw
    return [
        int.from_bytes(content[n * steps[1] : (n + 1) * steps[1]], "little") for n in range(made)
    ]


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        *(("words", None), ("words", "3:5"), ("digits", None), ("digits", "2:3")),
        # An image of int8 is added behind the hardware: the first time the hardware's own input.
        *(("residual", "2:4"), ("residual", "3:4")),
    ],
)
def test_before_hardware_and_after_are_the_whole_model(name, layers, tmp_path):
    file = _LIVE / f"{name}.tflite"
    model = file.read_bytes() if file.exists() else residual_layers(1)
    exported = export_verilog(model, layers=layers, fold=32)
    library = make_library(exported, tmp_path)
    span = None if layers is None else (int(layers[0]), int(layers[2:]))
    run = choose_run(schema.read(model).graphs[0], span)
    source, target = run.network.source, run.network.target

    whole = Interpreter(model, host="none")
    random = np.random.default_rng(1)
    if whole.input_types[0] == np.int8:
        image = random.integers(-128, 128, whole.input_shapes[0], np.int8)
    else:
        image = random.random(whole.input_shapes[0], np.float32)
    before = Interpreter(exported.files["before.tflite"], host="none")
    results = before.predict(image)
    results = results if isinstance(results, list) else [results]
    known = dict(zip(before.output_names, results, strict=True))
    sent = results[0]
    if source.kind == "int":
        values = sent.reshape(source.pixels, -1)
    else:
        values = from_words(source, sent.reshape(source.pixels, -1))
    pixels = to_pixels(source, values)
    made = from_pixels(
        target, _run(library, pixels, source.pixel_bits, target.pixels, target.pixel_bits)
    )
    after = Interpreter(exported.files["after.tflite"], host="none")
    values = made if target.kind == "int" else to_words(target, made)
    given = values.astype(after.input_types[0]).reshape(after.input_shapes[0])
    others = [known[name] for name in after.input_names[1:]]
    results = after.predict([given, *others] if others else given)
    np.testing.assert_array_equal(results, whole.predict(image))


def test_another_export_to_the_folder_leaves_nothing_of_the_first(tmp_path):
    export_verilog(_LIVE / "words.tflite", fold=32).save(tmp_path)
    (tmp_path / "own.v").write_text("// A file of the user's.\n")
    second = export_verilog(joined_layers(1, np.int32), fold=4)
    second.save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*second.files, "own.v"}


def test_a_model_that_is_all_hardware_has_nothing_around(tmp_path):
    for model in (joined_layers(1, np.int32), residual_layers(1)):
        exported = export_verilog(model, fold=4)
        assert not [name for name in exported.files if name.endswith(".tflite")]
        assert "for your program" not in exported.report
