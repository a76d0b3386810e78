"""The report claims nothing that was not measured."""

import numpy as np
import pytest

from benchmarks.report import Results, compare, describe_noise, format_table
from benchmarks.shapes import ConvShape

SHAPE = ConvShape("S", size=10, channels=10, kernel=1)  # 10,000 MACs
LIMIT = {"compiler": "gcc", "limits": [{"name": "popcnt", "gmac_per_s": 4.0}]}


def summarize(threads: int, rounds: int = 2, held_off: float = 0.0) -> dict:
    results = Results(ours="ours", peers=["peer"], threads=threads)
    results.add_checked("ours", SHAPE, ["row"], "equal")
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


@pytest.mark.parametrize(("drifting", "word"), [("avx2", "NOISY"), ("popcnt", "quiet")])
def test_limits_of_rows_that_did_not_run_may_drift(drifting: str, word: str) -> None:
    results = Results(ours="ours", peers=[], threads=1)
    results.add_checked("ours", SHAPE, ["bgemm_i32_8x32x32_avx2"], "equal")
    for rate in (4.0, 5.0):
        limits = [
            {"name": name, "gmac_per_s": rate if name == drifting else 4.0}
            for name in ("popcnt", "avx2")
        ]
        results.add_limits({"compiler": "gcc", "limits": limits})
        results.add_times("ours", SHAPE, np.array([9_000.0]), np.array([9_000.0]))
    assert describe_noise(results.summarize()["noise"]["noisy"]) == word


def test_rates_of_one_thread_are_related_to_the_limit_of_one_core() -> None:
    summary = summarize(threads=1)
    assert summary["results"][0]["median_ns"] == 10_000
    assert summary["results"][0]["percent_of_limit"] == {"popcnt": pytest.approx(25.0)}
    assert "% of popcnt" in format_table(summary)


def test_rates_of_several_threads_are_not() -> None:
    summary = summarize(threads=2)
    assert summary["results"][0]["percent_of_limit"] == {}
    assert "% of" not in format_table(summary)


def result(subject: str, case: str, macs: int, median: float) -> dict:
    return {"subject": subject, "case": case, "macs": macs, "median_ns": median}


def test_ratios_are_to_peers_on_the_same_case_and_large_cases_weigh_more_by_macs() -> None:
    results = [
        *(result("ours", "small", 1, 10), result("ours", "large", 3, 100)),
        *(result("ours otherwise", "small", 1, 5), result("ours", "alone", 9, 5)),
        *(result("peer", "small", 1, 20), result("peer", "large", 3, 800)),
        result("peer", "not ours", 9, 5),
    ]
    ratios = compare(results, "ours", ["peer", "absent peer"])
    assert ratios.keys() == {"peer"}
    assert ratios["peer"]["cases"] == {"small": 2.0, "large": 8.0}
    assert ratios["peer"]["means"] == {
        "geometric mean": pytest.approx(4.0),
        "plain mean": pytest.approx(5.0),
        "mean by MACs": pytest.approx((1 * 2 + 3 * 8) / 4),
    }


def test_table_has_a_row_for_each_ratio_and_mean() -> None:
    summary = summarize(threads=1)
    results = [result("ours", "S", 1, 10), result("peer", "S", 1, 25)]
    table = format_table({**summary, "ratios": compare(results, "ours", ["peer"])})
    rows = [line.split() for line in table.partition("as fast as")[2].splitlines() if line]
    assert rows[0] == ["peer"]
    assert rows[2:] == [
        ["S", "2.50"],
        ["geometric", "mean", "2.50"],
        ["plain", "mean", "2.50"],
        ["mean", "by", "MACs", "2.50"],
    ]


def test_an_absence_is_told() -> None:
    summary = summarize(threads=1)
    absence = {"contender": "peer", "case": "S", "reason": "it crashed"}
    assert "NOT MEASURED  peer, S: it crashed" in format_table({**summary, "absent": [absence]})
