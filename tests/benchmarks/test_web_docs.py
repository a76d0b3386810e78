"""docs/browser_performance.md from kept results: times, rates, first answers and bytes."""

from pathlib import Path

import pytest

from benchmarks.kept import RESULTS
from benchmarks.result_files import as_lines
from benchmarks.web import docs

_OURS, _HERE, _BITS = "larq_engine", "larq_engine in the page", "larq_engine, bits to bits"
_LITERT, _LITERT_INT8 = "LiteRT.js f32", "LiteRT.js int8"


def _result(case: str, subject: str, ms: float) -> dict:
    return {"case": case, "title": f"{case} 8x8", "macs": 10**8, "subject": subject} | {
        "median_ns": 1e6 * ms,
        "quartiles_ns": [0.5e6 * ms, 2e6 * ms],
    }


def _run(benchmark: str, results: list[dict], threads: int = 1, **more: object) -> dict:
    return {
        "benchmark": benchmark,
        "commit": "abc",
        "compiler": "V8",
        "limits_gmac_per_s": {"popcnt": 100.0, "simd128": 200.0},
        "machine": {"cpu": "CPU", "cpu_ids": "", "features": []},
        "settings": {"rounds": 4, "threads": threads},
        "results": results,
        **more,
    }


_MODELS = [
    *(_result("Net", name, ms) for name, ms in ((_OURS, 4), (_HERE, 3), (_LITERT, 16))),
    _result("Ned", _OURS, 1),
]
_WITH_TWO_THREADS = [_result("Net", _OURS, 2), _result("Net", _LITERT_INT8, 3)]
_CONVS = [_result("A", name, ms) for name, ms in ((_OURS, 1), (_BITS, 0.5), (_LITERT, 10))]
_START = [_result("Net", _OURS, 100), _result("Net", _LITERT, 450)]
_BYTES = {
    _OURS: {"all": 1_200_400, "all_brotli": 300, "module": 1_100_000, "module_brotli": 250_600},
}


@pytest.fixture
def cores(tmp_path: Path) -> docs.Cores:
    runs = {
        "models": _run("models", _MODELS),
        "web_models-2-threads": _run("web_models", _WITH_TWO_THREADS, threads=2),
        "web_models": _run("web_models", _MODELS),
        "web_convs": _run("web_convs", _CONVS),
        "web_start": _run("web_start", _START, bytes=_BYTES),
    }
    (tmp_path / "amd-25-1.json").write_text(as_lines(runs, levels=2))
    (tmp_path / "amd-25-17.json").write_text(as_lines({"models": runs["models"]}, levels=2))
    return docs.read_cores(tmp_path)


def test_the_page_is_what_the_results_give() -> None:
    page = docs.PAGE.read_text()
    assert docs.render(page, docs.read_cores(RESULTS)) == page, "run make bench-docs"


def test_models_of_each_number_of_threads(cores: docs.Cores) -> None:
    lines = list(docs.block("web_models", cores))
    tables = [line for line in lines if line.startswith(("|", "#"))]
    assert tables == [
        "### Zen 3, one thread",
        "| ms (quartiles) | larq_engine | with `worker: false` | LiteRT.js f32 |",
        "| --- | --- | --- | --- |",
        "| Net 8x8 | 4.00 (2.00-8.00) | 3.00 (1.50-6.00) | 16.00 (4.00) |",
        "| Ned 8x8 | 1.00 (0.50-2.00) | - | - |",
        "### Zen 3, two threads",
        "| ms (quartiles) | larq_engine | LiteRT.js int8 |",
        "| --- | --- | --- |",
        "| Net 8x8 | 2.00 (1.00-4.00) | 3.00 (1.50) |",
    ]


def test_rates_of_convolutions_are_shares_of_the_kernels_limit(cores: docs.Cores) -> None:
    lines = list(docs.block("web_convs", cores))
    assert "The limit is 200 billion products a second, of the loop `simd128`." in " ".join(lines)
    assert lines[-4:] == [
        "| float to float | 100.0 (50 %) |",
        "| bits to float | - |",
        "| bits to bits | 200.0 (100 %) |",
        "| LiteRT.js f32 | 10.0 (5 %) |",
    ]


def test_first_answers_and_bytes(cores: docs.Cores) -> None:
    lines = list(docs.block("web_start", cores))
    assert "| Net 8x8 | 100 (50-200) | 450 (4.50) |" in lines
    assert lines[-1] == "| larq_engine | 1,200 | 0 | 1,100 | 251 |"


def test_without_results_the_page_says_so() -> None:
    assert list(docs.block("web_models", {})) == ["No quiet run is kept yet."]
