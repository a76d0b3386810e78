"""Runs code that might crash in a process of its own, so that a crash is a failed test with a name.

Imports nothing but NumPy and larq_engine, as the hosts' environments may have no more.
"""

import math
import multiprocessing
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np

import larq_engine
from larq_engine.python import hosts

# Limit of address space; TensorFlow needs some 5 GB of it.
_MAX_MEMORY_BYTES = 16 << 30

# A corrupted shape can ask for more values; the model is then only loaded.
_MAX_INPUT_VALUES = 2**26


def load_and_run(model: bytes, host: str | None, batches: int = 1) -> tuple[str, str]:
    """Loads a model and runs it on zeros, on as many of its batches as `batches` says.

    Returns:
        The name of the exception's type and its message; two empty strings if all went well.
    """
    try:
        interpreter = larq_engine.Interpreter(model, host=host)
        types, shapes = interpreter.input_types, interpreter.input_shapes
        if sum(math.prod(shape) for shape in shapes) <= _MAX_INPUT_VALUES:
            stacks = [(batches * shape[0], *shape[1:]) if shape else () for shape in shapes]
            interpreter.predict([np.zeros(s, t) for s, t in zip(stacks, types, strict=True)])
    except Exception as error:
        return type(error).__name__, str(error)
    return "", ""


def load_in_plain_host(model: bytes, host: str) -> str:
    """Loads a model as a user of the delegate without `larq_engine.Interpreter` does.

    Only the host and the plug-in then check the file.

    Returns:
        The message of the error, empty if all went well.
    """
    interpreter = hosts.import_host(host).Interpreter
    try:
        interpreter(
            model_content=model, experimental_delegates=[hosts.load_delegate(host)]
        ).allocate_tensors()
    except (RuntimeError, ValueError) as error:
        return str(error)
    return ""


def _limit_memory() -> None:
    """Limits memory, so that a corrupted shape does not make the system end other processes."""
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_BYTES, _MAX_MEMORY_BYTES))


class CrashBox:
    """A child process that is replaced when it dies."""

    def __init__(self) -> None:
        self._pool = self._start()

    @staticmethod
    def _start() -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(1, context, initializer=_limit_memory)

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Returns the function's result; raises AssertionError if it takes the process down."""
        try:
            return self._pool.submit(function, *arguments).result()
        except BrokenProcessPool:
            self._pool = self._start()
            raise AssertionError(f"{function.__name__} crashed its process") from None

    def close(self) -> None:
        self._pool.shutdown()
