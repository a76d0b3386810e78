"""Conditions of a result besides the code: the CPU and its limits, the cores used, the commit."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
BGEMM_BENCH = ROOT / "bazel-bin" / "benchmarks" / "kernels" / "bgemm_bench"

# Features that decide how fast binary, int8 and float convolutions can be.
TELLING_FEATURES = (
    *("popcnt", "avx2", "fma", "avx_vnni", "avx512bw", "avx512_vnni", "avx512_bitalg"),
    *("avx512_vpopcntdq", "amx_int8", "asimd", "asimddp", "i8mm", "sve", "sme"),
)


def pin_to_cores(count: int) -> list[int]:
    """Binds this process, and the workers it will start, to `count` cores; returns them.

    Takes the highest numbers: the lowest core usually serves the interrupts.
    """
    allowed = sorted(os.sched_getaffinity(0))
    if count > len(allowed):
        raise SystemExit(f"--threads {count}: this process may use {len(allowed)} cores only")
    cores = allowed[-count:]
    os.sched_setaffinity(0, cores)
    return cores


def describe_machine(cores: list[int]) -> dict[str, Any]:
    info = _cpu_info()
    flags = info.get("flags", info.get("Features", "")).split()
    return {
        "cpu": info.get("model name", platform.machine()),
        "cpu_ids": " ".join(
            f"{name} {info[name]}" for name in ("cpu family", "model", "stepping") if name in info
        ),
        "features": [name for name in TELLING_FEATURES if name in flags],
        "pinned_to": cores,
        "load_average": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }


def describe_commit() -> str:
    """Names the commit that is checked out, marked if the tree has changes, or "unknown"."""
    commit = _git("rev-parse", "--short=12", "HEAD")
    if not commit:
        return "unknown"
    return commit + ("+changes" if _git("status", "--porcelain") else "")


def measure_limits() -> dict[str, Any] | None:
    """Lets bgemm_bench measure this core's present limits; returns None if it is not built."""
    if not BGEMM_BENCH.exists():
        return None
    output = subprocess.run(
        [str(BGEMM_BENCH), "--limits", "--json"], check=True, capture_output=True, text=True
    )
    limits: dict[str, Any] = json.loads(output.stdout)
    return limits


def _cpu_info() -> dict[str, str]:
    first_core = Path("/proc/cpuinfo").read_text().split("\n\n")[0]
    pairs = (line.split(":", 1) for line in first_core.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def _git(*arguments: str) -> str:
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return result.stdout.strip() if result.returncode == 0 else ""
