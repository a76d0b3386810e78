"""Compares two result files: `python -m benchmarks.compare [BEFORE.json] AFTER.json`.

Takes files that any benchmark writes with --json. A ratio above 1 means that AFTER is faster. A
ratio is marked `~` if the quartiles of both files overlap: then it may be chance. Without BEFORE,
the kept result of such cores takes its place (kept.py).
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from benchmarks.kept import kept_file, read_kept, run_name
from benchmarks.report import describe_noise
from benchmarks.result_files import read_results
from larq_engine.python.text_table import align_columns

MEAN = "geometric mean"

Results = dict[str, dict[str, dict[str, Any]]]  # subject -> case -> result


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description=__doc__)
    parser.add_argument(
        "before",
        type=Path,
        nargs="?",
        metavar="BEFORE.json",
        help="results to compare with (default: those that are kept of such cores)",
    )
    parser.add_argument("after", type=Path, metavar="AFTER.json", help="the new results")
    options = parser.parse_args()
    try:
        after = read_results(options.after)
        file, before = _before(options.before, after)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    if before["benchmark"] != after["benchmark"]:
        parser.error(
            f"the files hold different benchmarks: {before['benchmark']}, {after['benchmark']}"
        )
    threads = [content.get("settings", {}).get("threads") for content in (before, after)]
    if threads[0] != threads[1]:
        parser.error(f"the files are of different numbers of threads: {threads[0]}, {threads[1]}")
    for name, content in ((file, before), (options.after, after)):
        print(f"{name}: {describe(content)}")
    print("\n" + format_ratios(by_subject(before), by_subject(after)))
    slower = find_slower(by_subject(before), by_subject(after))
    print("\n" + (f"slower by more than 1 %: {', '.join(slower)}" if slower else "nothing slower"))
    return 0


def _before(file: Path | None, after: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
    """Returns the results to compare with, and their file."""
    if file is not None:
        return file, read_results(file)
    file, name = kept_file(after), run_name(after)
    runs = read_kept(file) if file.exists() else {}
    if name not in runs:
        raise ValueError(
            f"no run '{name}' of such cores is kept in {file}: name a file to compare with, or "
            "keep this one with `python -m benchmarks.kept`"
        )
    return file, runs[name]


def describe(content: dict[str, Any]) -> str:
    """Describes how the code was measured: if that differs, the ratios mean little."""
    facts = [f"compiler {content['compiler']}"]
    if "commit" in content:  # bgemm_bench itself writes none
        facts = [f"commit {content['commit']}", *facts, content["machine"]["cpu"]]
    if "settings" in content:
        facts.append(f"{content['settings']['threads']} thread(s)")
    if "noise" in content:
        facts.append(f"noise {describe_noise(content['noise']['noisy'])}")
    return ", ".join(facts)


def by_subject(content: dict[str, Any]) -> Results:
    table: Results = {}
    for result in content["results"]:
        table.setdefault(result["subject"], {})[result["case"]] = result
    return table


def format_ratios(before: Results, after: Results) -> str:
    """Returns a table of subjects and cases, the more numerous of the two down the page."""
    subjects = list(dict.fromkeys((*before, *after)))
    cases = list(dict.fromkeys(case for row in (*before.values(), *after.values()) for case in row))
    pairs = {
        (subject, case): (before[subject][case], after[subject][case])
        for subject in subjects
        for case in cases
        if case in before.get(subject, {}) and case in after.get(subject, {})
    }
    ratios = {key: old["median_ns"] / new["median_ns"] for key, (old, new) in pairs.items()}
    cells = {key: f"{ratios[key]:.2f}{'~' if overlap(*pairs[key]) else ' '}" for key in ratios}
    for subject in subjects:
        found = [ratios[subject, case] for case in cases if (subject, case) in ratios]
        if found:
            cells[subject, MEAN] = f"{math.prod(found) ** (1 / len(found)):.2f} "
    rows, columns = subjects, [*cases, MEAN]
    if len(columns) > len(rows):
        rows, columns = columns, rows
        cells = {(case, subject): cell for (subject, case), cell in cells.items()}
    table = [[row, *(cells.get((row, column), "- ") for column in columns)] for row in rows]
    return "\n".join(align_columns(["", *columns], table, columns))


def find_slower(before: Results, after: Results) -> list[str]:
    """Finds cases that take over 1 % longer, with quartiles that do not overlap."""
    return [
        f"{subject} {case}"
        for subject, row in before.items()
        for case, old in row.items()
        if (new := after.get(subject, {}).get(case)) is not None
        and new["median_ns"] > 1.01 * old["median_ns"]
        and not overlap(old, new)
    ]


def overlap(old: dict[str, Any], new: dict[str, Any]) -> bool:
    (old_low, old_high), (new_low, new_high) = old["quartiles_ns"], new["quartiles_ns"]
    return bool(old_low <= new_high and new_low <= old_high)


if __name__ == "__main__":
    raise SystemExit(main())
