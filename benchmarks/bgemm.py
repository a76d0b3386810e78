"""Measures the micro-kernels in L1 against this core's limits: `python -m benchmarks.bgemm`.

Runs the program that `bazel build //benchmarks/kernels:bgemm_bench` builds, which checks every row
first.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from pathlib import Path
from typing import Any

from benchmarks import machine
from larq_engine.python.text_table import align_columns


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bgemm",
        description="Times the kernels' inner loops beside the core's limits.",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the results to this file too, as JSON"
    )
    options = parser.parse_args()
    if not machine.BGEMM_BENCH.exists():
        parser.error("bgemm_bench is not built: tools/run_bazel.sh build //benchmarks/kernels:all")
    cores = machine.pin_to_cores(1)
    description = machine.describe_machine(cores)
    process = subprocess.run(
        [str(machine.BGEMM_BENCH), "--json"], stdout=subprocess.PIPE, text=True
    )
    summary = json.loads(process.stdout) | {
        "commit": machine.describe_commit(),
        "machine": description,
    }
    print(format_table(summary))
    if options.json:
        options.json.write_text(json.dumps(summary, indent=1) + "\n")
        print(f"\nwritten to {options.json}")
    return process.returncode


def format_table(summary: dict[str, Any]) -> str:
    limits = summary["limits"]
    titles = ["row", "depth of", "ns", "GMAC/s", *(f"% of {limit['name']}" for limit in limits)]
    rows = [
        ["limit", limit["name"], "", f"{limit['gmac_per_s']:.1f}", *_shares(limit, limits)]
        for limit in limits
    ]
    rows += [
        [
            result["subject"],
            result["case"],
            f"{result['median_ns']:.0f}",
            f"{result['gmac_per_s']:.1f}",
            *_shares(result, limits),
        ]
        for result in summary["results"]
    ]
    not_run = [f"{name}: not run, this CPU lacks its instructions" for name in summary["not_run"]]
    return "\n".join([*align_columns(titles, rows, titles[2:]), *not_run])


def _shares(result: dict[str, Any], limits: list[dict[str, Any]]) -> list[str]:
    return [f"{100 * result['gmac_per_s'] / limit['gmac_per_s']:.1f}" for limit in limits]


if __name__ == "__main__":
    raise SystemExit(main())
