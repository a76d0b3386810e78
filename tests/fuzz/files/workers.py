"""Runs cases in forked processes, one after the other until one takes its process down."""

import ctypes
import mmap
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.fuzz.files.cases import KINDS, Cases
from tests.fuzz.files.runs import Outcome, Phase, Run

_ROOT = Path(__file__).parents[3]
_SOURCE = Path(__file__).with_name("crash_reporter.cc")


@dataclass(frozen=True)
class Limits:
    """Limits of a case: address space in addition to the process's own, and seconds of the CPU."""

    memory_bytes: int = 2 << 30
    cpu_seconds: float = 2

    def larger(self) -> "Limits":
        """Returns limits with which a case that only needs more ends, unlike a crash or a hang."""
        return Limits(5 * self.memory_bytes, 5 * self.cpu_seconds)


# A case that waits for ever takes no time of the CPU.
_WALL_SECONDS = 60


@dataclass(frozen=True)
class Job:
    """A case, without some of its mutations."""

    number: int
    without: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Frame:
    """An address in a library."""

    path: str
    offset: int
    symbol: str = ""  # last exported symbol before the offset

    @property
    def module(self) -> str:
        return os.path.basename(self.path)


@dataclass(frozen=True)
class Death:
    """The end of a worker: its signal, its phase, and its frames, innermost first."""

    signal: str
    phase: Phase
    frames: tuple[Frame, ...]


@dataclass(frozen=True)
class Result:
    """The outcome of a job, or else its problem, a fault without a crash."""

    kinds: tuple[str, ...]  # kinds of its mutations
    outcome: Outcome | None
    problem: str


@dataclass(frozen=True)
class Batch:
    """Results of jobs that ran in one process, in their order."""

    results: tuple[Result, ...]
    death: Death | None  # the end of the job behind the results


def build_reporter(folder: Path, name: str = "libcrash_reporter") -> Path:
    """Compiles crash_reporter.cc, which is also a delegate that computes nothing."""
    library = folder / f"{name}.so"
    compiler = os.environ.get("CXX", "c++")
    flags = ["-std=c++20", "-O1", "-g", "-shared", "-fPIC", f"-I{_ROOT}"]
    subprocess.run([compiler, *flags, str(_SOURCE), "-o", str(library)], check=True)
    return library


class Workers:
    """Forks of this process, which has imported everything that they need.

    Args:
        cases: Makes the files.
        reporter: The library of crash_reporter.cc.
    """

    def __init__(self, cases: Cases, reporter: Path) -> None:
        self._cases = cases
        self._reporter = ctypes.CDLL(str(reporter))
        self._state = mmap.mmap(-1, 4096)  # the phase of the job

    def run(self, jobs: Sequence[Job], make_run: Callable[[], Run], limits: Limits) -> Batch:
        """Runs jobs until all are done or one ends the process."""
        with tempfile.TemporaryFile() as report, tempfile.TemporaryFile() as results:
            child = os.fork()
            if not child:
                self._work(jobs, make_run, limits, report.fileno(), results.fileno())
            _, status = os.waitpid(child, 0)
            report.seek(0)
            results.seek(0)
            lines = report.read().decode("utf-8", "replace").splitlines()
            done = tuple(map(_result, results.read().decode("utf-8", "replace").splitlines()))
        code = os.waitstatus_to_exitcode(status)
        death = None
        if code or len(done) < len(jobs):
            name = signal.Signals(-code).name if code < 0 else f"exit {code}"
            death = Death(name, Phase(self._state[0]), _frames(lines))
        return Batch(done, death)

    def _work(
        self,
        jobs: Sequence[Job],
        make_run: Callable[[], Run],
        limits: Limits,
        report: int,
        out: int,
    ) -> None:
        """Runs jobs in the child, and ends it."""
        code = 1
        try:
            silence = os.open(os.devnull, os.O_WRONLY)
            for stream in (1, 2):
                os.dup2(silence, stream)
            self._reporter.report_crashes(report)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            memory = pages * resource.getpagesize() + limits.memory_bytes
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            run = make_run()
            for job in jobs:
                signal.setitimer(signal.ITIMER_PROF, limits.cpu_seconds)
                signal.setitimer(signal.ITIMER_REAL, _WALL_SECONDS)
                self._begin(Phase.MAKE)
                case = self._cases.make(job.number, job.without)
                outcome, problem = "-", ""
                try:
                    outcome = str(int(run(case.content, Random(~job.number), self._begin)))
                except Exception as error:
                    problem = f"{type(error).__name__}: {error}".replace("\n", " ")
                kinds = ",".join([str(_NUMBERS[kind]) for kind, _ in case.mutations])
                os.write(out, f"{outcome} {kinds} {problem}\n".encode("utf-8", "replace"))
            code = 0
        finally:
            os._exit(code)

    def _begin(self, phase: Phase) -> None:
        self._state[0] = phase


_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}


def _result(line: str) -> Result:
    outcome, numbers, problem = line.split(" ", 2)
    kinds = tuple(KINDS[int(number)] for number in numbers.split(",") if number)
    return Result(kinds, None if outcome == "-" else Outcome(int(outcome)), problem)


def _frames(report: list[str]) -> tuple[Frame, ...]:
    frames = []
    for line in report[1:]:
        path, offset, symbol = line.rsplit(" ", 2)
        if not offset.startswith("0x"):  # the handler crashed, too, on a broken stack
            break
        frames.append(Frame(path, int(offset, 16), symbol))
    return tuple(frames)
