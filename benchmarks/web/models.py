"""Measures whole models in a browser: `python -m benchmarks.web.models [MODEL...]`.

Every contender gets the file that its own converter makes of the same model with the same weights,
as in benchmarks/models.py, and must answer as Keras does. Ours must also give the bits of Python's
Interpreter without a host.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks import models, zoo
from benchmarks.contenders import OURS, Contender
from benchmarks.interleave import Answer, Trial, finish, make_parser, measure
from benchmarks.progress import Progress
from benchmarks.web.browser import Browser, make_server
from benchmarks.web.contenders import contenders
from larq_engine import Interpreter

MODELS = ("QuickNetSmall", "QuickNet", "BiRealNet", "keywords")

FindError = Callable[[Answer], str | None]


def main() -> int:
    options = parse_options(
        "web.models",
        "Times whole models in larq_engine's package and in other engines, in one page of Chromium "
        "and in turns. An engine whose output is wrong has no time.",
    )
    with make_server() as server, Browser(server, options.threads) as browser:
        here = contenders(options.threads)
        summary = measure(
            "web_models",
            here,
            lambda progress: make_trials(options.models, here, progress),
            options,
            browser.place(),
        )
    return finish(summary, options.json)


def parse_options(name: str, description: str) -> argparse.Namespace:
    parser = make_parser(name, description, rounds=5, seconds=0.5)
    parser.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help=f"models of larq_zoo, or keywords (default: {', '.join(MODELS)})",
    )
    options = parser.parse_args()
    known = dict.fromkeys((*MODELS, *zoo.MODELS))
    for name in options.models:
        if name not in known:
            parser.error(f"MODEL: expected one of {', '.join(known)}; got {name!r}")
    options.models = options.models or MODELS
    return options


def make_trials(
    names: Sequence[str], here: Sequence[Contender], progress: Progress
) -> Iterator[Trial]:
    """Yields the trials of benchmarks.models, with a stricter check of our own."""
    for trial in models.make_trials(names, here, progress):
        if trial.contender.model == OURS.model:
            check = also_equal_to_python(trial.find_error, trial.model)
            yield dataclasses.replace(trial, find_error=check, tolerance="equal")
        else:
            yield trial


def also_equal_to_python(check: FindError, model: Callable[[], bytes | Path]) -> FindError:
    """Returns a check that also compares each output with that of Python, to the bit."""

    def find_error(answer: Answer) -> str | None:
        python = Interpreter(model(), host="none")
        different: list[str] = []

        def compared(x: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
            outputs = answer(x)
            differs = np.count_nonzero(outputs[0] != python.predict(x))
            if differs:
                different.append(f"{differs} of {outputs[0].size}")
            return outputs

        error = check(compared)
        if error or not different:
            return error
        return (
            "expected the bits that Interpreter(host='none') gives, for each image, got other "
            f"values: {', '.join(different)}"
        )

    return find_error


if __name__ == "__main__":
    raise SystemExit(main())
