"""Runs a model on the data set, and records the range of each value."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Array, Graph, Model, Tensor
from larq_engine.converter.quantizer.samples import Samples
from larq_engine.python.interpreter import Interpreter
from larq_engine.python.library import usable_cpus

# Seconds between two messages on the progress.
_SECONDS = 1.0


class Runner:
    """Runs a graph so that values other than its outputs can be read.

    Args:
        model: The model; later changes to it do not matter.
        graph: The graph of the model to run.
        wanted: The tensors to read.
    """

    def __init__(self, model: Model, graph: Graph, wanted: Sequence[Tensor]) -> None:
        content = schema.write(schema.part(model, graph.inputs, graph.ops, wanted))
        self._interpreter = Interpreter(content, num_threads=usable_cpus(), device="cpu")
        self._several = len(wanted) > 1
        self._batch = max(1, graph.inputs[0].shape[0] if graph.inputs[0].shape else 1)

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        """Runs one batch of the size that the model declares."""
        results = self._interpreter.predict(list(arrays))
        return list(results) if self._several else [results]

    def pieces(self, arrays: Sequence[Array]) -> list[list[Array]]:
        """Cuts samples into batches, so that values of many samples need not be kept."""
        if any(not array.shape for array in arrays) or len({len(a) for a in arrays}) > 1:
            return [list(arrays)]
        count = len(arrays[0])
        return [
            [array[start : start + self._batch] for array in arrays]
            for start in range(0, count, self._batch)
        ]


@dataclass
class Range:
    """The least and the largest value of a tensor."""

    low: float
    high: float

    def include(self, other: "Range") -> None:
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

    @staticmethod
    def of(values: Array) -> "Range":
        return Range(float(values.min()), float(values.max()))


def observe(
    model: Model,
    number: int,
    tensors: Sequence[Tensor],
    samples: Samples,
    progress: Callable[[str], None],
) -> tuple[dict[Tensor, Range], int]:
    """Returns the ranges of tensors of a graph over all samples, and how many samples there are.

    Raises:
        ConversionError: A value is NaN or infinite.
    """
    graph = model.graphs[number]
    made = [tensor for tensor in tensors if tensor.producer is not None]
    given = [tensor for tensor in tensors if tensor.producer is None]
    runner = Runner(model, graph, made or [t for t in graph.outputs if t.producer is not None])
    ranges: dict[Tensor, Range] = {}
    counter = Counter("calibrating", progress)
    for batch in samples.batches(number):
        for piece in runner.pieces(batch):
            found = dict(zip(made, runner.run(piece), strict=True)) if made else {}
            found |= {t: a for t, a in zip(graph.inputs, piece, strict=True) if t in given}
            for tensor, array in found.items():
                _include(ranges, tensor, array)
            counter.add(len(piece[0]) if piece[0].ndim else 1)
    return ranges, counter.done


def _include(ranges: dict[Tensor, Range], tensor: Tensor, array: Array) -> None:
    if not np.isfinite(array).all():
        raise ConversionError(
            f"representative_dataset: expected samples on which every value is finite, got NaN or "
            f"infinity in '{tensor.name}'; look at the weights and batch norms before it, or at "
            "how the samples are scaled"
        )
    if array.size:
        found = Range.of(array)
        ranges.setdefault(tensor, found).include(found)


class Counter:
    """Reports the number of finished samples from time to time."""

    def __init__(self, name: str, progress: Callable[[str], None]) -> None:
        self._name = name
        self._progress = progress
        self.done = 0
        self._last = time.monotonic()
        progress(name)

    def add(self, samples: int) -> None:
        self.done += samples
        if time.monotonic() - self._last >= _SECONDS:
            self._last = time.monotonic()
            self._progress(f"{self._name}, {self.done} samples done")
