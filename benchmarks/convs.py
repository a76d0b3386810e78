"""Measures the convolutions A to D against LCE and XNNPACK: `python -m benchmarks.convs`.

Every contender's output is compared with NumPy's first; one that is wrong or cannot run gets no
time, the reason is printed after the table, and the exit status is 1. Then rounds, in each of which
every contender runs every shape for a moment, in an order that moves on from round to round, so
that a change of clock or load meets all of them alike.

A time is that of one layer: a chain of `shape.chain` layers is fed, invoked and read, and the time
divided. A binary layer includes its LceQuantize, because a network that hands floats from layer to
layer pays for it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import expected, machine, models
from benchmarks.contenders import CONTENDERS, OURS, Contender, ContenderError, Worker
from benchmarks.report import Results, format_table
from benchmarks.shapes import CONV_SHAPES, ConvShape

SEED = 2024

Array = npt.NDArray[Any]
Build = Callable[[ConvShape, models.Layer, int], bytes]
Expect = Callable[[Array, models.Layer, int], Array]

MODELS: dict[str, tuple[Build, Expect]] = {
    "binary": (models.build_binary, expected.expect_binary),
    "float32": (models.build_float32, expected.expect_float32),
    "int8": (models.build_int8, expected.expect_int8),
}


def main() -> int:
    options = parse_options()
    cores = machine.pin_to_cores(options.threads)
    description = machine.describe_machine(cores)  # now: the load average is still that of others
    progress = Progress()
    results = Results(ours=OURS.name, threads=options.threads)
    workers = start_workers(results, progress)
    try:
        load_and_check(workers, options.threads, results, progress)
        for number in range(options.rounds):
            measure_round(workers, number, options, results, progress)
    finally:
        for worker in workers.values():
            worker.close()
        progress.end()
    summary = {
        "benchmark": "convs",
        "commit": machine.describe_commit(),
        "machine": description,
        "versions": {contender.name: worker.versions for contender, worker in workers.items()},
        "settings": {"rounds": options.rounds, "threads": options.threads},
        **results.summarize(),
    }
    print("\n" + format_table(summary))
    if options.json:
        options.json.write_text(json.dumps(summary, indent=1) + "\n")
        print(f"\nwritten to {options.json}")
    return 1 if results.failed else 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.convs",
        description="The convolutions A to D against LCE and XNNPACK, checked, interleaved.",
    )
    parser.add_argument("--rounds", type=positive, default=10, help="default 10")
    parser.add_argument("--threads", type=positive, default=1, help="threads and cores; default 1")
    parser.add_argument(
        "--seconds", type=float, default=0.1, help="per contender, shape and round; default 0.1"
    )
    parser.add_argument("--json", type=Path, help="also write the results to this file")
    return parser.parse_args()


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {value}")
    return value


def start_workers(results: Results, progress: Progress) -> dict[Contender, Worker]:
    workers: dict[Contender, Worker] = {}
    for contender in CONTENDERS:
        progress.say("starting", contender.name)
        try:
            workers[contender] = Worker(contender)
        except ContenderError as error:
            results.add_absence(contender.name, "all", str(error))
    return workers


def load_and_check(
    workers: dict[Contender, Worker], threads: int, results: Results, progress: Progress
) -> None:
    """Loads every model and records which contenders answer right for which shapes."""
    for seed, shape in enumerate(CONV_SHAPES, start=SEED):
        layer = models.make_layer(shape, seed)
        for form, (build, expect) in MODELS.items():
            group = [contender for contender in workers if contender.model == form]
            if not group:
                continue
            progress.say(f"checking {shape}", f"{form}: NumPy")
            model, x = build(shape, layer, shape.chain), make_input(shape, form)
            right = expect(x, layer, shape.chain)
            for contender in group:
                progress.say(f"checking {shape}", f"{form}: {contender.name}")
                try:
                    kernels = workers[contender].load(shape.name, model, threads)
                    error = expected.find_error(workers[contender].run(shape.name, x), right)
                except ContenderError as failure:
                    results.add_absence(contender.name, shape.name, str(failure))
                    continue
                if error:
                    results.add_absence(contender.name, shape.name, f"WRONG RESULT: {error}")
                else:
                    results.add_checked(contender.name, shape, kernels)


def make_input(shape: ConvShape, form: str) -> Array:
    rng = np.random.default_rng(SEED)
    dims = (1, shape.size, shape.size, shape.channels)
    if form == "int8":
        return rng.integers(-128, 128, dims, np.int8)
    return rng.uniform(-1, 1, dims).astype(np.float32)


def measure_round(
    workers: dict[Contender, Worker],
    number: int,
    options: argparse.Namespace,
    results: Results,
    progress: Progress,
) -> None:
    stage = f"round {number + 1} of {options.rounds}"
    progress.say(stage, "limit of this machine")
    results.add_limits(machine.measure_limits())
    order = list(workers)
    order = order[number % len(order) :] + order[: number % len(order)] if order else []
    for shape in CONV_SHAPES:
        for contender in order:
            if results.is_checked(contender.name, shape):
                progress.say(stage, f"{shape} {contender.name}")
                try:
                    sample = workers[contender].time(shape.name, options.seconds)
                except ContenderError as error:
                    results.add_absence(contender.name, shape.name, str(error))
                    continue
                results.add_times(
                    contender.name, shape, sample.wall / shape.chain, sample.cpu / shape.chain
                )


class Progress:
    """Shows what is being done: on one line of a terminal, or each new stage on a line of a log."""

    def __init__(self) -> None:
        self._stage = ""

    def say(self, stage: str, detail: str = "") -> None:
        if sys.stderr.isatty():
            print(f"\r\x1b[K{stage} {detail}", end="", file=sys.stderr, flush=True)
        elif stage != self._stage:
            print(stage, file=sys.stderr, flush=True)
        self._stage = stage

    def end(self) -> None:
        if sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
