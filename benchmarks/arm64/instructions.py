"""Counts the instructions that emulated programs execute, function by function."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.machine import ROOT

PLUGIN_SOURCE = ROOT / "benchmarks" / "arm64" / "count_instructions.c"
C_LIBRARY = "/usr/aarch64-linux-gnu"

Counts = dict[str, int]


class Counter:
    """QEMU with the plug-in that counts; a static QEMU cannot load one, Debian's is dynamic."""

    def __init__(self, qemu: str, folder: Path) -> None:
        self._qemu = qemu
        self._plugin = folder / "count_instructions.so"
        subprocess.run(
            ["cc", "-O2", "-shared", "-fPIC", "-o", self._plugin, PLUGIN_SOURCE], check=True
        )

    def count(self, cpu: str, command: Sequence[str | Path]) -> Counts:
        """Runs a program for 64-bit ARM and returns how many instructions each function took."""
        with tempfile.NamedTemporaryFile() as out:
            plugin = f"{self._plugin},out={out.name}"
            run = [self._qemu, "-L", C_LIBRARY, "-cpu", cpu, "-plugin", plugin, *map(str, command)]
            subprocess.run(run, check=True, stdout=subprocess.PIPE)
            lines = Path(out.name).read_text().splitlines()
        counts: Counts = {}
        for line in lines:
            count, function = line.split(" ", 1)
            counts[function] = counts.get(function, 0) + int(count)
        return counts


def find_qemu() -> str:
    """Returns the QEMU that can count, or raises with what is missing."""
    for name in ("/usr/bin/qemu-aarch64", "qemu-aarch64"):
        path = shutil.which(name)
        if path and "plugin" in subprocess.run([path, "-h"], capture_output=True, text=True).stdout:
            return path
    raise FileNotFoundError(
        "expected a qemu-aarch64 that loads plug-ins, as that of Debian's package qemu-user does"
    )


def each(few: Mapping[str, int], many: Mapping[str, int], more: int) -> dict[str, float]:
    """Returns what one of the `more` repetitions took by which two runs differ."""
    return {name: (count - few.get(name, 0)) / more for name, count in many.items()}
