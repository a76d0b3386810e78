"""The keyword program on boards, with a model that needs no training: what it hears and refuses."""

import io
import struct
import wave

import numpy as np
import pytest

from tests.micro import boards
from tests.micro.example_programs import KEYWORDS, imported_from_examples

with imported_from_examples():
    import keywords

# Scores of this model are the levels of ten bands at one moment.
_PICKED = [20 * 32 + 3 * word + 1 for word in range(10)]
_HEADER = """
#include <stdint.h>
#define MODEL_INPUT_ELEMENTS {inputs}
#define MODEL_INPUT_BYTES {inputs}
#define MODEL_INPUT_SCALE 1.0f
#define MODEL_INPUT_ZERO_POINT (-128)
#define MODEL_OUTPUT_ELEMENTS 10
#define MODEL_OUTPUT_BYTES 10
#define MODEL_OUTPUT_SCALE 0.00390625f
#define MODEL_OUTPUT_ZERO_POINT (-128)
typedef struct model_arena {{
  uint32_t word;
}} model_arena;
void model_run(model_arena* arena, const int8_t* input, int8_t* output);
"""
_SOURCE = """
#include "model.h"
void model_run(model_arena* arena, const int8_t* input, int8_t* output) {
  (void)arena;
  for (int word = 0; word < 10; ++word) output[word] = input[20 * 32 + 3 * word + 1];
}
"""
_RATE = 22_050


class _Picking:
    """Stands for the interpreter of such a model."""

    input_types = (np.dtype(np.int8),)
    input_scales, output_scales = (1.0,), (1 / 256,)
    input_zero_points = output_zero_points = (-128,)

    def __init__(self, _):
        self.input_types = list(self.input_types)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def predict(self, images):
        return images.reshape(len(images), -1)[:, _PICKED]


def _build(folder, board, inputs=1024):
    boards.require()
    model = folder / "model"
    model.mkdir()
    (model / "model.h").write_text(_HEADER.format(inputs=inputs))
    (model / "model.c").write_text(_SOURCE)
    return boards.build(model, board, folder / "built", program=KEYWORDS)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return _build(tmp_path_factory.mktemp("program"), "m4")


def _wav(samples, channels=1, rate=_RATE, width=2):
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(samples)
    return content.getvalue()


def _bursts():
    """Returns ten seconds of tones and of noise, with silence in between."""
    random, parts = np.random.default_rng(1), []
    while sum(map(len, parts)) < 10 * _RATE:
        places = np.arange(random.integers(4000, 16_000))
        tone = np.sin(places * random.uniform(0.05, 2)) + 0.3 * random.normal(size=len(places))
        parts += [random.uniform(300, 30_000) * tone, np.zeros(random.integers(0, 16_000))]
    return np.rint(np.concatenate(parts)).clip(-32768, 32767).astype("<i2")


def _heard_on_the_pc(path, monkeypatch):
    monkeypatch.setattr(keywords.larq_engine, "Interpreter", _Picking)
    found = keywords.hear(path, keywords.from_file(path))
    return [f"{second:6.2f} s  {word:6} {score:.2f}" for second, word, score in found]


@pytest.mark.parametrize("board", ["m4", "m0_large", "rv32imac"])
def test_it_hears_as_the_pc(board, tmp_path, monkeypatch):
    content = _wav(_bursts().tobytes())
    *lines, front_end, model = boards.printed_by(
        _build(tmp_path, board), board, content, tmp_path
    ).splitlines()
    assert len(lines) > 3
    assert lines == _heard_on_the_pc(tmp_path / "input.bin", monkeypatch)
    assert front_end.startswith("spectrogram: ") and model.startswith("model: ")


def test_a_file_that_is_shorter_than_a_second(program, tmp_path, monkeypatch):
    content = _wav(_bursts()[:5001].tobytes())
    *lines, _, _ = boards.printed_by(program, "m4", content, tmp_path).splitlines()
    assert lines == _heard_on_the_pc(tmp_path / "input.bin", monkeypatch)


def test_other_parts_of_a_file_are_skipped(program, tmp_path):
    content = _wav(_bursts().tobytes())
    other = b"LIST" + struct.pack("<I", 129) + bytes(130)
    longer = content[:36] + other + content[36:]
    *heard, _, _ = boards.printed_by(program, "m4", longer, tmp_path).splitlines()
    *expected, _, _ = boards.printed_by(program, "m4", content, tmp_path).splitlines()
    assert heard == expected != []


_SOUND = bytes(2 * _RATE)
_EXPECTED = r"expected coding 1 \(plain numbers\), 1 channel, 16 bits, 22050 Hz, got coding 1, "


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (_wav(_SOUND, channels=2), _EXPECTED + "channels: 2, bits: 16, Hz: 22050 in input.bin"),
        (_wav(_SOUND, width=1), _EXPECTED + "channels: 1, bits: 8, Hz: 22050 in input.bin"),
        (_wav(_SOUND, rate=16_000), _EXPECTED + "channels: 1, bits: 16, Hz: 16000 in input.bin"),
        (_wav(_SOUND)[:20], "expected a WAV file with sound, got one that ends in its header"),
        (_wav(_SOUND)[:40], "expected a WAV file with sound, got one that ends in its header"),
        (b"", "expected a WAV file with sound, got one that ends in its header"),
        (bytes(100), "expected a WAV file, got one that does not begin as such: input.bin"),
        (_wav(_SOUND)[:-7], "file is shorter than its header says: input.bin"),
        (_wav(b""), "expected sound, got none in input.bin"),
        (_wav(_SOUND)[:12] + _wav(_SOUND)[36:], "expected the format before the sound in input"),
    ],
    ids=[
        *("stereo", "8 bits", "rate", "cut", "cut before sound", "empty", "no WAV", "cut sound"),
        *("silent", "no format"),
    ],
)
def test_other_files_are_errors(program, content, message, tmp_path):
    with pytest.raises(RuntimeError, match=f"error: .*{message}"):
        boards.printed_by(program, "m4", content, tmp_path)


def test_another_model_is_an_error(tmp_path):
    elf = _build(tmp_path, "m4", inputs=2048)
    with pytest.raises(RuntimeError, match=r"error: expected the model that examples/keywords\.py"):
        boards.printed_by(elf, "m4", _wav(_SOUND), tmp_path)
