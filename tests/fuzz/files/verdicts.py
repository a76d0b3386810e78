"""Decides whose fault a crash is: the plug-in's or the host's own.

The innermost frame that is of neither the system's libraries nor the reporter says whose code was
at work. But a host may crash because of what we did to it, so its frames do not prove its fault:
the same file must also crash the host with a delegate that takes our operators and computes
nothing. Nor do frames prove anything if the allocator stopped the process: its caller only met
memory that somebody had spoilt before.
"""

import functools
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.fuzz.files.cases import Cases
from tests.fuzz.files.runs import Run
from tests.fuzz.files.workers import Death, Frame, Job, Limits, Workers

_OURS = "liblarq_engine"
_SYSTEMS = (
    "libc.so",
    "libc_malloc_debug.so",
    "libstdc++",
    "libgcc_s",
    "ld-linux",
    "libm.so",
    "libpthread",
    "linux-vdso",
)
_REPORTER = "libcrash_reporter"
_ALLOCATOR = {"malloc", "calloc", "realloc", "free", "cfree", "memalign", "posix_memalign"}
_ALLOCATOR |= {"aligned_alloc", *(f"__libc_{name}" for name in _ALLOCATOR)}
_OUT_OF_TIME = ("SIGPROF", "SIGALRM")
_MAX_MUTATIONS = 5
_TOP_FRAMES = 4
_REPEATS = 200  # runs of a file that spoils memory, until the damage is met


@dataclass(frozen=True)
class Verdict:
    """Culprit and reason of one crash."""

    job: Job  # with as few mutations as crash in this way
    owner: str  # "ours", "host", "unclear"; "nobody" if memory or time was short
    reason: str
    death: Death
    mutations: tuple[tuple[str, str], ...]

    @property
    def operators(self) -> str:
        return ", ".join(sorted({operator for _, operator in self.mutations})) or "none"


def at_work(frames: Sequence[Frame]) -> int:
    """Returns the place of the innermost frame that is not the system's, or their number."""
    for place, frame in enumerate(frames):
        if not frame.module.startswith((*_SYSTEMS, _REPORTER)):
            return place
    return len(frames)


def _met_spoilt_memory(death: Death) -> bool:
    callees = death.frames[: at_work(death.frames)]
    return death.signal == "SIGABRT" and bool(callees) and callees[-1].symbol in _ALLOCATOR


def signature(death: Death) -> tuple[str, ...]:
    """Returns a tuple that is equal for crashes at the same place."""
    start = at_work(death.frames)
    # An endless loop or recursion may be stopped anywhere in it, so its frames do not count.
    frames = () if death.signal in _OUT_OF_TIME else death.frames[start : start + 2]
    return death.signal, death.phase.name, *(f"{f.module}+{f.offset:#x}" for f in frames)


def judge(
    workers: Workers,
    cases: Cases,
    jobs: Sequence[Job],
    death: Death,
    make_run: Callable[[], Run],
    make_innocent: Callable[[], Run],
    limits: Limits,
) -> Verdict:
    """Judges the crash of the last of the jobs that ran in one process.

    Args:
        workers: Run the job again.
        cases: Make its file again.
        jobs: All jobs that ran in the process.
        death: The end of the process.
        make_run: Makes the run of the jobs.
        make_innocent: Makes a run in a host with the delegate that computes nothing.
        limits: Memory and time of a case.
    """

    def again(tried: Sequence[Job], make: Callable[[], Run], limits: Limits) -> Death | None:
        return workers.run(tried, make, limits).death

    job = jobs[-1]

    def verdict(owner: str, reason: str, job: Job = job, last: Death = death) -> Verdict:
        mutations = cases.make(job.number, job.without).mutations
        return Verdict(job, owner, reason, last, mutations)

    alone = again([job], make_run, limits)
    if alone is None:
        return _judge_many(jobs, verdict, again, make_run, make_innocent, limits)
    if again([job], make_run, limits.larger()) is None:
        return verdict("nobody", "passes with more memory and time")
    # Some mutations may not be necessary for the crash.
    for place in range(_MAX_MUTATIONS):
        fewer = Job(job.number, job.without | {place})
        if len(cases.make(fewer.number, fewer.without).mutations) < len(
            cases.make(job.number, job.without).mutations
        ):
            other = again([fewer], make_run, limits)
            if other is not None and signature(other) == signature(alone):
                job = fewer
    start = at_work(alone.frames)
    spoilt = _met_spoilt_memory(alone)
    # In a loop without end, it is chance whose code runs when time is up.
    by_chance = spoilt or alone.signal == "SIGPROF"
    if not by_chance and start < len(alone.frames) and alone.frames[start].module.startswith(_OURS):
        innocent = again([job] * _REPEATS, make_innocent, limits)
        if innocent is not None and _met_spoilt_memory(innocent):
            return verdict("host", "spoils memory without us too", job, alone)
        return verdict("ours", "our code was at work", job, alone)
    if again([job], make_innocent, limits) is not None:
        return verdict("host", "crashes without us", job, alone)
    if spoilt and again([job] * _REPEATS, make_innocent, limits) is not None:
        return verdict("host", "spoils memory without us too", job, alone)
    if any(frame.module.startswith(_OURS) for frame in alone.frames):
        return verdict("ours", "the host crashes when we call it, and not without us", job, alone)
    return verdict("ours", "the host crashes with us only", job, alone)


def _judge_many(
    jobs: Sequence[Job],
    verdict: Callable[..., Verdict],
    again: Callable[..., Death | None],
    make_run: Callable[[], Run],
    make_innocent: Callable[[], Run],
    limits: Limits,
) -> Verdict:
    """Judges the crash of a file that passes by itself: an earlier one left something broken."""
    if again(jobs, make_run, limits) is None:
        return verdict("nobody", "did not happen again")
    good, bad = len(jobs) - 1, 0  # jobs[bad:] crash, jobs[good:] do not
    while good - bad > 1:
        middle = (good + bad) // 2
        if again(jobs[middle:], make_run, limits) is None:
            good = middle
        else:
            bad = middle
    culprit = jobs[bad]
    reason = f"leaves something broken, on which #{jobs[-1].number} crashes"
    without_us = (jobs, jobs[bad:], [culprit] * _REPEATS)
    if any(again(tried, make_innocent, limits) for tried in without_us):
        return verdict("host", f"{reason}; without us too", culprit)
    return verdict("unclear", reason, culprit)


@functools.cache
def _function(path: str, offset: int) -> str:
    """Returns a function's name by addr2line, as the loader knows only exported names."""
    command = ["addr2line", "-f", "-C", "-e", path, hex(offset)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "?"
    return done.stdout.partition("\n")[0].partition("(")[0]


def describe(death: Death) -> str:
    """Returns the signal, the phase and the innermost functions of a crash."""
    start = at_work(death.frames)
    frames = death.frames[start : start + _TOP_FRAMES]
    # An address in the stack is that of the next instruction, which may be another function's.
    names = [_function(f.path, f.offset - (place > 0)) for place, f in enumerate(frames)]
    places = [f"{n} ({f.module}+{f.offset:#x})" for n, f in zip(names, frames, strict=True)]
    return f"{death.signal} in {death.phase.name.lower()}: " + " < ".join(places)
