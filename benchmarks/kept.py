"""Results that are kept, a file for each kind of core: `python -m benchmarks.kept FILE.json...`.

Keeps the medians and quartiles of files that a benchmark wrote, for `make bench-compare` on such
cores and for the documents.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.machine import ROOT
from benchmarks.result_files import WRONG_RESULT, as_lines, read_results

RESULTS = ROOT / "benchmarks" / "results"

Summary = dict[str, Any]  # as a benchmark writes it

# Fields that are kept of a run, and of each of its results.
_RUN = ("benchmark", "commit", "compiler", "limits_gmac_per_s", "profiles", "bytes")
_MACHINE = ("cpu", "cpu_ids", "features")
_RESULT = ("case", "title", "macs", "subject", "median_ns", "quartiles_ns")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kept", description=__doc__)
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE.json",
        help="what a benchmark wrote with --json",
    )
    for file in parser.parse_args().files:
        try:
            content = read_results(file)
            check_worth(content, file)
            kept = kept_file(content)
        except (OSError, ValueError) as error:
            parser.error(str(error))
        runs = read_kept(kept) if kept.exists() else {}
        runs[run_name(content)] = worth_keeping(content)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(as_lines(dict(sorted(runs.items())), levels=2))
        print(f"{file}: kept in {kept.relative_to(ROOT)}")
    return 0


def read_kept(file: Path) -> dict[str, Summary]:
    """Reads the kept results of a kind of core, by the names of runs."""
    runs: dict[str, Summary] = json.loads(file.read_text())
    return runs


def run_name(content: Summary) -> str:
    """Returns the name that a run is kept under: its benchmark and number of threads.

    Raises:
        ValueError: The results do not say how they were measured.
    """
    if "settings" not in content:
        raise ValueError(f"{content['benchmark']}: expected results that name their settings")
    threads = content["settings"]["threads"]
    return str(content["benchmark"]) + (f"-{threads}-threads" if threads > 1 else "")


def kept_file(content: Summary) -> Path:
    """Returns the file of kept results of this kind of core.

    Raises:
        ValueError: The results do not say on what they were measured.
    """
    if "machine" not in content:
        raise ValueError(f"{content['benchmark']}: expected results that name their machine")
    return RESULTS / f"{kind_of_core(content['machine'])}.json"


def kind_of_core(machine: dict[str, Any]) -> str:
    """Returns maker, family and model, such as intel-6-143."""
    maker = machine["cpu"].split("(")[0].split()[0].lower()
    ids = machine["cpu_ids"].split()
    numbers = [ids[i + 1] for i, word in enumerate(ids[:-1]) if word in ("family", "model")]
    return "-".join([maker, *numbers])


def check_worth(content: Summary, file: Path) -> None:
    """Raises ValueError for results that say too little for later comparisons."""
    if content.get("noise", {}).get("noisy", True):
        raise ValueError(f"{file}: expected a quiet run, got a noisy one; measure again")
    if "+" in content.get("commit", "+"):
        raise ValueError(
            f"{file}: expected results of a commit, got those of a tree with changes; commit them, "
            "then measure"
        )
    # A peer whose answers were wrong has no time, and would not have one in another run.
    missing = {
        each["contender"]
        for each in content["absent"]
        if each["contender"] == content.get("ours") or not each["reason"].startswith(WRONG_RESULT)
    }
    if missing:
        raise ValueError(
            f"{file}: expected all contenders, not measured: {', '.join(sorted(missing))}"
        )


def worth_keeping(content: Summary) -> Summary:
    """Returns the parts of a run that are kept."""
    return {
        **_some(content, _RUN),
        "machine": _some(content["machine"], _MACHINE),
        "settings": content["settings"],
        "results": [_some(result, _RESULT) for result in content["results"]],
    }


def _some(content: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: content[name] for name in names if name in content}


if __name__ == "__main__":
    raise SystemExit(main())
