"""A board reads as many digits right as the PC, of those that the network has not seen."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import larq_engine
from tests.converter.frameworks import require_keras
from tests.micro import boards
from tests.micro.example_programs import DIGITS, EXAMPLES

require_keras()
pytest.importorskip("sklearn", reason="scikit-learn, for its digits, is not installed here")
pytestmark = pytest.mark.slow


def _train(folder):
    """Trains and writes files; returns what is printed of the file's answers."""
    command = [sys.executable, EXAMPLES / "digits.py", "larq", "--epochs", "4"]
    done = subprocess.run(
        [*command, "--target", "microcontroller"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(EXAMPLES.parent)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return re.search(r"^digits.tflite: ([\d.]+%) of 797 digits right$", done.stdout, re.MULTILINE)


@pytest.mark.drawn("examples that learn, on boards")
def test_boards_read_what_the_pc_reads(tmp_path):
    boards.require()
    [printed] = _train(tmp_path).groups()
    file, exported = tmp_path / "digits.tflite", tmp_path / "model"
    larq_engine.export_c(file).save(exported)
    content = (tmp_path / "digits.bin").read_bytes()
    digits = np.frombuffer(content, np.int8).reshape(797, 65)
    with larq_engine.Interpreter(file) as interpreter:
        scores = interpreter.predict(digits[:, :64].reshape(-1, 8, 8, 1))
    right = np.count_nonzero(scores.argmax(1) == digits[:, 64])
    assert f"{right / 797:.1%}" == printed
    assert right > 500, "ten digits: one in ten by chance"

    for board in ("m4", "m0_large"):
        program = boards.build(exported, board, tmp_path / board, program=DIGITS)
        lines = boards.printed_by(program, board, content, tmp_path).splitlines()
        assert lines[-1] == f"{right} of 797 digits right"
        answers = [line for line in lines if line.startswith("this is a ")]
        assert answers == [f"this is a {digit}" for digit in scores[:3].argmax(1)]
        assert len(set(map(len, lines[:8]))) == 1, "a picture of eight lines"
        with pytest.raises(RuntimeError, match="error: expected digits of 64 bytes and a label"):
            boards.printed_by(program, board, content[:-1], tmp_path)
    every = boards.build(exported, "m4", tmp_path / "every")
    images = np.ascontiguousarray(digits[:, :64]).tobytes()
    assert boards.run(every, "m4", images).outputs == scores.tobytes()

    header = exported / "model.h"
    header.write_text(re.sub("(MODEL_OUTPUT_BYTES) 10", r"\1 11", header.read_text()))
    other = boards.build(exported, "m4", tmp_path / "other", program=DIGITS)
    with pytest.raises(RuntimeError, match=r"error: expected the model that examples/digits\.py"):
        boards.printed_by(other, "m4", content, tmp_path)
