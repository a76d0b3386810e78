"""The comparison of two result files: its ratios, and the files that it refuses."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import compare, kept
from benchmarks.result_files import as_lines

Write = Callable[..., str]


def result(subject: str, case: str, median: float, spread: float = 1.0) -> dict:
    quartiles = [median - spread, median + spread]
    return {"subject": subject, "case": case, "median_ns": median, "quartiles_ns": quartiles}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def file(name: str, results: list[dict], benchmark: str = "bgemm", **more: Any) -> str:
        path = tmp_path / name
        content = {"benchmark": benchmark, "compiler": "gcc", "results": results, **more}
        path.write_text(json.dumps(content))
        return str(path)

    return file


def run(monkeypatch: pytest.MonkeyPatch, *files: str) -> int:
    monkeypatch.setattr(sys, "argv", ["compare", *files])
    return compare.main()


def test_ratios(monkeypatch, capsys, write):
    before = [result("row", "A", 100), result("row", "B", 100), result("gone", "A", 5)]
    after = [result("row", "A", 25), result("row", "B", 99, spread=5), result("new", "B", 5)]
    assert run(monkeypatch, write("before", before), write("after", after)) == 0
    assert table_in(capsys) == [
        ["A", "B", "geometric", "mean"],
        ["row", "4.00", "1.01~", "2.01"],
        ["gone", "-", "-", "-"],
        ["new", "-", "-", "-"],
    ]


def test_what_is_slower(monkeypatch, capsys, write):
    """A case is slower if it takes over 1 % more and the quartiles do not overlap."""
    before = [result("row", case, 1000) for case in "ABCD"]
    medians = {"A": 1012, "B": 1008, "C": 900, "D": 1020}
    after = [
        result("row", case, median, spread=30 if case == "D" else 1)
        for case, median in medians.items()
    ]
    assert run(monkeypatch, write("before", before), write("after", after)) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "slower by more than 1 %: row A"
    assert run(monkeypatch, write("before", before), write("before", before)) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "nothing slower"


ABOUT = {
    "machine": {
        "cpu": "Intel(R) Xeon(R) Processor",
        "cpu_ids": "cpu family 6 model 143 stepping 8",
    },
    "settings": {"threads": 1},
    "commit": "abc",
    "noise": {"noisy": False},
    "absent": [],
}


def test_compares_with_what_is_kept(monkeypatch, capsys, write, tmp_path):
    """Kept results are those of the same kind of core, benchmark and number of threads."""
    monkeypatch.setattr(kept, "RESULTS", tmp_path / "kept")
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    wrong = [{"contender": "other", "case": "A", "reason": "WRONG RESULT: expected 1, got 2"}]
    about = {**ABOUT, "settings": {"threads": 2}, "absent": wrong}
    before = write("before", [result("row", "A", 100)], "convs", **about)
    after = write("after", [result("row", "A", 50)], "convs", **about)
    with pytest.raises(SystemExit):
        run(monkeypatch, after)
    assert "no run 'convs-2-threads' of such cores is kept in" in one_error(capsys)
    monkeypatch.setattr(sys, "argv", ["kept", before])
    assert kept.main() == 0
    assert list(kept.read_kept(tmp_path / "kept" / "intel-6-143.json")) == ["convs-2-threads"]
    capsys.readouterr()
    assert run(monkeypatch, after) == 0
    assert table_in(capsys)[1] == ["A", "2.00"]


@pytest.mark.parametrize("file", sorted(kept.RESULTS.iterdir()), ids=lambda file: file.stem)
def test_what_is_kept_is_where_it_is_looked_for(file):
    runs = kept.read_kept(file)
    assert runs
    for name, run in runs.items():
        assert (kept.kept_file(run), kept.run_name(run)) == (file, name)
        assert run["results"]
    assert as_lines(runs, levels=2) == file.read_text()


def test_a_run_takes_the_place_of_the_one_before(monkeypatch, write, tmp_path):
    monkeypatch.setattr(kept, "RESULTS", tmp_path / "kept")
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    for benchmark, median in (("convs", 100), ("models", 10), ("convs", 50)):
        file = write("run", [result("row", "A", median)], benchmark, **ABOUT)
        monkeypatch.setattr(sys, "argv", ["kept", file])
        assert kept.main() == 0
    runs = kept.read_kept(tmp_path / "kept" / "intel-6-143.json")
    medians = {name: run["results"][0]["median_ns"] for name, run in runs.items()}
    assert medians == {"convs": 50, "models": 10}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"noise": {"noisy": True}}, "expected a quiet run, got a noisy one"),
        ({"commit": "abc+changes"}, "expected results of a commit"),
        (
            {"absent": [{"contender": "row", "case": "B", "reason": "the worker ended"}]},
            "expected all contenders, not measured: row",
        ),
    ],
)
def test_what_is_not_kept(monkeypatch, capsys, write, tmp_path, change, message):
    monkeypatch.setattr(kept, "RESULTS", tmp_path / "kept")
    file = write("after", [result("row", "A", 1)], "convs", **{**ABOUT, **change})
    monkeypatch.setattr(sys, "argv", ["kept", file])
    with pytest.raises(SystemExit):
        kept.main()
    assert message in one_error(capsys)
    assert not (tmp_path / "kept").exists()


def test_many_cases_go_down_the_page(monkeypatch, capsys, write):
    before = [result("ours", case, 100) for case in "BAC"]
    after = [result("ours", case, 50) for case in "BAC"]
    assert run(monkeypatch, write("before", before), write("after", after)) == 0
    assert table_in(capsys) == [
        ["ours"],
        ["B", "2.00"],
        ["A", "2.00"],
        ["C", "2.00"],
        ["geometric", "mean", "2.00"],
    ]


def table_in(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """Returns the words of each row, without the rule below the titles."""
    title, _, *rows = capsys.readouterr().out.split("\n\n")[1].splitlines()
    return [line.split() for line in (title, *rows)]


def one_error(capsys: pytest.CaptureFixture[str]) -> str:
    """Returns the one line behind the usage."""
    [line] = [line for line in capsys.readouterr().err.splitlines() if "error: " in line]
    return line


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ({}, {"benchmark": "convs"}, "different benchmarks: bgemm, convs"),
        (
            {"settings": {"threads": 1}},
            {"settings": {"threads": 2}},
            "different numbers of threads: 1, 2",
        ),
        ({}, {"results": []}, "{after}: expected JSON that a benchmark wrote, got no results"),
        ({}, b"not JSON", "{after}: expected JSON"),
        ({}, b"\xff", "{after}: expected JSON"),
        ({}, b"[]", "{after}: expected JSON"),
        ({}, None, "No such file or directory: '{after}'"),
    ],
)
def test_refuses_what_cannot_be_compared(
    before, after, message, monkeypatch, capsys, write, tmp_path
):
    same = {"results": [result("row", "A", 1)]}
    file = tmp_path / "after"
    if isinstance(after, bytes):
        file.write_bytes(after)
    elif after is not None:
        write("after", **{**same, **after})
    with pytest.raises(SystemExit) as error:
        run(monkeypatch, write("before", **same, **before), str(file))
    assert error.value.code == 2
    assert message.format(after=file) in one_error(capsys)
