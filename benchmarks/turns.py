"""Interpreters that run in turns: a disturbance of one disturbs the others, too.

The place of memory makes two interpreters of one model differ by some percent. So a benchmark opens
new ones for each round, and a second one of a model shows the size of that effect. The place of
packed weights is no part of it: interpreters share them if one plug-in runs both.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

_SECONDS = 0.1  # seconds of a model in a turn
_TURNS = 4  # turns of a round


class Model(Protocol):
    """A larq_engine.Interpreter, or something else that predicts."""

    def predict(self, x: npt.NDArray[Any], /) -> Any: ...


AnyModel = TypeVar("AnyModel", bound=Model)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the models, their threads, and the number of rounds."""
    parser.add_argument(
        "models", nargs="+", type=Path, metavar="MODEL.tflite", help="models with one input"
    )
    parser.add_argument(
        "--threads", type=int, default=1, metavar="N", help="threads of each model (default: 1)"
    )
    parser.add_argument(
        "--rounds", type=int, default=6, metavar="N", help="rounds of turns (default: 6)"
    )


def time_round(opened: list[AnyModel], image: npt.NDArray[Any]) -> list[float]:
    """Returns the median seconds of each; another one comes first in each turn.

    The models are taken out of the list, as models of the next round would otherwise find their
    packed weights where these still have them.
    """
    samples: list[list[float]] = [[] for _ in opened]
    for turn in range(_TURNS * len(opened)):
        which = (turn + turn // len(opened)) % len(opened)
        samples[which].extend(_run(opened[which], image))
    opened.clear()
    return [float(np.median(sampled)) for sampled in samples]


def compare_rounds(times: Sequence[Sequence[float]]) -> tuple[str, ...]:
    """Returns cells of a table: milliseconds of both models, their ratio, its range, the noise.

    Args:
        times: The seconds of each round: the model's, the other's, and the model's a second time.
    """
    first, other, again = np.array(times).T
    ratios = other / (first + again) * 2
    return (
        f"{np.median(first) * 1e3:.3f}",
        f"{np.median(other) * 1e3:.3f}",
        f"{np.median(ratios):.3f}",
        _format_range(ratios),
        _format_range(again / first),
    )


def _format_range(ratios: npt.NDArray[Any]) -> str:
    return f"{ratios.min():.3f}-{ratios.max():.3f}"


def _run(model: Model, image: npt.NDArray[Any]) -> list[float]:
    model.predict(image)
    seconds: list[float] = []
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        begun = time.perf_counter()
        model.predict(image)
        seconds.append(time.perf_counter() - begun)
    return seconds
