"""Compares two builds of the plug-in: `python -m benchmarks.libraries BEFORE.so MODEL.tflite...`.

Runs each model with the library BEFORE and with the built one in turns, on the same input. There
are no times if the outputs differ in a bit or, with --rounding, by more than that. Each round opens
new interpreters (turns.py), among them a second one with the library BEFORE.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import avx2_alone
from benchmarks.turns import add_arguments, compare_rounds, time_round
from larq_engine.python import hosts, library
from larq_engine.python.text_table import align_columns

_TITLES = ("model", "before, ms", "after, ms", "after / before", "rounds", "before, twice")


class Model:
    """A model in LiteRT's own interpreter, with one of the libraries."""

    def __init__(self, file: Path, plug_in: str, threads: int, kernel: str) -> None:
        module = hosts.import_host(None)
        delegate = module.load_delegate(plug_in, {"num_threads": threads, "kernel": kernel})
        self._interpreter = module.Interpreter(
            model_path=str(file), num_threads=threads, experimental_delegates=[delegate]
        )
        self._interpreter.allocate_tensors()
        [self._input] = self._interpreter.get_input_details()
        self._outputs = self._interpreter.get_output_details()
        self.input_shape = tuple(self._input["shape"])

    def predict(self, image: npt.NDArray[Any]) -> list[Any]:
        self._interpreter.set_tensor(self._input["index"], image)
        self._interpreter.invoke()
        return [self._interpreter.get_tensor(output["index"]) for output in self._outputs]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.libraries", description=__doc__)
    parser.add_argument(
        "before", type=Path, metavar="BEFORE.so", help="the plug-in of another build"
    )
    add_arguments(parser)
    parser.add_argument(
        "--rounding",
        type=float,
        default=0.0,
        metavar="X",
        help="how much outputs may differ, as a part of the largest (default: 0, not in a bit)",
    )
    parser.add_argument(
        "--avx2",
        action="store_true",
        help="hide what is newer than AVX2 from XNNPACK, and compute all binary layers with "
        + avx2_alone.KERNEL,
    )
    arguments = parser.parse_args()
    if arguments.avx2:
        avx2_alone.hide_newer()
    after = Path(library.delegate_path())
    if not arguments.before.is_file() or arguments.before.samefile(after):
        parser.error(f"expected another build than {after}, got {arguments.before}")
    plug_ins = (str(arguments.before.resolve()), str(after))
    rows = []
    for file in arguments.models:
        print(f"{file} ...", flush=True)
        row = compare(
            file,
            plug_ins,
            arguments.threads,
            arguments.rounds,
            arguments.rounding,
            avx2_alone.KERNEL if arguments.avx2 else "auto",
        )
        rows.append(row)
        print("\n".join(align_columns(_TITLES, rows, _TITLES[1:])), flush=True)


def compare(
    file: Path,
    plug_ins: tuple[str, str],
    threads: int,
    rounds: int,
    rounding: float = 0.0,
    kernel: str = "auto",
) -> tuple[str, ...]:
    """Returns the row of a model."""
    before, after = plug_ins
    times = []
    for _ in range(rounds):
        models = [Model(file, plug_in, threads, kernel) for plug_in in (before, after, before)]
        image = np.random.default_rng(0).standard_normal(models[0].input_shape, np.float32)
        if not are_alike(models[0].predict(image), models[1].predict(image), rounding):
            return (str(file), "", "outputs differ", "", "", "")
        times.append(time_round(models, image))
    return (str(file), *compare_rounds(times))


def are_alike(
    before: Sequence[npt.NDArray[Any]], after: Sequence[npt.NDArray[Any]], rounding: float
) -> bool:
    """Tells whether outputs have the same bits or differ by `rounding` of the largest at most."""
    return all(
        a.shape == b.shape and (_same_bits(a, b) or _are_near(a, b, rounding))
        for a, b in zip(before, after, strict=True)
    )


def _same_bits(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Compares bits: for np.array_equal, a NaN is not equal to itself, and 0 is equal to -0."""
    return a.tobytes() == b.tobytes()


def _are_near(a: npt.NDArray[Any], b: npt.NDArray[Any], rounding: float) -> bool:
    """Tells whether arrays differ by rounding only; false if none is allowed, or for NaN."""
    return rounding > 0 and bool(np.abs(a - b).max() <= rounding * np.abs(a).max())


if __name__ == "__main__":
    main()
