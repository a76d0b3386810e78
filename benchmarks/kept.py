"""Results that are kept, a folder for each kind of core: `python -m benchmarks.kept FILE.json...`.

Keeps files that a benchmark wrote, for `make bench-compare` on such cores.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.machine import ROOT
from benchmarks.result_files import WRONG_RESULT, read_results

RESULTS = ROOT / "benchmarks" / "results"


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
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(content, indent=1) + "\n")
        print(f"{file}: kept in {kept.relative_to(ROOT)}")
    return 0


def kept_file(content: dict[str, Any]) -> Path:
    """Where results of this benchmark, number of threads and kind of core are kept.

    Raises:
        ValueError: The results do not say on what they were measured.
    """
    if "machine" not in content:
        raise ValueError(f"{content['benchmark']}: expected results that name their machine")
    threads = content["settings"]["threads"]
    name = content["benchmark"] + (f"-{threads}-threads" if threads > 1 else "")
    return RESULTS / kind_of_core(content["machine"]) / f"{name}.json"


def kind_of_core(machine: dict[str, Any]) -> str:
    """Maker, family and model, such as intel-6-143."""
    maker = machine["cpu"].split("(")[0].split()[0].lower()
    ids = machine["cpu_ids"].split()
    numbers = [ids[i + 1] for i, word in enumerate(ids[:-1]) if word in ("family", "model")]
    return "-".join([maker, *numbers])


def check_worth(content: dict[str, Any], file: Path) -> None:
    """Raises ValueError for results that say too little to be compared with later."""
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


if __name__ == "__main__":
    raise SystemExit(main())
