"""The keyword example learns words, and hears them in a file."""

import shutil
import sys
import wave
from pathlib import Path

import numpy as np
import pytest

from tests.converter.frameworks import require_keras

pytestmark = pytest.mark.skipif(
    shutil.which("espeak-ng") is None, reason="espeak-ng is not installed here"
)
_EXAMPLES = Path(__file__).parents[2] / "examples"
_SAID = ("stop", "go", "left", "yes", "no")
_NOT_HEARD_BEFORE = ("en-us+m4", "en-us+f3", "en-us+f4")


@pytest.fixture
def keywords(monkeypatch):
    """Imports the program from its folder, as when it is started."""
    monkeypatch.syspath_prepend(str(_EXAMPLES))
    monkeypatch.delitem(sys.modules, "keywords", raising=False)
    import keywords

    return keywords


@pytest.fixture
def write(keywords, tmp_path):
    """Makes a WAV file of words, in a voice that the network has not heard."""

    def run(name, *, voice=_NOT_HEARD_BEFORE[0], times=1, channels=1):
        """Repeats each sample `times` times, at a rate that many times higher, on all channels."""
        from published import speaking

        speaking.write(tmp_path / "once.wav", list(_SAID), voice)
        with wave.open(str(tmp_path / "once.wav")) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        with wave.open(str(tmp_path / name), "wb") as file:
            file.setnchannels(channels)
            file.setsampwidth(2)
            file.setframerate(speaking.RATE * times)
            file.writeframes(samples.repeat(times * channels).tobytes())
        return tmp_path / name

    return run


@pytest.mark.drawn("examples that learn")
def test_it_hears_what_was_said(keywords, write, tmp_path, capsys):
    require_keras()
    model = tmp_path / "keywords.tflite"
    keywords.train(model, epochs=16)
    assert f"{len(model.read_bytes())} bytes" in capsys.readouterr().out
    right = 0
    for voice in _NOT_HEARD_BEFORE:
        path = write("words.wav", voice=voice)
        found = list(keywords.hear(model, keywords.from_file(path)))
        words = [word for _, word, _ in found]
        assert 1 <= len(words) <= 2 * len(_SAID), "a word may be heard as two"
        right += sum(word in words for word in _SAID)
        seconds = [second for second, _, _ in found]
        assert seconds == sorted(seconds)
    # One training heard 52 of 60 words in files of these voices.
    assert right >= 9
    again = write("fast.wav", voice=voice, times=2)
    assert list(keywords.hear(model, keywords.from_file(again))) == found, "at twice the rate"


def test_a_file_is_read_as_steps_of_one_rate(keywords, write):
    steps = [list(keywords.from_file(write(f"{n}.wav", times=n))) for n in (1, 2)]
    for parts in steps:
        assert {len(part) for part in parts[:-1]} == {keywords.STEP}
        assert 0 < len(parts[-1]) <= keywords.STEP
    assert len(steps[0]) == len(steps[1])
    assert np.abs(np.concatenate(steps[0])).max() > 3000


def test_two_channels_are_an_error(keywords, write):
    with pytest.raises(SystemExit, match="expected one channel with 16 bits a sample"):
        next(keywords.from_file(write("both.wav", channels=2)))


def test_a_microphone_without_sounddevice_is_an_error(keywords, monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(SystemExit, match="pip install sounddevice"):
        next(keywords.microphone())
