"""Times a model opened in several ways that take turns, so that a slow phase slows all."""

import statistics
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from larq_engine.python.arguments import share_batch
from larq_engine.python.interpreter import Interpreter
from larq_engine.python.session import Session
from larq_engine.python.tensors import random_data

_ROUNDS = 5
_TURNS = 4  # of each way in a round
_TURN_SECONDS = 0.03


def run_in_turns(
    model: bytes, ways: Sequence[Mapping[str, Any]], *, threads: int, batch: int
) -> list[list[float]]:
    """Returns the median seconds of a run for each way, in each round.

    Two interpreters of one model differ by some percent, by where their memory happens to lie. So
    each round opens new ones.

    Args:
        model: The bytes of the file.
        ways: Options of the Interpreter for each way.
        threads: The number of threads of each Interpreter.
        batch: The number of samples of a run.
    """
    rounds = []
    for _ in range(_ROUNDS):
        with ExitStack() as stack:
            opened = [
                stack.enter_context(Interpreter(model, num_threads=threads, **way)) for way in ways
            ]
            for interpreter in opened:
                set_batch(interpreter, batch)
            rounds.append(_time_turns([interpreter._session for interpreter in opened]))
    return rounds


def set_batch(interpreter: Interpreter, batch: int) -> None:
    """Gives all inputs this many samples, if they have samples."""
    shapes = interpreter.input_shapes
    if share_batch(shapes):
        interpreter.resize([(batch, *shape[1:]) for shape in shapes])


def _time_turns(sessions: Sequence[Session]) -> list[float]:
    generator = np.random.default_rng(0)
    arrays = [random_data(info, generator) for info in sessions[0].inputs()]
    times: list[list[int]] = [[] for _ in sessions]
    for turn in range(_TURNS * len(sessions)):
        # Each turn of all ways begins with the next way.
        which = (turn + turn // len(sessions)) % len(sessions)
        times[which] += sessions[which].time_runs(arrays, _TURN_SECONDS)
    return [statistics.median(taken) / 1e9 for taken in times]
