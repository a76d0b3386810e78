"""Measures the gain of placing models: `python -m benchmarks.placing.models MODEL.tflite...`.

Profiles each model, places it, and runs it with its placement and without in turns, on the same
input. A placement whose outputs are not those of the engine's own choice has no time. Each round
opens new interpreters (turns.py), among them a second one without a placement.
"""

import argparse
from pathlib import Path

import numpy as np

import larq_engine
from benchmarks.turns import compare_rounds, time_round
from larq_engine.placing.api import PlacedModel
from larq_engine.python.text_table import align_columns

_TITLES = ("model", "as it is, ms", "placed, ms", "placed / as it is", "rounds", "as it is, twice",
           "predicted, ms", "elsewhere")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.placing.models", description=__doc__
    )
    parser.add_argument(
        "models", nargs="+", type=Path, metavar="MODEL.tflite", help="models with one input"
    )
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="threads of each model (default: 1)"
    )
    parser.add_argument(
        "--kernels",
        default="auto",
        metavar="NAME",
        help="auto, all, or one kernel, as of `larq-engine profile` (default: auto)",
    )
    parser.add_argument(
        "--rounds", type=int, default=6, metavar="N", help="rounds of turns (default: 6)"
    )
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
    predicted = f"{placed.placement.seconds * 1e3:.3f}"
    elsewhere = str(_count_elsewhere(content, placed, threads))
    times = []
    for _ in range(rounds):
        interpreters = [
            larq_engine.Interpreter(model, num_threads=threads)
            for model in (content, placed, content)
        ]
        image = np.random.default_rng(0).standard_normal(
            interpreters[0].input_shapes[0], np.float32
        )
        if not np.array_equal(interpreters[0].predict(image), interpreters[1].predict(image)):
            return (name, "", "outputs differ", "", "", "", predicted, elsewhere)
        times.append(time_round(interpreters, image))
    return (name, *compare_rounds(times), predicted, elsewhere)


def _count_elsewhere(content: bytes, placed: PlacedModel, threads: int) -> int:
    """Counts the operators that the placement gives to another device than the engine would."""
    model = larq_engine.Interpreter(content, num_threads=threads)
    rows = model.profile([np.zeros(model.input_shapes[0], np.float32)], runs=1)
    own = {node: row.device for row in rows for node in (row.node, *row.absorbed)}
    return sum(op.device != own.get(op.node, "host") for op in placed.placement.ops)


if __name__ == "__main__":
    main()
