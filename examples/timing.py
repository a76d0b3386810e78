"""Runs models in LiteRT, and measures their times."""

import statistics
import time
from collections.abc import Sequence
from typing import Any

from ai_edge_litert.interpreter import Interpreter as LiteRT

import larq_engine as lce


def open_host(content: bytes, threads: int) -> Any:
    return LiteRT(model_content=content, num_threads=threads)


def open_ours(content: bytes, threads: int) -> Any:
    """Opens the same interpreter with the plug-in, which is all that the engine needs."""
    plug_in = lce.load_delegate("litert", num_threads=threads)
    return LiteRT(model_content=content, num_threads=threads, experimental_delegates=[plug_in])


def measure(interpreters: Sequence[Any], image: Any, rounds: int) -> list[float]:
    """Returns the median time of each interpreter in ms.

    They take turns, so that a change of clock or load affects all of them.
    """
    times: list[list[float]] = [[] for _ in interpreters]
    for interpreter in interpreters:
        number = interpreter.get_input_details()[0]["index"]
        interpreter.resize_tensor_input(number, image.shape)
        interpreter.allocate_tensors()
        interpreter.set_tensor(number, image)
        interpreter.invoke()
    for _ in range(rounds):
        for interpreter, own in zip(interpreters, times, strict=True):
            start = time.perf_counter()
            interpreter.invoke()
            own.append(1e3 * (time.perf_counter() - start))
    return [statistics.median(own) for own in times]
