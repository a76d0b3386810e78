"""The AXI4-Stream wrapper in a simulation that cocotb drives."""

import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from cocotb_tools.runner import get_runner

from larq_engine.fpga.api import export_verilog
from tests.fpga.random_layers import floats_between_layers
from tests.fpga.simulators import require

# Images of the test bench's files.
_IMAGES = 4


def test_packets_pass_an_axi_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require()
    runner = get_runner("icarus")
    export_verilog(floats_between_layers(3), fold=2).save(tmp_path)
    monkeypatch.setenv("LARQ_ENGINE_EXPORT", os.fspath(tmp_path))
    monkeypatch.setenv("LARQ_ENGINE_IMAGES", str(_IMAGES))
    sources = [path for path in tmp_path.glob("*.v") if not path.stem.endswith(("_tb", "_ulx3s"))]
    build = tmp_path / "build"
    runner.build(
        sources=sources,
        hdl_toplevel="model_axis",
        build_dir=build,
        build_args=["-g2005"],
        timescale=("1ns", "1ps"),
    )
    results = runner.test(
        hdl_toplevel="model_axis", test_module="tests.fpga.axis_bench", build_dir=build
    )
    cases = ElementTree.parse(results).findall(".//testcase")
    assert len(cases) == 2
    assert all(case.find("failure") is None and case.find("error") is None for case in cases)
