"""Compares two result files: `python -m benchmarks.compare BEFORE.json AFTER.json`.

Takes what benchmarks.convs and bgemm_bench write. Above 1 is faster than before. A ratio is marked
`~` where the quartiles of both files overlap: then it may be chance.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

from benchmarks.report import describe_noise

Results = dict[str, dict[str, dict[str, Any]]]  # subject -> case -> result


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare")
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    options = parser.parse_args()
    before, after = (json.loads(path.read_text()) for path in (options.before, options.after))
    for file, content in ((options.before, before), (options.after, after)):
        if not content.get("results"):
            parser.error(f"{file}: no results")
    if before["benchmark"] != after["benchmark"]:
        parser.error(
            f"the files hold different benchmarks: {before['benchmark']}, {after['benchmark']}"
        )
    for file, content in ((options.before, before), (options.after, after)):
        print(f"{file}: {describe(content)}")
    print("\n" + format_ratios(by_subject(before), by_subject(after)))
    return 0


def describe(content: dict[str, Any]) -> str:
    """Says what the code was measured with: if that differs, the ratios mean little."""
    facts = [f"compiler {content['compiler']}"]
    if "commit" in content:
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
    cases = sorted({case for row in (*before.values(), *after.values()) for case in row})
    width = max(len(subject) for subject in (*before, *after)) + 2
    lines = [" " * width + "".join(f"{case:>9}" for case in cases) + f"{'mean':>9}"]
    for subject in dict.fromkeys((*before, *after)):
        pairs = {
            case: (before[subject][case], after[subject][case])
            for case in cases
            if case in before.get(subject, {}) and case in after.get(subject, {})
        }
        ratios = {case: old["median_ns"] / new["median_ns"] for case, (old, new) in pairs.items()}
        cells = [
            f"{ratios[case]:>8.2f}{'~' if overlap(*pairs[case]) else ' '}"
            if case in ratios
            else f"{'-':>8} "
            for case in cases
        ]
        if ratios:
            cells.append(f"{math.prod(ratios.values()) ** (1 / len(ratios)):>8.2f}")
        lines.append(f"{subject:<{width}}" + "".join(cells))
    return "\n".join(lines)


def overlap(old: dict[str, Any], new: dict[str, Any]) -> bool:
    (old_low, old_high), (new_low, new_high) = old["quartiles_ns"], new["quartiles_ns"]
    return bool(old_low <= new_high and new_low <= old_high)


if __name__ == "__main__":
    raise SystemExit(main())
