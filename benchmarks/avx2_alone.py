"""Hides AVX-512 from XNNPACK, so that a CPU that has it stands for one with AVX2 alone.

There is no option for that. XNNPACK asks a table in LiteRT's library, which says what the CPU has;
there the entries are cleared before XNNPACK looks. Our own kernels are a matter of `kernel`.
"""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
from pathlib import Path

# Ours, of the highest ISA that stays.
KERNEL = "bgemm_i32_8x32x32_avx2"

_LIBRARY = "libpywrap_litert_common.so"
_TABLE, _FILL = "cpuinfo_isa", "cpuinfo_initialize"
# Places in cpuinfo's struct cpuinfo_x86_isa, for 64 bits, a byte each.
_FMA, _AVX2, _HIDDEN = 24, 28, range(29, 53)  # AVX-512, AVX10 and AMX


def hide_avx512() -> None:
    """To be called before a host runs anything.

    Raises:
        RuntimeError: LiteRT's library is another one than this knows.
    """
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
    table = (ctypes.c_ubyte * (_HIDDEN.stop)).from_address(start + places[_TABLE])
    if not (table[_FMA] and table[_AVX2] and max(table) == 1):
        raise RuntimeError(
            f"{file}: expected a table of 0 and 1 that has AVX2, got {bytes(table)!r}"
        )
    for place in _HIDDEN:
        table[place] = 0


def _find_symbols(file: Path) -> dict[str, int]:
    listed = subprocess.run(["nm", file], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in listed.splitlines())
    return {row[2]: int(row[0], 16) for row in rows if len(row) == 3 and row[2] in (_TABLE, _FILL)}
