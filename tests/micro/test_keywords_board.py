"""A trained model hears on boards what it hears on the PC, in spoken words and in whole files."""

import contextlib
import io
import re
import shutil

import numpy as np
import pytest

import larq_engine
from tests.converter.frameworks import require_keras
from tests.micro import boards
from tests.micro.example_programs import KEYWORDS, images_on_the_pc, imported_from_examples

require_keras()
pytest.importorskip("sklearn", reason="scikit-learn, which the examples import, is not here")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed here"),
]

with imported_from_examples():
    import keywords
    from published import sounds, speaking

_VOICES = ("en-us+m4", "en-gb+f3")  # that the network has not heard


def _train(file):
    """Returns the share of words that is right, as it is printed."""
    printed = io.StringIO()
    with imported_from_examples(), contextlib.redirect_stdout(printed):
        keywords.train(file, epochs=5, target="microcontroller")
    return re.search(r"bytes, ([\d.]+%) right", printed.getvalue())[1]


def _check_words(board, exported, file, words, folder):
    """Checks images and scores of words; returns the share that is right on the board."""
    program = boards.build(exported, board, folder / board, call=KEYWORDS / "words.h")
    assert boards.floats_in(program.with_name("run_model.c.o")) == []
    heard = words.sounds[:, : sounds.LENGTH]
    done = boards.run(program, board, heard.tobytes(), seconds=600)
    answers = np.frombuffer(done.outputs, np.int8).reshape(len(heard), -1)
    images, scores = np.split(answers, [sounds.SIZE**2], axis=1)
    expected = np.stack([sounds.spectrogram(second) for second in heard])
    np.testing.assert_array_equal(images + 128.0, expected.reshape(len(heard), -1))
    with larq_engine.Interpreter(file) as interpreter:
        on_the_pc = interpreter.predict(images.reshape(-1, sounds.SIZE, sounds.SIZE, 1))
    np.testing.assert_array_equal(scores, on_the_pc)
    return np.mean(scores.argmax(1) == words.labels)


def _check_files(exported, file, folder):
    """Checks what is heard in files; returns how many words it was."""
    program = boards.build(exported, "m4", folder / "files", program=KEYWORDS)
    count = 0
    for voice in _VOICES:
        path = folder / "input.bin"
        speaking.write(path, ["stop", "go", "left", "yes", "no"], voice)
        expected = [
            f"{second:6.2f} s  {word:6} {score:.2f}"
            for second, word, score in keywords.hear(file, keywords.from_file(path))
        ]
        *heard, _, _ = boards.printed_by(program, "m4", path.read_bytes(), folder).splitlines()
        assert heard == expected
        count += len(heard)
    return count


@pytest.mark.drawn("examples that learn, on boards")
def test_boards_hear_what_the_pc_hears(tmp_path):
    """This is one test, so that the network is trained once however many processes run tests."""
    boards.require()
    file, exported = tmp_path / "keywords.tflite", tmp_path / "model"
    printed = _train(file)
    larq_engine.export_c(file).save(exported)
    with imported_from_examples():
        from published.keywords import Sounds, held_out_words
    words = held_out_words()
    right = _check_words("m4", exported, file, words, tmp_path)
    assert f"{right:.1%}" == printed
    assert right > 0.5, "ten words: one in ten by chance"
    few = Sounds(words.sounds[:24], words.labels[:24])
    _check_words("m0_large", exported, file, few, tmp_path)
    on_the_pc = images_on_the_pc(few.sounds[:, : sounds.LENGTH], tmp_path)
    expected = [sounds.spectrogram(second).ravel() for second in few.sounds]
    np.testing.assert_array_equal(on_the_pc + 128.0, expected)
    assert _check_files(exported, file, tmp_path) > 0
