"""The output of ncu becomes launches; a profiler that cannot take times gives way to the next."""

from pathlib import Path

import pytest

from benchmarks.gpu import kernel_times
from benchmarks.gpu.kernel_times import ProfilerError, parse_ncu
from benchmarks.gpu.libraries import Library, libraries_of

_TITLES = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
)


def _printed(unit: str) -> str:
    launch = '"{}","9","python3","127.0.0.1","{}","1","7","(128, 1, 1)","(9, 1, 1)","0","9.0",'
    metric = f'"Command line profiler metrics","gpu__time_duration.sum","{unit}","{{}}"'
    rows = [(0, "larq_engine_conv2d_64x64", "247,808"), (1, "larq_engine_max_pool_floats", "4096")]
    return "\n".join(
        [
            "==PROF== Connected to process 9 (/usr/bin/python3)",
            '==PROF== Profiling "larq_engine_conv2d_64x64": 0%....50%....100% - 1 pass',
            "INFO: Created TensorFlow Lite delegate.",
            "==PROF== Disconnected from process 9",
            _TITLES,
            *((launch + metric).format(*row) for row in rows),
        ]
    )


@pytest.mark.parametrize("unit", ["nsecond", "ns"])
def test_what_ncu_prints(unit):
    assert parse_ncu(_printed(unit)) == [
        {"kernel": "larq_engine_conv2d_64x64", "time_s": pytest.approx(247.808e-6)},
        {"kernel": "larq_engine_max_pool_floats", "time_s": pytest.approx(4.096e-6)},
    ]


def test_a_unit_that_was_not_asked_for():
    with pytest.raises(ProfilerError, match="expected times in ns, got us"):
        parse_ncu(_printed("us"))


def test_the_next_profiler_takes_over(monkeypatch):
    def refuse(library: Library, model: str, batch: str):
        raise ProfilerError("ncu is not installed")

    launches = [{"kernel": "a", "time_s": 1e-6}, {"kernel": "b", "time_s": 2e-6}]
    profilers = {
        "ncu": refuse,
        "torch": lambda library, model, batch: [],
        "engine": lambda library, model, batch: launches,
    }
    monkeypatch.setattr(kernel_times, "PROFILERS", profilers)
    (library,) = libraries_of(Path("/nowhere"))
    what = {"model": "QuickNet", "batch": 64, "engine": "present"}
    assert list(kernel_times.profile(library, Path("QuickNet.tflite"), 64)) == [
        what | {"profiler": "ncu", "missing": "ncu is not installed"},
        what | {"profiler": "torch", "missing": "it saw no launch"},
        what | {"profiler": "engine", "launch": 0} | launches[0],
        what | {"profiler": "engine", "launch": 1} | launches[1],
        what | {"profiler": "engine", "kernel": "sum", "time_s": pytest.approx(3e-6)},
    ]


def test_ncu_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    (library,) = libraries_of(tmp_path)
    first = next(kernel_times.profile(library, tmp_path / "QuickNet.tflite", 1))
    assert first["missing"] == "ncu is not installed"


def test_ncu_that_may_not_count(monkeypatch, tmp_path):
    error = "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission"
    program = tmp_path / "ncu"
    program.write_text(f"#!/bin/sh\necho starting\necho '{error}'\necho more\nexit 9\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    (library,) = libraries_of(tmp_path)
    first = next(kernel_times.profile(library, tmp_path / "QuickNet.tflite", 1))
    assert first["missing"] == f"exit status 9: {error}"
