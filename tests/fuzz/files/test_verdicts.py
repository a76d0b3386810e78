"""Planted faults are found, the cases behind them run, and each is blamed on its culprit."""

import ctypes
import functools
import mmap
import time
from pathlib import Path

import pytest

from tests.fuzz.files.campaign import Tally, collect
from tests.fuzz.files.cases import Cases
from tests.fuzz.files.runs import Outcome, Phase
from tests.fuzz.files.verdicts import at_work, describe
from tests.fuzz.files.workers import Frame, Limits, Workers, build_reporter

_BAD = 7  # one of the cases 0 to 19
_LIMITS = Limits(memory_bytes=1 << 30, cpu_seconds=0.3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("reporter")


@pytest.fixture(scope="module")
def cases() -> Cases:
    return Cases()


@pytest.fixture(scope="module")
def workers(cases, folder) -> Workers:
    return Workers(cases, build_reporter(folder))


@pytest.fixture(scope="module")
def libraries(folder) -> dict[str, ctypes.CDLL]:
    """Builds the same code as if it were in the plug-in, and in a host."""
    names = ("liblarq_engine_planted", "libhost_planted")
    return {name: ctypes.CDLL(str(build_reporter(folder, name))) for name in names}


def _run(fault, bad):
    """Returns a run of a worker that does nothing, except for one file."""

    def run(content, r, begin):
        begin(Phase.RUN)
        if content == bad:
            fault()
        return Outcome.RAN

    return run


def _collect(workers, cases, fault, innocent_fault=None) -> Tally:
    bad = cases.make(_BAD).content
    make = functools.partial(_run, fault, bad)
    make_innocent = functools.partial(_run, innocent_fault or (lambda: None), bad)
    *_, tally = collect(workers, cases, range(20), make, make_innocent, _LIMITS)
    assert tally.cases == 20
    assert tally.outcomes[Outcome.RAN] == 19
    return tally


def test_a_crash_of_ours(workers, cases, libraries):
    ours = libraries["liblarq_engine_planted"].crash_here
    (verdict,) = _collect(workers, cases, ours, ours).verdicts
    assert (verdict.owner, verdict.death.signal) == ("ours", "SIGSEGV")
    assert verdict.death.phase is Phase.RUN
    assert verdict.job.number == _BAD
    assert describe(verdict.death).startswith("SIGSEGV in run: crash_here (liblarq_engine_planted.")


def test_a_crash_of_the_hosts_own(workers, cases, libraries):
    host = libraries["libhost_planted"].crash_here
    (verdict,) = _collect(workers, cases, host, host).verdicts
    assert (verdict.owner, verdict.reason) == ("host", "crashes without us")
    assert verdict.mutations == cases.make(_BAD, verdict.job.without).mutations


def test_a_crash_of_the_host_that_needs_us(workers, cases, libraries):
    (verdict,) = _collect(workers, cases, libraries["libhost_planted"].crash_here).verdicts
    assert (verdict.owner, verdict.reason) == ("ours", "the host crashes with us only")


def test_memory_that_the_host_spoilt_and_we_met(workers, cases, libraries):
    ours = libraries["liblarq_engine_planted"].meet_spoilt_memory
    (verdict,) = _collect(workers, cases, ours, ours).verdicts
    assert (verdict.owner, verdict.reason) == ("host", "crashes without us")
    assert verdict.death.signal == "SIGABRT"


def test_memory_that_the_host_spoils_at_times(workers, cases, libraries):
    runs = []

    def seldom():
        runs.append(True)
        if len(runs) == 5:
            libraries["libhost_planted"].meet_spoilt_memory()

    ours = libraries["liblarq_engine_planted"].meet_spoilt_memory
    (verdict,) = _collect(workers, cases, ours, seldom).verdicts
    assert (verdict.owner, verdict.reason) == ("host", "spoils memory without us too")


def test_memory_that_the_host_spoilt_under_our_code(workers, cases, libraries):
    ours = libraries["liblarq_engine_planted"].crash_here
    host = libraries["libhost_planted"].meet_spoilt_memory
    (verdict,) = _collect(workers, cases, ours, host).verdicts
    assert (verdict.owner, verdict.reason) == ("host", "spoils memory without us too")
    assert verdict.death.signal == "SIGSEGV"


def test_memory_that_only_we_spoil(workers, cases, libraries):
    ours = libraries["liblarq_engine_planted"].meet_spoilt_memory
    (verdict,) = _collect(workers, cases, ours).verdicts
    assert (verdict.owner, verdict.reason) == (
        "ours",
        "the host crashes when we call it, and not without us",
    )


def test_a_crash_that_an_earlier_case_prepared(workers, cases, libraries):
    broken = []

    def fault():
        broken.append(True)

    bad, later = cases.make(_BAD).content, cases.make(_BAD + 5).content

    def make():
        def run(content, r, begin):
            if content == bad:
                fault()
            elif content == later and broken:
                libraries["libhost_planted"].crash_here()
            return Outcome.RAN

        return run

    *_, tally = collect(workers, cases, range(20), make, lambda: lambda *_: Outcome.RAN, _LIMITS)
    (verdict,) = tally.verdicts
    assert (verdict.owner, verdict.job.number) == ("unclear", _BAD)
    assert verdict.reason == f"leaves something broken, on which #{_BAD + 5} crashes"


def test_a_case_without_an_end(workers, cases):
    def fault():
        end = time.process_time() + 100
        while time.process_time() < end:
            pass

    (verdict,) = _collect(workers, cases, fault, fault).verdicts
    assert (verdict.owner, verdict.death.signal) == ("host", "SIGPROF")


def test_a_loop_of_the_host_in_which_we_were_met(workers, cases, libraries):
    ours, host = (library.loop_here for library in libraries.values())
    (verdict,) = _collect(workers, cases, ours, host).verdicts
    assert (verdict.owner, verdict.reason) == ("host", "crashes without us")


def test_what_only_lacks_memory(workers, cases):
    def fault():
        try:
            mmap.mmap(-1, 3 << 30)
        except OSError:
            ctypes.CDLL(None).abort()

    (verdict,) = _collect(workers, cases, fault).verdicts
    assert (verdict.owner, verdict.death.signal) == ("nobody", "SIGABRT")


def test_an_exit_is_a_crash(workers, cases):
    (verdict,) = _collect(workers, cases, lambda: ctypes.CDLL(None)._exit(3)).verdicts
    assert (verdict.owner, verdict.death.signal) == ("ours", "exit 3")


def test_an_exception_is_a_problem(workers, cases):
    def fault():
        raise KeyError("a bug")

    tally = _collect(workers, cases, fault)
    assert [(job.number, problem) for job, problem in tally.problems] == [
        (_BAD, "KeyError: 'a bug'")
    ]
    assert not tally.verdicts


def test_who_is_at_work():
    def frames(*modules: str) -> list[Frame]:
        return [Frame(f"/some/where/{module}", 0) for module in modules]

    assert at_work(frames("libcrash_reporter.so", "libc.so.6", "liblarq_engine.so", "host.so")) == 2
    assert at_work(frames("libc.so.6", "libstdc++.so.6")) == 2
