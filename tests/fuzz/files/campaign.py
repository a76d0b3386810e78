"""Runs a range of cases in one mode, judges the crashes, and prints the tables."""

import functools
import resource
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from larq_engine.python import hosts
from larq_engine.python.text_table import align_columns
from tests.fuzz.files import runs
from tests.fuzz.files.cases import Cases
from tests.fuzz.files.runs import Outcome, Phase, Run
from tests.fuzz.files.verdicts import Verdict, describe, judge, signature
from tests.fuzz.files.workers import Job, Limits, Workers, build_reporter

MODES = ("checked", "bare")
_BATCH = 500  # cases of one process
_JUDGED = 5  # crashes at one place that are judged; others there count as the same
_PROGRESS_SECONDS = 30

_COLUMNS = {
    Outcome.REFUSED_BY_CHECK: "check",
    Outcome.REFUSED_BY_HOST: "host",
    Outcome.FAILED: "failed",
    Outcome.TOO_LARGE: "too large",
    Outcome.RAN: "ran",
}


@dataclass
class Tally:
    """Counts of outcomes, problems and verdicts of the cases so far."""

    cases: int = 0
    kinds: dict[str, Counter[Outcome]] = field(default_factory=lambda: defaultdict(Counter))
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    problems: list[tuple[Job, str]] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)


def make_modes(host: str | None, reporter: Path) -> dict[str, Callable[[], Run]]:
    """Returns functions that run a case, by mode; `innocent` is the host without the plug-in."""
    return {
        "checked": functools.partial(runs.checked, host),
        "bare": functools.partial(runs.bare, host),
        "innocent": functools.partial(runs.bare, host, str(reporter)),
    }


def collect(
    workers: Workers,
    cases: Cases,
    numbers: Sequence[int],
    make_run: Callable[[], Run],
    make_innocent: Callable[[], Run],
    limits: Limits,
) -> Iterator[Tally]:
    """Yields the tally as it grows."""
    tally = Tally()
    judged: dict[tuple[str, ...], list[Verdict]] = defaultdict(list)
    while tally.cases < len(numbers):
        jobs = [Job(number) for number in numbers[tally.cases : tally.cases + _BATCH]]
        batch = workers.run(jobs, make_run, limits)
        for job, result in zip(jobs, batch.results, strict=False):
            if result.outcome is None:
                tally.problems.append((job, result.problem))
                continue
            tally.outcomes[result.outcome] += 1
            for kind in result.kinds:
                tally.kinds[kind][result.outcome] += 1
        done = len(batch.results)
        tally.cases += done
        if batch.death is not None:
            tally.cases += 1
            known = judged[signature(batch.death)]
            if len(known) < _JUDGED:
                known.append(
                    judge(
                        workers,
                        cases,
                        jobs[: done + 1],
                        batch.death,
                        make_run,
                        make_innocent,
                        limits,
                    )
                )
                tally.verdicts.append(known[-1])
            else:
                tally.verdicts.append(known[0])
        yield tally


def run_campaign(numbers: range, mode: str, host: str | None, folder: Path | None) -> int:
    """Runs a range of cases and prints the tally as it grows; returns the exit status."""
    module = hosts.import_host(host)
    cases = Cases()
    with tempfile.TemporaryDirectory() as temporary:
        reporter = build_reporter(Path(temporary))
        modes = make_modes(host, reporter)
        workers = Workers(cases, reporter)
        start = said = time.monotonic()
        tally = Tally()
        for tally in collect(workers, cases, numbers, modes[mode], modes["innocent"], Limits()):
            if time.monotonic() - said > _PROGRESS_SECONDS:
                said = time.monotonic()
                rate = tally.cases / (said - start)
                ours = sum(verdict.owner == "ours" for verdict in tally.verdicts)
                print(
                    f"{tally.cases} of {len(numbers)} cases, {rate:.0f} a second, "
                    f"{len(tally.verdicts)} crashes, {ours} ours",
                    flush=True,
                )
    seconds = time.monotonic() - start
    print(f"== {tally.cases} cases from #{numbers[0]}, mode {mode}, host {module.__name__}")
    cpu = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) + time.process_time()
    print(f"{seconds:.0f} s, {cpu:.0f} s of a CPU, {tally.cases / cpu:.0f} cases in one of them")
    _print_outcomes(tally)
    _print_crashes(tally, mode, host)
    if folder is not None:
        _save(tally, cases, folder)
    return 1 if _is_failure(tally, mode) else 0


def _is_failure(tally: Tally, mode: str) -> bool:
    owners = {verdict.owner for verdict in tally.verdicts}
    if mode == "checked":
        return bool(tally.problems) or bool(owners - {"nobody"})
    return "ours" in owners


def _print_outcomes(tally: Tally) -> None:
    crashes: Counter[str] = Counter()
    for verdict in tally.verdicts:
        crashes.update({kind for kind, _ in verdict.mutations})
    rows = []
    total = [str(tally.outcomes[outcome]) for outcome in Outcome]
    rows.append(["all", str(tally.cases), *total, str(len(tally.verdicts))])
    for kind in sorted({*tally.kinds, *crashes}):
        counts = tally.kinds[kind]
        cells = [str(counts[outcome]) for outcome in Outcome]
        rows.append([kind, str(sum(counts.values())), *cells, str(crashes[kind])])
    titles = ["mutation", "cases", *(_COLUMNS[outcome] for outcome in Outcome), "crashes"]
    print("\n".join(align_columns(titles, rows, titles[1:])))


def _print_crashes(tally: Tally, mode: str, host: str | None) -> None:
    grouped: dict[tuple[str, str, str], list[Verdict]] = defaultdict(list)
    for verdict in tally.verdicts:
        grouped[verdict.owner, verdict.operators, verdict.death.signal].append(verdict)
    rows = [
        [owner, operators, death, str(len(found)), ", ".join(sorted(_kinds(found)))[:80]]
        for (owner, operators, death), found in sorted(grouped.items())
    ]
    titles = ["owner", "operators", "signal", "crashes", "mutations"]
    if rows:
        print("\n".join(align_columns(titles, rows, {"crashes"})))
    places: dict[tuple[str, ...], list[Verdict]] = defaultdict(list)
    for verdict in tally.verdicts:
        place = (verdict.owner, *signature(verdict.death))
        places[place].append(verdict)
    command = f".venv/bin/python -m tests.fuzz.files --mode {mode}"
    command += f" --host {host}" if host else ""
    for (owner, *_), found in sorted(places.items(), key=lambda item: -len(item[1])):
        first = found[0]
        print(f"{len(found)} x {owner} ({first.reason}): {describe(first.death)}")
        print(f"   {first.mutations}")
        without = "".join(f" {place}" for place in sorted(first.job.without))
        print(
            f"   {command} --replay {first.job.number}"
            + (f" --without{without}" if without else "")
        )
    problems: dict[str, list[Job]] = defaultdict(list)
    for job, problem in tally.problems:
        problems[problem[:80]].append(job)
    for problem, jobs in problems.items():
        print(f"{len(jobs)} x {problem}: {command} --replay {jobs[0].number}")


def _kinds(verdicts: Sequence[Verdict]) -> set[str]:
    return {kind for verdict in verdicts for kind, _ in verdict.mutations}


def _save(tally: Tally, cases: Cases, folder: Path) -> None:
    """Saves one file for each place of a crash."""
    folder.mkdir(parents=True, exist_ok=True)
    seen = set()
    for verdict in tally.verdicts:
        key = verdict.owner, signature(verdict.death)
        if key not in seen:
            seen.add(key)
            case = cases.make(verdict.job.number, verdict.job.without)
            (folder / f"{verdict.owner}-{case.number}.tflite").write_bytes(case.content)


def replay(
    number: int, without: Sequence[int], mode: str, host: str | None, folder: Path | None
) -> int:
    """Runs one case in this process, so that a debugger can look."""
    case = Cases().make(number, frozenset(without))
    print(f"case {number}: {case.seed}, {len(case.content)} bytes, {case.mutations}", flush=True)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.tflite").write_bytes(case.content)
    run = runs.checked(host) if mode == "checked" else runs.bare(host)

    def begin(phase: Phase) -> None:
        print(phase.name.lower(), file=sys.stderr, flush=True)

    print(run(case.content, Random(~number), begin).name)
    return 0
