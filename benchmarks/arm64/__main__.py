"""Predicts the cost of 64-bit ARM's kernels, without a machine that has them:

    python -m benchmarks.arm64 [--llvm-mca PROGRAM] [--json FILE]

Prints predicted multiply-adds a cycle of the inner loops, and the instructions of whole
convolutions and of QuickNet, counted under QEMU. None of it is a time. QuickNet needs the emulated
LiteRT, which `tools/setup.sh arm64` installs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks import zoo_cache
from benchmarks.arm64 import loops
from benchmarks.arm64.instructions import ELSEWHERE, count, per_repetition
from benchmarks.machine import ROOT
from benchmarks.progress import Progress
from larq_engine.python.text_table import align_columns

KERNELS = "larq_engine/kernels"
TARGETS = (
    "//benchmarks/arm64:run_layer",
    "//larq_engine/benchmark_model:larq_benchmark_model",
    *(f"//{KERNELS}/{archive}" for archive in ("bytes:isa_dotprod", "bytes:isa_neon")),
    f"//{KERNELS}/floats:isa_neon",
)
BIN = ROOT / "bazel-bin"
PROGRAM = BIN / "benchmarks" / "arm64" / "run_layer"
BENCHMARK = BIN / "larq_engine" / "benchmark_model" / "larq_benchmark_model"
LITERT = ROOT / ".emulation" / "arm64" / "packages" / "ai_edge_litert" / "libLiteRt.so"
MACS = 56 * 56 * 64 * 64 * 9  # the same for each of the layers A to D
QUICKNET_MACS = 16 * MACS  # binary MACs: four layers of each kind
# Rows of floats and bytes: the archive of each, and the multiply-adds of its instructions.
PRODUCTS: dict[str, tuple[str, dict[str, int]]] = {
    "floats_6x16_neon": ("floats/libisa_neon.a", {"fmla": 4}),
    "bytes_i32_12x8x8_neon": (
        "bytes/libisa_neon.a",
        dict.fromkeys(("smull", "smull2", "smlal", "smlal2"), 8),
    ),
    "bytes_i32_12x16x4_dotprod": ("bytes/libisa_dotprod.a", {"sdot": 16}),
}
# Models of a CPU without UDOT and of one with it.
CPUS = {"neon": "cortex-a72", "dotprod": "cortex-a76"}
# Instructions of LCE 0.16.0 for each 128 multiply-adds in the loops over a filter's taps, counted
# in its source, without the code before and after the loops. A runs kernel_8x4x2: a tap is one
# block of 61 instructions plus 5 of the loop, for 16 x 128 multiply-adds. B to D run kernel_8x4x4:
# a block is 109 instructions for 32 x 128 multiply-adds. The loop adds 2 to each block, but 6 to
# the last block of a tap, or 5 if the tap has only one block.
LCE_LOOPS = {
    "A": (61 + 5) / 16,
    "B": (109 + 5) / 32,
    "C": (111 + 115) / 64,
    "D": (3 * 111 + 115) / 128,
}
IN_OUT_TYPES = (("bits", "bits"), ("bits", "float"), ("float", "float"))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.arm64",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--llvm-mca",
        default=loops.newest_llvm_mca(),
        metavar="PROGRAM",
        help="LLVM's llvm-mca, which predicts the loops (default: the newest that is installed)",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the results to this file too, as JSON"
    )
    options = parser.parse_args()
    build = ["tools/run_bazel.sh", "build", "--noshow_progress", "--config=aarch64", *TARGETS]
    subprocess.run(build, cwd=ROOT, check=True)
    results = {"loops": predict_loops(options.llvm_mca), "layers": count_layers()}
    print_loops(options.llvm_mca, results["loops"])
    print_layers(results["layers"])
    if LITERT.exists():
        results["quicknet"] = count_quicknet()
        print_quicknet(results["quicknet"])
    else:
        print("\nQuickNet: not counted, there is no emulated LiteRT (tools/setup.sh arm64)")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


def predict_loops(llvm_mca: str) -> list[dict[str, Any]]:
    known = loops.models(llvm_mca)
    results = []

    def predict(row: str, loop: list[str], macs: int) -> None:
        results.append(
            {
                "row": row,
                "instructions_per_128": 128 * len(loop) / macs,
                "macs_per_cycle": {
                    core: macs / loops.cycles(llvm_mca, core, loop)
                    for core in loops.CORES
                    if core in known
                },
            }
        )

    for isa in CPUS:
        for bits in (64, 128):
            loop = loops.inner_loop(PROGRAM, f"larq_engine_bgemm_{isa}_4x16x{bits}")
            predict(f"bgemm_i32_4x16x{bits}_{isa}", loop, 4 * 16 * bits)
    for row, (archive, macs) in PRODUCTS.items():
        loop = loops.loop_of_most(BIN / KERNELS / archive, macs)
        predict(row, loop, sum(macs.get(line.split()[0], 0) for line in loop))
    return results


def count_layers() -> list[dict[str, Any]]:
    results = []
    progress = Progress()
    for isa, cpu in CPUS.items():
        for layer in LCE_LOOPS:
            for in_type, out_type in IN_OUT_TYPES:
                progress.say("counting", f"{layer} {in_type} to {out_type} on {cpu}")
                command: list[str | Path] = [PROGRAM, "auto", layer, in_type, out_type]
                one, three = (count(cpu, [*command, runs]) for runs in ("1", "3"))
                instructions = per_repetition(one, three, 2)
                results.append(
                    {
                        "isa": isa,
                        "layer": layer,
                        "in": in_type,
                        "out": out_type,
                        "instructions": sum(instructions.values()),
                        "instructions_per_128": 128 * sum(instructions.values()) / MACS,
                        "product_per_128": 128 * _bgemm_instructions(instructions) / MACS,
                    }
                )
    progress.end()
    return results


def count_quicknet() -> list[dict[str, Any]]:
    progress = Progress()
    model = zoo_cache.prepare("QuickNet", progress) / "larq_engine.tflite"
    results = []
    for isa, cpu in CPUS.items():
        progress.say("counting", f"QuickNet on {cpu}")
        command: list[str | Path] = [
            BENCHMARK,
            f"--graph={model}",
            f"--litert={LITERT}",
            "--num_threads=1",
        ]
        command += ["--warmup_runs=1", "--warmup_min_secs=0", "--min_secs=0", "--max_secs=1000"]
        one, three = (count(cpu, [*command, f"--num_runs={runs}"]) for runs in (1, 3))
        instructions = per_repetition(one, three, 2)
        results.append(
            {
                "isa": isa,
                "instructions": sum(instructions.values()),
                "product": _bgemm_instructions(instructions),
                "convolutions": _bgemm_instructions(instructions)
                + sum(
                    n for name, n in instructions.items() if "Bconv2d" in name or "ToFloat" in name
                ),
                "host": instructions[ELSEWHERE],
            }
        )
    progress.end()
    return results


def _bgemm_instructions(instructions: dict[str, float]) -> float:
    return sum(n for name, n in instructions.items() if name.startswith("larq_engine_bgemm"))


def print_loops(llvm_mca: str, results: list[dict[str, Any]]) -> None:
    cores = list(results[0]["macs_per_cycle"])
    titles = ["inner loop", "instructions", *cores]
    bounds = [f"{128 * loops.CORES[core] / 3:.1f}" for core in cores]
    rows = [["upper bound of bits: 3 vector instructions", "3", *bounds]]
    for result in results:
        rates = [f"{result['macs_per_cycle'][core]:.1f}" for core in cores]
        rows.append([result["row"], f"{result['instructions_per_128']:.2f}", *rates])
    print(f"\nMultiply-adds a cycle, predicted by {llvm_mca}; instructions for 128 of them\n")
    print(*align_columns(titles, rows, titles[1:]), sep="\n")


def print_layers(results: list[dict[str, Any]]) -> None:
    types = [f"{in_type} to {out_type}" for in_type, out_type in IN_OUT_TYPES]
    titles = ["layer", "isa", "product", "LCE's 8x4 loops", *types]
    rows = []
    for isa in CPUS:
        for layer, lce in LCE_LOOPS.items():
            cells = [r for r in results if r["isa"] == isa and r["layer"] == layer]
            whole = [f"{r['instructions_per_128']:.2f}" for r in cells]
            rows.append([layer, isa, f"{cells[0]['product_per_128']:.2f}", f"{lce:.2f}", *whole])
    print("\nInstructions for 128 multiply-adds, counted under QEMU (LCE's in its source)\n")
    print(*align_columns(titles, rows, titles[2:]), sep="\n")


def print_quicknet(results: list[dict[str, Any]]) -> None:
    parts = ("product", "convolutions", "engine", "whole")
    rows = []
    for result in results:
        whole = result["instructions"]
        engine = whole - result["host"]
        counts = (result["product"], result["convolutions"], engine, whole)
        rows.append([result["isa"], *(f"{128 * n / QUICKNET_MACS:.2f}" for n in counts)])
        rows[-1].append(f"{whole / 1e6:.1f}")
    titles = ["QuickNet", *parts, "millions"]
    print("\nInstructions of a whole inference for 128 of its binary multiply-adds\n")
    print(*align_columns(titles, rows, titles[1:]), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
