"""Makes a library of an exported network, which a simulated FPGA loads."""

import re
import subprocess
from pathlib import Path

from larq_engine.fpga.api import ExportedVerilog
from tests.fpga.simulators import require

_ROOT = Path(__file__).resolve().parents[3]
_SOURCE = Path(__file__).with_name("pipeline.cc")


def make_library(exported: ExportedVerilog, folder: Path) -> Path:
    """Simulates the exported network with Verilator, and returns the library; see pipeline.h."""
    require()
    exported.save(folder)
    _run("verilator --cc -O3 -CFLAGS -fPIC -CFLAGS -O1 --Mdir obj --build model_network.v", folder)
    root = _run("verilator --getenv VERILATOR_ROOT", folder).strip()
    network = exported.files["model_network.v"].decode()
    bits = [
        f"-D{side.upper()}_BITS={int(last) + 1}"
        for last, side in re.findall(r"put wire \[(\d+):0\] (in|out)_data", network)
    ]
    runtime = " ".join(f"{root}/include/{name}.cpp" for name in ("verilated", "verilated_threads"))
    _run(
        f"g++ -std=c++20 -O1 -shared -fPIC {' '.join(bits)} -I{_ROOT} -Iobj -I{root}/include "
        f"-I{root}/include/vltstd {_SOURCE} obj/Vmodel_network__ALL.a {runtime} -pthread "
        "-o libpipeline.so",
        folder,
    )
    return folder / "libpipeline.so"


def _run(command: str, folder: Path) -> str:
    done = subprocess.run(command.split(), cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout
