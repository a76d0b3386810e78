"""Chooses the layers that stay in float so that outputs differ by no more than a caller allows.

Each layer is tried in int8 by itself, because only its effect on the outputs counts: a rounding
before a sign matters in another way than one in a last layer. Then the layers with the largest
effect go to float one by one, until the rest together keep the limit. Trials use copies of the
model.
"""

import math
from collections.abc import Callable, Collection

from larq_engine.converter import schema
from larq_engine.converter.errors import ConversionError
from larq_engine.converter.graph import Graph, Model, Op, Tensor
from larq_engine.converter.options import Options
from larq_engine.converter.quantizer.calibration import Range
from larq_engine.converter.quantizer.comparing import Comparison
from larq_engine.converter.quantizer.islands import Ends, find_islands, gains
from larq_engine.converter.quantizer.rewriting import Rewriter
from larq_engine.converter.quantizer.samples import Samples


class Limiter:
    """Finds the layers of a graph that must stay in float to keep a limit.

    Args:
        model: The model, which is not changed.
        number: The number of the graph.
        ranges: Ranges of all values that int8 operators of the graph read and make.
        samples: Samples on which errors are measured.
        ends: The ends of the file that are int8.
        options: Options of the conversion.
        progress: Called with the name of each step as it begins.
    """

    def __init__(
        self,
        model: Model,
        number: int,
        ranges: dict[Tensor, Range],
        samples: Samples,
        ends: Ends,
        options: Options,
        progress: Callable[[str], None],
    ) -> None:
        self._graph = model.graphs[number]
        self._number = number
        self._ranges = ranges
        self._samples = samples
        self._ends = ends
        self._options = options
        self._progress = progress
        self._content = schema.write(model)

    def find(self, limit: float) -> dict[Op, str]:
        """Returns the layers that must stay in float, with reasons.

        Raises:
            ConversionError: The limit cannot be kept, or there is nothing to measure.
        """
        if not any(t.dtype == "FLOAT32" and t.producer is not None for t in self._graph.outputs):
            raise ConversionError(
                "max_output_error: expected a model with an output of float32, got none; leave "
                "the limit out"
            )
        in_int8 = find_islands(self._graph, self._ends).ops
        layers = [op for op in self._graph.ops if op in in_int8 and gains(op)]
        least = self._error([])
        if least <= limit:
            return {}
        alone = {op: self._error([other for other in layers if other is not op]) for op in layers}
        in_float: dict[Op, str] = {}
        for op in sorted(layers, key=lambda op: -alone[op]):
            in_float[op] = (
                f"max_output_error of {limit:g}: alone in int8 it puts outputs off by "
                f"{alone[op]:.3g}"
            )
            error = self._error(in_float)
            if error <= limit:
                return in_float
            least = min(least, error)
        raise ConversionError(
            f"max_output_error: expected outputs off by {limit:g} at most, got {least:.3g} at "
            "best, whichever layers are in float, as the model's inputs or outputs are int8; allow "
            "more, or let those be float32"
        )

    def _error(self, in_float: Collection[Op]) -> float:
        """Returns the largest error of an output if these layers are in float."""
        model = schema.read(self._content)
        graph = model.graphs[self._number]
        as_here = dict(zip(self._graph.ops, graph.ops, strict=True))
        islands = find_islands(graph, self._ends, {as_here[op]: "" for op in in_float})
        comparison = Comparison(model, self._number)
        Rewriter(graph, islands, self._ranges_of(graph), self._options).rewrite(self._ends)
        _, errors = comparison.run(self._samples, self._progress)
        for output in errors:
            if math.isnan(output.relative):
                raise ConversionError(
                    "max_output_error: expected samples on which all outputs are finite, got NaN "
                    f"or infinity in output '{output.name}'; leave such samples out, or the limit"
                )
        return max(output.relative for output in errors)

    def _ranges_of(self, copy: Graph) -> dict[Tensor, Range]:
        pairs = list(zip(self._graph.inputs, copy.inputs, strict=True))
        for here, there in zip(self._graph.ops, copy.ops, strict=True):
            pairs += zip(here.outputs, there.outputs, strict=True)
        return {there: self._ranges[here] for here, there in pairs if here in self._ranges}
