"""Networks of PyTorch against their twins in Keras: `python -m benchmarks.twins.measure FOLDER`.

FOLDER has what from_torch.py and from_keras.py have written. Each round opens new interpreters
(turns.py), among them a second one of the Keras file.
"""

import argparse
from pathlib import Path

import numpy as np

import larq_engine
from benchmarks.machine import pin_to_cores
from benchmarks.turns import compare_rounds, time_round
from larq_engine.python.text_table import align_columns

_TITLES = ("network", "Keras, ms", "PyTorch, ms", "PyTorch / Keras", "rounds", "Keras, twice")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.twins.measure", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder of the files")
    parser.add_argument(
        "--rounds", type=int, default=11, metavar="N", help="rounds of turns (default: 11)"
    )
    arguments = parser.parse_args()
    pin_to_cores(1)
    names = sorted(file.name.removesuffix(".torch.tflite")
                   for file in arguments.folder.glob("*.torch.tflite"))  # fmt: skip
    rows = [_compare(arguments.folder, name, arguments.rounds) for name in names]
    print("\n".join(align_columns(_TITLES, rows, _TITLES[1:])))


def _compare(folder: Path, name: str, rounds: int) -> tuple[str, ...]:
    from_torch, from_keras = (
        (folder / f"{name}.{door}.tflite").read_bytes() for door in ("torch", "keras")
    )
    times = []
    for _ in range(rounds):
        opened = [
            larq_engine.Interpreter(model, num_threads=1)
            for model in (from_keras, from_torch, from_keras)
        ]
        shapes = [model.input_shapes for model in opened]
        if shapes[0] != shapes[1]:
            raise SystemExit(f"{name}: expected inputs of one shape, got {shapes[0]}, {shapes[1]}")
        image = np.random.default_rng(0).standard_normal(shapes[0][0], np.float32)
        times.append(time_round(opened, image))
    return (name, *compare_rounds(times))


if __name__ == "__main__":
    main()
