"""Tests profiles of models on a GPU: their rows, their transfers, and the CPU's operators."""

import pytest

import larq_engine
from larq_engine.profiling import links
from larq_engine.python import library
from tests.profiling.models import KINDS, small_model


@pytest.fixture(autouse=True)
def _small_links(monkeypatch):
    monkeypatch.setattr(links, "_PIXELS", (8, 256))
    monkeypatch.setattr(links, "_RUNS", 2)


def test_rows_links_and_totals(driver):
    result = larq_engine.profile(small_model(), rounds=1, batch=[1, 2])
    profile = result.profile
    assert [device.name for device in profile.devices] == ["cpu", "host", "cuda"]
    assert [device.memory for device in profile.devices] == ["host", "host", "cuda"]
    assert "Fake H200" in profile.devices[2].title
    assert [(link.source, link.target) for link in profile.links] == [
        ("host", "cuda"),
        ("cuda", "host"),
    ]
    on_gpu = [m for m in profile.measurements if (m.device, m.batch) == ("cuda", 2)]
    singles = [m.ops[0] for m in on_gpu if len(m.ops) == 1]
    # The weights of the last operator are not constants of the file, so the GPU leaves it to the
    # host.
    assert [KINDS[op] for op in singles] == KINDS[: len(singles)]
    assert len(singles) >= 7
    assert any(len(m.ops) > 1 for m in on_gpu)
    assert all(m.kernel and m.limit_seconds is None for m in on_gpu), (
        "nobody measured a GPU's limits"
    )
    assert [(t.batch, t.device) for t in profile.totals if t.device == "cuda"] == [
        (1, "cuda"),
        (2, "cuda"),
    ]
    assert not result.wrong
    assert all(not share.missing for share in result.shares)


def test_times_of_a_gpu_have_nothing_of_the_hosts(driver):
    """Launches of the fake driver take 1 us, and calls of the host 2 us."""
    with larq_engine.Interpreter(small_model(), device="cuda") as interpreter:
        rows = [row for row in interpreter.profile(runs=2) if row.device == "cuda" and row.kernel]
    times = [row.ms_per_call for row in rows]
    assert set(times) == {0, 0.001}  # an operator within another's launch has no time


def test_all_kernels_of_a_gpu():
    profile = larq_engine.profile(small_model(), devices=["cuda"], kernels="all", rounds=1).profile
    kernels = {m.kernel for m in profile.measurements if (m.ops, m.device) == ((2,), "cuda")}
    assert kernels <= set(library.gpu_kernels())
    assert len(kernels) > 1
    assert {m.device for m in profile.measurements} == {"cuda", "host"}
