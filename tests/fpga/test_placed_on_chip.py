"""A model that is placed on a CPU and a chip runs so, with pipelines that are simulated."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import larq_engine
from larq_engine.fpga.api import export_verilog
from larq_engine.placing.placement import Placement
from tests.fpga.device.pipeline_library import make_library
from tests.fpga.simulators import fail_or_skip

_ROOT = Path(__file__).resolve().parents[2]
_LIBRARY = _ROOT / "bazel-bin" / "tests" / "fpga" / "device" / "liblarq_engine_fpga.so"
_WORDS = _ROOT / "web" / "live" / "words.tflite"
_MEGAHERTZ = 100


def _run(model: bytes, placed: list[str], host: str, pauses: int, folder: Path) -> dict[str, Any]:
    """Runs a model with a chip that has a pipeline for each of the spans "first:end"."""
    if not _LIBRARY.exists():
        fail_or_skip(f"{_LIBRARY.name} is not built; `tools/run_tests.py fpga` builds it")
    (folder / "model.tflite").write_bytes(model)
    libraries, nodes = [], []
    for span in placed:
        exported = export_verilog(model, layers=span, fold=32)
        library = make_library(exported, folder / span.replace(":", "_"))
        libraries.append(f"{span}:{library}")
        nodes += [f"{node}:fpga" for node in range(*map(int, span.split(":")))]
    environment = os.environ | {
        "LARQ_ENGINE_LIBRARY": str(_LIBRARY),
        "LARQ_ENGINE_SIMULATED_FPGA": ";".join([f"{_MEGAHERTZ},{pauses}", *libraries]),
    }
    arguments = [str(folder / "model.tflite"), ",".join(nodes), host, "8"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fpga.device.run_placed", *arguments],
        cwd=_ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _spans(placement: Placement) -> list[str]:
    """Returns the runs of nodes that the chip computes."""
    nodes = [op.node for op in placement.ops if op.device == "fpga"]
    firsts = [node for node in nodes if node - 1 not in nodes]
    ends = [node + 1 for node in nodes if node + 1 not in nodes]
    return [f"{first}:{end}" for first, end in zip(firsts, ends, strict=True)]


def _slow_profile(model: Path, folder: Path) -> Path:
    """Profiles a model, and makes a CPU that is a thousand times as slow of it."""
    path = folder / "profile.json"
    larq_engine.profile(model, rounds=1).save(path)
    content = json.loads(path.read_text())
    for measured in content["measurements"]:
        measured["seconds"] = {"median": 1e3 * measured["seconds"]["median"]}
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize("pauses", [0, 14])
def test_a_model_runs_as_it_was_placed_on_a_chip(pauses, tmp_path):
    exported = export_verilog(_WORDS, fold=32)
    (tmp_path / "device.json").write_bytes(exported.files["device.json"])
    profile = _slow_profile(_WORDS, tmp_path)
    model = _WORDS.read_bytes()
    placed = larq_engine.place(model, profile, device_files=[tmp_path / "device.json"])
    spans = _spans(placed.placement)
    assert spans == ["3:15"], "a slow CPU leaves to the chip all that it has"

    found = _run(model, spans, "none", pauses, tmp_path)
    assert found["differing"] == []
    rows = found["rows"]
    on_chip = [row for row in rows if row["device"] == "fpga" and row["op"] != "TRANSFER"]
    assert {row["node"] for row in on_chip} == set(range(3, 15))
    moved = [(row["tensor"], row["device"]) for row in rows if row["op"] == "TRANSFER"]
    ends = {"host": "cpu", "fpga": "fpga"}
    assert moved == [(move.value, ends[move.target]) for move in placed.placement.moves]
    cycles = sum(row["ms_per_call"] for row in on_chip) * 1e3 * _MEGAHERTZ
    if pauses == 0:
        assert abs(cycles - exported.image_cycles) <= 2
    else:
        assert cycles > exported.image_cycles


def test_two_parts_of_a_model_are_on_a_chip_in_a_host(tmp_path):
    found = _run(_WORDS.read_bytes(), ["3:5", "9:11"], "litert", 5, tmp_path)
    assert found["differing"] == []
    nodes = {row["node"] for row in found["rows"] if row["device"] == "fpga"}
    assert nodes == {3, 4, 9, 10}
