"""What int8 around the binary layers gains: `python -m benchmarks.int8_models MODEL.tflite...`.

Converts each float model as it is and with samples, and runs both in turns on one thread. Each
round opens new interpreters (turns.py), among them a second one of the model in float. Samples are
random: what is measured does not depend on them. The files of larq_zoo's models are
.build/zoo/NAME/float.tflite after `python -m benchmarks.models`.
"""

import argparse
from pathlib import Path

import numpy as np

import larq_engine
from benchmarks.machine import pin_to_cores
from benchmarks.turns import compare_rounds, time_round
from larq_engine.python.text_table import align_columns

_TITLES = ("model", "float, ms", "int8, ms", "int8 / float", "rounds", "float, twice",
           "float, KB", "int8, KB", "int8 / float")  # fmt: skip
_SAMPLES = 4


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.int8_models", description=__doc__)
    parser.add_argument(
        "models", nargs="+", type=Path, metavar="MODEL.tflite", help="float models, not converted"
    )
    parser.add_argument(
        "--rounds", type=int, default=6, metavar="N", help="rounds of turns (default: 6)"
    )
    arguments = parser.parse_args()
    pin_to_cores(1)
    rows: list[tuple[str, ...]] = []
    for path in arguments.models:
        name = path.stem if path.stem != "float" else path.parent.name
        print(f"{name} ...", flush=True)
        rows.append((name, *_compare(path.read_bytes(), arguments.rounds)))
    print("\n".join(align_columns(_TITLES, rows, _TITLES[1:])))


def _compare(content: bytes, rounds: int) -> tuple[str, ...]:
    in_float = larq_engine.convert_tflite(content, check=False)
    shape = larq_engine.Interpreter(in_float).input_shapes[0]
    drawn = np.random.default_rng(0).uniform(-1, 1, (_SAMPLES, *shape)).astype(np.float32)
    in_int8 = larq_engine.convert_tflite(content, check=False, representative_dataset=list(drawn))
    times = []
    for _ in range(rounds):
        opened = [
            larq_engine.Interpreter(model, num_threads=1) for model in (in_float, in_int8, in_float)
        ]
        times.append(time_round(opened, drawn[0]))
    sizes = (len(in_float), len(in_int8))
    return (
        *compare_rounds(times),
        *(f"{size / 1e3:.0f}" for size in sizes),
        f"{sizes[1] / sizes[0]:.2f}",
    )


if __name__ == "__main__":
    main()
