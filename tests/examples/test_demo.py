"""The demo runs, fails if a result is wrong, and says what it lacks."""

import sys
from pathlib import Path

import numpy as np
import pytest

from tests.converter.frameworks import require_keras
from tests.kernel_rows import TAKES_FLOAT_CONVOLUTIONS

_EXAMPLES = Path(__file__).parents[2] / "examples"
_SIZE = 64


@pytest.fixture
def examples(monkeypatch):
    """Makes the folder the first to import from, as when the demo is started."""
    monkeypatch.syspath_prepend(str(_EXAMPLES))
    for name in ("demo", "quicknet"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.fixture
def demo(examples):
    require_keras()
    import demo

    return demo


def test_demo_converts_runs_and_agrees(demo, capsys, tmp_path):
    assert demo.main(threads=2, size=_SIZE, output=tmp_path / "demo") == 0
    printed = capsys.readouterr().out
    assert "\n18 layers: 8 binary, 10 float. " in printed
    assert "; the same classes\nthe results agree\n" in printed and "WRONG" not in printed
    float_mb, our_mb, ratio = (
        float(next(line for line in printed.splitlines() if line.startswith(row)).split()[column])
        for row, column in (("float32 ", 1), ("larq_engine   ", 1), ("times better", 2))
    )
    assert ratio == pytest.approx(float_mb / our_mb, abs=0.06)
    # 8 binary layers have 1 bit a weight instead of 32; all others stay in float.
    assert our_mb == pytest.approx(float_mb - 6_266_880 * (4 - 1 / 8) / 1e6, abs=0.05)
    profile = printed.partition("== Where the time goes, 2 thread(s)")[2]
    # The convolutions compute the sums.
    assert profile.count("LceBconv2d") == 8 and profile.count("\nADD ") == 0
    host = profile.partition("\nhost runtime  ")[2].splitlines()[0]
    assert ("CONV_2D" in host) != TAKES_FLOAT_CONVOLUTIONS and "ADD" not in host
    kept = {path.name: path.read_bytes() for path in (tmp_path / "demo").iterdir()}
    assert set(kept) == {"quicknet.tflite", "quicknet.float.tflite", "quicknet.report.json"}
    assert f"{len(kept['quicknet.tflite']) / 1e6:.2f}" == f"{our_mb:.2f}"
    assert f"{tmp_path / 'demo' / 'quicknet.tflite'}  {our_mb:.2f} MB" in printed


def test_demo_fails_on_a_wrong_result(demo, capsys, monkeypatch, tmp_path):
    convert = demo.lce.convert_keras_model

    def convert_and_change(model, **options):
        converted = convert(model, **options)
        classifier = model.layers[-2]
        classifier.set_weights([-weight for weight in classifier.get_weights()])
        return converted

    monkeypatch.setattr(demo.lce, "convert_keras_model", convert_and_change)
    assert demo.main(threads=1, size=_SIZE, output=tmp_path / "demo") == 1
    assert not (tmp_path / "demo").exists()
    printed = capsys.readouterr().out
    assert "WRONG: expected" in printed and "the results agree" not in printed
    assert "ms, 1 thread" not in printed and "Where the time goes" not in printed


@pytest.mark.parametrize(
    ("changed", "right"),
    [(0.0, True), (5e-4, True), (2e-3, False), (np.nan, False)],
)
def test_outputs_may_differ_by_rounding_only(demo, capsys, changed, right):
    expected = np.array([[0.1, 0.7, 0.2], [0.0, 0.0, 1.0]])
    outputs = expected + np.array([[0.0, 0.0, 0.0], [changed, 0.0, 0.0]])
    assert demo.agree(outputs, expected) is right
    assert ("WRONG" in capsys.readouterr().out) is not right


def test_classes_must_be_the_same(demo, capsys):
    expected = np.array([[0.5, 0.50001, 0.0]])
    assert not demo.agree(np.array([[0.50001, 0.5, 0.0]]), expected)
    assert "OTHER CLASSES" in capsys.readouterr().out


def test_no_value_of_the_sample_images_is_next_to_0(demo, rng):
    import quicknet

    values = rng.normal(0.3, 2, (4, 8, 8, 5)).astype(np.float32)
    moved = values + quicknet._to_widest_gap(values)
    assert np.all(np.abs(moved).min(axis=(0, 1, 2)) > 1e-3 * values.std(axis=(0, 1, 2)))
    assert np.abs(moved - values).max() <= 0.1 * values.std(axis=(0, 1, 2)).max()


def test_without_tensorflow_demo_says_what_it_needs(examples, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    with pytest.raises(
        SystemExit, match=r"expected tensorflow, tf_keras and larq .*Python 3\.10 to"
    ):
        import demo  # noqa: F401
