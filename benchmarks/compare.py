"""Compares two result files: `python -m benchmarks.compare BEFORE.json AFTER.json`.

Takes what any benchmark writes with --json. Above 1 is faster than before. A ratio is marked
`~` where the quartiles of both files overlap: then it may be chance.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from benchmarks.report import describe_noise
from larq_engine.python.text_table import align_columns

MEAN = "geometric mean"

Results = dict[str, dict[str, dict[str, Any]]]  # subject -> case -> result


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare")
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    options = parser.parse_args()
    try:
        before, after = map(read_results, (options.before, options.after))
    except (OSError, ValueError) as error:
        parser.error(str(error))
    if before["benchmark"] != after["benchmark"]:
        parser.error(
            f"the files hold different benchmarks: {before['benchmark']}, {after['benchmark']}"
        )
    threads = [content.get("settings", {}).get("threads") for content in (before, after)]
    if threads[0] != threads[1]:
        parser.error(f"the files are of different numbers of threads: {threads[0]}, {threads[1]}")
    for file, content in ((options.before, before), (options.after, after)):
        print(f"{file}: {describe(content)}")
    print("\n" + format_ratios(by_subject(before), by_subject(after)))
    return 0


def read_results(file: Path) -> dict[str, Any]:
    """Reads what a benchmark wrote.

    Raises:
        OSError: The file cannot be read; the message names it.
        ValueError: It holds no results.
    """
    try:
        content = json.loads(file.read_text())
    except ValueError as error:
        raise ValueError(f"{file}: expected JSON that a benchmark wrote: {error}") from error
    if not isinstance(content, dict) or not content.get("results"):
        raise ValueError(f"{file}: expected JSON that a benchmark wrote, got no results")
    return content


def describe(content: dict[str, Any]) -> str:
    """Says what the code was measured with: if that differs, the ratios mean little."""
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
    """A table of subjects and cases, the more numerous of the two down the page."""
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


def overlap(old: dict[str, Any], new: dict[str, Any]) -> bool:
    (old_low, old_high), (new_low, new_high) = old["quartiles_ns"], new["quartiles_ns"]
    return bool(old_low <= new_high and new_low <= old_high)


if __name__ == "__main__":
    raise SystemExit(main())
