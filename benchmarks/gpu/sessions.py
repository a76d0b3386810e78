"""Measures the images a second with one to four copies of a model on a GPU, as lines of JSON.

    python -m benchmarks.gpu.sessions MODEL.tflite...

`predict` runs large data sets in two copies of the model, each in its own thread: one uploads while
the other computes. This program shows how many copies are worth it. The images are in ordinary and
in pinned memory of the host. The numbers of copies take turns, and the results of all must be those
of one copy.
"""

import itertools
import json
import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import larq_engine
from benchmarks.gpu.bench import Record
from benchmarks.gpu.model_worker import images_of, places_of

BATCHES = (64, 256)
COPIES = (1, 2, 3, 4)
_ROUNDS = 3
_SECONDS = 0.2  # time of a turn
_LEAST_BATCHES = 8  # batches of a turn at least, so that each copy computes some


def _run(
    models: Sequence[larq_engine.Interpreter], images: Any, expected: Any
) -> tuple[float, bool]:
    """Returns the batches a second, and whether all results were right."""
    pool = ThreadPoolExecutor(len(models))
    done = itertools.count()
    begun = time.perf_counter()

    def work(model: larq_engine.Interpreter) -> bool:
        is_right = True
        while next(done) < _LEAST_BATCHES or time.perf_counter() - begun < _SECONDS:
            is_right = bool(np.array_equal(model.predict(images), expected)) and is_right
        return is_right

    with pool:
        is_right = all(list(pool.map(work, models)))
        # Each thread has taken one more number, at which it ended.
        count = next(done) - len(models)
    return count / (time.perf_counter() - begun), is_right


def measure(path: Path, samples: int) -> list[Record]:
    """Returns a record for each place of the images and each number of copies."""
    models = [larq_engine.Interpreter(path, device="cuda") for _ in range(max(COPIES))]
    first = models[0]
    images = images_of((samples, *first.input_shapes[0][1:]), first.input_types[0])
    places = {name: data for name, data in places_of(images).items() if name != "gpu"}
    rates: dict[tuple[str, int], list[float]] = {}
    wrong: set[tuple[str, int]] = set()
    try:
        for model in models:
            model.resize([images.shape])
            expected = model.predict(images)
        for _ in range(_ROUNDS):
            for place, copies in itertools.product(places, COPIES):
                rate, is_right = _run(models[:copies], places[place], expected)
                rates.setdefault((place, copies), []).append(rate * samples)
                if not is_right:
                    wrong.add((place, copies))
    finally:
        for model in models:
            model.close()
    labels = {"model": path.stem, "batch": samples, "type": str(images.dtype)}
    return [
        labels
        | {"images": place, "copies": copies}
        | (
            {"wrong": True}
            if (place, copies) in wrong
            else {"images_per_s": statistics.median(found)}
        )
        for (place, copies), found in rates.items()
    ]


def main() -> None:
    records = []
    for path in map(Path, sys.argv[1:]):
        for samples in BATCHES:
            for record in measure(path, samples):
                print(json.dumps(record), flush=True)
                records.append(record)
    if any("wrong" in record for record in records):
        sys.exit("results differ from those of one copy")


if __name__ == "__main__":
    main()
