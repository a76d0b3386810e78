"""Runs the float model and the int8 one on the data set, and measures the differences."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from larq_engine.converter import schema
from larq_engine.converter.graph import Array, Model, Op, Tensor
from larq_engine.converter.layer_names import name_layer
from larq_engine.converter.lce_ops import layer_bits
from larq_engine.converter.quantizer.calibration import Counter, Runner
from larq_engine.converter.quantizer.results import OutputError, SignChanges
from larq_engine.converter.quantizer.samples import Samples


@dataclass
class _Signs:
    """The bits that a binary layer reads."""

    layer: str
    pixel_bits: int
    changed: int = 0
    signs: int = 0

    def add(self, before: Array, after: Array) -> None:
        differing = np.ascontiguousarray(before ^ after).view(np.uint8)
        self.changed += int(np.unpackbits(differing).sum())
        self.signs += before.size // before.shape[-1] * self.pixel_bits


@dataclass
class _Output:
    name: str
    largest: float = 0.0
    squares: float = 0.0
    square_values: float = 0.0

    def add(self, before: Array, after: Array) -> None:
        values = before.astype(np.float64)
        off = after.astype(np.float64) - values
        if off.size:
            self.largest = float(np.maximum(self.largest, np.abs(off).max()))  # NaN stays
        self.squares += float((off**2).sum())
        self.square_values += float((values**2).sum())

    def error(self) -> OutputError:
        values = self.square_values or 1.0
        return OutputError(self.name, self.largest, float(np.sqrt(self.squares / values)))


class Comparison:
    """Compares a graph before and after quantization; made before the graph is changed."""

    def __init__(self, model: Model, number: int) -> None:
        self._model = model
        self._number = number
        graph = model.graphs[number]
        layers: dict[Tensor, Op] = {}
        for op in graph.ops:
            bits = op.inputs[0] if op.kind == "LceBconv2d" else None
            if bits is not None and bits.producer is not None:
                layers.setdefault(bits, op)
        self._bits = layers
        made = dict.fromkeys([*layers, *(t for t in graph.outputs if t.producer is not None)])
        self._wanted = [t for t in made if t.dtype in ("FLOAT32", "INT32")]
        self._float = Runner(model, graph, self._wanted) if self._wanted else None

    def run(
        self, samples: Samples, progress: Callable[[str], None]
    ) -> tuple[tuple[SignChanges, ...], tuple[OutputError, ...]]:
        """Compares the graph as it is now with the graph before it was changed."""
        if self._float is None:
            return (), ()
        graph = self._model.graphs[self._number]
        names = {tensor: name for name, tensor in schema.signature_outputs(self._model)}
        signs = {
            tensor: _Signs(name_layer(op), op.options["channels_in"] * layer_bits(op)[0])
            for tensor, op in self._bits.items()
        }
        outputs = {t: _Output(names.get(t, t.name)) for t in self._wanted if t.dtype == "FLOAT32"}
        int8 = Runner(self._model, graph, self._wanted)
        counter = Counter("comparing with float", progress)
        for batch in samples.batches(self._number):
            for piece in self._float.pieces(batch):
                pairs = zip(self._float.run(piece), int8.run(piece), strict=True)
                for tensor, (before, after) in zip(self._wanted, pairs, strict=True):
                    if tensor in signs:
                        signs[tensor].add(before, after)
                    elif tensor in outputs:
                        outputs[tensor].add(before, after)
                counter.add(len(piece[0]) if piece[0].ndim else 1)
        changes = (SignChanges(s.layer, s.changed, s.signs) for s in signs.values())
        return tuple(changes), tuple(output.error() for output in outputs.values())
