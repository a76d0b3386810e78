"""Hides instructions newer than AVX2 from XNNPACK, so that the CPU stands for one with only AVX2.

There is no option for that. XNNPACK reads a table in LiteRT's library that says what the CPU has;
this module clears entries of it before XNNPACK looks. Our own kernels are chosen by `kernel`.
"""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
from pathlib import Path

# Our row of the highest ISA that stays, for all binary layers.
KERNEL = "bgemm_i32_8x32x32_avx2"

_LIBRARY = "libpywrap_litert_common.so"
_TABLE, _FILL = "cpuinfo_isa", "cpuinfo_initialize"
# Places in cpuinfo's struct cpuinfo_x86_isa, for 64 bits, a byte each. SHOWN are SSE3 to SSE4.2,
# AVX, FMA, F16C and AVX2; HIDDEN are AVX-VNNI, AVX-512, AVX10, AMX and what came to AVX with them.
SHOWN = (16, 17, 18, 19, 22, 24, 27, 28)
HIDDEN = (23, *range(29, 56))


def hide_newer() -> None:
    """Hides the newer instructions; a program calls it before a host runs anything.

    Raises:
        RuntimeError: LiteRT's library is another one than this knows, or the CPU has no AVX2.
    """
    table = find_table()
    if not all(table[place] for place in SHOWN) or max(table) > 1:
        raise RuntimeError(f"expected a table of 0 and 1 that has AVX2, got {bytes(table)!r}")
    for place in HIDDEN:
        table[place] = 0


def find_table() -> ctypes.Array[ctypes.c_ubyte]:
    """Returns the table that XNNPACK reads, up to its last known entry."""
    import ai_edge_litert.interpreter  # noqa: F401 - loads the library

    spec = importlib.util.find_spec("ai_edge_litert")
    assert spec is not None and spec.origin is not None
    file = Path(spec.origin).with_name(_LIBRARY)
    places = _find_symbols(file)
    maps = Path("/proc/self/maps").read_text().splitlines()
    start = min((int(line.split("-")[0], 16) for line in maps if _LIBRARY in line), default=0)
    if not start or set(places) != {_TABLE, _FILL}:
        raise RuntimeError(f"{file}: expected the symbols {_TABLE} and {_FILL}, got {places}")
    ctypes.CFUNCTYPE(ctypes.c_bool)(start + places[_FILL])()
    table = ctypes.c_ubyte * (max(HIDDEN) + 1)
    shown: ctypes.Array[ctypes.c_ubyte] = table.from_address(start + places[_TABLE])
    return shown


def _find_symbols(file: Path) -> dict[str, int]:
    listed = subprocess.run(["nm", file], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in listed.splitlines())
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3 and row[2] in (_TABLE, _FILL)}
