"""Measures contenders in rounds, as all benchmarks against other engines do.

Every contender's output is checked first; one that is wrong or cannot run gets no time, the reason
is printed after the table, and the exit status is 1. Then come rounds. In each round every
contender runs every case for a moment, in an order that moves on from round to round, so that a
change of clock or load meets all of them alike.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy.typing as npt

from benchmarks import machine
from benchmarks.contenders import OURS, Contender, ContenderError, Sample, Worker
from benchmarks.progress import Progress
from benchmarks.report import Case, Results, format_table
from benchmarks.result_files import WRONG_RESULT

Array = npt.NDArray[Any]
Answer = Callable[[Array], list[Array]]  # runs the model: input -> outputs


@dataclass(frozen=True)
class Trial:
    """One contender on one case.

    Attributes:
        contender: The engine that runs.
        case: The layer or model that is measured.
        model: Makes the file, or says where it is. May raise ContenderError.
        find_error: Runs the model and says what is wrong with its outputs, or None. The last input
            that it runs is the one that is timed.
        tolerance: How close the outputs must be, as the table shows it: "equal", "to 1e-04"
            or "loosely".
        repeats: Number of copies of the layer in the model; times are divided by it.
    """

    contender: Contender
    case: Case
    model: Callable[[], bytes | Path]
    find_error: Callable[[Answer], str | None]
    tolerance: str
    repeats: int = 1


class Runner(Protocol):
    """A contender that runs, as contenders.Worker does in a process of its own."""

    @property
    def versions(self) -> dict[str, str]: ...
    def load(self, key: str, model: bytes | Path, threads: int) -> list[str]: ...
    def run(self, key: str, x: Array) -> list[Array]: ...
    def time(self, key: str, seconds: float) -> Sample: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class Place:
    """A place where contenders run.

    Attributes:
        start: Starts a contender. May raise ContenderError.
        measure_limits: Measures the limits of a core, as `bgemm_bench --limits` writes them.
        take_cores: Chooses cores for a number of threads, and binds this process to them.
    """

    start: Callable[[Contender], Runner]
    measure_limits: Callable[[], dict[str, Any] | None]
    take_cores: Callable[[int], list[int]]


MakeTrials = Callable[[Progress], Iterable[Trial]]
Plot = Callable[[dict[str, Any], Path], None]


def make_parser(
    name: str, description: str, rounds: int, seconds: float
) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=description)
    parser.add_argument(
        "--rounds",
        type=positive,
        default=rounds,
        metavar="N",
        help=f"rounds in which the engines take turns (default: {rounds})",
    )
    parser.add_argument(
        "--threads",
        type=positive,
        default=1,
        metavar="N",
        help="threads of each engine, on as many cores (default: 1)",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=seconds,
        metavar="S",
        help=f"how long an engine runs a case in each round, in seconds (default: {seconds})",
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the results to this file too, as JSON"
    )
    return parser


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {value}")
    return value


def measure(
    benchmark: str,
    contenders: Sequence[Contender],
    make_trials: MakeTrials,
    options: argparse.Namespace,
    place: Place | None = None,
) -> dict[str, Any]:
    """Returns the summary: absent contenders with reasons, the results, and the conditions.

    Contenders run in processes of their own, unless `place` is another one.
    """
    place = place or Place(Worker, machine.measure_limits, machine.pin_to_cores)
    cores = place.take_cores(options.threads)
    description = machine.describe_machine(cores)  # before our own load
    progress = Progress()
    results = Results(OURS.name, [c.name for c in contenders if c.is_other_engine], options.threads)
    workers = _start_workers(contenders, place.start, results, progress)
    try:
        trials = _load_and_check(workers, make_trials(progress), options.threads, results, progress)
        for number in range(options.rounds):
            progress.say(f"round {number + 1} of {options.rounds}", "limit of this machine")
            results.add_limits(place.measure_limits())
            _measure_round(workers, trials, number, options, results, progress)
    finally:
        for worker in workers.values():
            worker.close()
        progress.end()
    return {
        "benchmark": benchmark,
        "commit": machine.describe_commit(),
        "machine": description,
        "versions": {contender.name: worker.versions for contender, worker in workers.items()},
        "settings": {"rounds": options.rounds, "threads": options.threads},
        **results.summarize(),
    }


def finish(summary: dict[str, Any], file: Path | None, plot: Plot | None = None) -> int:
    """Prints the table, and writes and plots the results if wanted; returns the exit status."""
    print("\n" + format_table(summary))
    if file:
        file.write_text(json.dumps(summary, indent=1) + "\n")
        print(f"\nwritten to {file}")
        if plot and summary["results"]:
            plot(summary, file.with_suffix(".svg"))
            print(f"plotted in {file.with_suffix('.svg')}")
    return 1 if summary["absent"] else 0


def _start_workers(
    contenders: Sequence[Contender],
    start: Callable[[Contender], Runner],
    results: Results,
    progress: Progress,
) -> dict[Contender, Runner]:
    workers: dict[Contender, Runner] = {}
    for contender in contenders:
        progress.say("starting", contender.name)
        try:
            workers[contender] = start(contender)
        except ContenderError as error:
            results.add_failure(contender.name, "all", str(error))
    return workers


def _load_and_check(
    workers: dict[Contender, Runner],
    trials: Iterable[Trial],
    threads: int,
    results: Results,
    progress: Progress,
) -> list[Trial]:
    """Loads every model; returns the trials whose outputs are right."""
    right: list[Trial] = []
    for trial in trials:
        contender, case = trial.contender, trial.case
        if contender not in workers:
            continue
        worker = workers[contender]

        def answer(x: Array, worker: Runner = worker, key: str = case.name) -> list[Array]:
            return worker.run(key, x)

        try:
            progress.say(f"checking {case}", f"{contender.name}: the file")
            model = trial.model()
            progress.say(f"checking {case}", contender.name)
            kernels = worker.load(case.name, model, threads)
            error = trial.find_error(answer)
        except ContenderError as failure:
            results.add_failure(contender.name, case.name, str(failure))
            continue
        if error:
            results.add_failure(contender.name, case.name, f"{WRONG_RESULT}: {error}")
        else:
            results.add_checked(contender.name, case, kernels, trial.tolerance)
            right.append(trial)
    return right


def _measure_round(
    workers: dict[Contender, Runner],
    trials: Iterable[Trial],
    number: int,
    options: argparse.Namespace,
    results: Results,
    progress: Progress,
) -> None:
    stage = f"round {number + 1} of {options.rounds}"
    for group in by_case(trials):
        for trial in rotate(group, number):
            contender, case = trial.contender.name, trial.case
            if not results.is_checked(contender, case):
                continue
            progress.say(stage, f"{case} {contender}")
            try:
                sample = workers[trial.contender].time(case.name, options.seconds)
            except ContenderError as error:
                results.add_failure(contender, case.name, str(error))
                continue
            cpu = None if sample.cpu is None else sample.cpu / trial.repeats
            results.add_times(contender, case, sample.wall / trial.repeats, cpu)


def by_case(trials: Iterable[Trial]) -> list[list[Trial]]:
    """Groups trials of the same case, in the order in which the cases come up."""
    groups: dict[str, list[Trial]] = {}
    for trial in trials:
        groups.setdefault(trial.case.name, []).append(trial)
    return list(groups.values())


def rotate(group: list[Trial], number: int) -> list[Trial]:
    """Rotates a group, so that another trial comes first in each round."""
    first = number % len(group)
    return [*group[first:], *group[:first]]
