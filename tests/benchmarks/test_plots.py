"""Plots are written and show all series."""

from pathlib import Path

from benchmarks import plots

CONTENDERS = ("ours", "XNNPACK f32")
SUMMARY = {
    "machine": {"cpu": "C"},
    "settings": {"threads": 2},
    "ours": "ours",
    "results": [
        {"subject": subject, "case": case, "macs": macs, "median_ns": macs}
        for case, macs in (("Small", 1_000_000), ("Large", 64_000_000))
        for subject in CONTENDERS
    ],
    "profiles": {"Small": {"binary": 1.0, "host": 2.0}},
}


def texts(file: Path) -> str:
    """Returns the texts of a file, which has letters as curves and spells them in comments."""
    content = file.read_text()
    assert content.rstrip().endswith("</svg>")
    return content


def test_models(tmp_path: Path) -> None:
    plots.plot_models(SUMMARY, tmp_path / "models.svg")
    drawn = texts(tmp_path / "models.svg")
    for text in (*CONTENDERS, "Small", "Large", "binary", "host", "where ours spends it"):
        assert f"<!-- {text} -->" in drawn


def test_equal_results_make_equal_files(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg"):
        plots.plot_models(SUMMARY, tmp_path / name)
    assert texts(tmp_path / "a.svg") == texts(tmp_path / "b.svg")
