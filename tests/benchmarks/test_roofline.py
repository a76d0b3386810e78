"""Where a model's time goes, against the limit."""

import json
import sys
from pathlib import Path

import pytest

from benchmarks import roofline
from larq_engine.python.profile import HOST

STEPS = [
    {"op": "LceQuantize", "layer": "a", "kernel": "", "ms": 0.5, "macs": 0},
    {"op": "LceBconv2d", "layer": "a", "kernel": "bgemm_i32_4x2x64_popcnt", "ms": 2, "macs": 10**8},
    {"op": "LceBconv2d", "layer": "b", "kernel": "bgemm_i32_8x32x32_avx2", "ms": 4, "macs": 10**9},
    {"op": "CONV_2D", "layer": "c", "kernel": "floats_6x16_avx2", "ms": 0.75, "macs": 10**7},
    {"op": HOST, "layer": "", "kernel": "", "ms": 1.5, "macs": 0},
]
LIMITS = {"popcnt": 100.0, "avx2": 500.0}  # billions a second
SUMMARY = {
    "benchmark": "models",
    "commit": "abc",
    "machine": {"cpu": "C"},
    "settings": {"threads": 1},
    "limits_gmac_per_s": LIMITS,
    "results": [{}],
    "steps": {"Net": STEPS},
}


def test_shares_are_of_the_kernels_own_limit() -> None:
    found = roofline.find_roofline(STEPS, LIMITS)
    assert found.steps == ((0.5, None), (2, 0.5), (4, 0.5), (0.75, None))
    assert found.float_convolutions == 0.75
    assert (found.host, found.other_steps, found.convolutions, found.at_limit) == (1.5, 0.5, 6, 3)
    assert found.row() == ["3.00", "3.00", "0.75", "0.50", "1.50", "50%"]


def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, **change: object) -> int:
    file = tmp_path / "models.json"
    summary = {name: each for name, each in {**SUMMARY, **change}.items() if each is not None}
    file.write_text(json.dumps(summary))
    monkeypatch.setattr(sys, "argv", ["roofline", str(file)])
    return roofline.main()


def test_each_model_is_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(monkeypatch, tmp_path) == 0
    drawn = (tmp_path / "Net.svg").read_text()
    for text in ("Net: C, one thread, commit abc", "binary convolutions", "% of the limit"):
        assert f"<!-- {text} -->" in drawn
    assert "3.00" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": None, "benchmark": "convs"}, "got results of 'convs'"),
        ({"settings": {"threads": 2}}, "expected results of 1 thread, got 2"),
        ({"limits_gmac_per_s": {}}, "expected limits of the core, got none"),
    ],
)
def test_what_is_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    change: dict[str, object],
    message: str,
) -> None:
    with pytest.raises(SystemExit) as error:
        run(monkeypatch, tmp_path, **change)
    assert error.value.code == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.glob("*.svg"))
