"""Measures whole models against other engines: `python -m benchmarks.models [MODEL...]`.

Every contender gets the file that its own converter makes of the same model with the same weights
(zoo_cache.py), and must answer as Keras does. Only int8 cannot: its rounding flips signs, which
changes all that a binarized network computes after them. Its answers need only resemble Keras'.
That finds files that are broken, and no other faults.

The profile that comes with it is of larq_engine only, by groups of operators. The host's operators
are one group, as its interpreter does not tell the times of single ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import plots, zoo, zoo_cache
from benchmarks.contenders import (
    LCE,
    ONNX_FLOAT32,
    ONNX_INT8,
    OURS,
    PEERS,
    XNNPACK_INT8,
    Contender,
    ContenderError,
)
from benchmarks.interleave import Answer, Trial, finish, make_parser, measure
from benchmarks.progress import Progress
from larq_engine import Interpreter
from larq_engine.command_line.model_facts import collect_facts
from larq_engine.python.profile import HOST, ProfileTable
from larq_engine.python.text_table import align_columns

MODELS = (
    "QuickNetSmall",
    "QuickNet",
    "QuickNetLarge",
    "BiRealNet",
    "BinaryAlexNet",
    "BinaryDenseNet28",
    "RealToBinaryNet",
    "MeliusNet22",
)

CONTENDERS = (OURS, *PEERS, ONNX_FLOAT32, ONNX_INT8)

# Contender.model -> the file in a model's folder; the files of LCE and of ONNX are made separately.
FILES = {"binary": "larq_engine.tflite", "float32": "float.tflite", "int8": "int8.tflite"}
ONNX_FILES = {"onnx_float32": "float.onnx", "onnx_int8": "int8.onnx"}

# This model has no shortcuts around its binary layers, so the signs that int8's rounding flips
# change the whole answer (correlations of 0.02 to 0.12). Its int8 file cannot be told from a broken
# one, and a file that cannot be checked is not timed.
UNCHECKABLE_IN_INT8 = ("BinaryAlexNet",)

# Number of profiles, of which the fastest counts, and of runs whose mean each profile has. On a
# shared machine, the median of five profiles was once 1.5 times the time that had just been
# measured.
PROFILES = 25
PROFILE_RUNS = 8

GROUPS = (
    "binary convolutions",
    "float convolutions",
    "quantize and other steps",
    "host's float operators",
)

# Untrained models answer different images alike, so this is not the 0.99 that one would hope for:
# right files come to 0.7, and one that shuffles classes to 0.
LEAST_CORRELATION = 0.5

FLOAT_CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D")

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class ModelCase:
    """One model, one image."""

    name: str
    macs: int

    def __str__(self) -> str:
        return self.name


def main() -> int:
    options = parse_options()
    summary = measure(
        "models",
        CONTENDERS,
        lambda progress: make_trials(options.models, CONTENDERS, progress),
        options,
    )
    measured = [result["case"] for result in summary["results"] if result["subject"] == OURS.name]
    summary["profiles"] = {name: profile(name, options.threads) for name in measured}
    status = finish(summary, options.json, plots.plot_models)
    print("\n" + format_profiles(summary["profiles"]))
    return status


def parse_options() -> argparse.Namespace:
    description = (
        "Times whole models of larq_zoo in this engine and in others, in turns. An engine whose "
        "output is wrong has no time."
    )
    parser = make_parser("models", description, rounds=5, seconds=0.2)
    parser.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help=f"models of larq_zoo, by name (default: {', '.join(MODELS)})",
    )
    options = parser.parse_args()
    for name in options.models:
        if name not in zoo.MODELS:
            parser.error(f"MODEL: expected one of {', '.join(zoo.MODELS)}; got {name!r}")
    options.models = options.models or MODELS
    return options


def make_trials(
    names: Sequence[str], contenders: Sequence[Contender], progress: Progress
) -> Iterator[Trial]:
    for name in names:
        try:
            files = zoo_cache.prepare(name, progress)
        except zoo.CaseError as error:
            raise SystemExit(f"{name}: converting it failed: {error}") from None
        with np.load(files / "answers.npz") as answers:
            images, right = answers["images"], answers["outputs"]
        case = ModelCase(name, collect_facts((files / FILES["float32"]).read_bytes()).float_macs)
        for contender in contenders:
            loosely = contender.model in (XNNPACK_INT8.model, ONNX_INT8.model)
            if loosely and name in UNCHECKABLE_IN_INT8:
                continue
            yield Trial(
                contender,
                case,
                find_file(contender, name, files, progress),
                make_check(images, right, find_error_loosely if loosely else find_error),
                "loosely" if loosely else f"to {zoo.TOLERANCE:.0e}",
            )


def find_file(
    contender: Contender, name: str, files: Path, progress: Progress
) -> Callable[[], Path]:
    def find() -> Path:
        if contender.model in FILES:
            return files / FILES[contender.model]
        try:
            if contender.model == LCE.model:
                return zoo_cache.prepare_lce(name, progress)
            return zoo_cache.prepare_onnx(name, progress) / ONNX_FILES[contender.model]
        except zoo.CaseError as error:
            raise ContenderError(str(error)) from error

    return find


def make_check(
    images: Array, right: Array, find: Callable[[Array, Array], str | None]
) -> Callable[[Answer], str | None]:
    def check(answer: Answer) -> str | None:
        return find(np.concatenate([answer(image[np.newaxis])[0] for image in images]), right)

    return check


def find_error(outputs: Array, right: Array) -> str | None:
    return zoo.find_error(zoo.compare(outputs, right))


def find_error_loosely(outputs: Array, right: Array) -> str | None:
    correlations = [float(np.corrcoef(*pair)[0, 1]) for pair in zip(outputs, right, strict=True)]
    if all(correlation >= LEAST_CORRELATION for correlation in correlations):  # NaN is wrong
        return None
    return (
        f"expected outputs that correlate with Keras' by {LEAST_CORRELATION} or more, for each "
        f"image, got {correlations}"
    )


def profile(name: str, threads: int) -> dict[str, float]:
    """Returns the milliseconds that larq_engine takes for an image, by groups of operators."""
    file = zoo_cache.FOLDER / name / FILES[OURS.model]
    engine = Interpreter(file, num_threads=threads)
    return group_fastest([engine.profile(runs=PROFILE_RUNS) for _ in range(PROFILES)])


def group_fastest(tables: Sequence[ProfileTable]) -> dict[str, float]:
    """Sums the milliseconds of a run, by groups of operators, in the table that took least.

    During that run other programs used the core the least.
    """
    table = min(tables, key=lambda each: each.ms_per_run)
    groups = dict.fromkeys(GROUPS, 0.0)
    for row in table:
        groups[GROUPS[_group_of(row.op)]] += row.ms_per_call * row.calls / table.runs
    return groups


def _group_of(op: str) -> int:
    if op == HOST:
        return 3
    if op == "LceBconv2d":
        return 0
    return 1 if op in FLOAT_CONVOLUTIONS else 2


def format_profiles(profiles: dict[str, dict[str, float]]) -> str:
    """Returns one row for each model, in milliseconds and shares."""
    rows = [
        [name, *(f"{ms:.2f} ({ms / sum(groups.values()):.0%})" for ms in groups.values())]
        for name, groups in profiles.items()
    ]
    return "\n".join(align_columns([f"ms of {OURS.name}", *GROUPS], rows, GROUPS))


if __name__ == "__main__":
    raise SystemExit(main())
