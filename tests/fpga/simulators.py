"""Runs the test benches of exported folders."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

from benchmarks.fpga import cells_of, tables_of
from larq_engine.fpga.api import ExportedVerilog

_PROGRAMS = ("verilator", "iverilog", "yosys")


def require() -> None:
    """Skips the test where a program is not installed or, if it must run, fails."""
    lacking = [program for program in _PROGRAMS if shutil.which(program) is None]
    if not lacking:
        return
    fail_or_skip(
        f"not installed here: {', '.join(lacking)}; `tools/setup.sh verilog` installs them"
    )


def fail_or_skip(advice: str) -> NoReturn:
    """Skips the test or, if it must run, fails."""
    if os.environ.get("LARQ_ENGINE_REQUIRE_VERILOG"):
        pytest.fail(advice)
    pytest.skip(advice)


def lint(folder: Path, prefix: str = "model", *flags: str) -> None:
    """Lets Verilator look for mistakes, with all of its warnings on."""
    require()
    _run(["verilator", "--lint-only", "-Wall", "-I.", *flags, f"{prefix}_axis.v"], folder)


class Simulation:
    """A folder's test bench, in Icarus Verilog or, for long runs, in Verilator.

    Icarus Verilog takes Verilog-2005 alone here, and begins at once. Verilator compiles for seconds
    what runs a hundred times as fast.
    """

    def __init__(self, exported: ExportedVerilog, folder: Path, *, is_long: bool = False) -> None:
        exported.save(folder)
        self._folder = folder
        lint(folder)
        if is_long:
            _run(["make", "-s", "obj_dir/Vmodel_tb"], folder)
            self._command = ["obj_dir/Vmodel_tb"]
        else:
            _run(["iverilog", "-g2005", "-o", "bench", "-y.", "model_tb.v"], folder)
            self._command = ["vvp", "-n", "bench"]

    def run(self, *, pauses: int = 0, seed: int = 1) -> dict[str, int]:
        """Returns the cycles that the test bench prints; fails if a pixel is wrong."""
        said = _run([*self._command, f"+pauses={pauses}", f"+seed={seed}"], self._folder)
        assert said.startswith("PASSED"), said
        assert " 0 wrong" in said, said
        lines = [line.partition(": ") for line in said.splitlines() if line.startswith("cycles ")]
        return {name.removeprefix("cycles "): int(value) for name, _, value in lines}

    def pixels(self) -> list[str]:
        """Returns what comes out, as the test bench writes it, without zeros before numbers."""
        _run([*self._command, "+out=output.hex"], self._folder)
        lines = (self._folder / "output.hex").read_text().split()
        return [line.lstrip("0") or "0" for line in lines]


def tables(folder: Path) -> int:
    """Returns the tables that Yosys makes of a network."""
    require()
    _run(["make", "-s", "area"], folder)
    return tables_of(cells_of(folder))


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}:\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr
