"""Counts the instructions that emulated programs execute, function by function.

QEMU's log tells the instructions of each block of code once, and each execution of a block. The log
of one inference is some gigabytes, so it is read from a pipe while the program runs.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.machine import ROOT

QEMU = ROOT / "tools" / "qemu_aarch64.sh"
# Stands for all functions of libraries loaded at run time: QEMU does not know their names.
ELSEWHERE = "elsewhere"

_INSTRUCTION = re.compile(rb"0x([0-9a-f]+):")
# Trace 0: host address [flags/address/...] function
_EXECUTION = re.compile(rb"Trace \d+: \S+ \[[0-9a-f]+/([0-9a-f]+)/[^\]]*\] *(\S*)")


def count(cpu: str, command: Sequence[str | Path]) -> Counter[str]:
    """Runs a program for 64-bit ARM and returns the number of instructions of each function."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        os.mkfifo(log)
        settings = {
            "LARQ_ENGINE_QEMU_CPU": cpu,
            "QEMU_LOG": "in_asm,exec,nochain",
            "QEMU_LOG_FILENAME": str(log),
        }
        program = subprocess.Popen(
            [QEMU, *command], env=os.environ | settings, stdout=subprocess.DEVNULL
        )
        with log.open("rb", buffering=1 << 22) as lines:
            counts = _read(lines)
        if program.wait():
            raise RuntimeError(f"{command[0]}: expected exit status 0, got {program.returncode}")
    return counts


def _read(lines: Iterable[bytes]) -> Counter[str]:
    sizes: Counter[int] = Counter()  # instructions of a block, by its address
    executions: Counter[bytes] = Counter()  # executions of a block, by its address
    functions: dict[bytes, bytes] = {}
    block = None
    for line in lines:
        if executed := _EXECUTION.match(line):
            address, function = executed.groups()
            executions[address] += 1
            functions.setdefault(address, function)
        elif instruction := _INSTRUCTION.match(line):
            if block is None:
                block = int(instruction.group(1), 16)
                sizes[block] = 0
            sizes[block] += 1
        else:
            block = None
    counts: Counter[str] = Counter()
    for address, times in executions.items():
        counts[functions[address].decode() or ELSEWHERE] += times * sizes[int(address, 16)]
    return counts


def per_repetition(
    few: Mapping[str, int], many: Mapping[str, int], extra_repetitions: int
) -> dict[str, float]:
    """Returns the instructions of one repetition, function by function.

    Args:
        few: The instructions of a run of few repetitions.
        many: The instructions of a run of more repetitions.
        extra_repetitions: How many repetitions more `many` was counted with.
    """
    return {name: (count - few.get(name, 0)) / extra_repetitions for name, count in many.items()}
