"""What threads, batches and opening do to a model: `python -m benchmarks.scaling MODEL.tflite...`.

Three tables. A model with one thread and with more, whose outputs must be equal bit for bit, in
turns (turns.py). Milliseconds of an image in batches, whose outputs must be those of its images
alone, and the memory of the process after that. Opening the model: for the first time in a process,
while it is open already, and the first inference beside later ones. Each batch and each opening has
a process of its own.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.turns import time_round
from larq_engine import Interpreter
from larq_engine.python import host
from larq_engine.python.text_table import align_columns

_SECONDS = 1.0  # of a batch
_LEAST_RUNS = 5
_OPENINGS = 5  # processes
_LATER_RUNS = 50  # inferences, whose median stands beside the first


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument(
        "models",
        nargs="+",
        type=Path,
        metavar="MODEL.tflite",
        help="models with one input and one output",
    )
    parser.add_argument(
        "--threads", type=int, default=2, metavar="N", help="threads beside one (default: 2)"
    )
    parser.add_argument(
        "--batches",
        type=int,
        nargs="+",
        default=[8, 32, 64],
        metavar="N",
        help="images at once beside one (default: 8 32 64)",
    )
    parser.add_argument(
        "--rounds", type=int, default=4, metavar="N", help="rounds of turns (default: 4)"
    )
    arguments = parser.parse_args()
    files, batches = arguments.models, [1, *arguments.batches]
    threads = ("one thread, ms", f"{arguments.threads} threads, ms", "times as fast", "rounds")
    _print(threads, files, lambda file: compare_threads(file, arguments.threads, arguments.rounds))
    images = [f"{batch} at once: ms an image" for batch in batches]
    _print(
        [*images, *(f"{batch}: MB" for batch in batches)],
        files,
        lambda file: time_batches(file, batches),
    )
    opening = ("first opening, ms", "while open", "first inference", "later ones")
    _print(opening, files, open_often)


def _print(
    titles: Sequence[str], files: Sequence[Path], measure: Callable[[Path], Sequence[str]]
) -> None:
    rows = [[str(file), *measure(file)] for file in files]
    print("\n".join(align_columns(["model", *titles], rows, titles)), flush=True)


def compare_threads(file: Path, threads: int, rounds: int) -> Sequence[str]:
    """The cells of a model."""
    times = []
    for _ in range(rounds):
        opened = [Interpreter(file, num_threads=count) for count in (1, threads)]
        image = _images(opened[0].input_shapes[0])
        if len({model.predict(image).tobytes() for model in opened}) > 1:
            return ["", "outputs differ", "", ""]
        times.append(time_round(opened, image))
    one, more = np.array(times).T
    ratios = one / more
    return (
        f"{np.median(one) * 1e3:.3f}",
        f"{np.median(more) * 1e3:.3f}",
        f"{np.median(ratios):.2f}",
        f"{ratios.min():.2f}-{ratios.max():.2f}",
    )


def time_batches(file: Path, batches: Sequence[int]) -> Sequence[str]:
    """Milliseconds an image, then megabytes, of each batch."""
    measured = [_in_a_process(time_batch, file, batch) for batch in batches]
    return [cells[0] for cells in measured] + [cells[1] for cells in measured]


def time_batch(file: Path, batch: int) -> tuple[str, str]:
    """The cells of a batch."""
    interpreter = host.import_runtime(None).Interpreter(
        model_path=str(file),
        num_threads=1,
        experimental_delegates=[host.load_delegate(num_threads=1)],
    )
    [given] = interpreter.get_input_details()
    shape = (batch, *given["shape"][1:])
    interpreter.resize_tensor_input(given["index"], shape)
    try:
        interpreter.allocate_tensors()
    except RuntimeError as error:
        if "; resize the " not in str(error):
            raise
        return "-", "-"  # the file fixes its batch
    interpreter.set_tensor(given["index"], _images(shape))
    seconds = _seconds_of(interpreter.invoke)
    megabytes = _resident_megabytes()
    outputs = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    alone = Interpreter(file)
    expected = [alone.predict(image[np.newaxis]).tobytes() for image in _images(shape)]
    if [output.tobytes() for output in outputs] != expected:
        return "WRONG", ""
    return f"{seconds / batch * 1e3:.2f}", f"{megabytes:.0f}"


def open_often(file: Path) -> Sequence[str]:
    """Medians of processes, in milliseconds."""
    times = [_in_a_process(open_twice, file) for _ in range(_OPENINGS)]
    return [f"{seconds * 1e3:.1f}" for seconds in np.median(times, axis=0)]


def open_twice(file: Path) -> Sequence[float]:
    """Seconds of opening, of opening once more, of the first inference, and of a later one."""
    host.import_runtime(None)
    models: list[Interpreter] = []  # kept, so that none is closed while another is timed
    opening = _time(lambda: models.append(Interpreter(file)))
    image = _images(models[0].input_shapes[0])
    first, *later = (_time(lambda: models[0].predict(image)) for _ in range(1 + _LATER_RUNS))
    again = _time(lambda: models.append(Interpreter(file)))
    return [opening, again, first, float(np.median(later))]


def _images(shape: Sequence[int]) -> np.ndarray:
    """The first ones are the same in batches of any size."""
    return np.random.default_rng(0).standard_normal(tuple(shape), np.float32)


def _time(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _seconds_of(run: Callable[[], object]) -> float:
    samples: list[float] = []
    while len(samples) < _LEAST_RUNS or sum(samples) < _SECONDS:
        samples.append(_time(run))
    return float(np.median(samples))


def _resident_megabytes() -> float:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _in_a_process(function: Callable[..., Any], *arguments: object) -> Any:
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, spawn) as pool:
        return pool.submit(function, *arguments).result()


if __name__ == "__main__":
    main()
