"""Times models in LiteRT and without a host: `python -m benchmarks.alone MODEL.tflite...`.

Both run in turns, on the same input and by the same library. There are no times if the outputs
differ by more than rounding. Each round opens new interpreters (turns.py), among them a second one
in LiteRT. `python -m benchmarks.plain_networks FOLDER` makes
networks without binary layers.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import larq_engine
from benchmarks.libraries import are_alike
from benchmarks.turns import add_arguments, compare_rounds, time_round
from larq_engine.python.text_table import align_columns

_TITLES = ("model", "LiteRT, ms", "alone, ms", "alone / LiteRT", "rounds", "LiteRT, twice")
_BYTES = 256
_ROUNDING = 1e-3  # of the largest output


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.alone", description=__doc__)
    add_arguments(parser)
    arguments = parser.parse_args()
    rows = []
    for file in arguments.models:
        print(f"{file} ...", flush=True)
        rows.append(_compare(file, arguments.threads, arguments.rounds))
        print("\n".join(align_columns(_TITLES, rows, _TITLES[1:])), flush=True)


def _compare(file: Path, threads: int, rounds: int) -> tuple[str, ...]:
    def open_in(host: str) -> larq_engine.Interpreter:
        return larq_engine.Interpreter(file, num_threads=threads, host=host)

    image = _image(open_in("none"))
    times = []
    for _ in range(rounds):
        opened = [open_in(host) for host in ("litert", "none", "litert")]
        if not are_alike(_predict(opened[0], image), _predict(opened[1], image), _ROUNDING):
            return (file.stem, "", "outputs differ", "", "", "")
        times.append(time_round(opened, image))
    return (file.stem, *compare_rounds(times))


def _predict(model: larq_engine.Interpreter, image: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    outputs = model.predict(image)
    return outputs if isinstance(outputs, list) else [outputs]


def _image(model: larq_engine.Interpreter) -> npt.NDArray[Any]:
    """Returns an input that is the same in each run."""
    [shape], [dtype] = model.input_shapes, model.input_types
    random = np.random.default_rng(0)
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape).astype(dtype)
    return random.integers(0, _BYTES, shape).astype(np.uint8).view(dtype)


if __name__ == "__main__":
    main()
