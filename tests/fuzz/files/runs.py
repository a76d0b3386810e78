"""Runs one case in a host: loads the file and runs it on random data.

A refusal by an exception is an outcome; workers.py sees what ends the process.
"""

import math
from collections.abc import Callable, Sequence
from enum import IntEnum
from random import Random
from typing import Any

import numpy as np

import larq_engine
from larq_engine.python import hosts


class Outcome(IntEnum):
    REFUSED_BY_CHECK = 0
    REFUSED_BY_HOST = 1  # by the host, or by the plug-in in it
    FAILED = 2  # in a run
    TOO_LARGE = 3  # for a run
    RAN = 4


class Phase(IntEnum):
    MAKE = 0
    LOAD = 1
    RUN = 2
    FREE = 3


class WrongError(Exception):
    """The case did something that it must not do, short of a crash."""


# A mutated shape can ask for more values; the file is then only loaded.
_MAX_VALUES = 2**18

_REFUSALS = (ValueError, RuntimeError, MemoryError)
_POOL = np.random.default_rng(0).integers(-9, 10, 4096)
_RESIZED_SHARE, _COMPARED_SHARE = 0.1, 0.05

# Takes the file, a generator for random choices, and a function to say which phase begins.
Run = Callable[[bytes, Random, Callable[[Phase], None]], Outcome]


def _data(shape: Sequence[int], dtype: Any) -> np.ndarray:
    dtype = np.dtype(dtype)
    if dtype.kind in "OSU":
        return np.full(shape, b"abc", np.bytes_)
    return np.resize(_POOL, tuple(shape)).astype(dtype)


class _KeptBytes:
    """Tells whether the caller's bytes are still those that it gave."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.renew()

    def renew(self) -> None:
        self._copy = bytes(bytearray(self._content))

    def check(self) -> None:
        if self._content != self._copy:
            raise WrongError("wrote to the caller's bytes")


def checked(host: str | None) -> Run:
    """Returns a run by `larq_engine.Interpreter`, as users run a file."""

    def load(content: bytes, **options: Any) -> Any:
        return larq_engine.Interpreter(content, host=host, **options)

    def predict(interpreter: Any, r: Random) -> Any:
        types, shapes = interpreter.input_types, interpreter.input_shapes
        if sum(map(math.prod, shapes)) > _MAX_VALUES:
            return None
        arrays = [_data(s, t) for s, t in zip(shapes, types, strict=True)]
        results = interpreter.predict(arrays)
        if r.random() < _RESIZED_SHARE and all(len(shape) for shape in shapes):
            try:
                interpreter.predict([np.concatenate([a, a, a]) for a in arrays])
            except _REFUSALS:
                results = interpreter.predict(arrays)  # the refusal must change nothing
        return results if isinstance(results, list) else [results]

    def run(content: bytes, r: Random, begin: Callable[[Phase], None]) -> Outcome:
        kept = _KeptBytes(content)
        begin(Phase.LOAD)
        try:
            interpreter = load(content, fuse=r.random() < 0.8)
        except _REFUSALS as error:
            by_check = str(error).startswith(f"model ({len(content)} bytes): ")
            return Outcome.REFUSED_BY_CHECK if by_check else Outcome.REFUSED_BY_HOST
        begin(Phase.RUN)
        outcome = Outcome.RAN
        try:
            results = predict(interpreter, r)
            if results is None:
                outcome = Outcome.TOO_LARGE
            elif r.random() < _COMPARED_SHARE:
                _compare(results, lambda kernel: predict(load(content, kernel=kernel), r))
        except _REFUSALS:
            outcome = Outcome.FAILED
        begin(Phase.FREE)
        del interpreter
        kept.check()
        return outcome

    return run


_REPEATS = 8


def _compare(results: list[Any], predict: Callable[[str], Any]) -> None:
    """Raises if the reference kernel gives another result.

    Results that differ from run to run are ignored, as some operators draw at random.
    """

    def differs(kernel: str) -> bool:
        others = predict(kernel)
        return others is not None and not all(map(_equal, results, others))

    if differs("reference") and not any(differs("auto") for _ in range(_REPEATS)):
        raise WrongError("another result with kernel='reference'")


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def _has_variables(interpreter: Any) -> bool:
    """Tells whether a model keeps values from run to run in resource variables.

    After a resize, XNNPACK in LiteRT 2.3 writes the larger values into a variable's old memory.
    Spoilt memory may then be met in our code, which makes the verdict a matter of chance.
    """
    return any(op["op_name"] == "VAR_HANDLE" for op in interpreter._get_ops_details())


def bare(host: str | None, library: str | None = None) -> Run:
    """Returns a run in a stock interpreter, unchecked, with the plug-in or another delegate."""
    module = hosts.import_host(host)

    def make_delegate() -> Any:
        if library is not None:
            return module.load_delegate(library)
        return hosts.load_delegate(host)

    shared = make_delegate()

    def run(content: bytes, r: Random, begin: Callable[[Phase], None]) -> Outcome:
        kept = _KeptBytes(content)
        delegate = shared if r.random() < 0.5 else make_delegate()
        begin(Phase.LOAD)
        try:
            interpreter = module.Interpreter(
                model_content=content, experimental_delegates=[delegate]
            )
            interpreter.allocate_tensors()
            inputs = interpreter.get_input_details()
            outputs = interpreter.get_output_details()
        except _BARE_REFUSALS:
            return Outcome.REFUSED_BY_HOST
        begin(Phase.RUN)
        outcome = Outcome.RAN
        try:
            shapes = [info["shape"] for info in inputs]
            if sum(math.prod(map(int, shape)) for shape in shapes) > _MAX_VALUES:
                outcome = Outcome.TOO_LARGE
            else:
                _run_bare(interpreter, inputs, shapes, kept)
                if r.random() < _RESIZED_SHARE and not _has_variables(interpreter):
                    shapes = [(3 * s[0], *s[1:]) if len(s) else s for s in shapes]
                    for info, shape in zip(inputs, shapes, strict=True):
                        interpreter.resize_tensor_input(info["index"], shape)
                    interpreter.allocate_tensors()
                    _run_bare(interpreter, inputs, shapes, kept)
                for info in outputs:
                    interpreter.get_tensor(info["index"])
        except WrongError:
            raise
        except _BARE_REFUSALS:
            outcome = Outcome.FAILED
        begin(Phase.FREE)
        del interpreter, delegate
        kept.check()
        return outcome

    return run


# A host's own interpreter may raise anything.
_BARE_REFUSALS = (Exception,)


def _run_bare(interpreter: Any, inputs: Any, shapes: Any, kept: _KeptBytes) -> None:
    kept.check()
    try:
        for info, shape in zip(inputs, shapes, strict=True):
            interpreter.set_tensor(info["index"], _data(shape, info["dtype"]))
    finally:
        kept.renew()  # LiteRT 2.3 writes a constant input to these bytes
    interpreter.invoke()
