"""Rows a second of one process, and of Ray's workers: what Ray costs, and what it gains.

    PYTHONPATH=. .venv-ray/bin/python -m benchmarks.scale_out MODEL [--rows 240] [--times 12]

The data set is some random rows, many times.

Results are compared before times are shown. A job's start, which is a matter of seconds whatever
comes after it, is shown apart: it is the time until the first rows came.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import ray

import larq_engine
from larq_engine.batch import Predictor, ray_data
from larq_engine.python.text_table import align_columns

# Of rows: their scores, and when they came.
Run = tuple[np.ndarray, list[tuple[float, int]]]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale_out",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tflite file with one input")
    parser.add_argument(
        "--rows", type=int, default=240, metavar="N", help="random rows (default: 240)"
    )
    parser.add_argument(
        "--times",
        type=int,
        default=12,
        metavar="N",
        help="how many times the data set has these rows (default: 12)",
    )
    parser.add_argument(
        "--batch", type=int, default=16, metavar="N", help="rows at once (default: 16)"
    )
    arguments = parser.parse_args()
    model = larq_engine.Interpreter(arguments.model)
    [shape], [output] = model.input_shapes, model.output_names
    rows = np.random.default_rng(0).standard_normal((arguments.rows, *shape[1:]), np.float32)
    ray.init(num_cpus=len(os.sched_getaffinity(0)), include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    images = ray.data.from_numpy(rows).rename_columns({"data": "image"})
    images = images.zip(ray.data.range(arguments.rows)).materialize()
    images = images.union(*[images] * (arguments.times - 1))

    def alone() -> Run:
        predict = Predictor(arguments.model, "image", num_threads=1).open()
        scores, came = [], []
        starts = range(0, arguments.rows, arguments.batch)
        for start in [*starts] * arguments.times:
            scores.append(predict({"image": rows[start : start + arguments.batch]})[output])
            came.append((time.perf_counter(), len(scores[-1])))
        return np.concatenate(scores), came

    def in_ray(workers: int) -> Run:
        done = ray_data.predict(
            images, arguments.model, "image", workers=workers, block_rows=arguments.batch
        )
        parts, came = [], []
        for part in done.iter_batches(batch_size=None):
            parts.append(part)
            came.append((time.perf_counter(), len(part["id"])))
        order = np.argsort(np.concatenate([part["id"] for part in parts]), kind="stable")
        scores = np.concatenate([part[output] for part in parts])[order]
        # Each row's, as often as it came.
        again = scores.reshape(arguments.rows, arguments.times, -1).swapaxes(0, 1)
        return again.reshape(scores.shape), came

    ways: dict[str, Callable[[], Run]] = {
        "one process, one thread": alone,
        "Ray, one worker": lambda: in_ray(1),
        "Ray, up to two workers": lambda: in_ray(2),
    }
    expected, _ = alone()
    table = []
    for name, way in ways.items():
        began = time.perf_counter()
        scores, came = way()
        assert np.array_equal(scores, expected), name
        (first, count), (last, _) = came[0], came[-1]
        rate = (len(scores) - count) / (last - first)
        table.append((name, f"{rate:.0f}", f"{first - began:.1f}", f"{last - began:.1f}"))
    titles = ("", "rows a second", "first rows after, s", "all after, s")
    print("\n".join(align_columns(titles, table, titles[1:])))


if __name__ == "__main__":
    main()
