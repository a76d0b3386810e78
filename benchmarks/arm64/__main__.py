"""What 64-bit ARM's kernels cost, without a machine that has them:

    python -m benchmarks.arm64 [--llvm-mca PROGRAM] [--json FILE]

Predicted multiply-adds a cycle of the inner loops, and instructions of whole convolutions, counted
under QEMU. None of it is a time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.arm64 import loops
from benchmarks.arm64.instructions import Counter, each, find_qemu
from benchmarks.machine import ROOT
from benchmarks.progress import Progress
from larq_engine.python.text_table import align_columns

PROGRAM = ROOT / "bazel-bin" / "benchmarks" / "arm64" / "run_layer"
BUILD = (
    "tools/run_bazel.sh",
    "build",
    "--noshow_progress",
    "--config=aarch64",
    "//benchmarks/arm64:run_layer",
)
MACS = 56 * 56 * 64 * 64 * 9  # of each layer
# What a CPU without UDOT and one with it run.
CPUS = {"neon": "cortex-a72", "dotprod": "cortex-a76"}
# LCE 0.16.0, kernel_8x4x2 (A) and kernel_8x4x4: instructions of the loops over a filter's taps for
# each 128 multiply-adds, counted in its source; without what comes before and after the loops.
# A: a tap is a block of 61 and 5 around it, of 16 times 128. The others: blocks of 109 of 32 times
# 128; 2 more for each but the last of a tap, 6 for that (5 where there is only one).
LCE_LOOPS = {
    "A": (61 + 5) / 16,
    "B": (109 + 5) / 32,
    "C": (111 + 115) / 64,
    "D": (3 * 111 + 115) / 128,
}
WAYS = (("bits", "bits"), ("bits", "float"), ("float", "float"))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.arm64",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--llvm-mca", default=loops.newest_llvm_mca(), metavar="PROGRAM")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    subprocess.run(BUILD, cwd=ROOT, check=True)
    results = {"loops": predict_loops(options.llvm_mca), "layers": count_layers()}
    print_loops(options.llvm_mca, results["loops"])
    print_layers(results["layers"])
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


def predict_loops(llvm_mca: str) -> list[dict[str, Any]]:
    known = loops.models(llvm_mca)
    results = []
    for isa in CPUS:
        for bits in (64, 128):
            loop = loops.inner_loop(PROGRAM, f"larq_engine_bgemm_{isa}_4x16x{bits}")
            macs = 4 * 16 * bits
            results.append(
                {
                    "row": f"bgemm_i32_4x16x{bits}_{isa}",
                    "instructions_per_128": 128 * len(loop) / macs,
                    "macs_per_cycle": {
                        core: macs / loops.cycles(llvm_mca, core, loop)
                        for core in loops.CORES
                        if core in known
                    },
                }
            )
    return results


def count_layers() -> list[dict[str, Any]]:
    results = []
    progress = Progress()
    with tempfile.TemporaryDirectory() as folder:
        counter = Counter(find_qemu(), Path(folder))
        for isa, cpu in CPUS.items():
            for layer in LCE_LOOPS:
                for way in WAYS:
                    progress.say("counting", f"{layer} {way[0]} to {way[1]} on {cpu}")
                    once, thrice = (
                        counter.count(cpu, [PROGRAM, "auto", layer, *way, times])
                        for times in ("1", "3")
                    )
                    took = each(once, thrice, 2)
                    product = sum(n for name, n in took.items() if f"bgemm_{isa}" in name)
                    results.append(
                        {
                            "isa": isa,
                            "layer": layer,
                            "in": way[0],
                            "out": way[1],
                            "instructions": sum(took.values()),
                            "instructions_per_128": 128 * sum(took.values()) / MACS,
                            "product_per_128": 128 * product / MACS,
                        }
                    )
    progress.end()
    return results


def print_loops(llvm_mca: str, results: list[dict[str, Any]]) -> None:
    cores = list(results[0]["macs_per_cycle"])
    titles = ["inner loop", "instructions", *cores]
    rows = []
    rows.append(["bound: 3 instructions", "3", *(f"{128 * loops.CORES[c] / 3:.1f}" for c in cores)])
    for result in results:
        rates = [f"{result['macs_per_cycle'][core]:.1f}" for core in cores]
        rows.append([result["row"], f"{result['instructions_per_128']:.2f}", *rates])
    print(f"\nMultiply-adds a cycle, predicted by {llvm_mca}; instructions for 128 of them\n")
    print(*align_columns(titles, rows, titles[1:]), sep="\n")


def print_layers(results: list[dict[str, Any]]) -> None:
    titles = ["layer", "isa", "product", "LCE's 8x4 loops", *(f"{i} to {o}" for i, o in WAYS)]
    rows = []
    for isa in CPUS:
        for layer, lce in LCE_LOOPS.items():
            mine = [r for r in results if r["isa"] == isa and r["layer"] == layer]
            whole = [f"{r['instructions_per_128']:.2f}" for r in mine]
            rows.append([layer, isa, f"{mine[0]['product_per_128']:.2f}", f"{lce:.2f}", *whole])
    print("\nInstructions for 128 multiply-adds, counted under QEMU (LCE's in its source)\n")
    print(*align_columns(titles, rows, titles[2:]), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
