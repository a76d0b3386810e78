"""docs/performance.md from kept results: speeds, limits, and the times of each core."""

from pathlib import Path

import pytest

from benchmarks import docs, kept
from benchmarks.result_files import as_lines

_OURS, _BITS, _OPENVINO = "larq_engine", "larq_engine, bits to bits", "OpenVINO"


def _result(case: str, subject: str, us: float) -> dict:
    quartiles = [0.9e3 * us, 1.1e3 * us]
    return {"case": case, "title": f"{case} 8x8", "macs": 10**8, "subject": subject} | {
        "median_ns": 1e3 * us,
        "quartiles_ns": quartiles,
    }


def _run(benchmark: str, results: list[dict], threads: int = 1, **more: object) -> dict:
    return {
        "benchmark": benchmark,
        "commit": "abc",
        "compiler": "gcc 12",
        "limits_gmac_per_s": {"popcnt": 100.0, "avx2": 1000.0},
        "machine": {"cpu": "CPU", "cpu_ids": "cpu family 1", "features": ["avx2", "fma"]},
        "settings": {"rounds": 4, "threads": threads},
        "results": results,
        **more,
    }


_CONVS = [
    *(_result("A", name, us) for name, us in ((_OURS, 200), (_BITS, 125), (_OPENVINO, 400))),
    *(_result("B", name, us) for name, us in ((_OURS, 100), ("LCE", 1300))),
]
_PROFILES = {"Net": {"binary convolutions": 0.75, "float convolutions": 0.25}}
_MODELS = [_result("Net", _OURS, 1000), _result("Net", "LCE", 5000), _result("Ned", _OURS, 2000)]
_WITH_TWO_THREADS = [_result("Net", _OURS, 625), _result("Ned", _OURS, 1000)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runs = {
        "convs": _run("convs", _CONVS),
        "models": _run("models", _MODELS, profiles=_PROFILES),
        "models-2-threads": _run("models", _WITH_TWO_THREADS, threads=2),
    }
    (tmp_path / "amd-25-1.json").write_text(as_lines(runs, levels=2))
    return tmp_path


def test_the_page_is_what_the_results_give() -> None:
    page = docs.PAGE.read_text()
    assert docs.render(page, docs.read_cores(docs.RESULTS)) == page, "run make bench-docs"


def test_speeds(folder: Path) -> None:
    assert list(docs.speeds(docs.read_cores(folder))) == [
        "| times as fast as | LCE, default | OpenVINO, binary |",
        "| --- | --- | --- |",
        "| Zen 3: convolutions A to D | 13.0 | 2.00 |",
        "| Zen 3: whole models, one thread | 5.00 to 5.00 | - |",
        "| Zen 3: whole models, two threads | - | - |",
    ]


def test_limits_are_those_of_the_newest_instructions(folder: Path) -> None:
    lines = list(docs.limits(docs.read_cores(folder)))
    assert lines[0] == "| core | layers of | A 8x8 | B 8x8 | limit of a core |"
    assert lines[2:6] == [
        "| Zen 3 | larq_engine, float to float | 50 % | 100 % | 1000 GMAC/s, `avx2` |",
        "| Zen 3 | larq_engine, bits to float | - | - | 1000 GMAC/s, `avx2` |",
        "| Zen 3 | larq_engine, bits to bits | 80 % | - | 1000 GMAC/s, `avx2` |",
        "| Zen 3 | OpenVINO, binary | 25 % | - | 1000 GMAC/s, `avx2` |",
    ]
    assert lines[6:] == [
        "",
        "On a Zen 3 with one thread, binary convolutions take 75 % to 75 % of a model's time.",
    ]


def test_times_of_convolutions(folder: Path) -> None:
    lines = list(docs.details(docs.read_cores(folder)))
    assert lines[:5] == [
        "## Zen 3",
        "",
        "CPU (cpu family 1) with avx2, fma.",
        "",
        "### Zen 3: convolutions A to D",
    ]
    assert "One thread, 4 rounds, commit abc, gcc 12." in lines
    for line in (
        "| ms a layer (quartiles) | A 8x8 | B 8x8 |",
        "| larq_engine, float to float | 0.200 (0.180-0.220) | 0.100 (0.090-0.110) |",
        "| OpenVINO, binary | 0.400 (0.360-0.440) | - |",
        "| float to float, times as fast as | A | B | geometric mean |",
        "| OpenVINO, binary | 2.00 | - | 2.00 |",
    ):
        assert line in lines


def test_times_of_models(folder: Path) -> None:
    lines = list(docs.details(docs.read_cores(folder)))
    for line in (
        "| ms (quartiles) | larq_engine | LCE, default |",
        "| Net 8x8 | 1.00 (0.90-1.10) | 5.00 (5.00) |",
        "| Ned 8x8 | 2.00 (1.80-2.20) | - |",
        "| geometric mean |  | (5.00) |",
        "| ms of larq_engine in | binary convolutions | float convolutions |",
        "| Net | 0.75 (75 %) | 0.25 (25 %) |",
        "| ms (quartiles) | larq_engine | against one thread |",
        "| Net 8x8 | 0.62 (0.56-0.69) | 1.60 |",
        "| geometric mean |  | 1.79 |",
    ):
        assert line in lines


def test_runs_of_two_commits_are_not_compared(folder: Path) -> None:
    file = folder / "amd-25-1.json"
    runs = kept.read_kept(file)
    runs["models-2-threads"]["commit"] = "def"
    file.write_text(as_lines(runs, levels=2))
    lines = list(docs.details(docs.read_cores(folder)))
    assert "| Net 8x8 | 0.62 (0.56-0.69) |" in lines


def test_a_core_without_a_name_has_that_of_its_file(folder: Path) -> None:
    (folder / "amd-25-1.json").rename(folder / "amd-99-1.json")
    assert next(docs.details(docs.read_cores(folder))) == "## amd-99-1"


def test_a_page_without_marks() -> None:
    with pytest.raises(ValueError, match=r"expected the line .* once, got 0"):
        docs.render("# Performance", [])
