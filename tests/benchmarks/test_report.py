"""The report claims nothing that was not measured."""

import numpy as np
import pytest

from benchmarks.report import Results, describe_noise, format_table
from benchmarks.shapes import ConvShape

SHAPE = ConvShape("S", size=10, channels=10, kernel=1)  # 10,000 MACs
LIMIT = {"compiler": "gcc", "limits": [{"name": "popcnt", "gmac_per_s": 4.0}]}


def summarize(threads: int, rounds: int = 2, held_off: float = 0.0) -> dict:
    results = Results(ours="ours", threads=threads)
    results.add_checked("ours", SHAPE, ["row"])
    for _ in range(rounds):
        results.add_limits(LIMIT)
        wall = np.array([9_000.0, 10_000.0, 11_000.0])
        results.add_times("ours", SHAPE, wall, wall * (1 - held_off))
    return {
        "machine": {"cpu": "C", "cpu_ids": "", "features": [], "pinned_to": [0]},
        "commit": "abc",
        "versions": {},
        "settings": {"rounds": rounds, "threads": threads},
        **results.summarize(),
    }


@pytest.mark.parametrize(
    ("threads", "rounds", "held_off", "word"),
    [(1, 1, 0.0, "quiet"), (1, 1, 0.1, "NOISY"), (2, 1, 0.1, "unknown"), (2, 2, 0.0, "quiet")],
)
def test_noise_is_unknown_unless_measured(
    threads: int, rounds: int, held_off: float, word: str
) -> None:
    summary = summarize(threads, rounds, held_off)
    assert describe_noise(summary["noise"]["noisy"]) == word
    assert f"noise     {word}: " in format_table(summary)


def test_rates_of_one_thread_are_related_to_the_limit_of_one_core() -> None:
    summary = summarize(threads=1)
    assert summary["results"][0]["median_ns"] == 10_000
    assert summary["results"][0]["percent_of_limit"] == {"popcnt": pytest.approx(25.0)}
    assert "% of popcnt" in format_table(summary)


def test_rates_of_several_threads_are_not() -> None:
    summary = summarize(threads=2)
    assert summary["results"][0]["percent_of_limit"] == {}
    assert "% of" not in format_table(summary)
