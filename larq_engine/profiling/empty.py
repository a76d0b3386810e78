"""Measures how long it takes to invoke a model without operators: all measured times include it."""

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Graph, Tensor
from larq_engine.profiling.network import Cut
from larq_engine.profiling.run_config import RunConfig, open_part
from larq_engine.python.devices import HOST

_SAMPLES = 50


class EmptyRun:
    """An invocation of an empty model, with a number of threads."""

    def __init__(self, threads: int, host: str | None) -> None:
        x = Tensor("x", (1,), "FLOAT32")
        content = schema.write(schema.make_model([Graph("", [x], [x], [])]))
        cut = Cut(content, (), (), (x,), (x,), (), False)
        data = [np.zeros(1, np.float32)]
        self._runner = open_part(cut, RunConfig(HOST, threads), host, data, 1)
        self._samples: list[int] = []

    def measure(self) -> None:
        """Takes some samples."""
        self._samples += [self._runner.time_ns() for _ in range(_SAMPLES)]

    @property
    def seconds(self) -> float:
        """Returns the median of all samples."""
        return float(np.median(self._samples)) / 1e9
