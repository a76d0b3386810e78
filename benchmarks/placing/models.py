"""What placing gains on models: `python -m benchmarks.placing.models MODEL.tflite...`.

Profiles each model, places it, and runs it with its placement and without in turns, on the same
input. A placement whose outputs are not those of the engine's own choice has no time.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import larq_engine
from larq_engine.placing.api import PlacedModel
from larq_engine.python.text_table import align_columns

_TITLES = ("model", "as it is, ms", "quartiles", "placed, ms", "quartiles ", "placed / as it is",
           "predicted, ms", "elsewhere")  # fmt: skip
_SECONDS = 0.3  # of a model in a round


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.placing.models", description=__doc__
    )
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL.tflite")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--kernels", default="auto", help="as of larq-engine profile")
    parser.add_argument("--rounds", type=int, default=6)
    arguments = parser.parse_args()
    rows = []
    for path in arguments.models:
        print(f"{path.stem} ...", flush=True)
        content = path.read_bytes()
        profile = larq_engine.profile(
            content, threads=[arguments.threads], kernels=arguments.kernels
        )
        placed = larq_engine.place(content, profile)
        rows.append(_compare(path.stem, content, placed, arguments.threads, arguments.rounds))
        print("\n".join(align_columns(_TITLES, rows, _TITLES[1:])), flush=True)


def _compare(
    name: str, content: bytes, placed: PlacedModel, threads: int, rounds: int
) -> tuple[str, ...]:
    as_it_is = larq_engine.Interpreter(content, num_threads=threads)
    with_it = larq_engine.Interpreter(placed, num_threads=threads)
    image = np.random.default_rng(0).standard_normal(as_it_is.input_shapes[0], np.float32)
    choice = {row.node: row.device for row in as_it_is.profile([image], runs=1)}
    elsewhere = sum(op.device != choice.get(op.node, "host") for op in placed.placement.ops)
    predicted = f"{placed.placement.seconds * 1e3:.3f}"
    if not np.array_equal(as_it_is.predict(image), with_it.predict(image)):
        return (name, "", "", "outputs differ", "", "", predicted, str(elsewhere))
    samples: tuple[list[float], list[float]] = ([], [])
    for number in range(2 * rounds):
        which = (number + number // 2) % 2
        samples[which].extend(_run((as_it_is, with_it)[which], image))
    ratio = f"{np.median(samples[1]) / np.median(samples[0]):.3f}"
    return (name, *_times(samples[0]), *_times(samples[1]), ratio, predicted, str(elsewhere))


def _run(model: larq_engine.Interpreter, image: np.ndarray) -> list[float]:
    model.predict(image)
    seconds: list[float] = []
    while sum(seconds) < _SECONDS:
        begun = time.perf_counter()
        model.predict(image)
        seconds.append(time.perf_counter() - begun)
    return seconds


def _times(samples: Sequence[float]) -> tuple[str, str]:
    low, median, high = np.percentile(samples, [25, 50, 75]) * 1e3
    return f"{median:.3f}", f"{low:.3f}-{high:.3f}"


if __name__ == "__main__":
    main()
