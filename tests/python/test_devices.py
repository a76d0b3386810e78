"""Tests the list of devices."""

from pathlib import Path

from larq_engine.python.devices import ACCELERATORS, CPU, HOST, accelerator_of, is_known

_RUNTIME = Path(__file__).resolve().parents[2] / "larq_engine/runtime"


def test_each_device_of_the_plug_in_has_a_row() -> None:
    folders = {path.parent.name for path in _RUNTIME.glob("*/*_executor.h")}
    assert folders == {CPU, *(row.name for row in ACCELERATORS)}


def test_a_number_is_no_part_of_a_kind() -> None:
    for row in ACCELERATORS:
        assert accelerator_of(row.name) == accelerator_of(f"{row.name}:3") == row
        assert accelerator_of(f"{row.name}3") is None


def test_the_host_and_the_cpu_are_no_accelerators() -> None:
    for name in (HOST, CPU):
        assert is_known(name)
        assert accelerator_of(name) is None
    assert not is_known("planned")
