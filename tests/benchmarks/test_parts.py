"""`python -m benchmarks` runs the parts that were asked for and tells of every failure."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as parts
from benchmarks import bgemm, machine


def test_each_part_leaves_a_file_of_its_own(tmp_path: Path) -> None:
    planned = dict(parts.plan(list(parts.PARTS), tmp_path, ["--rounds", "3"]))
    assert list(planned) == [
        "kernels",
        "convs",
        "models",
        "models-2-threads",
        "web_models",
        "web_models-2-threads",
        "web_convs",
        "web_start",
    ]
    for title, command in planned.items():
        assert command[command.index("--json") + 1] == str(tmp_path / f"{title}.json")
        assert (command[-2:] == ["--rounds", "3"]) == (title != "kernels")
    threads = {title: command[4] for title, command in planned.items() if "--threads" in command}
    assert threads == {
        "models": "1",
        "models-2-threads": "2",
        "web_models": "1",
        "web_models-2-threads": "2",
    }


def test_parts_are_run_once_in_the_order_given(tmp_path: Path) -> None:
    assert [title for title, _ in parts.plan(["models", "convs", "models"], tmp_path, [])] == [
        "models",
        "models-2-threads",
        "convs",
    ]


def test_options_of_parts_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["benchmarks", "convs", "--results", "folder", "--rounds", "3"]
    monkeypatch.setattr(sys, "argv", arguments)
    options, flags = parts.parse_options()
    assert options.parts == ["convs"]
    assert options.results == Path("folder")
    assert flags == ["--rounds", "3"]


def test_without_parts_all_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks"])
    assert parts.parse_options()[0].parts == list(parts.PARTS)


def test_an_unknown_part_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "conv"])
    with pytest.raises(SystemExit) as error:
        parts.parse_options()
    assert error.value.code == 2
    assert "got 'conv'" in capsys.readouterr().err


def test_a_failed_part_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ran: list[str] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append(command[2])
        return subprocess.CompletedProcess(command, int(command[2] == "benchmarks.convs"))

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "convs", "kernels", "--results", str(tmp_path)])
    assert parts.main() == 1
    assert ran == ["benchmarks.convs", "benchmarks.bgemm"]
    assert "NOT ALL MEASURED: convs;" in capsys.readouterr().err


def test_table_of_kernels() -> None:
    summary = {
        "limits": [{"name": "popcnt", "gmac_per_s": 200.0}],
        "results": [{"subject": "row", "case": "A", "median_ns": 7.0, "gmac_per_s": 150.0}],
        "not_run": ["row_amx"],
    }
    titles, _, *rows = bgemm.format_table(summary).splitlines()
    assert titles.split() == ["row", "depth", "of", "ns", "GMAC/s", "%", "of", "popcnt"]
    assert [row.split() for row in rows] == [
        ["limit", "popcnt", "200.0", "100.0"],
        ["row", "A", "7", "150.0", "75.0"],
        ["row_amx:", "not", "run,", "this", "CPU", "lacks", "its", "instructions"],
    ]


@pytest.mark.parametrize("status", [0, 1])
def test_kernels_leave_a_file_and_their_status(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int
) -> None:
    program, file = tmp_path / "bgemm_bench", tmp_path / "kernels.json"
    measured = {"benchmark": "bgemm", "limits": [], "results": [], "not_run": []}
    program.write_text(f"#!/bin/sh\necho '{json.dumps(measured)}'\nexit {status}\n")
    program.chmod(0o755)
    monkeypatch.setattr(machine, "BGEMM_BENCH", program)
    monkeypatch.setattr(machine, "pin_to_cores", lambda count: list(range(count)))
    monkeypatch.setattr(sys, "argv", ["bgemm", "--json", str(file)])
    assert bgemm.main() == status
    assert measured.items() <= json.loads(file.read_text()).items()
