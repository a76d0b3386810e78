"""The face example learns faces, and finds them on photographs that it has not seen."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.converter.frameworks import require_keras
from tests.examples.digits_doors import ROOT

_EXAMPLES = ROOT / "examples"


pytest.importorskip("sklearn", reason="scikit-learn, for its photographs, is not installed here")
io = pytest.importorskip("skimage.io", reason="scikit-image, for its faces, is not installed here")


@pytest.fixture
def faces(monkeypatch):
    """Imports the program from its folder, as when it is started."""
    monkeypatch.syspath_prepend(str(_EXAMPLES))
    monkeypatch.delitem(sys.modules, "faces", raising=False)
    import faces

    return faces


def _hopper():
    from matplotlib import cbook

    return cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)


@pytest.mark.drawn("examples that learn")
def test_it_finds_a_face(faces, tmp_path):
    require_keras()
    model, photo = tmp_path / "faces.tflite", _hopper()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}
    # This process has Keras 2 (frameworks.py); the example needs Keras 3.
    train = [sys.executable, _EXAMPLES / "faces.py", "train", model]
    done = subprocess.run(train, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    assert f"{len(model.read_bytes())} bytes" in done.stdout
    first, *others = faces.find(model, io.imread(photo))
    # The centre of the face is at 220, 250. The result of a training differs between CPUs.
    assert abs(first.top + first.side / 2 - 220) < 80
    assert abs(first.left + first.side / 2 - 250) < 80
    assert first.votes > max([other.votes for other in others], default=0.0)
    draw = [sys.executable, _EXAMPLES / "pictures.py", "faces", model, photo]
    subprocess.run(draw, cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "faces.png").stat().st_size > 10_000


def test_squares_are_where_they_are_said_to_be(faces):
    """A bright square is the brightest piece of its size."""
    from published.photographs import SIZE, pieces

    photo = np.zeros((150, 200), np.uint8)
    photo[60:100, 120:160] = 255
    sizes = list(pieces(photo, 1))
    assert len(sizes) == 7  # from 40 to 120 pixels
    for images, places in sizes:
        assert images.shape[1:] == (SIZE, SIZE)
        top, left, side = places[images.sum((1, 2)).argmax()]
        # The square is inside this piece, except for the rounding of sizes to pieces.
        assert top - side / 12 <= 60 and left - side / 12 <= 120
        assert top + side * 13 / 12 >= 100 and left + side * 13 / 12 >= 160
    assert not list(pieces(photo[:50, :50], 1))


def test_a_photograph_is_asked_for(faces, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["faces.py", "find", "faces.tflite"])
    with pytest.raises(SystemExit):
        faces.main()
    assert "expected a photograph, got none" in capsys.readouterr().err
